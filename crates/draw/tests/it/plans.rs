//! Pictures of plans have every member, message and edge, and are well-formed.

use corecast_draw::Screen;
use corecast_draw::plan::Drawing;
use corecast_model::CostModel;
use corecast_plan::groups::Grouped;
use corecast_plan::{Operation, Pattern, Plan, Shape};

fn costs(spec: &str) -> CostModel {
    corecast_model::synthetic(spec).unwrap().costs().clone()
}

/// The lines of text in a picture.
fn words(svg: &str) -> Vec<String> {
    let picture = roxmltree::Document::parse(svg).unwrap();
    let text = |node: roxmltree::Node<'_, '_>| node.text().unwrap_or_default().trim().to_owned();
    let nodes = picture.descendants();
    nodes
        .filter(|node| node.has_tag_name("text"))
        .map(text)
        .collect()
}

#[test]
fn text_has_a_line_for_each_member() {
    let costs = costs("package:2 core:6");
    for pattern in Pattern::oblivious() {
        let tree = pattern.tree(&costs, 5).unwrap();
        let threads: Vec<u32> = (100..112).collect();
        let text = Drawing::new(&costs, &tree, Operation::Barrier)
            .with_threads(&threads)
            .outline(true, Screen::PLAIN);
        assert_eq!(text.lines().count(), 12);
        for thread in threads {
            assert_eq!(text.matches(&format!("(PU {thread},")).count(), 1);
        }
    }
}

#[test]
fn a_long_chain_stays_short() {
    let costs = costs("core:2048");
    let tree = Pattern::Chain.tree(&costs, 0).unwrap();
    let drawing = Drawing::new(&costs, &tree, Operation::Broadcast);
    let text = drawing.outline(false, Screen::PLAIN);
    assert_eq!(text.lines().count(), 2048);
    assert!(text.lines().all(|line| line.chars().count() < 160));
    assert!(text.contains("\n[below 24] └── 1. rank 25 "), "{text}");
}

