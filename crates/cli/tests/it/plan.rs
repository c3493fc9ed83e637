//! The output of `corecast plan`, as JSON, as text and as pictures.

use crate::common::{Run, TWO_THREADS, corecast, database, file};
use serde_json::{Value, json};

const SANDY_BRIDGE: &str = "builtin:sandybridge-2x8";

/// All patterns that are compared, one of each family.
const PATTERNS: [&str; 11] = [
    "best",
    "optimal",
    "smelt",
    "binary",
    "fibonacci",
    "sequential",
    "mst",
    "cluster",
    "bad",
    "knomial:3",
    "chain",
];

/// `corecast plan` on a machine, with flags that hold no spaces.
fn plan(machine: &str, flags: &str) -> Run {
    let flags: Vec<&str> = flags.split_whitespace().collect();
    corecast(&[&["plan", "-i", machine], &flags[..]].concat())
}

fn assert_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

/// The latency of a broadcast along `children`, computed from the machine as `topo --json` shows it
/// and from nothing else (Smelt §3.1).
fn broadcast_latency(machine: &Value, plan: &Value) -> f64 {
    let costs = &machine["costs"];
    let threads = list(&costs["threads"]);
    let place = |rank: usize| {
        let thread = &plan["threads"][rank];
        threads.iter().position(|t| t == thread).unwrap()
    };
    let cost = |name: &str, i: usize, j: usize| number(&costs[name][place(i)][place(j)]);
    let children = list(&plan["children"]);
    let mut avail = vec![None; children.len()];
    let root = plan["root"].as_u64().unwrap() as usize;
    avail[root] = Some(0.0);
    let mut queue = vec![root];
    while let Some(v) = queue.pop() {
        let mut clock: f64 = avail[v].unwrap();
        for c in list(&children[v]) {
            let c = c.as_u64().unwrap() as usize;
            clock += cost("send", v, c);
            assert!(avail[c].is_none(), "rank {c} has two parents");
            avail[c] = Some(clock + cost("receive", v, c));
            queue.push(c);
        }
    }
    avail
        .into_iter()
        .map(|t| t.expect("every rank is reached"))
        .fold(0.0, f64::max)
}

#[test]
fn the_contract_holds_for_every_pattern() {
    let machine = "synthetic:package:2 numa:2 core:3 pu:1 send=60,120,200 receive=220,450,750";
    let shown = corecast(&["topo", "--json", "-i", machine]).json();
    for pattern in PATTERNS.into_iter().chain(["binomial"]) {
        let moves = match pattern {
            "best" | "optimal" => "--moves 5000",
            _ => "",
        };
        for (threads, n) in [("0-11", 12), ("3,1,7-9", 5), ("4", 1)] {
            let what = format!("--json --pattern {pattern} --op broadcast --root 0");
            let plan = plan(machine, &format!("{what} --threads {threads} {moves}")).json();
            assert_eq!(plan["pattern"], pattern);
            assert_eq!(plan["seed"].is_u64(), !moves.is_empty(), "{plan}");
            assert_eq!(plan["root"], 0);
            assert_eq!(list(&plan["children"]).len(), n);
            let [latency, bound, gap] =
                ["latency", "lower_bound", "gap"].map(|key| number(&plan[key]));
            assert!(
                (latency - broadcast_latency(&shown, &plan)).abs() < 1e-9,
                "{pattern} {threads}"
            );
            assert!(
                bound <= latency && (0.0..=1.0).contains(&gap),
                "{pattern} {threads}"
            );
            assert!(plan["proved_optimal"].is_boolean() && number(&plan["search_ms"]) >= 0.0);
        }
    }
}

#[test]
fn all_operations_are_planned() {
    for op in ["broadcast", "reduce", "barrier"] {
        let plan = plan(SANDY_BRIDGE, &format!("--json --op {op} --moves 5000")).json();
        assert_eq!(plan["op"], op);
        assert_eq!(list(&plan["children"]).len(), 32);
    }
    let rounds = plan("core:8", "--json --op barrier --pattern dissemination:2").json();
    assert_eq!(list(&rounds["rounds"]).len(), 3);
    assert!(rounds["children"].is_null() && rounds["root"].is_null());
}

