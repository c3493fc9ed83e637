//! Barriers: the plans of the search space race with the algorithms.

use super::Tuner;
use crate::candidates::{CandidateSet, Proposal, ask, name};
use crate::outcome::{Point, TeamRace, Tuned, raced};
use crate::racer::{Contender, Form, RaceFailed};
use crate::ranges::ranges;
use crate::sequential_test::Ended;
use corecast_model::Collective;
use corecast_plan::Operation;
use std::sync::Arc;

impl Tuner<'_> {
    /// Tunes plans and algorithms of barriers in one race.
    pub(super) fn tune_barrier(&mut self) -> Result<(), RaceFailed> {
        let candidate_set = self.barriers();
        let algorithms = candidate_set.racing.len();
        let (contenders, named) = self.contending_barriers(&candidate_set);
        let subject = self.barrier();
        let Some(test) = self.race(subject, "plans and algorithms", &contenders, vec![0], None)?
        else {
            return Ok(());
        };
        let Some(winner) = test.winner() else {
            self.notes
                .push("no barrier worked: nothing was tuned".to_owned());
            return Ok(());
        };
        let mut candidates = raced(&test, &named, Some(winner));
        self.team.push(TeamRace {
            what: "barrier".to_owned(),
            subject: subject.to_string(),
            candidates: candidates.clone(),
            winner,
        });
        let mut chosen = winner;
        if winner >= algorithms {
            self.plans = Arc::clone(&contenders[winner].form.plans);
            // A plan that won is the built-in choice from now on.
            candidates.swap(0, winner);
            chosen = 0;
        } else if let algorithm @ Some(_) = candidate_set.racing[winner].algorithm {
            ask(&mut self.base, Collective::Barrier, algorithm);
        }
        candidates.truncate(algorithms);
        let mut points = vec![Point {
            bytes: 0,
            candidates,
            algorithms: candidate_set.racing.iter().map(|p| p.algorithm).collect(),
            left_out: candidate_set.left_out,
            chosen,
            decided: test.ended() == Ended::Decided,
            mended: None,
        }];
        let ranges = ranges(&mut points);
        self.tuned.push(Tuned {
            operation: Collective::Barrier,
            points,
            ranges,
        });
        Ok(())
    }

    /// The algorithms that race; the built-in choice is first.
    fn barriers(&self) -> CandidateSet {
        let mut candidate_set = self.candidate_set(Collective::Barrier, 0);
        let has_rivals = self
            .search_space
            .rivals_of(Operation::Barrier)
            .next()
            .is_some();
        // Plans of trees and of rounds race by their own names, but rounds of two ranks run as a butterfly.
        if has_rivals {
            let is_pair = self.plans.len() == 2;
            candidate_set.racing.retain(|p| match p.algorithm {
                Some("tree") => false,
                Some("dissemination") => is_pair,
                _ => true,
            });
        }
        let first = &mut candidate_set.racing[0];
        first.predicted_ns = first.predicted_ns.or(self.search_space.barrier_ns);
        candidate_set
    }

    /// The algorithms of `candidate_set` and then the plans, with their names and predicted times.
    fn contending_barriers(
        &self,
        candidate_set: &CandidateSet,
    ) -> (Vec<Contender>, Vec<(String, Option<f64>)>) {
        let of_algorithm = |p: &Proposal| {
            let name = match p.algorithm {
                None => self.search_space.barrier.clone(),
                algorithm => name(algorithm).to_owned(),
            };
            (
                name,
                p.predicted_ns,
                self.form(Collective::Barrier, p.algorithm),
            )
        };
        let algorithms = candidate_set.racing.iter().map(of_algorithm);
        let rivals = self.search_space.rivals_of(Operation::Barrier);
        let plans = rivals.map(|rival| {
            let form = Form {
                plans: Arc::new(rival.apply(&self.plans)),
                wait_config: self.wait_config,
                algorithms: self.base,
                kernel_copies: self.kernel_copies,
            };
            (rival.name.clone(), rival.predicted_ns, form)
        });
        let all = algorithms.chain(plans);
        all.map(|(name, predicted_ns, form)| {
            let contender = Contender {
                name: name.clone(),
                form,
            };
            (contender, (name, predicted_ns))
        })
        .unzip()
    }
}
