//! Recorded calls: how many there are and where, and that nothing else changes.

use crate::common::plans_of;
use crate::own_process::{WATCHDOG, eventually};
use corecast_collectives::{Collective, Parts};
use corecast_plan::Pattern;
use corecast_process::{Address, ProcessGroup};
use corecast_team::{CallKind, CallSite, CallSums, Member, Options, SiteCalls, Synchrony, Team};
use std::collections::BTreeMap;

fn options(record: bool) -> Options {
    Options {
        record,
        join_limit: WATCHDOG,
        ..Options::default()
    }
}

/// A team of threads, or one behind a segment.
fn team(n: usize, record: bool, behind_segment: bool) -> Team {
    if !behind_segment {
        return Team::with_options(plans_of(n, Pattern::Binomial), &options(record)).unwrap();
    }
    let name = format!("recorded-{n}-{record}-{}", std::process::id());
    let requests = vec![None; n];
    let plans = || Ok::<_, corecast_collectives::PlansError>(plans_of(n, Pattern::Binomial));
    ProcessGroup::enter(&Address::Name(name), n, &requests, plans, &options(record)).unwrap()
}

/// Every operation, each several times; returns what they gave, and how often each was called.
fn every_operation(member: &mut Member) -> (Vec<u64>, BTreeMap<Collective, u64>) {
    let (n, rank) = (member.size(), member.rank());
    let (mut results, mut called) = (Vec::new(), BTreeMap::new());
    let counts = vec![2; n];
    let places: Vec<usize> = (0..n).map(|rank| 2 * rank).collect();
    let parts = Parts::new(&counts, &places);
    let add = |a: u64, b: u64| a.wrapping_mul(3).wrapping_add(b);
    let sum = |a: u64, b: u64| a + b;
    for root in (0..n).chain(0..n) {
        let mut call = |kind| *called.entry(kind).or_insert(0) += 1;
        let mine = [rank as u64 + 7, root as u64];
        let (mut two, mut all, mut long) = (mine, vec![1; 2 * n], vec![rank as u64; 9000]);
        member.barrier().unwrap();
        call(Collective::Barrier);
        member.broadcast(root, &mut long).unwrap();
        call(Collective::Broadcast);
        member.reduce(root, &mut long[..100], sum).unwrap();
        call(Collective::Reduce);
        member.allreduce(&mut two, sum).unwrap();
        call(Collective::Allreduce);
        member.allgather(&mine, &mut all).unwrap();
        call(Collective::Allgather);
        member.allgatherv(&mine, &mut all, parts).unwrap();
        call(Collective::Allgatherv);
        let mut turned = vec![0; 2 * n];
        member.alltoall(&all, &mut turned).unwrap();
        call(Collective::Alltoall);
        member
            .alltoallv((&turned, parts), (&mut all, parts))
            .unwrap();
        call(Collective::Alltoallv);
        let send = (rank == root).then_some(&turned[..]);
        member.scatter(root, send, &mut two).unwrap();
        call(Collective::Scatter);
        member
            .scatterv(root, send.map(|send| (send, parts)), &mut two)
            .unwrap();
        call(Collective::Scatterv);
        let recv = (rank == root).then_some(&mut all[..]);
        member.gather(root, &mine, recv).unwrap();
        call(Collective::Gather);
        let recv = (rank == root).then_some((&mut turned[..], parts));
        member.gatherv(root, &mine, recv).unwrap();
        call(Collective::Gatherv);
        member.reduce_scatter(&all, &mut two, sum).unwrap();
        call(Collective::ReduceScatter);
        member
            .reduce_scatterv(&turned, &counts, &mut two, sum)
            .unwrap();
        call(Collective::ReduceScatterv);
        member
            .scan(&mut two, corecast_collectives::operator::Ordered(add))
            .unwrap();
        call(Collective::Scan);
        member.exscan(&mut two, sum).unwrap();
        call(Collective::Exscan);
        // Without data nobody need wait.
        member.allreduce(&mut [0u64; 0], sum).unwrap();
        call(Collective::Allreduce);
        results.extend(two);
        if rank == root {
            results.extend(turned);
        }
    }
    (results, called)
}

/// The calls of a rank: that a call is in one part only, or that all parts are its time, was said by construction; here the
/// sums over places are the sums over operations.
#[track_caller]
fn check(calls: &[SiteCalls], called: &[BTreeMap<Collective, u64>]) {
    for (rank, called) in called.iter().enumerate() {
        let of_rank = calls.iter().filter(|at| at.rank == rank);
        let mut found = BTreeMap::new();
        for at in of_rank {
            let CallKind::Operation(kind) = at.kind else {
                panic!("{at:?}");
            };
            *found.entry(kind).or_insert(0) += at.sums.calls;
            let CallSite::Source(site) = at.site else {
                panic!("{at:?}");
            };
            assert!(site.file().ends_with("recorded.rs"), "{at:?}");
            assert_eq!((at.sums.unsplit, at.sums.unsplit_time), (0, 0), "{at:?}");
        }
        assert_eq!(&found, called, "rank {rank}");
    }
}

