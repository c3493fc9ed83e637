//! Pictures of the symbolic model's graphs and of simulated runs are complete and well-formed.

use corecast_collectives::Plans;
use corecast_draw::simulated::{graph_dot, graph_svg, trace_svg};
use corecast_model::Place;
use corecast_plan::Pattern;
use corecast_plan::groups::Grouped;
use corecast_sim::drive::{Call, Collective, Job, algorithms};
use corecast_sim::engine::RunOptions;
use corecast_sim::fabric::{CallSetting, predict};
use corecast_sim::machine::pairs;
use corecast_sim::symbolic::{Analysis, CostRules, Placement, record_job};

/// All algorithms of all collectives on `n` ranks.
fn jobs(n: usize, bytes: usize) -> Vec<Job> {
    let costs = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let plans = Plans::of_pattern(costs.costs(), Pattern::Binomial, Some(0)).unwrap();
    let packages = (0..n).map(|rank| u32::from(2 * rank >= n)).collect();
    let plans = plans.with_packages(packages).unwrap();
    let plans = plans.with_broadcast_groups(Grouped::flat(n, 0)).unwrap();
    let mut jobs = Vec::new();
    for collective in Collective::WITH_ALGORITHMS {
        for algorithm in algorithms(collective) {
            let call = Call::new(collective, algorithm, 0, bytes).unwrap();
            // Some algorithms need a power of two of ranks.
            jobs.extend(Job::new(&call, &plans));
        }
    }
    assert!(jobs.len() > 30, "{} jobs", jobs.len());
    jobs
}

fn placement(n: usize) -> Placement {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let places = machine.machine().pus.iter().map(Place::from).collect();
    Placement::of_model(machine.costs(), places)
}

#[test]
fn drawings_have_every_act_and_edge_and_the_critical_path() {
    for n in [1, 2, 6] {
        for job in jobs(n, 300) {
            let graph = record_job(&job).unwrap();
            let placement = placement(n);
            let analysis = Analysis::new(&graph, &placement, &CostRules::default());
            let (dot, svg) = (graph_dot(&analysis, "a & b"), graph_svg(&analysis, "a & b"));
            let [e1, e2, e3, e4] = graph.edge_counts();
            let lines = |part: &str| dot.lines().filter(|line| line.contains(part)).count();
            assert_eq!(lines(" -> a"), e1 + e2 + e3 + e4, "{}", job.call());
            assert_eq!(lines("dir=none"), e3, "{}", job.call());
            assert_eq!(lines(" [label="), graph.acts().len(), "{}", job.call());
            assert_eq!(lines("{"), lines("}"), "{}", job.call());
            assert_eq!(
                svg.matches("<line ").count(),
                e1 + e2 + e3 + e4,
                "{}",
                job.call()
            );
            let rects = svg.matches("<rect ").count();
            // There is a rectangle for the ground, one for each rank's column, and one for each act.
            assert_eq!(rects, 1 + n + graph.acts().len(), "{}", job.call());
            roxmltree::Document::parse(&svg).unwrap();
            let red = dot
                .lines()
                .filter(|line| line.contains("color=red, penwidth"));
            assert_eq!(
                red.count() + 1,
                analysis.critical().len().max(1),
                "{}",
                job.call()
            );
        }
    }
}

#[test]
fn a_trace_has_a_lane_for_each_rank_and_an_arrow_for_each_message() {
    let file = corecast_model::synthetic("package:2 core:3").unwrap();
    let machine = pairs::machine("a & b", file.costs());
    let plans = Plans::of_pattern(file.costs(), Pattern::Binomial, Some(0)).unwrap();
    let call = Call::new(Collective::Broadcast, "messages", 0, 8).unwrap();
    let job = Job::new(&call, &plans).unwrap();
    let setting = CallSetting {
        options: RunOptions {
            trace: true,
            ..RunOptions::default()
        },
        ..CallSetting::default()
    };
    let found = predict(&machine, &[0, 1, 2, 3, 4, 5], &job, &setting).unwrap();
    let svg = trace_svg(&found.trace, "a < b");
    let picture = roxmltree::Document::parse(&svg).unwrap();
    let count = |name: &str| {
        picture
            .descendants()
            .filter(|node| node.has_tag_name(name))
            .count()
    };
    let (messages, ticks) = (
        found.trace.pairs().len(),
        svg.matches("class=\"tick\"").count(),
    );
    let lines = 6 + messages + ticks;
    assert!((4..=20).contains(&ticks), "{ticks} ticks");
    assert!(
        found.trace.pairs().len() >= 5,
        "a message to each of the others"
    );
    assert_eq!(count("line"), lines);
    assert_eq!(count("rect"), 1 + found.trace.spans().len());
    assert!(!svg.contains("NaN"));
}
