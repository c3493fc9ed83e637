//! One thread copies several adjacent lines of another: CLa's multi-line transfers (§2.2.3, Equations 4
//! and 5).

use std::hint::black_box;
use std::time::Duration;

use corecast_model::deep::{Figure, Level, State};
use corecast_wire::LINE_BYTES;

use super::crew::{Mate, Stop};
use super::latency::{Drive, Roles, prepare};
use super::order::{Picker, SEED};
use super::settle::SHOTS;

/// Numbers of lines that are measured: up to 8 KiB, as in the paper.
pub(super) const COUNTS: [u32; 9] = [1, 2, 4, 8, 16, 24, 32, 64, 128];

const WORDS: usize = LINE_BYTES / size_of::<u64>();

/// Measures the time that rank 0 takes to copy `count` lines of the owner into memory that it has
/// cached.
pub(super) fn measure(
    mate: &mut Mate<'_>,
    state: State,
    count: u32,
    roles: Roles,
    drive: Drive,
    limit: Duration,
) -> Result<Option<Figure>, Stop> {
    let mut picker = Picker::new(SEED);
    let mut into = vec![0_u64; count as usize * WORDS];
    let level = match state {
        State::Invalid => Level::Memory,
        _ => Level::Cache(1),
    };
    mate.until_settled(SHOTS, limit, |mate| {
        let lines = picker.run(count as usize);
        prepare(mate, state, level, roles, drive, &lines)?;
        if mate.rank > 0 {
            return Ok(None);
        }
        let range = lines[0]..=lines[lines.len() - 1];
        let pages = picker.pages();
        mate.touch(roles.owner, pages.filter(|page| !range.contains(page)));
        black_box(&mut into).fill(0);
        mate.dither();
        let lines_of = mate.lines_of(roles.owner);
        let start = mate.timer.now();
        lines_of.copy_out(lines[0], &mut into);
        black_box(&mut into);
        let end = mate.timer.now();
        Ok(Some(mate.timer.ns(start, end)))
    })
}
