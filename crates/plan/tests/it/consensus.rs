//! Trees of acceptors that lose members, and roles against all that there are.

use corecast_model::{builtin, synthetic};
use corecast_plan::consensus::AcceptorTrees;
use corecast_plan::{Operation, Pattern, RootChoice, Tree, plan};

/// The members that messages from `root` reach, each as often as it is reached.
fn reached(root: usize, children: &[Vec<usize>]) -> Vec<usize> {
    let (mut all, mut next) = (vec![root], vec![root]);
    while let Some(member) = next.pop() {
        all.extend(&children[member]);
        next.extend(&children[member]);
        assert!(all.len() <= children.len(), "{children:?}");
    }
    all.sort_unstable();
    all
}

#[test]
fn trees_reach_all_that_are_there_whoever_leaves() {
    let machine = synthetic("package:3 core:2 send=60,120,200 receive=220,450,750").unwrap();
    let trees = AcceptorTrees::new(machine.costs(), Pattern::Smelt).unwrap();
    for acceptor in 0..6 {
        for absent in 0..1_u64 << 6 {
            let children = trees.children(acceptor, absent);
            if absent >> acceptor & 1 == 1 {
                assert!(children.iter().all(Vec::is_empty));
                continue;
            }
            let there: Vec<usize> = (0..6).filter(|it| absent >> it & 1 == 0).collect();
            assert_eq!(
                reached(acceptor, &children),
                there,
                "{acceptor} without {absent:#b}"
            );
        }
        assert_eq!(
            trees.children(acceptor, 0),
            trees.tree(acceptor).child_lists()
        );
    }
}

/// One member that leaves moves few others, and what is left is what [`Plan::without`](corecast_plan::Plan::without) makes.
#[test]
fn a_member_that_leaves_is_repaired_locally() {
    let machine = builtin("magnycours-4x12").unwrap();
    let members: Vec<usize> = (0..32).collect();
    let costs = machine.costs().subset(&members).unwrap();
    let trees = AcceptorTrees::new(&costs, Pattern::Smelt).unwrap();
    let before = plan(
        &costs,
        Pattern::Smelt,
        Operation::Broadcast,
        RootChoice::Rank(3),
    )
    .unwrap();
    let inner = (0..32)
        .find(|it| *it != 3 && !trees.tree(3).is_leaf(*it))
        .unwrap();
    let stay: Vec<usize> = members.iter().copied().filter(|it| *it != inner).collect();
    let after = before
        .without(&costs.subset(&stay).unwrap(), inner)
        .unwrap();
    let children = trees.children(3, 1 << inner);
    let repaired = Tree::from_children(
        stay.iter().position(|it| *it == 3).unwrap(),
        stay.iter()
            .map(|member| {
                let list = children[*member].iter();
                list.map(|child| stay.iter().position(|it| it == child).unwrap())
                    .collect()
            })
            .collect(),
    );
    assert_eq!(Some(&repaired.unwrap()), after.plan.tree());
    assert!(children[inner].is_empty());
}

#[test]
fn the_roles_are_the_best_of_all_pairs() {
    let machine = synthetic("package:2 core:3 send=60,120,200 receive=220,450,750").unwrap();
    for pattern in [Pattern::Sequential, Pattern::Smelt, Pattern::Binary] {
        let trees = AcceptorTrees::new(machine.costs(), pattern).unwrap();
        let clients = |member: usize| 100.0 * (member % 3) as f64;
        let best = trees.roles(clients);
        for acceptor in 0..6 {
            for leader in (0..6).filter(|leader| *leader != acceptor) {
                let roles = trees.with_roles(leader, acceptor, clients);
                assert!((best.busiest, best.answer) <= (roles.busiest, roles.answer));
            }
        }
    }
    let alone = synthetic("core:1").unwrap();
    let alone = AcceptorTrees::new(alone.costs(), Pattern::Smelt)
        .unwrap()
        .roles(|_| 5.0);
    assert_eq!((alone.leader, alone.acceptor, alone.busiest), (0, 0, 5.0));
}

/// By hand: three members, all messages alike, `a` sends to both others.
#[test]
fn the_work_of_a_command_is_that_of_its_messages() {
    let machine = synthetic("core:3 send=10,10,10 receive=100,100,100").unwrap();
    let trees = AcceptorTrees::new(machine.costs(), Pattern::Sequential).unwrap();
    let roles = trees.with_roles(0, 1, |_| 7.0);
    // The acceptor receives and sends twice; the leader has its client, sends and receives.
    assert_eq!(roles.busiest, f64::max(100.0 + 20.0, 7.0 + 10.0 + 100.0));
    let sent = if trees.tree(1).children(1)[0] == 0 {
        10.0
    } else {
        20.0
    };
    assert_eq!(roles.answer, 10.0 + 100.0 + sent + 100.0);
}
