//! Broadcasts over trees on the machines that the authors of Smelt measured, beside simulations that know only the
//! pairwise costs of those machines.

use crate::document::{Content, percent, table};
use corecast_collectives::Plans;
use corecast_model::{CostModel, MachineFile};
use corecast_plan::Pattern;
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::engine::{Cpu, RunOptions, run};
use corecast_sim::fabric::{CallSetting, SimFabric, SimTeam, predict};
use corecast_sim::machine::{SimMachine, pairs};
use corecast_wire::Fabric;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A machine of the database: its costs, and the times that were measured on it.
pub struct MeasuredTrees {
    /// The name of the machine.
    pub name: String,
    /// The pairwise costs of its threads.
    pub costs: CostModel,
    /// Cycles of a broadcast over each tree, by the names of the campaign.
    times: serde_json::Value,
}

impl MeasuredTrees {
    /// The measured cycles of a broadcast over a tree.
    pub fn time(&self, name: &str) -> f64 {
        self.times[name].as_f64().expect("a time for each name")
    }
}

/// All machines of the database, if there is a copy of it beside this checkout.
pub fn machines() -> Option<Vec<MeasuredTrees>> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/machinedb");
    let text = std::fs::read_to_string(folder.join("measured-trees.json")).ok()?;
    let measured: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let measured = measured.as_object().expect("an object");
    let machines = measured.iter().filter_map(|(name, times)| {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).ok()?;
        let file = MachineFile::from_json(&text).expect("a machine");
        Some(MeasuredTrees {
            name: name.clone(),
            costs: file.costs().clone(),
            times: times.clone(),
        })
    });
    Some(machines.collect())
}

/// Simulates what was measured: a broadcast from rank 0, and a message back from the rank that gets it last. Returns
/// cycles.
pub fn simulate(costs: &CostModel, pattern: Pattern, seed: u64, jitter: f64) -> f64 {
    let machine: SimMachine = pairs::machine("measured", costs);
    let n = costs.n();
    let cores: Vec<usize> = (0..n).collect();
    let tree = pattern.tree(costs, 0).expect("a tree for all members");
    let call = Call::new(Collective::Broadcast, "messages", 0, 8).expect("a call");
    let job = Rc::new(Job::new(&call, &Plans::of_tree(&tree)).expect("a job"));
    let once = predict(&machine, &cores, &job, &CallSetting::default()).expect("a time");
    let end = |rank: &usize| once.ends[*rank];
    let last = (0..n).max_by(|a, b| end(a).total_cmp(&end(b))).unwrap_or(0);
    let combine = machine.costs.combine_bytes;
    let team = SimTeam::new(&cores, job.groups());
    let body = move |cpu: &mut Cpu<'_>, team: &SimTeam| {
        let mut context = job.context(SimFabric::new(cpu, team, combine));
        let operator = context.fabric.combine();
        let mut took = 0.0;
        for _ in 0..3 {
            context.fabric.begin_measure(n);
            let start = context.fabric.cpu().now();
            let Ok(_) = job.run(&mut context, &operator);
            let fabric = &mut context.fabric;
            let Ok(()) = match fabric.rank() {
                0 => fabric.receive(last, &mut [0; 8]),
                rank if rank == last => fabric.send(0, &[0; 8]),
                _ => Ok(()),
            };
            took = fabric.cpu().now() - start;
        }
        took
    };
    let options = RunOptions {
        seed,
        jitter,
        ..RunOptions::default()
    };
    let outcome = run(&machine, &cores, &options, |_| team, body).expect("a time");
    outcome.results[0]
}

/// The shape of each tree of the campaign. Only the first two are documented.
const SHAPES: [(&str, Pattern, &str); 7] = [
    ("bintree", Pattern::Binary, "binary"),
    ("sequential", Pattern::Sequential, "sequential"),
    ("mst", Pattern::Mst, "mst"),
    ("mst", Pattern::MstBinary, "mst-binary"),
    ("badtree", Pattern::Bad, "bad"),
    ("badtree", Pattern::BadBinary, "bad-binary"),
    ("adaptivetree", Pattern::Smelt, "smelt"),
];

/// The section of docs/validation.md.
pub fn section() -> Content {
    let Some(machines) = machines() else {
        return Content::Skipped {
            why: "no folder ../shared/machinedb beside the workspace".into(),
        };
    };
    let mut rows = Vec::new();
    for machine in &machines {
        let cluster = simulate(&machine.costs, Pattern::Cluster, 0, 0.0);
        for (name, pattern, shape) in SHAPES {
            let found = simulate(&machine.costs, pattern, 0, 0.0) / cluster;
            let then = machine.time(name) / machine.time("cluster");
            rows.push([
                machine.name.clone(),
                name.to_owned(),
                shape.to_owned(),
                format!("{then:.2}"),
                format!("{found:.2}"),
                percent(found, then),
            ]);
        }
    }
    let head = ["machine", "name", "shape", "measured", "simulated", "error"];
    let (documented, guessed): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .partition(|row| row[1] == "bintree" || row[1] == "sequential");
    format!(
        "\
Broadcasts of one message, with a message from the last leaf back to the root, as multiples of what the cluster tree
takes. Measured by the authors of Smelt (libsmelt, campaign of 2013); simulated from the machines' pairwise costs
alone, nothing fitted ([simulator.md](simulator.md#trees-on-measured-machines) says what the costs leave out).
`crates/validation/tests/it/smelt.rs` holds the order and 25 %, with jitter too. Both tables show the broadcast
`messages` over the tree that the column *shape* names; *name* is what the campaign calls what was measured.

{}
What other names of the campaign mean is not documented. Here the two forms of each that the paper and Smelt's
released code have, for information: nothing is asserted, and nothing was chosen by them.

{}",
        table(head, documented),
        table(head, guessed)
    )
    .into()
}
