//! Teams under Miri, which finds undefined behaviour and data races: collectives at small sizes over threads, and over what
//! two processes share, in memory of the heap.
//!
//! Run with `RUSTFLAGS="--cfg corecast_generic_arch" MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance"
//! cargo +nightly miri test -p corecast-team --test miri`. Operations in flight are not there, because a fiber changes
//! stacks by assembly.
#![cfg(miri)]

use corecast_plan::Pattern;
use corecast_team::team_memory::shared_bytes;
use corecast_team::{Failure, Loss, Member, Options, Plans, Team, TeamMemory};
use corecast_wire::{FenceKind, Segment, WaitConfig};

fn plans(ranks: usize) -> Plans {
    let machine = corecast_model::synthetic(&format!("core:{ranks}")).unwrap();
    Plans::of_pattern(machine.costs(), Pattern::Binomial, None).unwrap()
}

/// Members sleep at once: to spin would take long here.
fn options(ranks: usize) -> Options {
    Options {
        wait_config: Some(WaitConfig::PARK),
        parallelism: Some(ranks),
        ..Options::default()
    }
}

/// Every collective that moves data. Of a message of one slot and of one with a body all are tried; only one is lent.
fn collectives(member: &mut Member) {
    let (rank, size) = (member.rank(), member.size());
    member.barrier().unwrap();
    let mut news = vec![if rank == 0 { 7u8 } else { 0 }; 16_000];
    member.broadcast(0, &mut news).unwrap();
    assert_eq!(news, vec![7; 16_000]);
    for len in [8, 200] {
        let mut news = vec![if rank == 0 { 7u8 } else { 0 }; len];
        member.broadcast(0, &mut news).unwrap();
        assert_eq!(news, vec![7; len]);
        let sums = |ranks: usize| vec![(1..=ranks as u64).sum::<u64>(); len / 8];
        let own = || vec![rank as u64 + 1; len / 8];
        let mut data = own();
        member.allreduce(&mut data, &|a, b| a + b).unwrap();
        assert_eq!(data, sums(size));
        let mut data = own();
        member.reduce(size - 1, &mut data, &|a, b| a + b).unwrap();
        assert!(rank != size - 1 || data == sums(size));
        let mut data = own();
        member.scan(&mut data, &|a, b| a + b).unwrap();
        assert_eq!(data, sums(rank + 1));
        let of = |rank: usize| vec![rank as u8; len];
        let by_rank: Vec<u8> = (0..size).flat_map(of).collect();
        let mut all = vec![9; size * len];
        member.allgather(&of(rank), &mut all).unwrap();
        assert_eq!(all, by_rank);
        member.alltoall(&by_rank, &mut all).unwrap();
        assert_eq!(all, vec![rank as u8; size * len]);
        let mut one = vec![9; len];
        let send = (rank == 0).then_some(&by_rank[..]);
        member.scatter(0, send, &mut one).unwrap();
        assert_eq!(one, of(rank));
        let recv = (rank == 0).then_some(&mut all[..]);
        member.gather(0, &one, recv).unwrap();
        assert!(rank != 0 || all == by_rank);
    }
}

#[test]
fn threads() {
    for ranks in [2, 3] {
        let team = Team::with_options(plans(ranks), &options(ranks)).unwrap();
        team.run(collectives);
    }
}

/// Ranks that share cores meet at one line, and read long broadcasts from the lines of a ring.
#[test]
fn threads_that_share_cores() {
    let options = Options {
        parallelism: Some(1),
        ..options(3)
    };
    let team = Team::with_options(plans(3), &options).unwrap();
    team.run(collectives);
}

/// The members of what two processes have of one team, on two threads. Long data go through bounce buffers.
#[test]
fn processes() {
    let (plans, options) = (plans(2), options(2));
    let bytes = shared_bytes(&plans, &options, 1).unwrap();
    let segment = Segment::new(bytes, None).unwrap();
    std::thread::scope(|scope| {
        for rank in [0, 1] {
            let (plans, options, segment) = (&plans, &options, segment.clone());
            scope.spawn(move || {
                let (part, kind) = ((segment, 0, 1), FenceKind::SharedSymmetric);
                let config = WaitConfig::PARK;
                let memory = TeamMemory::shared(plans, config, options, &[rank], part, kind);
                let team = Team::of_memory(memory.unwrap(), config, None);
                collectives(&mut team.join(rank).unwrap());
            });
        }
    });
}

/// Histories are read while their owners go on.
#[test]
fn failures() {
    let team = Team::with_options(plans(2), &options(2)).unwrap();
    let ended = team.run(|member| {
        for _ in 0..3 {
            member.barrier().unwrap();
        }
        match member.rank() {
            0 => member.barrier(),
            _ => member.broadcast(0, &mut [0u64]),
        }
    });
    assert_eq!(ended[0], ended[1]);
    assert!(
        matches!(ended[0], Err(Failure::Mismatch { .. })),
        "{ended:?}"
    );
    let team = Team::with_options(plans(2), &options(2)).unwrap();
    let ended = team.run(|member| match member.rank() {
        0 => member.barrier(),
        _ => Ok(()),
    });
    let lost = |ended: &Result<(), Failure>| match ended {
        Err(Failure::PeerLost { how, .. }) => Some(*how),
        _ => None,
    };
    assert_eq!(lost(&ended[0]), Some(Loss::Left));
}
