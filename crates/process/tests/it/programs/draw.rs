//! Programs: the operations that all ranks of a team run.

use super::element::{Element, Fold};
use super::spec::Spec;
use super::{lengths, mixed};
use corecast_model::Collective;
use corecast_team::Synchrony;

/// All collectives, in the order in which programs draw them.
pub(super) const DRAWN: [Collective; 16] = [
    Collective::Barrier,
    Collective::Broadcast,
    Collective::Reduce,
    Collective::Allreduce,
    Collective::Scatter,
    Collective::Scatterv,
    Collective::Gather,
    Collective::Gatherv,
    Collective::Allgather,
    Collective::Allgatherv,
    Collective::Alltoall,
    Collective::Alltoallv,
    Collective::ReduceScatter,
    Collective::ReduceScatterv,
    Collective::Scan,
    Collective::Exscan,
];

pub(super) fn combines(what: Collective) -> bool {
    matches!(
        what.algorithms_of(),
        Collective::Reduce | Collective::Allreduce | Collective::ReduceScatter | Collective::Scan
    )
}

/// Whether each rank has a part of the data that are moved, or combined.
pub(super) fn has_parts(what: Collective) -> bool {
    match what {
        Collective::ReduceScatterv => true,
        Collective::Barrier | Collective::Broadcast => false,
        _ => !combines(what),
    }
}

/// Runs a body with the element type of a step.
macro_rules! typed {
    ($of:expr, $type:ident => $body:expr) => {
        match $of {
            Of::U8 => typed!(@ u8, $type => $body),
            Of::U64 => typed!(@ u64, $type => $body),
            Of::Odd => typed!(@ [u8; 3], $type => $body),
            Of::Long => typed!(@ [u8; 1024], $type => $body),
        }
    };
    (@ $is:ty, $type:ident => $body:expr) => {{
        type $type = $is;
        $body
    }};
}
pub(super) use typed;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    U8,
    U64,
    Odd,
    Long,
}

const OFS: [Of; 4] = [Of::U8, Of::U64, Of::Odd, Of::Long];

/// One operation of all ranks.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(super) number: usize,
    pub(super) what: Collective,
    pub(super) of: Of,
    pub(super) fold: Fold,
    pub(super) root: usize,
    /// Number of elements of the array, or of each part where ranks have parts.
    pub(super) len: usize,
    pub(super) sync: Synchrony,
    /// The seed of the values.
    pub(super) seed: u64,
}

impl Step {
    fn draw(rng: &mut fastrand::Rng, spec: &Spec, number: usize) -> Self {
        let what = DRAWN[rng.usize(..DRAWN.len())];
        let of = OFS[rng.usize(..OFS.len())];
        let (folds, element_size) = typed!(of, T => (T::FOLDS, size_of::<T>()));
        let fold = folds[rng.usize(..folds.len())];
        let syncs: Vec<Synchrony> = Synchrony::all().collect();
        let sync = match rng.u32(..3) {
            0 => syncs[rng.usize(..syncs.len())],
            _ => Synchrony::LOOSE,
        };
        Self {
            number,
            what,
            of,
            fold,
            root: rng.usize(..spec.n),
            len: lengths::draw(rng, element_size, spec.n, spec.message_bytes()),
            sync,
            seed: rng.u64(..),
        }
    }

    /// Number of elements that `from` gives `to` where counts differ: from none to twice `len`.
    pub(super) fn count(&self, from: usize, to: usize) -> usize {
        let word = mixed(&[self.seed, from as u64, to as u64, 77]);
        match word % 4 {
            0 => 0,
            1 => self.len,
            _ => (word >> 8) as usize % (2 * self.len + 1),
        }
    }
}

/// One or several operations.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Blocking(Step),
    InFlight(Vec<Step>),
}

/// The operations that all ranks of a team run.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) seed: u64,
    pub(crate) pieces: Vec<Piece>,
}

impl Program {
    /// A program of `steps` operations for a team of this kind.
    pub(crate) fn draw(seed: u64, spec: &Spec, steps: usize) -> Self {
        Self::draw_from(seed, spec, steps, 0)
    }

    /// A program of `steps` operations, after `first` operations of other programs.
    pub(crate) fn draw_from(seed: u64, spec: &Spec, steps: usize, first: usize) -> Self {
        let mut rng = fastrand::Rng::with_seed(mixed(&[seed, 1]));
        let (mut pieces, mut number) = (Vec::new(), first);
        while number < first + steps {
            let mut step = || {
                number += 1;
                Step::draw(&mut rng, spec, number)
            };
            let first = step();
            match first.seed % 3 {
                0 => {
                    let more = first.seed / 3 % 7;
                    let rest = (0..more).map(|_| step());
                    pieces.push(Piece::InFlight(
                        std::iter::once(first).chain(rest).collect(),
                    ));
                }
                _ => pieces.push(Piece::Blocking(first)),
            }
        }
        Self { seed, pieces }
    }
}