#[test]
fn this_machine_is_planned_for() {
    let plan = corecast(&["plan", "--json"]).json();
    assert_eq!(list(&plan["children"]).len(), list(&plan["threads"]).len());
    assert!(corecast(&["plan"]).text().contains("not been measured"));
}

#[test]
fn subsets_are_packed_or_dealt_round_robin() {
    let subset = |k: usize, placement: &str| {
        let flags = format!("--json --pattern smelt --subset {k} --placement {placement}");
        plan("package:4 core:4", &flags).json()["threads"].clone()
    };
    assert_eq!(subset(5, "packed"), json!([0, 1, 2, 3, 4]));
    assert_eq!(subset(5, "round-robin"), json!([0, 4, 8, 12, 1]));
    for k in 2..=16 {
        assert_eq!(list(&subset(k, "round-robin")).len(), k);
    }
}

/// All patterns share one time. What looks at all costs is left out when it is over, with a word, and the searches have
/// the first tree that they find.
#[test]
fn a_comparison_out_of_time_has_what_is_there() {
    let run = plan("package:2 core:128", "--json --compare --budget 1us");
    let said = run.stderr();
    assert!(
        said.contains("the time was over: without smelt, mst"),
        "{said}"
    );
    let json: Value = serde_json::from_slice(&run.output.stdout).unwrap();
    let names: Vec<&Value> = list(&json["plans"]).iter().map(|p| &p["pattern"]).collect();
    for there in ["best", "optimal", "binary", "sequential", "cluster"] {
        assert!(names.contains(&&json!(there)), "{there}: {names:?}");
    }
    assert!(!names.contains(&&json!("mst")), "{names:?}");
}

#[test]
fn patterns_are_compared_best_first() {
    let json = plan(SANDY_BRIDGE, "--json --compare --moves 5000").json();
    let latency = |p: &Value| number(&p["latency"]);
    let plans = list(&json["plans"]);
    assert!(plans.len() >= 10);
    assert!(plans.windows(2).all(|w| latency(&w[0]) <= latency(&w[1])));
    // A bound that is proved for one tree holds for all with its root.
    let bound = |p: &Value| number(&p["lower_bound"]);
    let is_free = |p: &&Value| p["pattern"] == "best" || p["pattern"] == "optimal";
    let (free, fixed): (Vec<&Value>, Vec<&Value>) = plans.iter().partition(is_free);
    assert!(
        fixed.windows(2).all(|w| bound(w[0]) == bound(w[1])),
        "{json}"
    );
    assert_eq!(free.len(), 2);
    assert!(free.iter().all(|p| bound(p) <= bound(fixed[0])), "{json}");
    let text = plan(SANDY_BRIDGE, "--pattern all --moves 5000").text();
    assert_parts(&text, &PATTERNS);
}

#[test]
fn trees_are_drawn_with_order_and_times() {
    let folder = tempfile::tempdir().unwrap();
    let two = file(folder.path(), "two.json", TWO_THREADS);
    let text = plan(&two, "--root 1").text();
    let expected = "rank 1 (PU 2, node 0) at 0\n└── 1. rank 0 (PU 5, node 3) at 265\n\
                    latency 265 ns, lower bound 265 ns, proved optimal among trees of messages with root 1\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn the_machine_database_is_planned_for() {
    for name in [
        "bloomfield-2x4x2",
        "shanghai-4x4",
        "ivybridge-2x10",
        "istanbul-4x6",
        "nehalem-4x8",
        "barcelona-8x4",
    ] {
        let Some(path) = database(&format!("{name}.json")) else {
            return;
        };
        let machine = path.to_str().unwrap();
        let shown = corecast(&["topo", "--json", "-i", machine]).json();
        for pattern in ["smelt", "cluster", "mst"] {
            let plan = plan(machine, &format!("--json --pattern {pattern}")).json();
            let latency = number(&plan["latency"]);
            assert!(
                (latency - broadcast_latency(&shown, &plan)).abs() < 1e-6 * latency,
                "{name} {pattern}"
            );
        }
    }
}

