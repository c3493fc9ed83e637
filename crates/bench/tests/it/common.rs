//! Entrants, plans and settings that several tests share.

use corecast_bench::apps::{Means, Provider, Teams};
use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::{Engine, Member, Settings};
use corecast_collectives::Plans;
use corecast_plan::Pattern;
use corecast_team::Options;
use corecast_wire::WaitConfig;

/// Settings of two rounds, for tests that do not look at times.
pub(crate) fn shortest() -> Settings {
    Settings {
        rounds_min: 2,
        rounds_max: 2,
        warm_up_rounds: 0,
        ..Settings::quick()
    }
}

/// Placements on the allowed PUs, or free ones where the system names none.
pub(crate) fn placements(ranks: usize) -> Vec<CpuPlacement> {
    let pus = cpu_placement::allowed_pus();
    match pus.is_empty() {
        true => cpu_placement::free(ranks),
        false => cpu_placement::pinned(ranks, &pus),
    }
}

/// Plans for a machine of as many equal cores as ranks.
pub(crate) fn plans(ranks: usize, pattern: Pattern, root: Option<usize>) -> Plans {
    let machine = corecast_model::synthetic(&format!("core:{ranks}")).unwrap();
    Plans::of_pattern(machine.costs(), pattern, root).unwrap()
}

/// A team of Corecast whose ranks wait as on an oversubscribed machine.
pub(crate) fn own(ranks: usize, means: Means) -> Box<dyn Provider> {
    let plans = plans(ranks, Pattern::Smelt, None);
    let options = Options {
        wait_config: Some(WaitConfig::OVERSUBSCRIBED),
        ..Options::default()
    };
    Box::new(Teams::new("corecast", means, &plans, &options).unwrap())
}

/// A barrier of the given number of ranks that does not wait.
pub(crate) struct Open(pub(crate) usize);

impl Engine for Open {
    fn name(&self) -> &str {
        "open"
    }
    fn ranks(&self) -> usize {
        self.0
    }
    fn member<'a>(&'a self, _rank: usize) -> Box<dyn Member + 'a> {
        Box::new(|_| {})
    }
}
