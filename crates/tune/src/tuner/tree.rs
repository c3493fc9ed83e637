//! The trees of broadcasts and of reductions: those of the search space race with one element.

use super::Tuner;
use crate::candidates::ask;
use crate::outcome::{TeamRace, raced};
use crate::racer::{Contender, Form, RaceFailed};
use corecast_bench::sized::ELEMENT_BYTES;
use corecast_model::Collective;
use corecast_plan::Operation;
use std::sync::Arc;

impl Tuner<'_> {
    /// Tunes the tree of broadcasts or of reductions.
    pub(super) fn tune_tree(&mut self, planned: Operation) -> Result<(), RaceFailed> {
        let operation = Collective::from(planned);
        let rivals: Vec<_> = self.search_space.rivals_of(planned).collect();
        // The algorithm `messages` uses the tree, whatever the team would choose.
        let mut algorithms = self.base;
        ask(&mut algorithms, operation, Some("messages"));
        let form = |plans| Form {
            plans: Arc::new(plans),
            wait_config: self.wait_config,
            algorithms,
            kernel_copies: self.kernel_copies,
        };
        let (own, own_ns) = self.search_space.own(planned);
        let mut named = vec![(own.to_owned(), own_ns)];
        let mut contenders = vec![Contender {
            name: own.to_owned(),
            form: form((*self.plans).clone()),
        }];
        for rival in rivals {
            named.push((rival.name.clone(), rival.predicted_ns));
            contenders.push(Contender {
                name: rival.name.clone(),
                form: form(rival.apply(&self.plans)),
            });
        }
        let subject = self.task(operation, ELEMENT_BYTES);
        let Some(test) = self.race(subject, "trees", &contenders, vec![0], None)? else {
            return Ok(());
        };
        if let Some(winner) = test.winner() {
            self.plans = Arc::clone(&contenders[winner].form.plans);
            self.team.push(TeamRace {
                what: format!("{operation} tree"),
                subject: subject.to_string(),
                candidates: raced(&test, &named, Some(winner)),
                winner,
            });
        }
        Ok(())
    }
}
