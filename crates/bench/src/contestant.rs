//! Corecast's own operations as engines: what users call, over a plan under test.
//!
//! | operation | what is timed | what keeps operations apart |
//! | --- | --- | --- |
//! | barrier, allreduce | operations back to back | nobody is done before all have come |
//! | broadcast | root: broadcast, until the last rank has answered | the root starts when it has the answer |
//! | reduce | root: signal to all, until it has the result | the others start at the root's signal |
//!
//! A loop of bare broadcasts would time a pipeline: the root may be many operations ahead of the
//! leaves. So the rank that is last to receive answers on a line of its own, as in Smelt §5.1;
//! which rank that is shows in trials before the race. The answer's way (or the signal's) does not
//! belong to the operation: where every rank has its own PU, half of a round trip over the same two
//! lines, timed in the same batch, is taken off. Where ranks share PUs the way depends on who runs
//! when, and stays in.
//!
//! Each contestant has several teams, and takes the next one each batch, so that no plan wins or
//! loses by where its lines happened to lie: see [`crate::floor::PLACES`].

mod check;
mod lines;
mod member;

use crate::engine::{Engine, Member, Role};
use corecast_collectives::Plans;
use corecast_team::{Options, Team, TeamError};
use corecast_wire::Policy;
use lines::Lines;
use member::Own;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::AtomicUsize;

/// What a team does together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collective {
    /// Nobody leaves before everybody has entered.
    Barrier,
    /// One rank's data for everybody.
    Broadcast,
    /// Everybody's data combined, for one rank.
    Reduce,
    /// Everybody's data combined, for everybody.
    Allreduce,
}

impl Collective {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
    ];

    /// How its latency is taken, for the reader of a table.
    pub fn method(self, crowded: bool) -> &'static str {
        match (self, crowded) {
            (Self::Barrier | Self::Allreduce, _) => {
                "operations back to back: each ends when all ranks have come"
            }
            (Self::Broadcast, false) => {
                "from the root's call until the last rank has the data: it answers, and the answer's way is taken off"
            }
            (Self::Broadcast, true) => {
                "from the root's call until the answer of the last rank is back"
            }
            (Self::Reduce, false) => {
                "from the start of all ranks until the root has the result: the root signals the start, and the signal's way is taken off"
            }
            (Self::Reduce, true) => "from the root's signal to start until the root has the result",
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
        })
    }
}

/// A name that is no collective operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {0:?} is unknown: use barrier, broadcast, reduce or allreduce")]
pub struct CollectiveError(pub String);

impl FromStr for Collective {
    type Err = CollectiveError;

    fn from_str(text: &str) -> Result<Self, CollectiveError> {
        let found = Self::ALL.into_iter().find(|c| c.to_string() == text);
        found.ok_or_else(|| CollectiveError(text.to_owned()))
    }
}

/// Most teams of one contestant.
const TEAMS_MAX: usize = 8;

/// Ranks in all teams of one contestant together, unless a single team has more. Each rank has a
/// page of its own and two queues per neighbour.
const RANKS_TOGETHER: usize = 256;

/// Bytes of an element: data are unsigned numbers of 64 bits.
pub const ELEMENT_BYTES: usize = size_of::<u64>();

/// What a contestant runs, and how it appears.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// Short name, unique within a race.
    pub name: String,
    /// The operation.
    pub collective: Collective,
    /// The rank that broadcasts from or reduces to.
    pub root: usize,
    /// Bytes of data, a multiple of [`ELEMENT_BYTES`]; a barrier has none.
    pub bytes: usize,
    /// Hardware threads that the ranks share.
    pub usable: usize,
    /// The model's latency in nanoseconds, if it has one for such a team.
    pub predicted_ns: Option<f64>,
}

/// One of Corecast's plans as an entrant. Serves one race: its ranks are joined once.
#[derive(Debug)]
pub struct Contestant {
    exercise: Exercise,
    setting: String,
    teams: Vec<Team>,
    lines: Vec<Lines>,
    /// Whether ranks share hardware threads.
    crowded: bool,
    /// The rank that answers broadcasts.
    answerer: AtomicUsize,
}

impl Contestant {
    /// Teams that run `plans`.
    ///
    /// # Errors
    ///
    /// [`TeamError`].
    ///
    /// # Panics
    ///
    /// If the root is outside of the team, or the data are no whole number of elements.
    pub fn new(exercise: Exercise, plans: &Plans) -> Result<Contestant, TeamError> {
        let ranks = plans.len();
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
        let policy = Policy::for_team(ranks, exercise.usable);
        let options = Options {
            policy: Some(policy),
            parallelism: Some(exercise.usable),
            ..Options::default()
        };
        let copies = (RANKS_TOGETHER / ranks).clamp(1, TEAMS_MAX);
        let teams = (0..copies).map(|_| Team::with_options(plans.clone(), &options));
        let root = match exercise.collective {
            Collective::Broadcast => format!("from rank {}", exercise.root),
            Collective::Reduce => format!("to rank {}", exercise.root),
            Collective::Barrier | Collective::Allreduce => String::new(),
        };
        Ok(Contestant {
            setting: root,
            teams: teams.collect::<Result<_, _>>()?,
            lines: (0..copies).map(|_| Lines::default()).collect(),
            crowded: ranks > exercise.usable,
            answerer: AtomicUsize::new(match exercise.root {
                0 => ranks - 1,
                _ => 0,
            }),
            exercise,
        })
    }
}

impl Engine for Contestant {
    fn name(&self) -> &str {
        &self.exercise.name
    }

    fn setting(&self) -> String {
        self.setting.clone()
    }

    fn role(&self) -> Role {
        Role::Corecast
    }

    fn ranks(&self) -> usize {
        self.teams[0].size()
    }

    fn predicted_ns(&self) -> Option<f64> {
        self.exercise.predicted_ns
    }

    fn failure(&self) -> Option<String> {
        let failure = self.teams.iter().find_map(Team::failure);
        failure.map(|failure| failure.to_string())
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(Own::join(self, rank))
    }
}
