//! Several threads read one line at once: CLa's contention (§2.2.2, Equations 2 and 3).

use std::hint::black_box;
use std::time::Duration;

use corecast_model::deep::{Figure, State};

use super::crew::{Mate, Stop};
use super::latency::own;
use super::order::{Picker, SEED};
use super::settle::SHOTS;

/// Measures the time until the last of `readers` threads, ranks from 0 on, has a line that the last rank
/// prepared. Rank 0 gets the figure.
pub(super) fn measure(
    mate: &mut Mate<'_>,
    state: State,
    readers: usize,
    limit: Duration,
) -> Result<Option<Figure>, Stop> {
    let owner = mate.crew() - 1;
    let mut picker = Picker::new(SEED);
    mate.until_settled(SHOTS, limit, |mate| {
        let lines = picker.lines(1);
        if mate.rank == owner {
            own(mate, owner, state, &lines);
        }
        if mate.rank < readers {
            mate.touch(owner, picker.pages());
        }
        mate.start_together()?;
        if mate.rank < readers {
            mate.dither();
            let lines_of = mate.lines_of(owner);
            let start = mate.timer.now();
            black_box(lines_of.load(lines[0]));
            let end = mate.timer.now();
            mate.leave(mate.timer.ns(start, end));
        }
        mate.most_left(0..readers)
    })
}
