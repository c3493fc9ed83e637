//! A team that is to be tuned: its threads, its search space, and a model of it.

use anyhow::{Context, Result, bail};
use corecast::process::CMA;
use corecast::{Builder, Planned};
use corecast_bench::cpu_placement::{CpuPlacement, free};
use corecast_tune::planned;
use corecast_tune::predict::{Predict, Simulated, Unknown};
use corecast_tune::search_space::SearchSpace;
use std::rc::Rc;

use super::args::TuneArgs;
use crate::models::simulated;
use crate::source::Source;
use corecast_model::CostBasis;

/// The most ranks, each of which is a thread.
const RANKS_MAX: usize = 256;

/// A team that is to be tuned.
pub(super) struct Course {
    pub(super) planned: Planned,
    pub(super) placements: Vec<CpuPlacement>,
    pub(super) pinned: bool,
    pub(super) search_space: SearchSpace,
    pub(super) model: Rc<dyn Predict>,
    /// Why there is no model.
    pub(super) note: Option<String>,
}

/// The simulated machines of one source, by the places of the ranks: courses in the same places share what was simulated.
#[derive(Default)]
pub(super) struct Models(Vec<(Place, Rc<Simulated>)>);

/// The threads of the ranks, and whether they are pinned, and shared.
type Place = (Vec<u32>, bool, bool);

impl Models {
    /// The model of a team in this place, or why there is none.
    fn of(&mut self, source: &Source, place: Place) -> Result<Rc<Simulated>, String> {
        if let Some((_, model)) = self.0.iter().find(|(known, _)| *known == place) {
            return Ok(Rc::clone(model));
        }
        let (threads, pinned, shared) = &place;
        let model = simulated(&source.file, source.costs, (threads, *pinned, *shared))?;
        let model = Rc::new(model);
        self.0.push((place, Rc::clone(&model)));
        Ok(model)
    }
}

/// The team of the given number of ranks, or of one for each thread. `models` are those of the source.
///
/// # Errors
///
/// The team cannot be made here, or has nothing to tune.
pub(super) fn course(
    source: &Source,
    models: &mut Models,
    args: &TuneArgs,
    ranks: Option<usize>,
) -> Result<Course> {
    let partial = !args.op.is_empty() && args.op != ["all"];
    // A whole tuning ignores the results of earlier races; a partial one keeps them for the other operations, and a check is
    // about them.
    let mut builder = match partial || args.check_only {
        true => Builder::new(),
        false => Builder::new().machine(source.file.clone()),
    };
    if let Some(list) = &args.threads {
        builder = builder.cores(list);
    }
    if let Some(ranks) = ranks {
        if !(2..=RANKS_MAX).contains(&ranks) {
            bail!("--ranks {ranks}: teams of 2 to {RANKS_MAX} can be tuned");
        }
        builder = builder.threads(ranks);
    }
    if args.unpinned || args.pinned {
        builder = builder.pin(args.pinned);
    }
    let planned = match &args.threads {
        Some(list) => builder
            .planned()
            .with_context(|| format!("--threads {list:?}"))?,
        None => builder.planned()?,
    };
    let n = planned.rank_pus.len();
    if n < 2 {
        if let Some(list) = &args.threads {
            bail!("--threads {list:?}: a team of one has nothing to tune, name two");
        }
        bail!(
            "a team of one has nothing to tune, and this process may use PU {} alone: --ranks 2 lets two share it",
            planned.rank_pus[0]
        );
    }
    let pinned = planned.pinned;
    let placements = match pinned {
        true => planned
            .rank_pus
            .iter()
            .map(|&pu| CpuPlacement::Pu(pu))
            .collect(),
        false => free(n),
    };
    let known = source.costs == CostBasis::Measured;
    let place = (
        planned.rank_pus.clone(),
        pinned,
        planned.options.is_oversubscribed(n),
    );
    let (model, note): (Rc<dyn Predict>, _) = match models.of(source, place) {
        Ok(model) => (model, None),
        Err(why) => {
            let note = format!("no predictions, so all algorithms race: {why}");
            (Rc::new(Unknown), Some(note))
        }
    };
    let mut search_space = planned::search_space(&planned, known);
    if partial || args.check_only {
        search_space.algorithms.barrier = planned.options.algorithms.barrier;
    }
    if partial || args.processes {
        search_space.wait_configs.clear();
    }
    if args.processes {
        search_space.processes = true;
        search_space.transfer_paths = std::env::var_os(CMA).is_none();
        search_space.rivals.clear();
    }
    Ok(Course {
        search_space,
        planned,
        placements,
        pinned,
        model,
        note,
    })
}
