//! A team on its machine, as the models see it.

use corecast_model::{CostModel, MachineFile, Place};
use corecast_sim::measured::MeasuredMachine;

/// The most ranks of a team that is modelled: simulations and bounds take time by the square of the ranks.
pub const RANKS_MAX: usize = 64;

/// A team whose ranks each have a hardware thread of their own.
#[derive(Debug)]
pub struct Modelled {
    /// Costs of messages that come one after the other.
    pub costs: CostModel,
    /// The simulated machine; `None` where messages that come alone were not measured.
    pub measured: Option<MeasuredMachine>,
}

impl Modelled {
    /// The model of ranks on `threads`, each on its own; `None` where there is one rank or more than [`RANKS_MAX`], or
    /// a thread has no costs.
    ///
    /// # Errors
    ///
    /// A message that says why this machine cannot be simulated.
    ///
    /// # Cost
    ///
    /// Some milliseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_tune::modelled::Modelled;
    ///
    /// let file = corecast_model::synthetic("core:4").unwrap();
    /// let team = Modelled::new(&file, &[0, 2])?.expect("two threads with costs");
    /// assert_eq!(team.costs.n(), 2);
    /// // Nobody has measured messages on a made-up machine.
    /// assert!(team.measured.is_none());
    /// # Ok::<(), String>(())
    /// ```
    pub fn new(file: &MachineFile, threads: &[u32]) -> Result<Option<Self>, String> {
        let at = threads.iter().map(|&thread| file.position(thread));
        let at: Option<Vec<usize>> = at.collect();
        let place = |&thread: &u32| file.machine().pu(thread).map(Place::from);
        let places: Option<Vec<Place>> = threads.iter().map(place).collect();
        let (Some(at), Some(places)) = (at, places) else {
            return Ok(None);
        };
        if !(2..=RANKS_MAX).contains(&at.len()) {
            return Ok(None);
        }
        let costs = file.costs().subset(&at).map_err(|e| format!("team: {e}"))?;
        let costs = costs.without_lines().into_owned();
        let name = &file.machine().name;
        let measured = file.messages().map(|messages| {
            let messages = messages.subset(&at);
            MeasuredMachine::new(name, &costs, &messages, places).map_err(|e| e.to_string())
        });
        let measured = measured.transpose()?;
        Ok(Some(Self { costs, measured }))
    }
}

#[cfg(test)]
mod tests {
    use crate::candidates::runs;
    use corecast_collectives::preferences::TeamOutline;
    use corecast_collectives::{Algorithms, Plans};
    use corecast_model::Collective;
    use corecast_plan::Pattern;
    use corecast_sim::drive::usual;

    #[test]
    fn what_is_simulated_is_what_a_team_runs() {
        for n in [2, 3, 4, 8, 17, 64] {
            let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
            for pattern in [
                Pattern::Smelt,
                Pattern::Sequential,
                Pattern::Dissemination { radix: 2 },
            ] {
                let plans = Plans::of_pattern(machine.costs(), pattern, None).unwrap();
                for collective in Collective::WITH_ALGORITHMS {
                    let setting = TeamOutline::new(&plans);
                    for bytes in (0..24).map(|log| 1 << log) {
                        let base = Algorithms::default();
                        let real = runs(&setting, &base, collective, bytes, None);
                        let simulated = usual(collective, &plans, bytes);
                        let what = format!("{collective} of {bytes} on {n}: {real}, {simulated}");
                        assert!(
                            corecast_sim::drive::algorithms(collective).contains(&simulated),
                            "{what}"
                        );
                        match real {
                            "line" => assert_eq!(simulated, "whole", "{what}"),
                            _ => assert_eq!(real, simulated, "{what}"),
                        }
                    }
                }
            }
        }
    }
}
