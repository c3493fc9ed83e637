//! The teams of one contestant, which take turns.

use super::collective::{ELEMENT_BYTES, PLANNED};
use super::lines::SignalLines;
use crate::sized::{TEAMS_MAX, teams_of};
use corecast_collectives::Plans;
use corecast_model::Collective;
use corecast_team::{Options, Team, TeamError};
use corecast_wire::WaitConfig;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

/// What a contestant runs, and its name in the comparison.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// Short name, unique within a race.
    pub name: String,
    /// The operation, one of [`PLANNED`].
    pub collective: Collective,
    /// The root of a broadcast or reduction.
    pub root: usize,
    /// Bytes of data, a multiple of [`ELEMENT_BYTES`]; a barrier has none.
    pub bytes: usize,
    /// Number of PUs that the ranks may use.
    pub usable: usize,
    /// The model's latency in nanoseconds, if it has one for such a team.
    pub predicted_ns: Option<f64>,
}

/// One of Corecast's plans as an entrant. It serves one race, since its teams are joined once.
#[derive(Debug)]
pub struct Contestant {
    pub(super) exercise: Exercise,
    pub(super) setting: String,
    pub(super) teams: Vec<Team>,
    pub(super) lines: Vec<SignalLines>,
    /// Whether ranks share hardware threads.
    pub(super) oversubscribed: bool,
    /// The rank that answers broadcasts.
    pub(super) answerer: AtomicUsize,
    /// The algorithm that rank 0 ran in the check.
    pub(super) ran: OnceLock<&'static str>,
}

impl Contestant {
    /// Creates a contestant with several teams that run `plans`, by built-in algorithms and waits.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if a team cannot be made.
    ///
    /// # Panics
    ///
    /// If the collective is none of [`PLANNED`], the root is outside of the team, or the data are no whole number of
    /// elements.
    pub fn new(exercise: Exercise, plans: &Plans) -> Result<Contestant, TeamError> {
        let options = Options {
            wait_config: Some(WaitConfig::for_team(plans.len(), exercise.usable)),
            parallelism: Some(exercise.usable),
            ..Options::default()
        };
        Self::with_options(exercise, plans, &options)
    }

    /// Creates a contestant with several teams that run `plans`, each made with `options`.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if a team cannot be made.
    ///
    /// # Panics
    ///
    /// Those of [`new`](Self::new).
    pub fn with_options(
        exercise: Exercise,
        plans: &Plans,
        options: &Options,
    ) -> Result<Contestant, TeamError> {
        let ranks = plans.len();
        assert!(
            PLANNED.contains(&exercise.collective),
            "plans do not race in {}",
            exercise.collective
        );
        assert!(
            exercise.root < ranks,
            "root {} of {ranks} ranks",
            exercise.root
        );
        assert!(
            exercise.bytes.is_multiple_of(ELEMENT_BYTES),
            "{} bytes are no whole number of elements of {ELEMENT_BYTES}",
            exercise.bytes
        );
        let copies = teams_of(ranks, TEAMS_MAX);
        let teams = (0..copies).map(|_| Team::with_options(plans.clone(), options));
        let root = match exercise.collective {
            Collective::Broadcast => format!("from rank {}", exercise.root),
            Collective::Reduce => format!("to rank {}", exercise.root),
            _ => String::new(),
        };
        Ok(Contestant {
            setting: root,
            teams: teams.collect::<Result<_, _>>()?,
            lines: (0..copies).map(|_| SignalLines::default()).collect(),
            oversubscribed: ranks > exercise.usable,
            answerer: AtomicUsize::new(match exercise.root {
                0 => ranks - 1,
                _ => 0,
            }),
            ran: OnceLock::new(),
            exercise,
        })
    }
}
