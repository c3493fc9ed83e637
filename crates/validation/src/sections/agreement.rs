//! 1Paxos and a replicated store on it, by messages whose costs are known, beside what Smelt says of them (§5.6, §5.7).

use crate::agreement::machines::{self, Costs};
use crate::agreement::runs::{
    Outcome, REPLICAS, STORES, UNDER_WAY, Way, Workload, agreement, bound_per_ms, store,
};
use crate::document::{Content, table};
use corecast_draw::Rgb;
use corecast_draw::plot::{self, Curve, Labels, Panel, Pen};
use corecast_plan::Pattern;

/// The tree of the figures: Smelt's own.
pub const TREE: Way = Way::Tree(Pattern::Smelt);

/// Connections of Fig. 13.
pub const CONNECTIONS: [usize; 7] = [8, 16, 24, 48, 96, 192, 384];

/// Cycles that a message may take beside its pairwise cost.
pub const HANDLING: [f64; 4] = [0.0, 250.0, 500.0, 1000.0];

/// Up to how many times as fast the tree is, by the paper, with 28 replicas and with the store.
const PUBLISHED: f64 = 3.0;

/// Both ways for one number of replicas or connections.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// Replicas or connections.
    pub count: usize,
    /// The acceptor tells one after another.
    pub sequential: Outcome,
    /// Over the tree.
    pub tree: Outcome,
}

impl Compared {
    /// How many times as many sets are agreed on over the tree.
    #[must_use]
    pub fn speedup(&self) -> f64 {
        self.tree.sets_per_ms / self.sequential.sets_per_ms
    }

    /// How many times as soon they are answered.
    #[must_use]
    pub fn sooner(&self) -> f64 {
        self.sequential.response_us / self.tree.response_us
    }
}

/// Fig. 12 on a machine.
#[must_use]
pub fn fig12(machine: &Costs, workload: Workload) -> Vec<Compared> {
    let run = |count, way| agreement(machine, count, workload, way, UNDER_WAY, 0.0);
    let compare = |count| Compared {
        count,
        sequential: run(count, Way::Sequential),
        tree: run(count, TREE),
    };
    REPLICAS.map(compare).into()
}

/// Fig. 13 on a machine.
#[must_use]
pub fn fig13(machine: &Costs) -> Vec<Compared> {
    let compare = |count| Compared {
        count,
        sequential: store(machine, count, Way::Sequential, 0.0),
        tree: store(machine, count, TREE, 0.0),
    };
    CONNECTIONS.map(compare).into()
}

const SEQUENTIAL: Rgb = Rgb(221, 107, 32);
const OVER_TREE: Rgb = Rgb(43, 108, 176);
const PENS: [(Pen, &str); 4] = [
    (Pen::Line(SEQUENTIAL), "sequential"),
    (Pen::Line(OVER_TREE), "tree"),
    (Pen::Points(SEQUENTIAL), "broadcast, sequential"),
    (Pen::Points(OVER_TREE), "broadcast, tree"),
];

fn picture(paxos: &[Compared], broadcast: &[Compared], stores: &[Compared]) -> String {
    let panel = |title: &str, of: fn(&Outcome) -> f64, runs: &[&[Compared]]| {
        let both = |runs: &[Compared]| {
            let of = |pick: fn(&Compared) -> &Outcome| {
                let points = runs.iter().map(|it| (it.count as f64, of(pick(it))));
                points.collect()
            };
            [of(|it| &it.sequential), of(|it| &it.tree)]
        };
        let points = runs.iter().flat_map(|it| both(it));
        let curves = points
            .zip(PENS)
            .map(|(points, (pen, _))| Curve { pen, points });
        Panel {
            title: title.to_owned(),
            band: None,
            curves: curves.collect(),
        }
    };
    let sets: fn(&Outcome) -> f64 = |it| it.sets_per_ms;
    let response: fn(&Outcome) -> f64 = |it| it.response_us;
    let both = [paxos, broadcast];
    let panels = [
        panel("agreement, thousands in a second, by replicas", sets, &both),
        panel("agreement, response in µs, by replicas", response, &both),
        panel(
            "store, sets, thousands in a second, by clients",
            sets,
            &[stores],
        ),
        panel(
            "store, response of sets in µs, by clients",
            response,
            &[stores],
        ),
    ];
    let labels = Labels {
        title: "1Paxos and a store on it, simulated",
        legend: &PENS,
        x: "replicas, clients",
        y: "",
    };
    plot::panels(&labels, 2, &panels)
}

