//! The first races of all operations with data.
//!
//! ```text
//! turn 1   broadcast 8, 4K, 256K   reduce 8, 4K, 256K   allreduce …
//! turn 2   broadcast 64, 512, 16K … reduce 64, 512, 16K …
//! ```
//!
//! So each operation has races where there is not enough time for all sizes, as on a busy machine.

use super::{FIRST_REPLICATES, Tuner, shares};
use crate::outcome::{Point, Tuned};
use crate::racer::RaceFailed;
use crate::ranges::ranges;
use corecast_model::Collective;

/// In the first turn operations race at every so many sizes.
const SIZES_APART: usize = 3;

impl Tuner<'_> {
    /// Races every operation with data at every size.
    pub(super) fn operations(&mut self) -> Result<(), RaceFailed> {
        let operations = self.request.operations.iter().copied();
        let operations: Vec<_> = operations.filter(|&o| o != Collective::Barrier).collect();
        let sizes = self.request.sizes.iter().copied().enumerate();
        let (first, later): (Vec<_>, Vec<_>) = sizes.partition(|(at, _)| at % SIZES_APART == 0);
        for &operation in &operations {
            self.tuned.push(Tuned {
                operation,
                points: Vec::new(),
                ranges: Vec::new(),
            });
            for &(_, bytes) in &first {
                self.operation(operation, bytes)?;
            }
            if self.racer.interrupted() {
                // An operation without races at all of these sizes is not kept.
                self.tuned.pop();
                return Ok(());
            }
        }
        for &operation in &operations {
            for &(_, bytes) in &later {
                self.operation(operation, bytes)?;
            }
            let most = self.racer.bytes_max(operation);
            if self.request.sizes.iter().any(|&bytes| bytes > most) {
                self.notes.push(format!(
                    "{operation} was not raced with more than {most} bytes, whose buffers would take too much memory"
                ));
            }
        }
        Ok(())
    }

    /// Races an operation at a size, if its buffers have room and there is time.
    fn operation(&mut self, operation: Collective, bytes: usize) -> Result<(), RaceFailed> {
        if bytes > self.racer.bytes_max(operation) {
            self.races.1 -= shares(bytes);
            return Ok(());
        }
        // Before the model is asked who races, which takes time.
        if self.left().is_zero() || self.racer.interrupted() {
            return Ok(());
        }
        let of = self.tuned.iter().position(|t| t.operation == operation);
        let at = of.expect("pushed before its first race");
        let points = &self.tuned[at].points;
        let place = points.partition_point(|point| point.bytes < bytes);
        let smaller = place.checked_sub(1).map(|smaller| &points[smaller]);
        let favoured = [None, smaller.and_then(Point::algorithm)];
        let set = self.candidate_set(operation, bytes);
        let first = Some(FIRST_REPLICATES);
        let race = self.point(operation, bytes, set, &favoured, Some(None), first)?;
        if let Some((point, unconfirmed)) = race {
            let tuned = &mut self.tuned[at];
            tuned.points.insert(place, point);
            tuned.ranges = ranges(&mut tuned.points);
            self.unconfirmed_races.add(unconfirmed);
        }
        Ok(())
    }
}
