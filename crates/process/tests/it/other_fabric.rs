//! The algorithms over a second fabric, made of the standard library's channels: results are the
//! same, and messages are as many as their cost formulas say.

use crate::channels::Sent;
use crate::common::{ADD, Consume, run};
use corecast_collectives::barrier::Steps;
use corecast_collectives::{Route, allreduce, barrier, broadcast, reduce};
use corecast_model::CostModel;
use corecast_plan::{Pattern, Rounds, Tree};

fn messages(messages: usize, bytes: usize) -> Sent {
    Sent {
        messages,
        bytes,
        ..Sent::default()
    }
}

fn notifications(notifications: usize) -> Sent {
    Sent {
        notifications,
        ..Sent::default()
    }
}

fn trees(n: usize) -> Vec<Tree> {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let costs: &CostModel = machine.costs();
    let patterns = [
        Pattern::Smelt,
        Pattern::Binary,
        Pattern::Chain,
        Pattern::Sequential,
    ];
    patterns
        .into_iter()
        .flat_map(|pattern| [0, n - 1].map(|root| pattern.tree(costs, root).unwrap()))
        .collect()
}

#[test]
fn tree_algorithms_give_the_same_results_with_the_messages_they_promise() {
    for n in 1..=7 {
        for tree in trees(n) {
            let routes = Route::all(&tree);
            for root in 0..n {
                let sent = run(n, |fabric| {
                    let mut data = [if fabric.rank == root { 9 } else { 0 }];
                    broadcast::tree(fabric, &routes[fabric.rank], root, &mut data).unwrap();
                    assert_eq!(data, [9]);
                });
                assert_eq!(sent, messages(n - 1, n - 1), "broadcast, {n} ranks");
                let sent = run(n, |fabric| {
                    let (mut sum, mut incoming) = ([fabric.rank as u8 + 1], [0]);
                    let route = &routes[fabric.rank];
                    reduce::tree(fabric, route, root, &mut sum, &mut incoming, &ADD).unwrap();
                    let all = (n * (n + 1) / 2) as u8;
                    assert!(fabric.rank != root || sum == [all]);
                });
                assert_eq!(sent, messages(n - 1, n - 1), "reduce, {n} ranks");
            }
            let sent = run(n, |fabric| {
                let (mut sum, mut incoming) = ([fabric.rank as u8 + 1], [0]);
                let route = &routes[fabric.rank];
                allreduce::tree(fabric, route, route, &mut sum, &mut incoming, &ADD).unwrap();
                assert_eq!(sum, [(n * (n + 1) / 2) as u8]);
            });
            assert_eq!(
                sent,
                messages(2 * (n - 1), 2 * (n - 1)),
                "allreduce, {n} ranks"
            );
            let sent = run(n, |fabric| {
                let route = &routes[fabric.rank];
                barrier::tree(fabric, route, route).unwrap();
            });
            assert_eq!(sent, notifications(2 * (n - 1)), "barrier, {n} ranks");
        }
    }
}

#[test]
fn two_ranks_exchange_in_rank_order() {
    let sent = run(2, |fabric| {
        let (mut sum, mut incoming) = ([fabric.rank as u8 + 1], [0]);
        // An operator that is neither associative nor commutative shows the order.
        let combine = Consume(|a, b| 10 * a + b);
        allreduce::exchange(fabric, &mut sum, &mut incoming, &combine).unwrap();
        assert_eq!(sum, [12]);
    });
    assert_eq!(sent, messages(2, 2));
}

#[test]
fn disseminations_send_what_their_schedule_says() {
    for n in 1..=9 {
        for radix in 2..=4 {
            let rounds = Rounds::dissemination(n, radix);
            let sent = run(n, |fabric| {
                let steps = Steps::of(&rounds, fabric.rank);
                barrier::dissemination(fabric, &steps).unwrap();
            });
            assert_eq!(
                sent,
                notifications(rounds.notifications()),
                "{n} ranks, radix {radix}"
            );
        }
    }
}
