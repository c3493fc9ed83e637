//! The limits between lengths that have different winners.

use super::{FIRST_REPLICATES, Tuner, shares};
use crate::candidates::{Asked, CandidateSet, Proposal};
use crate::outcome::Point;
use crate::racer::RaceFailed;
use crate::ranges::{middle, ranges};
use corecast_model::Collective;

/// Sizes with a ratio of at most this need no race between them.
const NEAR: usize = 2;

impl Tuner<'_> {
    /// Races between sizes with different winners, as long as there is time.
    pub(super) fn limits(&mut self) -> Result<(), RaceFailed> {
        loop {
            let mut open = Vec::new();
            for (at, tuned) in self.tuned.iter().enumerate() {
                for pair in tuned.points.windows(2) {
                    let apart = pair[1].bytes / pair[0].bytes.max(1) > NEAR;
                    if apart && let Some(rivals) = self.rivals(tuned.operation, pair) {
                        let middle = middle(pair[0].bytes, pair[1].bytes);
                        open.push((at, middle, rivals));
                    }
                }
            }
            if open.is_empty() {
                return Ok(());
            }
            let to_come: usize = open.iter().map(|(_, bytes, _)| shares(*bytes)).sum();
            self.races.1 = self.races.0 + to_come;
            for (at, bytes, rivals) in open {
                let operation = self.tuned[at].operation;
                let usual = self.runs(operation, bytes, None);
                let mut all = vec![None];
                all.extend(
                    rivals
                        .into_iter()
                        .filter(|one| one.is_some() && *one != Some(usual)),
                );
                all.dedup();
                let proposal = |algorithm: Asked| Proposal {
                    algorithm,
                    predicted_ns: algorithm
                        .and_then(|name| self.model.predict(operation, name, &self.plans, bytes)),
                };
                let candidate_set = CandidateSet {
                    racing: all.into_iter().map(proposal).collect(),
                    left_out: Vec::new(),
                };
                let favoured = [None, rivals[0], rivals[1]];
                let Some((point, unconfirmed)) = self.point(
                    operation,
                    bytes,
                    candidate_set,
                    &favoured,
                    Some(None),
                    Some(FIRST_REPLICATES),
                )?
                else {
                    return Ok(());
                };
                self.unconfirmed_races.add(unconfirmed);
                let tuned = &mut self.tuned[at];
                let place = tuned.points.partition_point(|p| p.bytes < bytes);
                tuned.points.insert(place, point);
                tuned.ranges = ranges(&mut tuned.points);
            }
        }
    }

    /// The two choices between which the limit lies that is somewhere between two neighbouring sizes; `None` if there is none.
    /// Where both have the built-in choice its own limit may lie there, which nobody has raced.
    fn rivals(&self, operation: Collective, pair: &[Point]) -> Option<[Asked; 2]> {
        let [small, large] = [&pair[0], &pair[1]];
        let chosen = [small.algorithm(), large.algorithm()];
        if chosen[0] != chosen[1] {
            return Some(chosen);
        }
        let run = [small, large].map(|point| self.runs(operation, point.bytes, chosen[0]));
        (run[0] != run[1]).then_some(run.map(Some))
    }
}