#[test]
fn calls_are_counted_and_results_are_the_same() {
    for n in 1..=4 {
        for behind_segment in [false, true] {
            let run = |record| {
                let team = team(n, record, behind_segment);
                let (results, called): (Vec<_>, Vec<_>) =
                    team.run(every_operation).into_iter().unzip();
                (team, results, called)
            };
            let (plain, expected, _) = run(false);
            assert!(plain.recording().is_none());
            let (team, results, called) = run(true);
            assert_eq!(results, expected, "{n} ranks");
            check(&team.recording().unwrap().calls(), &called);
        }
    }
}

/// Each round is a call of its own, so that somebody has come last in it. Rooted operations are seen from those that wait.
#[test]
fn who_comes_last_waits_for_nobody() {
    let team = team(3, true, false);
    team.run(|member| member.barrier().unwrap());
    let calls = team.recording().unwrap().calls();
    let least = calls.iter().map(|at| at.sums.imbalance).min();
    assert_eq!((calls.len(), least), (3, Some(0)), "{calls:?}");
    for at in calls {
        assert_eq!(at.sums.time(), at.sums.imbalance + at.sums.mechanism);
    }
}

#[test]
fn calls_are_added_up_by_place_however_many_there_are() {
    const ROUNDS: u64 = 20_000;
    let team = team(2, true, false);
    let recording = team.recording().unwrap();
    team.run(|member| {
        for round in 1..=ROUNDS {
            member.barrier().unwrap();
            let at = member.broadcast_value(0, round);
            assert_eq!(at, Ok(round));
            // Who asks meanwhile gets what has returned so far.
            if round == ROUNDS / 2 && member.rank() == 1 {
                let of_own = recording.calls().into_iter().filter(|at| at.rank == 1);
                assert_eq!(
                    of_own.map(|at| at.sums.calls).collect::<Vec<_>>(),
                    [round, round]
                );
            }
        }
    });
    let calls = recording.calls();
    assert_eq!(calls.len(), 4);
    for at in &calls {
        let parts = at.sums.unsplit_time + at.sums.imbalance + at.sums.mechanism;
        assert_eq!((at.sums.calls, at.sums.time()), (ROUNDS, parts), "{at:?}");
        assert!(at.sums.longest <= at.sums.time(), "{at:?}");
        // A root depends on nobody.
        let is_root = at.rank == 0 && at.kind == CallKind::Operation(Collective::Broadcast);
        assert!(!is_root || at.sums.imbalance == 0, "{at:?}");
    }
    // Nothing is added by asking again.
    assert_eq!(recording.calls(), calls);
    assert_eq!(recording.member_ns(), recording.member_ns());
    // Calls of a member follow each other while it is there; each place is rounded.
    let called: u64 = calls.iter().map(|at| at.sums.time()).sum();
    assert!(recording.member_ns() + 4 >= called);
}

#[test]
fn the_time_of_members_goes_on_in_a_further_run() {
    let team = team(2, true, false);
    let recording = team.recording().unwrap();
    team.run(|member| member.barrier().unwrap());
    let after_one = recording.member_ns();
    team.run(|_| {
        eventually("time goes on", || recording.member_ns() > after_one);
    });
    assert_eq!(recording.member_ns(), recording.member_ns());
}

/// Operations in flight are counted where they start and where they are waited for, and split nowhere.
#[test]
fn operations_in_flight_are_told_apart() {
    let team = team(2, true, false);
    team.run(|member| {
        let mut sum = [1u64];
        let add = |a: u64, b: u64| a + b;
        for _ in 0..2000 {
            let flown = member.overlap(|flight| {
                flight.allreduce(&mut sum, &add)?.wait()?;
                flight.barrier()?.wait()
            });
            flown.unwrap().unwrap();
            sum = [1];
        }
        let strict = member.synced(Synchrony::STRICT, |member| member.broadcast_value(0, 1u8));
        assert_eq!(strict, Ok(1));
    });
    let mut sums: BTreeMap<CallKind, CallSums> = BTreeMap::new();
    for at in team.recording().unwrap().calls() {
        *sums.entry(at.kind).or_default() += at.sums;
    }
    let counts = |kind| sums.remove(&kind).map(|sums| (sums.calls, sums.unsplit));
    let mut counts = counts;
    assert_eq!(
        counts(CallKind::Start(Collective::Allreduce)),
        Some((4000, 4000))
    );
    assert_eq!(
        counts(CallKind::Start(Collective::Barrier)),
        Some((4000, 4000))
    );
    assert_eq!(counts(CallKind::Wait), Some((8000, 8000)));
    // The barriers of synchronised forms are called where these are.
    assert_eq!(
        counts(CallKind::Operation(Collective::Barrier)),
        Some((4, 0))
    );
    assert_eq!(
        counts(CallKind::Operation(Collective::Broadcast)),
        Some((2, 0))
    );
    assert!(sums.is_empty(), "{sums:?}");
}

#[test]
fn failed_calls_are_counted_and_not_split() {
    let team = team(2, true, false);
    let ended = team.run(|member| {
        member.barrier().unwrap();
        match member.rank() {
            0 => Ok(()),
            _ => member.barrier(),
        }
    });
    assert!(ended[1].is_err());
    let calls = team.recording().unwrap().calls();
    let of_rank = |rank| calls.iter().filter(move |at| at.rank == rank);
    let counts = |rank| -> Vec<_> {
        of_rank(rank)
            .map(|at| (at.sums.calls, at.sums.unsplit))
            .collect()
    };
    assert_eq!((counts(0), counts(1)), (vec![(1, 0)], vec![(1, 0), (1, 1)]));
}
