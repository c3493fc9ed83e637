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
            Operation::Reduce => format!("r{first} -> r3 [label=\"1\"]"),
            Operation::Broadcast => format!("r3 -> r{first} [label=\"1\"]"),
            Operation::Barrier => format!("r3 -> r{first} [label=\"1\", dir=both]"),
        };
        assert!(dot.contains(&arrow), "{dot}");

        let svg = drawing.svg();
        assert_eq!(svg.matches("<circle").count(), 10);
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