fn rows_of_fig12(paxos: &[Compared], broadcast: &[Compared]) -> String {
    let head = [
        "replicas",
        "sequential",
        "tree",
        "ratio",
        "response",
        "tree",
        "ratio",
        "broadcast, sequential",
        "tree",
        "ratio",
    ];
    let rows = paxos.iter().zip(broadcast).map(|(paxos, broadcast)| {
        [
            paxos.count.to_string(),
            format!("{:.0}", paxos.sequential.sets_per_ms),
            format!("{:.0}", paxos.tree.sets_per_ms),
            format!("{:.2}", paxos.speedup()),
            format!("{:.1}", paxos.sequential.response_us),
            format!("{:.1}", paxos.tree.response_us),
            format!("{:.2}", paxos.sooner()),
            format!("{:.0}", broadcast.sequential.sets_per_ms),
            format!("{:.0}", broadcast.tree.sets_per_ms),
            format!("{:.2}", broadcast.speedup()),
        ]
    });
    table(head, rows)
}

fn rows_of_fig13(stores: &[Compared]) -> String {
    let head = [
        "clients",
        "sequential",
        "tree",
        "ratio",
        "response",
        "tree",
        "ratio",
    ];
    let rows = stores.iter().map(|it| {
        [
            it.count.to_string(),
            format!("{:.0}", it.sequential.sets_per_ms),
            format!("{:.0}", it.tree.sets_per_ms),
            format!("{:.2}", it.speedup()),
            format!("{:.1}", it.sequential.response_us),
            format!("{:.1}", it.tree.response_us),
            format!("{:.2}", it.sooner()),
        ]
    });
    table(head, rows)
}

/// The ratios of 28 replicas and of the busy store, for each cost of handling a message.
fn rows_of_handling(machine: &Costs) -> String {
    let head = [
        "cycles a message",
        "agreement, 28 replicas",
        "store, 384 clients",
    ];
    let rows = HANDLING.map(|handling| {
        let run = |way| agreement(machine, 28, Workload::Agreement, way, UNDER_WAY, handling);
        let set = |way| store(machine, 384, way, handling);
        let agreement = run(TREE).sets_per_ms / run(Way::Sequential).sets_per_ms;
        let store = set(TREE).sets_per_ms / set(Way::Sequential).sets_per_ms;
        [
            format!("{handling:.0}"),
            format!("{agreement:.2}"),
            format!("{store:.2}"),
        ]
    });
    table(head, rows)
}

/// Trees of all kinds with the store and as many clients as keep it busy, on machines of eight NUMA nodes.
fn rows_of_store_trees(machines: &[Costs]) -> String {
    let head = ["machine", "sequential", "binary", "smelt", "best"];
    let machines = machines.iter().filter(|machine| {
        let nodes = machine.pairs.numa_nodes().iter().max();
        nodes == Some(&(STORES as u32 - 1))
    });
    let rows = machines.map(|machine| {
        let run = |way| format!("{:.0}", store(machine, 384, way, 0.0).sets_per_ms);
        [
            machine.name.to_owned(),
            run(Way::Sequential),
            run(Way::Tree(Pattern::Binary)),
            run(Way::Tree(Pattern::Smelt)),
            run(Way::Tree(Pattern::Best)),
        ]
    });
    table(head, rows)
}

/// Trees of all kinds with 28 replicas.
fn rows_of_trees(machines: &[Costs]) -> String {
    let head = [
        "machine",
        "sequential",
        "cluster",
        "binary",
        "smelt",
        "best",
        "smelt, by the model",
    ];
    let rows = machines.iter().map(|machine| {
        let run = |way| {
            let one = agreement(machine, 28, Workload::Agreement, way, UNDER_WAY, 0.0);
            format!("{:.0}", one.sets_per_ms)
        };
        let tree = |pattern| run(Way::Tree(pattern));
        [
            machine.name.to_owned(),
            run(Way::Sequential),
            tree(Pattern::Cluster),
            tree(Pattern::Binary),
            tree(Pattern::Smelt),
            tree(Pattern::Best),
            format!("{:.0}", bound_per_ms(machine, 28, TREE)),
        ]
    });
    table(head, rows)
}

