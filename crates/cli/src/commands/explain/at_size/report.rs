//! What is said about one operation at one size.

use corecast::model::profile::{Mode, Start};
use corecast::rules::AskedBy;
use serde::Serialize;

use super::candidates::Candidate;

/// The explanation, as `--json` prints it.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    pub(super) schema: u32,
    pub(super) machine: &'a str,
    pub(super) threads: &'a [u32],
    pub(super) pinned: bool,
    pub(super) mode: Mode,
    pub(super) synchronisation: Start,
    pub(super) op: &'static str,
    pub(super) bytes: usize,
    pub(super) algorithm: &'static str,
    /// The range of lengths with the same request: above `above_bytes`, up to and including `up_to_bytes`.
    pub(super) above_bytes: Option<usize>,
    pub(super) up_to_bytes: Option<usize>,
    pub(super) asked: Option<&'static str>,
    pub(super) decided_by: AskedBy,
    pub(super) reason: String,
    pub(super) mended: Option<&'a str>,
    pub(super) tuning: &'a str,
    /// The raced size that is nearest to this one.
    pub(super) raced_bytes: Option<u64>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) notes: Vec<String>,
}
