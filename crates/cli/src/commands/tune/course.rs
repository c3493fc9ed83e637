//! A team that is to be tuned: its threads, what it can be made of, and a model of it.

use anyhow::{Result, bail};
use corecast::{Builder, Planned};
use corecast_bench::seat::{Seat, allowed_pus, free};
use corecast_tune::menu::Menu;
use corecast_tune::planned;
use corecast_tune::predict::{Predict, Simulated, Unknown};

use super::args::TuneArgs;
use crate::source::Source;
use corecast_model::CostBasis;

/// Most ranks: a thread for each is started.
const RANKS_MAX: usize = 256;

/// A team that is to be tuned.
pub(super) struct Course {
    pub(super) planned: Planned,
    pub(super) seats: Vec<Seat>,
    pub(super) pinned: bool,
    pub(super) usable: usize,
    pub(super) menu: Menu,
    pub(super) model: Box<dyn Predict>,
    /// Why there is no model.
    pub(super) note: Option<String>,
}

/// The team of the given number of ranks, or of one for each thread.
///
/// # Errors
///
/// A team that cannot be had here, or that has nothing to tune.
pub(super) fn course(source: &Source, args: &TuneArgs, ranks: Option<usize>) -> Result<Course> {
    let partial = !args.op.is_empty() && args.op != ["all"];
    // What races decided before is on trial; where only some operations are tuned the others keep it.
    let mut builder = match partial {
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
    let planned = builder.planned()?;
    let n = planned.seats.len();
    if n < 2 {
        bail!(
            "a team of one has nothing to tune, and this process may use PU {} alone: --ranks 2 lets two share it",
            planned.seats[0]
        );
    }
    let usable = match allowed_pus().len() {
        0 => source.file.threads().len(),
        allowed => allowed,
    };
    let crowded = n > usable;
    let pinned = planned.pinned;
    let seats = match pinned {
        true => planned.seats.iter().map(|&pu| Seat::Pu(pu)).collect(),
        false => free(n),
    };
    let known = source.costs == CostBasis::Measured;
    let simulated = match (crowded, pinned, known) {
        (true, ..) => Err("ranks share hardware threads, of which no model knows".to_owned()),
        (_, false, _) => Err("threads that are not pinned have no place in a model".to_owned()),
        (.., false) => Err("nothing was measured here yet, see corecast probe".to_owned()),
        _ => Simulated::new(&source.file, &planned.seats),
    };
    let (model, note): (Box<dyn Predict>, _) = match simulated {
        Ok(model) => (Box::new(model), None),
        Err(why) => {
            let note = format!("no predictions, so all algorithms race: {why}");
            (Box::new(Unknown), Some(note))
        }
    };
    let mut menu = planned::menu(&planned, crowded, known);
    if partial {
        menu.algorithms.barrier = planned.options.algorithms.barrier;
    }
    if partial || args.processes {
        menu.policies.clear();
    }
    if args.processes {
        menu.processes = true;
        menu.rivals.clear();
    }
    Ok(Course {
        menu,
        planned,
        seats,
        pinned,
        usable,
        model,
        note,
    })
}