#[test]
fn dot_and_svg_have_every_member_and_edge() {
    let costs = costs("package:2 core:5");
    let tree = Pattern::Smelt.tree(&costs, 3).unwrap();
    for operation in Operation::ALL {
        let drawing = Drawing::new(&costs, &tree, operation).with_title("a \"<b>\" & c");
        let dot = drawing.dot();
        assert_eq!(dot.matches(" -> ").count(), 9);
        assert_eq!(dot.matches("subgraph cluster_numa_").count(), 2);
        assert!(dot.contains("a \\\"<b>\\\" & c"));
        let first = tree.children(3)[0];
        let arrow = match operation {
            Operation::Reduce => format!("r{first} -> r3 [label=\"1\""),
            Operation::Broadcast => format!("r3 -> r{first} [label=\"1\""),
            Operation::Barrier => format!("r3 -> r{first} [label=\"1\", dir=both"),
        };
        assert!(dot.contains(&arrow), "{dot}");

        let svg = drawing.svg();
        assert_eq!(svg.matches("<circle class=\"member").count(), 10);
        assert_eq!(svg.matches("<circle class=\"place").count(), 9);
        assert_eq!(svg.matches("<path class=\"edge").count(), 9);
        assert_eq!(svg.matches("class=\"box\"").count(), 2);
        let picture = roxmltree::Document::parse(&svg).unwrap();
        let title = picture
            .descendants()
            .find(|node| node.has_tag_name("title"));
        let title = title.and_then(|node| node.text()).unwrap();
        assert!(title.starts_with("a \"<b>\" & c"), "{title}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

#[test]
fn a_team_of_one_is_drawn() {
    let costs = costs("core:1");
    let tree = Pattern::Smelt.tree(&costs, 0).unwrap();
    let drawing = Drawing::new(&costs, &tree, Operation::Broadcast);
    let text = drawing.outline(true, Screen::PLAIN);
    assert_eq!(text, "rank 0 (PU 0, node 0) at 0.00\n");
    assert!(drawing.svg().contains("<circle") && !drawing.svg().contains("NaN"));
    assert!(drawing.dot().contains("r0 ["));
}

/// A barrier whose fan-in is a chain and whose fan-out is a star.
fn two_trees(costs: &CostModel) -> Plan {
    let n = costs.n();
    let fan_in = Pattern::Chain.tree(costs, 0).unwrap();
    let fan_out = Pattern::Sequential.tree(costs, 0).unwrap();
    let plan = Plan::of_trees(costs, Pattern::Smelt, fan_in, fan_out).unwrap();
    assert_eq!(plan.shape.len(), n);
    plan
}

#[test]
fn two_trees_are_drawn_both() {
    let costs = costs("package:2 core:2 send=10,30 receive=20,60");
    let plan = two_trees(&costs);
    let drawing = Drawing::of_plan(&costs, &plan).unwrap();
    assert_eq!(drawing.timeline().latency, plan.latency);
    let expected = "\
fan-in: numbers are the order of receives
rank 0 (PU 0, node 0) at 150
└── 1. rank 1 (PU 1, node 0) at 120
    └── 1. rank 2 (PU 2, node 1) at 30
        └── 1. rank 3 (PU 3, node 1) at 0
fan-out: numbers are the order of sends
rank 0 (PU 0, node 0) at 150
├── 1. rank 1 (PU 1, node 0) at 180
├── 2. rank 2 (PU 2, node 1) at 250
└── 3. rank 3 (PU 3, node 1) at 280
";
    assert_eq!(drawing.outline(true, Screen::PLAIN), expected);
    let dot = drawing.dot();
    for part in [
        "label=\"fan-in: NUMA node 0\"",
        "label=\"fan-out: NUMA node 1\"",
        "r1 -> r0 [label=\"1\", penwidth=3]",
        "r2 -> r1 [label=\"1\", color=\"#ba2525\", penwidth=3]",
        "s0 -> s1 [label=\"1\"]",
        "s0 -> s3 [label=\"3\", color=\"#ba2525\", penwidth=3]",
    ] {
        assert!(dot.contains(part), "{part} is missing in {dot}");
    }
    let svg = drawing.svg();
    assert_eq!(svg.matches("<path class=\"edge").count(), 6);
    assert_eq!(svg.matches("<circle class=\"member").count(), 8);
    // The chain has three messages of the fan-in, and the last one of the fan-out.
    assert_eq!(svg.matches("critical\" d=").count(), 4);
    let words = words(&svg);
    assert!(words.contains(&"fan-in".to_owned()) && words.contains(&"fan-out".to_owned()));
}

#[test]
fn lanes_show_every_send_and_receive() {
    let costs = costs("package:2 core:5");
    let threads: Vec<u32> = (20..30).collect();
    let numa: Vec<u32> = (0..10).map(|rank| 3 + rank / 5).collect();
    let tree = Pattern::Smelt.tree(&costs, 3).unwrap();
    for (operation, messages) in [
        (Operation::Broadcast, 9),
        (Operation::Reduce, 9),
        (Operation::Barrier, 18),
    ] {
        let svg = Drawing::new(&costs, &tree, operation)
            .with_threads(&threads)
            .with_numa(&numa)
            .timeline_svg();
        assert_eq!(svg.matches("<g>\n<title>").count(), 2 * messages);
        assert_eq!(svg.matches("<path class=\"message").count(), messages + 2);
        let words = words(&svg);
        let has = |word: String| words.contains(&word);
        assert!(has("NUMA node 3".to_owned()) && has("NUMA node 4".to_owned()));
        assert!((0..10).all(|rank| has(format!("{rank} (thread {})", 20 + rank))));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
    let alone = Drawing::new(&costs, &tree, Operation::Broadcast).timeline_svg();
    assert!(words(&alone).contains(&"3".to_owned()));
}

#[test]
fn members_of_a_group_have_one_number() {
    let words = "package:2 core:2 send=10,20 receive=30,60 write=20 transfer=5,9";
    let file = corecast_model::synthetic(words).unwrap();
    let lists = vec![vec![vec![3], vec![1, 2]], vec![], vec![], vec![]];
    let groups = Grouped::from_groups(0, lists).unwrap();
    let (costs, pattern) = (file.costs(), Pattern::Best);
    let made = Plan::of_groups(costs, pattern, Operation::Broadcast, groups).unwrap();
    let drawing = Drawing::of_plan(costs, &made).unwrap();
    let expected = "\
members with one number share a line
rank 0 (PU 0, node 0) at 0.0
├── 1. rank 3 (PU 3, node 1) at 80.0
├── 2. rank 1 (PU 1, node 0) at 45.0
└── 2. rank 2 (PU 2, node 1) at 49.0
";
    assert_eq!(drawing.outline(true, Screen::PLAIN), expected);
    let dot = drawing.dot();
    for part in [
        "r0 -> r3 [label=\"1\"",
        "r0 -> r1 [label=\"2\"]",
        "r0 -> r2 [label=\"2\"",
    ] {
        assert!(dot.contains(part), "{part} is missing in {dot}");
    }
    assert!(
        drawing
            .svg()
            .contains("one number for all who share a line")
    );
    let lanes = drawing.timeline_svg();
    assert!(
        lanes.contains("0 sends to 1 and 1 more: 20 to 40 ns"),
        "{lanes}"
    );
    assert_eq!(lanes.matches("<path class=\"message").count(), 3 + 2);

    let trees = Shape::GroupedTrees {
        fan_in: Grouped::flat(4, 0),
        fan_out: Grouped::flat(4, 0),
    };
    let mut both = made.clone();
    (both.operation, both.shape) = (Operation::Barrier, trees);
    let drawing = Drawing::of_plan(costs, &both).unwrap();
    assert_eq!(
        drawing
            .outline(true, Screen::PLAIN)
            .matches(" 1. rank ")
            .count(),
        6
    );
    // The fan-in costs 20 + 5 + 9 + 9, and the fan-out 20 + 9.
    assert_eq!(drawing.timeline().latency, 43.0 + 29.0);
}
