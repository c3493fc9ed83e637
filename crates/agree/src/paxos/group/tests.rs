use super::*;
use crate::paxos::routes::tests::binary;
use std::collections::BTreeMap;

/// Long enough for a machine on which much else runs.
const PATIENT: Options = Options {
    heartbeat_ns: 5_000_000,
    leader_ns: 60_000_000,
    acceptor_ns: 60_000_000,
    resend_ns: 30_000_000,
    pending_max: 16,
    lag_max: 100_000,
};

/// Each member submits `commands`, and goes on until it has delivered all that those submit which stay; the member `leaves`
/// stops halfway.
fn run(size: usize, commands: u64, leaves: Option<usize>) -> Vec<Vec<(u64, u64)>> {
    let members = GroupMember::<u64>::group(size, PATIENT, WaitConfig::OVERSUBSCRIBED).unwrap();
    agree(members, commands, leaves)
}

fn agree(
    members: Vec<GroupMember<u64>>,
    commands: u64,
    leaves: Option<usize>,
) -> Vec<Vec<(u64, u64)>> {
    let size = members.len();
    let finished = std::sync::Barrier::new(size - usize::from(leaves.is_some()));
    std::thread::scope(|scope| {
        let threads = members.into_iter().map(|mut member| {
            let finished = &finished;
            scope.spawn(move || {
                let (me, mut submitted) = (member.me(), 0);
                let mut orders = Vec::new();
                let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
                let stay = |origin: &u64| Some(*origin as usize) != leaves;
                loop {
                    while submitted < commands
                        && member.submit(1000 * me as u64 + submitted).is_ok()
                    {
                        submitted += 1;
                    }
                    if let Event::Delivered { submission, .. } = member.wait() {
                        assert_eq!(
                            submission.command,
                            1000 * submission.origin + submission.number
                        );
                        *counts.entry(submission.origin).or_default() += 1;
                        orders.push((submission.origin, submission.number));
                    }
                    if Some(me) == leaves && orders.len() as u64 >= commands {
                        return orders;
                    }
                    let done = counts
                        .iter()
                        .filter(|(origin, count)| stay(origin) && **count == commands);
                    if done.count() == size - usize::from(leaves.is_some()) {
                        break;
                    }
                }
                // Those that are not done need the others.
                let waits = std::thread::scope(|scope| {
                    let all = scope.spawn(|| finished.wait());
                    while !all.is_finished() {
                        member.linger(Duration::from_millis(5));
                    }
                    all.join().is_ok()
                });
                assert!(waits);
                orders
            })
        });
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

#[test]
fn all_deliver_in_one_order() {
    let orders = run(3, 100, None);
    assert_eq!(orders[0].len(), 300);
    assert!(orders.iter().all(|order| *order == orders[0]));
}

/// The leader, and then the acceptor.
#[test]
fn the_others_go_on_when_a_member_leaves() {
    for leaves in [0, 1] {
        let orders = run(3, 60, Some(leaves));
        let left = &orders[leaves];
        let others: Vec<_> = (0..3)
            .filter(|me| *me != leaves)
            .map(|me| &orders[me])
            .collect();
        // One may have been done before the last commands of the one that left came.
        let both = others[0].len().min(others[1].len());
        assert_eq!(others[0][..both], others[1][..both]);
        let both = both.min(left.len());
        assert_eq!(left[..both], others[0][..both]);
    }
}

/// Member 2 has 4 below it in the tree of the acceptor, 1.
#[test]
fn the_others_go_on_when_a_member_leaves_that_passes_on() {
    let mut members = GroupMember::<u64>::group(5, PATIENT, WaitConfig::OVERSUBSCRIBED).unwrap();
    let routes = binary(5);
    assert_eq!(routes.clone().children(2, 1, 0), [4, 0]);
    for member in &mut members {
        member.set_routes(routes.clone());
    }
    let orders = agree(members, 30, Some(2));
    for order in [&orders[0], &orders[1], &orders[3], &orders[4]] {
        let both = order.len().min(orders[0].len());
        assert_eq!(order[..both], orders[0][..both]);
        let others = order.iter().filter(|(origin, _)| *origin != 2);
        assert_eq!(others.count(), 120);
    }
}
