//! The collectives in which plans race.

use corecast_model::Collective;

/// The collectives that run over a plan, so that plans can race in them: an allreduce over those of a reduction and of a
/// broadcast.
pub const PLANNED: [Collective; 4] = [
    Collective::Barrier,
    Collective::Broadcast,
    Collective::Reduce,
    Collective::Allreduce,
];

/// How the latency of one of [`PLANNED`] is measured, as a phrase for the reader of a table.
pub fn method(collective: Collective, oversubscribed: bool) -> &'static str {
    match (collective, oversubscribed) {
        (Collective::Broadcast, false) => {
            "from the root's call until the last rank has the data: it answers, and the answer's way is taken off"
        }
        (Collective::Broadcast, true) => {
            "from the root's call until the answer of the last rank is back"
        }
        (Collective::Reduce, false) => {
            "from the start of all ranks until the root has the result: the root signals the start, and the signal's way is taken off"
        }
        (Collective::Reduce, true) => {
            "from the root's signal to start until the root has the result"
        }
        _ => "operations back to back: each ends when all ranks have come",
    }
}

/// Bytes of an element: data are unsigned numbers of 64 bits.
pub const ELEMENT_BYTES: usize = size_of::<u64>();