#[test]
fn explanations_name_the_plan_and_the_reason() {
    let json = corecast(&["explain", "--json", "-i", SANDY_BRIDGE]).json();
    let operations = list(&json["operations"]);
    assert_eq!(operations.len(), 3);
    for operation in operations {
        assert_eq!(operation["decided_by"], "model");
        let best = number(&operation["chosen"]["latency"]);
        for other in list(&operation["runners_up"]) {
            assert!(best <= number(&other["latency"]));
        }
    }
    let here = corecast(&["explain", "--op", "barrier"]).text();
    let parts = [
        "why: ",
        "costs: assumed",
        "races: none",
        "pinning: ",
        "quota: ",
    ];
    assert_parts(&here, &parts);
}

#[test]
fn pictures_are_well_formed_and_name_every_member() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (machine, n) in [
        ("core:1", 1),
        (SANDY_BRIDGE, 32),
        ("package:4 numa:2 core:8 pu:4", 256),
    ] {
        for op in ["broadcast", "reduce", "barrier"] {
            let (svg, dot) = (path("tree.svg"), path("tree.dot"));
            let files = ["--svg", &svg, "--dot", &dot];
            let what = ["plan", "-i", machine, "--op", op, "--pattern", "smelt"];
            corecast(&[&what[..], &files].concat()).text();
            let picture = std::fs::read_to_string(svg).unwrap();
            assert!(
                roxmltree::Document::parse(&picture).is_ok(),
                "{machine} {op}"
            );
            let graph = std::fs::read_to_string(dot).unwrap();
            assert!(graph.starts_with("digraph"), "{graph}");
            assert_eq!(graph.matches(" -> ").count(), n - 1, "{machine} {op}");
        }
    }
    for file in ["--svg=-", "--dot=-", "--timeline=-", "--timeline"] {
        let refusal = plan("core:4", &format!("--compare {file}")).refusal();
        assert!(refusal.contains("name its pattern"));
    }
    for (flags, reason) in [
        ("--svg - --dot -", "--svg - and --dot -: standard output"),
        ("--svg - --json", "--svg - and --json: standard output"),
        (
            "--dot - --timeline",
            "--dot - and --timeline: standard output",
        ),
        (
            "--op barrier --pattern dissemination:2 --dot -",
            "is no tree",
        ),
    ] {
        assert!(plan("core:4", flags).refusal().contains(reason));
    }
}

#[test]
fn timelines_are_drawn_in_the_terminal_as_svg_and_as_json() {
    let machine = "package:2 core:2 send=10,30 receive=20,60";
    let plan = ["plan", "-i", machine, "--root", "0", "--pattern", "cluster"];
    let run = |flags: &[&str]| corecast(&[&plan[..], flags].concat());
    let text = run(&["--timeline"]).text();
    let parts = [
        "node 1\n     rank 2 ",
        "critical chain: 0 → 2 → 3",
        "heavy: critical chain",
    ];
    assert_parts(&text, &parts);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("time.svg");
    for op in ["broadcast", "reduce", "barrier"] {
        let saved = ["--op", op, "--timeline", path.to_str().unwrap()];
        assert_eq!(run(&saved).text(), "");
        let picture = std::fs::read_to_string(&path).unwrap();
        let parsed = roxmltree::Document::parse(&picture).unwrap();
        let titles = parsed.descendants().filter(|e| e.has_tag_name("title"));
        // The picture has a title of its own, and one for each end of each message.
        let messages = if op == "barrier" { 6 } else { 3 };
        assert_eq!(titles.count(), 1 + 2 * messages, "{op}");
    }

    let json = run(&["--json", "--timeline"]).json();
    let doing = |rank: usize, at: usize| json["timeline"][rank][at].clone();
    assert_eq!(
        doing(2, 0),
        json!({"what": "receive", "peer": 0, "start": 30.0, "end": 90.0})
    );
    assert_eq!(doing(2, 1)["what"], "send");
    assert_eq!(
        json["critical_chain"],
        json!([[0, 0], [2, 0], [2, 1], [3, 0]])
    );
    assert!(run(&["--json"]).json()["timeline"].is_null());
}

/// A folder with two machines and files that are none.
fn folder_of_machines() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "b.json", TWO_THREADS);
    file(
        folder.path(),
        "a.json",
        TWO_THREADS
            .replace("\"m\"", "\"other\"")
            .replace("220", "330"),
    );
    file(folder.path(), "broken.json", "{");
    file(folder.path(), "notes.txt", "not looked at");
    std::fs::create_dir(folder.path().join("deeper.json")).unwrap();
    folder
}

