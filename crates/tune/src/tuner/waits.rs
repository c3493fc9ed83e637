//! How members wait: the ways of the search space race with a barrier.

use super::Tuner;
use crate::outcome::{TeamRace, raced};
use crate::racer::{Contender, RaceFailed};
use corecast_model::Collective;

impl Tuner<'_> {
    /// Tunes how members wait.
    pub(super) fn tune_waits(&mut self) -> Result<(), RaceFailed> {
        let mut named = vec![(self.search_space.waits.clone(), None)];
        let mut contenders = vec![Contender {
            name: self.search_space.waits.clone(),
            form: self.form(Collective::Barrier, None),
        }];
        for (name, wait_config) in &self.search_space.wait_configs {
            let mut form = self.form(Collective::Barrier, None);
            form.wait_config = Some(*wait_config);
            named.push((name.clone(), None));
            contenders.push(Contender {
                name: name.clone(),
                form,
            });
        }
        let subject = self.barrier();
        let Some(test) = self.race(subject, "waits", &contenders, vec![0], None)? else {
            return Ok(());
        };
        if let Some(winner) = test.winner() {
            self.wait_config = contenders[winner].form.wait_config;
            self.team.push(TeamRace {
                what: "waits".to_owned(),
                subject: subject.to_string(),
                candidates: raced(&test, &named, Some(winner)),
                winner,
            });
        }
        Ok(())
    }
}
