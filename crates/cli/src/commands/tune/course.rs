//! A team that is to be tuned: its threads, its search space, and a model of it.

use anyhow::{Context, Result, bail};
use corecast::process::CMA;
use corecast::{Builder, Planned};
use corecast_bench::cpu_placement::{CpuPlacement, allowed_pus, free};
use corecast_tune::planned;
use corecast_tune::predict::{Predict, Unknown};
use corecast_tune::search_space::SearchSpace;

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
    pub(super) usable: usize,
    pub(super) search_space: SearchSpace,
    pub(super) model: Box<dyn Predict>,
    /// Why there is no model.
    pub(super) note: Option<String>,
}

/// The team of the given number of ranks, or of one for each thread.
///
/// # Errors
///
/// The team cannot be made here, or has nothing to tune.
pub(super) fn course(source: &Source, args: &TuneArgs, ranks: Option<usize>) -> Result<Course> {
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
    let usable = match allowed_pus().len() {
        0 => source.file.threads().len(),
        allowed => allowed,
    };
    let sharing = n.div_ceil(usable.max(1));
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
    let place = (&planned.rank_pus[..], pinned, sharing > 1);
    let (model, note): (Box<dyn Predict>, _) = match simulated(&source.file, source.costs, place) {
        Ok(model) => (Box::new(model), None),
        Err(why) => {
            let note = format!("no predictions, so all algorithms race: {why}");
            (Box::new(Unknown), Some(note))
        }
    };
    let mut search_space = planned::search_space(&planned, sharing, known);
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
        usable,
        model,
        note,
    })
}