#[test]
fn a_folder_of_machines_is_compared() {
    let folder = folder_of_machines();
    let path = folder.path().to_str().unwrap();
    let run = plan(path, "--compare --json --root 0");
    assert_eq!(run.output.status.code(), Some(0));
    let told = String::from_utf8(run.output.stderr).unwrap();
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(
        told.starts_with("corecast: skipped \"broken.json\" (not a machine file"),
        "{told}"
    );
    let json: Value = serde_json::from_slice(&run.output.stdout).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["skipped"][0]["file"], "broken.json");
    let machines = list(&json["machines"]);
    let names: Vec<&Value> = machines.iter().map(|m| &m["machine"]).collect();
    assert_eq!(names, ["other", "m"]);
    for (machine, latency) in machines.iter().zip([390.0, 280.0]) {
        let plans = list(&machine["plans"]);
        assert!(plans.len() >= 10);
        assert!(
            plans.iter().all(|plan| plan["latency"] == latency),
            "{machine}"
        );
    }

    let run = plan(path, "--compare --root 0");
    let text = String::from_utf8(run.output.stdout).unwrap();
    let parts = [
        "broadcast on 2 machines",
        "other",
        "2 members, ns",
        "390 optimal",
        "280 optimal",
        "to best",
    ];
    assert_parts(&text, &parts);
}

#[test]
fn folders_without_machines_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let refused = |path: &str, flags: &str, parts: &[&str]| {
        assert_parts(&plan(path, flags).refusal(), parts);
    };
    refused(path, "--compare", &[path, "has no *.json file"]);
    file(folder.path(), "broken.json", "{");
    let parts = [path, "\"broken.json\" (not a machine file"];
    refused(path, "--compare", &parts);
    let machines = folder_of_machines();
    let path = machines.path().to_str().unwrap();
    refused(path, "--compare --root 7", &["root 7 is outside"]);
    refused(path, "", &["cannot read"]);
}

#[test]
fn searches_say_how_far_they_went() {
    // A reduction needs a longer search than a broadcast, which may be one write for all.
    let machine = ["plan", "-i", SANDY_BRIDGE, "--op", "reduce"];
    let with = |flags: &[&str]| corecast(&[&machine[..], flags].concat());
    let seeded = |seed| with(&["--json", "--moves", "4000", "--seed", seed]).json();
    let (first, again) = (seeded("7"), seeded("7"));
    assert_eq!(first["pattern"], "best");
    assert_eq!(first["children"], again["children"]);
    assert_eq!(
        (&first["seed"], &first["ended"]),
        (&7.into(), &"moves".into())
    );
    assert_eq!(first["moves"], 4000);
    let short = with(&["--json", "--budget", "20 ms"]).json();
    assert_eq!(short["ended"], "budget");
    assert_eq!(short["budget_ms"], 20.0);
    let text = with(&["--moves", "4000", "--seed", "7"]).text();
    assert!(
        text.contains("4000 moves, seed 7: all moves done"),
        "{text}"
    );
    let proved = plan("core:2", "--json --pattern optimal").json();
    assert_eq!(
        (&proved["proved_optimal"], &proved["ended"]),
        (&true.into(), &"proved".into())
    );
}

#[test]
fn roots_are_free_smelts_or_given() {
    let planned = |root: &str, pattern: &str, more: &str| {
        let machine = "package:2 core:4 send=60,120 receive=220,450";
        let flags = format!("--json --root {root} --pattern {pattern} --op barrier {more}");
        plan(machine, &flags).json()
    };
    let best = |root: &str| planned(root, "best", "--moves 3000");
    let smelt = |root: &str| planned(root, "smelt", "");
    assert_eq!(best("smelt")["root"], smelt("auto")["root"]);
    assert_eq!(best("5")["root"], 5);
    let free = number(&best("auto")["latency"]);
    assert!(free <= number(&smelt("smelt")["latency"]));
}

