//! The changing tree against trees made afresh.

use std::ops::ControlFlow;
use std::rc::Rc;

use corecast_model::{CostModel, synthetic};

use super::moves::Mover;
use super::pairs::PairCosts;
use super::state::TreeState;
use super::{TreeSearch, construct};
use crate::cost;
use crate::operation::Operation;
use crate::pace::unwatched;
use crate::random::SplitMix64;
use crate::tree::Tree;

/// A tree whose members hang below random earlier ones.
fn random_tree(n: usize, random: &mut SplitMix64) -> Tree {
    let mut lists = vec![Vec::new(); n];
    for v in 1..n {
        lists[random.below(v)].push(v);
    }
    Tree::from_children(0, lists).unwrap()
}

fn search_from<'a>(
    costs: &'a CostModel,
    start: &Tree,
    free_root: bool,
    seed: u64,
) -> TreeSearch<'a> {
    unwatched(|pace| ControlFlow::Continue(TreeSearch::new(costs, start, free_root, seed, pace)))
}

#[test]
fn sums_stay_exact_over_long_sequences() {
    for (spec, seed) in [
        (
            "package:2 numa:2 core:3 send=60,120,200 receive=220,450,750",
            1,
        ),
        ("core:5 send=0 receive=0", 2),
        ("package:8 core:4 send=1,1000 receive=3,1", 3),
        ("package:70 core:2 send=7,90 receive=30,200", 4),
    ] {
        let machine = synthetic(spec).unwrap();
        let costs = machine.costs();
        let mut random = SplitMix64::new(seed);
        let tree = random_tree(costs.n(), &mut random);
        let scale = cost::latency(costs, &tree, Operation::Broadcast);
        let pairs = Rc::new(unwatched(|pace| {
            ControlFlow::Continue(PairCosts::of(costs, scale, pace))
        }));
        let state = TreeState::of_tree(&pairs, &tree);
        let mut mover = Mover::new(&pairs, state, seed % 2 == 0, random);
        let (mut kept, mut parents) = (0, vec![0; costs.n()]);
        for step in 0..4000 {
            let before = (mover.state.parents().to_vec(), mover.state.latency());
            let rise = if step % 3 == 0 { 1.05 } else { 0.995 };
            if mover.step(before.1 * rise, f64::INFINITY) {
                mover.state.parents_before(&mut parents);
                assert_eq!(parents, before.0, "{spec}: step {step}");
                mover.accept();
                kept += 1;
            } else {
                assert_eq!(mover.state.parents(), before.0, "{spec}: step {step}");
                assert_eq!(mover.state.latency(), before.1, "{spec}: step {step}");
            }
            mover.state.verify();
            let fresh = cost::latency(costs, &mover.state.tree(), Operation::Broadcast);
            let latency = mover.state.latency();
            assert!((fresh - latency).abs() <= 1e-9 * fresh, "{fresh} {latency}");
        }
        assert!(kept > 100, "{spec}: only {kept} moves kept");
    }
}

#[test]
fn undo_restores_everything() {
    let machine = synthetic("package:2 numa:2 core:3 send=60,120,200 receive=220,450,750").unwrap();
    let costs = machine.costs();
    let mut random = SplitMix64::new(9);
    let tree = random_tree(costs.n(), &mut random);
    let scale = cost::latency(costs, &tree, Operation::Broadcast);
    let pairs = Rc::new(unwatched(|pace| {
        ControlFlow::Continue(PairCosts::of(costs, scale, pace))
    }));
    let mut state = TreeState::of_tree(&pairs, &tree);
    for _ in 0..5000 {
        let before = (state.tree(), state.energy());
        let (a, b) = (random.below(pairs.n()), random.below(pairs.n()));
        if a != b {
            state.exchange(a, b);
            state.verify();
        }
        let (x, q) = (random.below(pairs.n()), random.below(pairs.n()));
        if x != state.root() && !state.is_within(q, x) {
            state.relocate(x, q);
            state.verify();
        }
        if !state.is_within(a, b) && !state.is_within(b, a) {
            state.trade(a, b);
            state.verify();
        }
        if random.below(2) == 0 {
            state.undo();
            state.verify();
            assert_eq!((state.tree(), state.energy()), before);
        } else {
            state.keep();
        }
    }
}

#[test]
fn a_search_that_goes_on_is_the_one_that_was_not_interrupted() {
    let machine = synthetic("package:2 numa:2 core:2 send=60,120,200 receive=220,450,750").unwrap();
    let start = random_tree(machine.costs().n(), &mut SplitMix64::new(4));
    // Long enough for rounds and tempering to take turns.
    let parts: [u64; 5] = [777, 20_000, 30_001, 50_000, 22];
    let searched = |parts: &[u64]| {
        let mut search = search_from(machine.costs(), &start, false, 7);
        for &moves in parts {
            let ended = search.run(0.0, moves, &mut |_| ControlFlow::Continue(()));
            assert!(ended.is_continue());
        }
        assert_eq!(search.moves(), parts.iter().sum::<u64>());
        search.tree()
    };
    assert_eq!(searched(&parts), searched(&[parts.iter().sum()]));
}

#[test]
fn an_offer_is_taken_if_it_is_better() {
    let machine = synthetic("package:2 numa:2 core:3 send=60,120,200 receive=220,450,750").unwrap();
    let costs = machine.costs();
    let latency = |tree: &Tree| cost::latency(costs, tree, Operation::Broadcast);
    let good = construct(costs, Some(0));
    let poor = random_tree(costs.n(), &mut SplitMix64::new(1));
    assert!(latency(&good) < latency(&poor));
    let mut search = search_from(costs, &poor, false, 1);
    search.offer(&good);
    assert_eq!(latency(&search.tree()), latency(&good));
    search.offer(&poor);
    assert_eq!(latency(&search.tree()), latency(&good));
    // It is where the search goes on, in rounds and by tempering.
    for moves in [100, 60_000] {
        let ended = search.run(0.0, moves, &mut |_| ControlFlow::Continue(()));
        assert!(ended.is_continue());
        assert!(latency(&search.tree()) <= latency(&good));
        search.offer(&good);
    }
}
