//! The sizes of segments and groups: the chosen algorithm races against itself with other sizes.
//!
//! ```text
//! algorithms race          chain  fixed  messages  …
//! sizes, from the winner   chain  chain:16K  chain:64K          chain:64K wins
//!                          chain             chain:64K  chain:128K     and so on
//! ```
//!
//! Times of different races are from different moments, so what the sizes began from takes part in each race, and the
//! result of the last one counts, as long as the race of algorithms has the winner from which it began.

use super::{FIRST_REPLICATES, Sized, Tuner, shares};
use crate::candidates::{
    Asked, CandidateSet, HOPELESS, LeftOut, Proposal, ask, name, neighbours, runs,
};
use crate::outcome::Point;
use crate::racer::RaceFailed;
use crate::ranges::ranges;
use corecast_model::Collective;

/// Races of sizes for which time is kept at a point: one from the built-in size, and one further on.
const SIZE_RACES: usize = 2;

impl Tuner<'_> {
    /// The place of the race of sizes of an operation at a size.
    pub(super) fn sized_at(&self, operation: Collective, bytes: usize) -> Option<usize> {
        let is_it = |one: &Sized| (one.operation, one.bytes) == (operation, bytes);
        self.sized.iter().position(is_it)
    }

    /// Sets the result of an operation at a size: of the race of sizes that began from an algorithm, or of the race of
    /// algorithms. If that has another winner than the race of sizes began from, the latter counts no more.
    pub(super) fn set_point(
        &mut self,
        operation: Collective,
        sizes_of: Option<Asked>,
        point: Point,
    ) {
        let bytes = point.bytes;
        let Some((at, size)) = self.place(operation, bytes) else {
            return;
        };
        let sized = self.sized_at(operation, bytes);
        let all = match (sizes_of, sized) {
            (Some(_), Some(sized)) => {
                let sized = &mut self.sized[sized];
                let earlier = std::mem::replace(&mut sized.point, point);
                sized.point.add_earlier(earlier);
                sized.base.with_sizes(&sized.point)
            }
            (Some(_), None) => {
                let base = self.tuned[at].points[size].clone();
                let all = base.with_sizes(&point);
                self.sized.push(Sized {
                    operation,
                    bytes,
                    base,
                    point,
                });
                all
            }
            (None, Some(sized)) if self.sized[sized].base.algorithm() == point.algorithm() => {
                self.sized[sized].base = point;
                self.sized[sized].base.with_sizes(&self.sized[sized].point)
            }
            (None, sized) => {
                if let Some(sized) = sized {
                    self.sized.remove(sized);
                    self.unconfirmed_races.forget_sizes(operation, bytes);
                }
                point
            }
        };
        let tuned = &mut self.tuned[at];
        tuned.points[size] = all;
        tuned.ranges = ranges(&mut tuned.points);
        if operation == Collective::Barrier
            && let algorithm @ Some(_) = self.tuned[at].points[size].algorithm()
        {
            ask(&mut self.base, Collective::Barrier, algorithm);
        }
    }

    /// The algorithm that runs if this one is asked for.
    pub(super) fn runs(&self, operation: Collective, bytes: usize, asked: Asked) -> &'static str {
        asked.unwrap_or_else(|| {
            let setting = self.search_space.setting(&self.plans);
            runs(&setting, &self.base, operation, bytes, None)
        })
    }

    /// The algorithms of `next`, as far as the model does not predict that they take much longer than `best`.
    fn pruned(
        &self,
        operation: Collective,
        bytes: usize,
        best: Asked,
        next: Vec<Asked>,
    ) -> CandidateSet {
        let predict = |asked| {
            let algorithm = self.runs(operation, bytes, asked);
            self.model.predict(operation, algorithm, &self.plans, bytes)
        };
        let own = predict(best);
        let mut set = CandidateSet {
            racing: Vec::new(),
            left_out: Vec::new(),
        };
        for algorithm in next {
            let predicted_ns = predict(algorithm);
            match predicted_ns.zip(own).map(|(time, own)| time / own) {
                Some(times) if times > HOPELESS => set.left_out.push(LeftOut {
                    algorithm: name(algorithm),
                    predicted_ns,
                    why: format!(
                        "predicted to take {times:.2} times as long as {}",
                        name(best)
                    ),
                }),
                _ => set.racing.push(Proposal {
                    algorithm,
                    predicted_ns,
                }),
            }
        }
        set
    }

    /// Races the sizes of segments and groups of the chosen algorithms, as far as they have not raced.
    pub(super) fn sizes(&mut self) -> Result<(), RaceFailed> {
        let mut open = Vec::new();
        for tuned in &self.tuned {
            for point in &tuned.points {
                let (_, next) = self.next_sizes(tuned.operation, point);
                if !next.is_empty() {
                    open.push((tuned.operation, point.bytes));
                }
            }
        }
        for (done, &(operation, bytes)) in open.iter().enumerate() {
            let to_come = open[done..].iter().map(|&(_, bytes)| shares(bytes));
            self.races.1 = self.races.0 + SIZE_RACES * to_come.sum::<usize>();
            if self.left() <= self.kept || self.racer.interrupted() {
                break;
            }
            self.climb(operation, bytes)?;
        }
        Ok(())
    }

    /// The sizes next to that of the chosen algorithm which have not raced, and the algorithms of the race of sizes so far,
    /// the one that it began from first.
    fn next_sizes(&self, operation: Collective, point: &Point) -> (Vec<Asked>, Vec<Asked>) {
        let (bytes, chosen) = (point.bytes, point.algorithm());
        let seen = match self.sized_at(operation, bytes) {
            Some(sized) => self.sized[sized].point.algorithms.clone(),
            None => vec![chosen],
        };
        let usual = self.runs(operation, bytes, None);
        let algorithm = self.runs(operation, bytes, chosen);
        let next = neighbours(operation, algorithm, bytes, self.ranks()).into_iter();
        let next = next.map(|name| Some(name).filter(|&name| name != usual));
        let next = next.filter(|one| !seen.contains(one)).collect();
        (seen, next)
    }

    /// Races the chosen algorithm against itself with the next smaller and greater size, and goes on with the winner as
    /// long as another size wins. The algorithm that it began from takes part in each race.
    fn climb(&mut self, operation: Collective, bytes: usize) -> Result<(), RaceFailed> {
        let mut last = None;
        while let Some((at, size)) = self.place(operation, bytes) {
            let point = &self.tuned[at].points[size];
            let best = point.algorithm();
            let (seen, next) = self.next_sizes(operation, point);
            let mut set = self.pruned(operation, bytes, best, next);
            if set.racing.is_empty() || last.is_some() && self.left() <= self.kept {
                break;
            }
            let known = |&algorithm: &Asked| Proposal {
                algorithm,
                predicted_ns: None,
            };
            let before = [seen[0], best];
            let before = before[..1 + usize::from(best != seen[0])].iter().map(known);
            set.racing = before.chain(set.racing).collect();
            let first = Some(FIRST_REPLICATES);
            let race = self.point(operation, bytes, set, &[None, seen[0]], None, first)?;
            let Some((point, mut unconfirmed)) = race else {
                break;
            };
            self.unconfirmed_races.forget_sizes(operation, bytes);
            unconfirmed.sizes_of = Some(seen[0]);
            last = Some(unconfirmed);
            self.set_point(operation, Some(seen[0]), point);
        }
        if let Some(unconfirmed) = last {
            self.unconfirmed_races.add(unconfirmed);
        }
        Ok(())
    }
}
