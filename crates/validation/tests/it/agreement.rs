//! 1Paxos and a store on it over messages whose costs are known: what Smelt says of them (§5.6, §5.7), sums by hand, and the model.

use corecast_plan::Pattern;
use corecast_validation::agreement::machines::{self, Costs};
use corecast_validation::agreement::runs::{
    Outcome, UNDER_WAY, Way, Workload, agreement, bound_per_ms, store,
};
use corecast_validation::sections::agreement::{Compared, TREE};

fn paxos(machine: &Costs, replicas: usize, way: Way) -> Outcome {
    agreement(machine, replicas, Workload::Agreement, way, UNDER_WAY, 0.0)
}

fn compared(machine: &Costs, count: usize) -> Compared {
    Compared {
        count,
        sequential: paxos(machine, count, Way::Sequential),
        tree: paxos(machine, count, TREE),
    }
}

/// Up to three times the throughput and response with 28 replicas, and more the more replicas there are.
#[test]
fn the_tree_gains_what_the_paper_says_and_more_with_more_replicas() {
    let machine = machines::medians();
    let ratios = [8, 16, 28].map(|count| compared(&machine, count));
    for pair in ratios.windows(2) {
        assert!(1.0 < pair[0].speedup() && pair[0].speedup() < pair[1].speedup());
    }
    let [.., last] = ratios;
    println!("{last:?}: {:.2}, {:.2}", last.speedup(), last.sooner());
    assert!((2.5..4.0).contains(&last.speedup()), "3 in the paper");
    assert!((2.5..4.0).contains(&last.sooner()), "3 in the paper");
    // The sequential one falls with the replicas, since the acceptor sends to each; the tree is at two thirds.
    let fell = |of: fn(&Compared) -> Outcome| of(&ratios[0]).sets_per_ms / of(&last).sets_per_ms;
    assert!((3.0..4.0).contains(&fell(|it| it.sequential)));
    assert!((1.0..2.0).contains(&fell(|it| it.tree)));
}

/// "Its scaling behavior and performance are similar to a plain broadcast".
#[test]
fn agreement_is_as_fast_as_a_plain_broadcast() {
    let machine = machines::medians();
    for (replicas, way) in [
        (8, Way::Sequential),
        (8, TREE),
        (28, Way::Sequential),
        (28, TREE),
    ] {
        let plain = agreement(&machine, replicas, Workload::Broadcast, way, UNDER_WAY, 0.0);
        let ratio = paxos(&machine, replicas, way).sets_per_ms / plain.sets_per_ms;
        assert!(
            (0.95..1.25).contains(&ratio),
            "{replicas}, {way:?}: {ratio}"
        );
    }
}

/// The store has fewer replicas, so a tree gains less; the paper says up to three times.
#[test]
fn the_store_gains_by_the_tree() {
    let machine = machines::medians();
    for connections in [8, 96] {
        let [sequential, smelt, binary] = [Way::Sequential, TREE, Way::Tree(Pattern::Binary)]
            .map(|way| store(&machine, connections, way, 0.0));
        let ratio = smelt.sets_per_ms / sequential.sets_per_ms;
        println!("{connections}: {sequential:?} {smelt:?} {binary:?}");
        assert!((1.3..3.0).contains(&ratio), "{connections}: {ratio}");
        assert!(smelt.response_us < sequential.response_us);
        assert!(binary.sets_per_ms > sequential.sets_per_ms);
    }
}

/// By hand: an acceptor that receives for 300 and sends to 27 others for 100 each is done with a command in 3,000 cycles.
#[test]
fn the_busiest_member_limits_the_rate() {
    let machine = machines::uniform(100.0, 300.0);
    let bound = bound_per_ms(&machine, 28, Way::Sequential);
    assert!((bound - 1e6 / 3000.0).abs() < 1e-9, "{bound}");
    let found = paxos(&machine, 28, Way::Sequential).sets_per_ms;
    // Once in half a millisecond members also say how far they are.
    assert!(
        (0.96 * bound..=bound).contains(&found),
        "{found} of {bound}"
    );
    // A message costs more where it has to be handled.
    let handled = agreement(
        &machine,
        28,
        Workload::Agreement,
        Way::Sequential,
        UNDER_WAY,
        600.0,
    );
    let expected = 1e6 / 3600.0;
    let ratio = handled.sets_per_ms / expected;
    assert!((0.92..=1.0).contains(&ratio), "{handled:?}");
}

/// What the model says of the busiest member is what comes out, whatever the tree.
#[test]
fn what_comes_out_is_what_the_model_says() {
    let ways = [
        Way::Sequential,
        TREE,
        Way::Tree(Pattern::Cluster),
        Way::Tree(Pattern::Binary),
    ];
    let holds = |machine: &Costs, way| {
        let (bound, found) = (bound_per_ms(machine, 28, way), paxos(machine, 28, way));
        let ratio = found.sets_per_ms / bound;
        println!("{}, {way:?}: {ratio:.3} of {bound:.0}", machine.name);
        assert!((0.94..=1.0).contains(&ratio), "{}: {ratio}", machine.name);
    };
    let medians = machines::medians();
    for way in ways {
        holds(&medians, way);
    }
    for machine in machines::pairs() {
        holds(&machine, TREE);
    }
}

/// The same run gives the same, to the last digit.
#[test]
fn runs_are_deterministic() {
    let machine = machines::medians();
    assert_eq!(paxos(&machine, 8, TREE), paxos(&machine, 8, TREE));
    assert_eq!(
        store(&machine, 24, TREE, 0.0),
        store(&machine, 24, TREE, 0.0)
    );
}
