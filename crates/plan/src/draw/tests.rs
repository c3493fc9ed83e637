use super::*;
use crate::pattern::Pattern;

fn costs(spec: &str) -> CostModel {
    corecast_model::synthetic(spec).unwrap().costs().clone()
}

#[test]
fn text_has_a_line_for_each_member() {
    let costs = costs("package:2 core:6");
    for pattern in Pattern::oblivious() {
        let tree = pattern.tree(&costs, 5).unwrap();
        let threads: Vec<u32> = (100..112).collect();
        let text = Drawing::new(&costs, &tree, Operation::Barrier)
            .with_threads(&threads)
            .text();
        assert_eq!(text.lines().count(), 12);
        for thread in threads {
            assert_eq!(text.matches(&format!("(thread {thread})")).count(), 1);
        }
        let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|&width| width == widths[0]), "{text}");
    }
}

#[test]
fn a_long_chain_stays_short() {
    let costs = costs("core:2048");
    let tree = Pattern::Chain.tree(&costs, 0).unwrap();
    let text = Drawing::new(&costs, &tree, Operation::Broadcast).text();
    assert!(text.lines().all(|line| line.chars().count() < 160));
    assert!(text.contains("[below 24] └─ 1st: 25 "), "{}", &text[..4000]);
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
        assert!(svg.contains("a &quot;&lt;b&gt;&quot; &amp; c"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

#[test]
fn a_team_of_one_is_drawn() {
    let costs = costs("core:1");
    let tree = Pattern::Smelt.tree(&costs, 0).unwrap();
    let drawing = Drawing::new(&costs, &tree, Operation::Broadcast);
    assert_eq!(drawing.text(), "0 NUMA node 0    at 0 ns\n");
    assert!(drawing.svg().contains("<circle") && !drawing.svg().contains("NaN"));
    assert!(drawing.dot().contains("r0 ["));
}

#[test]
fn ordinals() {
    let names = [1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111, 113].map(ordinal);
    let expected = "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 101st 111th 113th";
    assert_eq!(names.join(" "), expected);
}

/// A barrier that goes in along a chain and out over a star.
fn two_trees(costs: &CostModel) -> crate::Plan {
    let n = costs.n();
    let fan_in = Pattern::Chain.tree(costs, 0).unwrap();
    let fan_out = Pattern::Sequential.tree(costs, 0).unwrap();
    let plan = crate::Plan::of_trees(costs, Pattern::Smelt, fan_in, fan_out).unwrap();
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
fan-in
0               NUMA node 0    at 150 ns
└─ 1st: 1       NUMA node 0    at 120 ns
   └─ 1st: 2    NUMA node 1    at  30 ns
      └─ 1st: 3 NUMA node 1    at   0 ns
fan-out
0         NUMA node 0    at 150 ns
├─ 1st: 1 NUMA node 0    at 180 ns
├─ 2nd: 2 NUMA node 1    at 250 ns
└─ 3rd: 3 NUMA node 1    at 280 ns
";
    assert_eq!(drawing.text(), expected);
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
    // Three of the fan-in, the last of the fan-out.
    assert_eq!(svg.matches("critical\" d=").count(), 4);
    assert!(svg.contains(">fan-in</text>") && svg.contains(">fan-out</text>"));
}

#[test]
fn the_critical_chain_has_no_break() {
    for spec in [
        "core:1",
        "core:2 send=0 receive=0",
        "package:3 core:4 pu:2",
        "package:2 core:8 send=90,200 receive=20,300",
    ] {
        let costs = costs(spec);
        let mut timelines: Vec<Timeline> = Vec::new();
        for pattern in [Pattern::Smelt, Pattern::Binomial, Pattern::Chain] {
            let tree = pattern.tree(&costs, 0).unwrap();
            let all = Operation::ALL.map(|op| cost::timeline(&costs, &tree, op));
            timelines.extend(all);
        }
        timelines.push(two_trees(&costs).timeline(&costs).unwrap());
        for timeline in timelines {
            let chain = critical_chain(&timeline);
            let times: Vec<_> = chain.iter().map(|m| timeline.busy[m.rank][m.at]).collect();
            assert_eq!(times.first().map_or(0.0, |t| t.start), 0.0, "{spec}");
            let end = times.last().map_or(0.0, |t| t.end);
            assert_eq!(end, timeline.latency, "{spec}");
            assert!(times.windows(2).all(|w| w[0].end == w[1].start), "{spec}");
        }
    }
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
        assert_eq!(svg.matches("<g><title>").count(), 2 * messages);
        assert_eq!(svg.matches("<path class=\"message").count(), messages + 2);
        assert!(svg.contains("NUMA node 3<") && svg.contains("NUMA node 4<"));
        for rank in 0..10 {
            assert!(svg.contains(&format!(">{rank} (thread {})</text>", 20 + rank)));
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
    let alone = Drawing::new(&costs, &tree, Operation::Broadcast).timeline_svg();
    assert!(alone.contains(">3</text>"));
}

#[test]
fn ticks_are_round_and_few() {
    let text = |first, last| -> Vec<String> {
        let ticks = xml::ticks(first, last, 6);
        ticks.into_iter().map(|(_, text)| text).collect()
    };
    assert_eq!(text(0.0, 265.0), ["0", "50", "100", "150", "200", "250"]);
    assert_eq!(text(150.0, 280.0), ["150", "200", "250"]);
    assert_eq!(text(0.0, 0.5), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
    assert_eq!(text(0.0, 0.0), ["0"]);
    assert!(text(1e15, 1e15 + 0.1).len() < 30);
}
