//! T_min <= simulated <= T_max for all algorithms of all collectives on machines of parts.
//!
//! `cargo test --release -p corecast-sim bounds:: -- --ignored --nocapture` writes the table of
//! docs/simulator.md.

use corecast_collectives::Plans;
use corecast_model::CostModel;
use corecast_plan::Pattern;
use corecast_plan::groups::Grouped;
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::fabric::{CallSetting, predict};
use corecast_sim::machine::{SimMachine, known, pairs};
use corecast_sim::symbolic::{OnParts, record_job};

/// A call, with T_min as a part of its simulated time, and that as a part of T_max.
struct Row {
    what: String,
    least: f64,
    /// `None` where T_max is infinite.
    most: Option<f64>,
}

/// Sums of virtual times are whole thousandths, those of bounds are not.
const ROUNDING: f64 = 0.01;

/// Where a machine spreads lines over all homes, those of a call have other homes than those that were measured.
fn tolerance(machine: &SimMachine) -> f64 {
    if machine.hashed { 0.02 } else { 0.0 }
}

/// Every `stride`-th core, so that all packages have the same number of ranks.
fn spread(machine: &SimMachine, ranks: usize) -> Vec<usize> {
    let packages = (0..machine.cores.len()).map(|core| machine.package(core));
    let stride = match packages.max() {
        Some(0) | None => 1,
        Some(_) => machine.cores.len() / ranks,
    };
    (0..ranks).map(|rank| rank * stride).collect()
}

fn plans(machine: &SimMachine, cores: &[usize]) -> Plans {
    let n = cores.len();
    let any = CostModel::from_fn(
        corecast_model::Unit::Cycles,
        vec![0; n],
        |_, _| 1.0,
        |_, _| 1.0,
    );
    let plans = Plans::of_pattern(&any.unwrap(), Pattern::Binomial, Some(0)).unwrap();
    let packages = cores.iter().map(|&core| machine.package(core)).collect();
    let plans = plans.with_packages(packages).unwrap();
    plans.with_broadcast_groups(Grouped::flat(n, 0)).unwrap()
}

/// Runs all calls with blocks of these sizes, and fails if one is not between its bounds.
fn between(machine: &SimMachine, ranks: usize, sizes: &[usize], setting: &CallSetting) -> Vec<Row> {
    let cores = spread(machine, ranks);
    let plans = plans(machine, &cores);
    let mut bounds = OnParts::new(machine, &cores);
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for &size in sizes {
        for collective in Collective::WITH_ALGORITHMS {
            if collective == Collective::Barrier && size != sizes[0] {
                continue;
            }
            for algorithm in corecast_sim::drive::algorithms(collective) {
                let bytes = size * collective.blocks(ranks);
                let call = Call::new(collective, algorithm, 0, bytes).unwrap();
                // Some algorithms need a power of two of ranks.
                let Ok(job) = Job::new(&call, &plans) else {
                    continue;
                };
                let bounds = bounds.bounds(&record_job(&job).unwrap()).unwrap();
                let found = predict(machine, &cores, &job, setting).unwrap().latency;
                let what = format!("{} on {ranks} ranks of {}", job.call(), machine.name);
                let near = ROUNDING + tolerance(machine) * found;
                if bounds.t_min > found + near || found > bounds.t_max + near {
                    wrong.push(format!("{what}: {found} is not in {bounds:?}"));
                }
                rows.push(Row {
                    what,
                    least: bounds.t_min / found,
                    most: bounds.t_max.is_finite().then(|| found / bounds.t_max),
                });
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    rows
}

/// Least, median and greatest.
fn range(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [0, values.len() / 2, values.len() - 1].map(|place| values[place])
}

#[test]
fn calls_take_between_t_min_and_t_max() {
    let setting = CallSetting::default();
    for (machine, ranks, sizes) in [
        (known::mesh(4, 2), 8, &[8, 300][..]),
        (known::mesh(4, 2), 3, &[8, 4096, 65536]),
        (known::tilepro64(), 5, &[8, 4096]),
        (known::tilepro64(), 2, &[8, 65536]),
        (known::named("xeon-e5-2660").unwrap(), 3, &[8, 300, 65536]),
        (known::named("xeon-phi-5110p").unwrap(), 5, &[8, 4096]),
        (known::bus(4), 4, &[8, 4096]),
    ] {
        let rows = between(&machine, ranks, sizes, &setting);
        let [_, least, _] = range(rows.iter().map(|row| row.least));
        let [_, most, _] = range(rows.iter().filter_map(|row| row.most));
        let what = &rows[0].what;
        // The bounds are close enough to be of use.
        assert!(least > 0.45 && most > 0.3, "{what}: {least:.2}, {most:.2}");
    }
}

/// Machines of which pairwise costs are known are simulated as parts too.
#[test]
fn calls_take_between_the_bounds_on_pairwise_costs() {
    let file = corecast_model::builtin("sandybridge-2x8").unwrap();
    let costs = file.costs().without_lines();
    let machine = pairs::machine("sandybridge-2x8", &costs);
    between(&machine, 4, &[8, 4096], &CallSetting::default());
}

/// After many calls queues have wrapped around, and acknowledgements fall anywhere.
#[test]
fn bounds_hold_after_many_calls() {
    let setting = CallSetting {
        warm_up: 37,
        ..CallSetting::default()
    };
    between(&known::mesh(2, 2), 4, &[8, 4096], &setting);
}

/// Prints the table of docs/simulator.md. It takes some minutes without optimisation.
#[test]
#[ignore = "long: .ci/run has it optimised"]
fn calls_take_between_the_bounds_on_all_machines() {
    println!("| machine | calls | T_min / simulated | simulated / T_max |");
    let names = [
        "xeon-e5-2660",
        "xeon-phi-5110p",
        "tilepro64",
        "xeon-e5-2650",
        "mesh:4x2",
        "packages:2x4",
        "ring:8",
        "bus:8",
    ];
    for name in names {
        let machine = known::named(name).unwrap();
        let (teams, sizes) = ([3, 8], [8, 300, 4096, 65536]);
        let mut rows = Vec::new();
        for ranks in teams {
            rows.extend(between(&machine, ranks, &sizes, &CallSetting::default()));
        }
        let text = |[least, median, most]: [f64; 3]| {
            format!("{least:.2} to {most:.2}, median {median:.2}")
        };
        let (least, most) = (
            rows.iter().map(|row| row.least),
            rows.iter().filter_map(|row| row.most),
        );
        println!(
            "| `{name}` | {} | {} | {} |",
            rows.len(),
            text(range(least)),
            text(range(most))
        );
    }
}
