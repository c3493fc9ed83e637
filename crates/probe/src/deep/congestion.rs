//! Several pairs of threads move lines of their own at once: CLa's congestion (§2.2.2).

use std::time::Duration;

use corecast_model::deep::{Figure, State};

use super::crew::{Mate, Stop};
use super::latency::{own, read};
use super::order::{Picker, SEED};
use super::settle::CHAINS;

/// Lines of a batch.
const LINES: usize = 64;

/// Measures the time for one line of the slowest of the first `active` readers, when all read lines
/// of their owners at once. `pairs` are the ranks of readers and owners. Rank 0 gets the figure.
pub(super) fn measure(
    mate: &mut Mate<'_>,
    pairs: &[(usize, usize)],
    active: usize,
    limit: Duration,
) -> Result<Option<Figure>, Stop> {
    let active = &pairs[..active];
    let mut picker = Picker::new(SEED);
    mate.until_settled(CHAINS, limit, |mate| {
        let lines = picker.lines(LINES);
        if active.iter().any(|&(_, owner)| owner == mate.rank) {
            own(mate, mate.rank, State::Modified, &lines);
        }
        let mine = active.iter().find(|&&(reader, _)| reader == mate.rank);
        mate.meet()?;
        if let Some(&(_, owner)) = mine {
            mate.touch(owner, picker.pages());
        }
        mate.start_together()?;
        if let Some(&(_, owner)) = mine {
            mate.dither();
            mate.leave(read(mate, owner, &lines, 1));
        }
        mate.most_left(active.iter().map(|&(reader, _)| reader))
    })
}