/// The section of docs/validation.md.
pub fn section() -> Content {
    let pairs = machines::pairs();
    if pairs.is_empty() {
        return Content::Skipped {
            why: "no folder ../shared/machinedb beside the workspace".into(),
        };
    }
    let medians = machines::medians();
    let (paxos, broadcast) = (
        fig12(&medians, Workload::Agreement),
        fig12(&medians, Workload::Broadcast),
    );
    let stores = fig13(&medians);
    let all: Vec<Costs> = std::iter::once(medians.clone()).chain(pairs).collect();
    let text = format!(
        "\
Figs. 12 and 13 of Kaestle and others (Smelt, §5.6 and §5.7): 1Paxos with 8 to 28 replicas and four load generators, and a store
with a replica on each of eight NUMA nodes, on A IL 4x4x2. The members are those of `corecast-agree`, as programs run them; what
is simulated are cores that do one thing at a time, and messages that keep sender and receiver busy for their pairwise costs
(`crates/validation/src/agreement`). The curves are pictures that the text of the paper does not have. Its text says: up to
{PUBLISHED:.0} times the throughput and response with 28 replicas, a scaling like that of a plain broadcast, and up to {PUBLISHED:.0} times for
sets of the store. Nothing is fitted to that. `crates/validation/tests/it/agreement.rs` holds these statements.

Pairwise costs of A IL 4x4x2 are not published. Those of A MC 4x12x1 stand for them: the same socket with two dies, of whose six cores
four are used. Leader and acceptor are where the model has the least work for the busiest member (`corecast_plan::consensus`);
the tree is Smelt's. Thousands of commands in a second that the last replica applies, and microseconds until an answer, with {UNDER_WAY}
requests of each generator under way:

{}
The same with 28 replicas over other trees, thousands in a second; *by the model*: what the busiest member's messages would
allow if nothing waited:

{}
Fig. 13, the store, 20 % sets; each client has one request under way, and 24 cores share the clients. Thousands of sets in a second
and microseconds until an answer:

{}
Over other trees, with 384 clients, thousands of sets in a second:

{}
![throughput and response by replicas and clients](validation/agreement.svg)

What differs from the paper, and why:

{}

Ratios of throughput if a message takes further cycles at its receiver, such as for polling and for the protocol itself:

{}",
        rows_of_fig12(&paxos, &broadcast),
        rows_of_trees(&all),
        rows_of_fig13(&stores),
        rows_of_store_trees(&all),
        DIFFERENCES.trim(),
        rows_of_handling(&medians),
    );
    Content::Made {
        text,
        pictures: vec![("agreement.svg", picture(&paxos, &broadcast, &stores))],
    }
}

const DIFFERENCES: &str = "
- The agreement gains somewhat more than the paper says. There messages also cost what is done with them: a core polls the queues of all
  its peers and takes a step of the protocol, which is the same in both ways. Here only the message itself takes time. With 500 cycles
  for the rest, which is as much again as a message, the ratio is the paper's.
- 1Paxos is faster than the plain broadcast here, where the paper has them alike. The root of the plain broadcast answers the generators
  itself, a message more than an acceptor has; in 1Paxos the leader does. So the ratio of the broadcast is lower, too.
- Response and throughput gain by the same factor, as in the paper: generators are never idle, so both are one figure (Little's law).
- The store gains half as much as the paper says, and no tree could gain three times at these costs. An acceptor that tells seven
  others is busy for about 2,400 cycles with each set. The leader is for about 1,400, whatever the tree: it has the request of another
  replica, the acceptance, what comes down the tree, and an eighth of all clients. That leaves 1.7, and 1.9 with the costs of all pairs. The paper says
  that a store without the tree is less stable under high load; what it lost there is not in pairwise costs.
- A binary tree agrees on more commands in a second than trees of least latency, since the member with most work counts when commands
  follow each other: an acceptor with seven children, as Smelt's trees have it here, or with two. The model says so beforehand
  (`Roles::busiest`), and who wants throughput compares patterns by it.
";