#[test]
fn two_trees_are_shown_and_saved() {
    // Sends are cheap and receives expensive, so the fan-out is a star and the fan-in a deep tree.
    let machine = "package:2 core:4 send=10,20 receive=300,600";
    let run = |more: &str| plan(machine, &format!("--op barrier --moves 3000 {more}"));
    let json = run("--json").json();
    let members = |key: &str| json[key].as_array().map(Vec::len);
    assert_eq!(
        (members("children"), members("fan_in")),
        (Some(8), Some(8)),
        "{json}"
    );
    let text = run("").text();
    let parts = [
        "fan-in: numbers are the order of receives",
        "fan-out: numbers",
    ];
    assert_parts(&text, &parts);
    assert_eq!(text.matches("PU 7,").count(), 2, "{text}");
    let svg = run("--svg -").text();
    let picture = roxmltree::Document::parse(&svg).unwrap();
    let members = picture.descendants().filter(|e| {
        e.attribute("class")
            .is_some_and(|c| c.starts_with("member"))
    });
    assert_eq!(members.count(), 16);
}

#[test]
fn any_subset_and_count_is_planned_by_search() {
    for (flags, n) in [
        ("--threads 9,2,14", 3),
        ("--threads 0-15 --subset 1", 1),
        ("--subset 7", 7),
        ("--subset 10 --placement round-robin", 10),
    ] {
        for pattern in ["best", "optimal"] {
            let flags = format!("--json --moves 3000 --pattern {pattern} {flags}");
            let plan = plan("package:4 core:4", &flags).json();
            assert_eq!(list(&plan["threads"]).len(), n);
            let served = list(&plan["children"]).iter().map(|c| list(c).len());
            assert_eq!(served.sum::<usize>(), n - 1, "{plan}");
        }
    }
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    for (flags, quoted) in [
        ("--budget 5", "--budget \"5\": give a number and a unit"),
        ("--budget=-1s", "--budget \"-1s\""),
        ("--moves many", "'many'"),
        ("--seed -3", "-3"),
        ("--pattern smelt --seed 3", "--seed 3: pattern \"smelt\""),
        (
            "--pattern chain --budget 1s",
            "--budget \"1s\": pattern \"chain\"",
        ),
        ("--root middle", "\"middle\" is neither auto, nor smelt"),
    ] {
        let line = plan("core:4", flags).refusal();
        assert!(line.contains(quoted), "{flags:?}: {line}");
    }
}

/// A machine whose messages cost at least 40, and whose shared line costs 29 for all members.
fn with_lines(flags: &str) -> Run {
    let machine = "package:2 core:2 send=10,20 receive=30,60 write=20 transfer=5,9";
    plan(machine, &format!("--moves=5000 {flags}"))
}

fn flattened(groups: &Value) -> Value {
    let all =
        |groups: &Value| -> Value { list(groups).iter().flat_map(|g| list(g).clone()).collect() };
    list(groups).iter().map(all).collect()
}

#[test]
fn shared_lines_are_shown_and_saved() {
    let run = |flags: &str| with_lines(&format!("--root 0 {flags}"));
    let text = run("").text();
    let expected = "members with one number share a line\n\
                    rank 0 (PU 0, node 0) at 0.0\n\
                    ├── 1. rank 1 (PU 1, node 0) at 25.0\n\
                    ├── 1. rank 2 (PU 2, node 1) at 29.0\n\
                    └── 1. rank 3 (PU 3, node 1) at 29.0\n\
                    latency 29.0 ns, lower bound 29.0 ns, proved optimal among trees with groups and root 0\n";
    assert!(text.contains(expected), "{text}");
    let json = run("--json --timeline").json();
    assert_eq!(json["groups"], json!([[[1, 2, 3]], [], [], []]));
    assert_eq!(json["children"], json!([[1, 2, 3], [], [], []]));
    assert_eq!(list(&json["timeline"][0]).len(), 1);
    assert_eq!(json["critical_chain"], json!([[0, 0], [2, 0]]));
    assert!(json["fan_in_groups"].is_null());
    let dot = run("--dot -").text();
    assert_eq!(dot.matches("[label=\"1\"").count(), 3, "{dot}");
    for picture in ["--svg", "--timeline"] {
        let svg = run(&format!("{picture} -")).text();
        assert!(roxmltree::Document::parse(&svg).is_ok(), "{svg}");
    }
    assert_parts(&run("--timeline").text(), &["critical chain: 0 → 2"]);

    let json = run("--op barrier --json").json();
    for (groups, children) in [("groups", "children"), ("fan_in_groups", "fan_in")] {
        assert_eq!(flattened(&json[groups]), json[children], "{json}");
    }
    // The fan-in costs at most 20 + 5 + 9 + 9, and the fan-out 29.
    assert!(number(&json["latency"]) <= 43.0 + 29.0, "{json}");
    let text = run("--op barrier").text();
    let part = "fan-in: numbers are the order of receives, members with one number";
    assert_parts(&text, &[part]);
    assert_eq!(text.matches("PU 3,").count(), 2, "{text}");

    let reduce = run("--op reduce --json").json();
    assert!(reduce["groups"].is_null() && reduce["children"].is_array());
}

/// The lower bound of every pattern holds for trees with groups where the planner looks for them.
#[test]
fn groups_are_compared_with_trees() {
    for root in ["auto", "0"] {
        let json = with_lines(&format!("--json --compare --root {root}")).json();
        for plan in list(&json["plans"]) {
            let number = |key: &str| number(&plan[key]);
            let searched = plan["pattern"] == "best" || plan["pattern"] == "optimal";
            assert_eq!(plan["groups"].is_array(), searched, "{plan}");
            assert!(number("lower_bound") <= number("latency"), "{plan}");
            assert_eq!(number("latency") == 29.0, searched, "{plan}");
            assert_eq!(plan["bound_space"], "trees with groups");
            let free = searched && root == "auto";
            assert_eq!(plan["bound_root"].is_null(), free, "{plan}");
            assert!(root == "auto" || number("lower_bound") <= 29.0, "{plan}");
        }
    }
}

#[test]
fn a_bound_says_what_it_holds_for() {
    let smelt = |flags: &str| plan(SANDY_BRIDGE, &format!("--pattern smelt --root 0 {flags}"));
    let json = smelt("--json").json();
    let best = plan(SANDY_BRIDGE, "--root 0 --moves 100 --json").json();
    assert!(number(&json["lower_bound"]) <= number(&best["latency"]));
    let saved = 1.0 - number(&best["latency"]) / number(&json["latency"]);
    assert!(number(&json["gap"]) >= saved, "{json}");
    assert_eq!(json["bound_space"], "trees with groups");
    assert_eq!(json["bound_root"], 0);
    let text = smelt("").text();
    let part = "no tree with groups and root 0 can save more than that";
    assert!(text.contains(part), "{text}");

    let reduce = smelt("--op reduce --json").json();
    assert_eq!(reduce["bound_space"], "trees of messages");
    let barrier = plan(
        SANDY_BRIDGE,
        "--op barrier --pattern dissemination:2 --json",
    )
    .json();
    let both = "barriers of messages and trees with groups";
    assert_eq!(barrier["bound_space"], both);
    assert!(barrier["bound_root"].is_null());
    let table = plan(SANDY_BRIDGE, "--op barrier --compare --moves 100").text();
    assert!(
        table.contains("bound of best, optimal: no tree with groups is faster"),
        "{table}"
    );
    assert!(
        table.contains("bound of the others: no tree with groups and root 0 is faster"),
        "{table}"
    );
}

#[test]
fn a_list_of_hosts_is_drawn_and_explained_on_three_levels() {
    let text = plan("cluster:3 package:2 core:3", "--pattern levels").text();
    let parts = [
        "rank 6 (PU 6, host1, node 2)",
        "between hosts: 2 messages",
        "between NUMA nodes: 3 messages",
        "inside NUMA nodes: 12 messages",
        "host host0: led by rank 0, serves the hosts of ranks 12, 6; its NUMA nodes by 0, 3",
    ];
    assert_parts(&text, &parts);
    let folder = tempfile::tempdir().unwrap();
    let content = "hosts: a b   # two\npackage:2 core:2 cards=1\nL=2000\n";
    let list = file(folder.path(), "machines", content);
    let report = plan(&list, "--pattern levels:flat/flat/flat --root 0 --json").json();
    assert_eq!(
        report["hosts"],
        json!(["a", "a", "a", "a", "b", "b", "b", "b"])
    );
    // The card of b is in its second node, so rank 6 leads it; that of a is led by rank 2.
    assert_eq!(
        report["children"],
        json!([[2, 1], [], [6, 3], [], [5], [], [4, 7], []])
    );
    let bad = plan("hosts: core:2", "").refusal();
    assert!(bad.contains("lists no hosts"), "{bad}");
}
