//! Teams of two processes, which share lines and nothing else.

use crate::check::check;
use crate::{STACK_WORDS, barrier, broadcast, options, plans, run};
use corecast_team::team_memory::{self, TeamMemory};
use corecast_team::{Failure, Loss, Member, Plans, Team};
use corecast_wire::mutant::Mutant;
use corecast_wire::{FenceKind, Segment, WaitConfig};
use loom::thread::Builder;
use std::sync::Arc;

/// What each of two processes has of a team, whose ranks are one of each.
fn processes(plans: &Plans) -> [Arc<TeamMemory>; 2] {
    let options = options(0);
    let bytes = team_memory::shared_bytes(plans, &options, 1).unwrap();
    let segment = Segment::new(bytes, None).unwrap();
    [0, 1].map(|rank| {
        let (part, kind) = ((segment.clone(), 0, 1), FenceKind::SharedSymmetric);
        TeamMemory::shared(plans, WaitConfig::PARK, &options, &[rank], part, kind).unwrap()
    })
}

/// The member of a rank of this process.
fn join(memory: &Arc<TeamMemory>, rank: usize) -> Member {
    let team = Team::of_memory(memory.clone(), WaitConfig::PARK, None);
    team.join(rank).unwrap()
}

fn members(plans: &Plans) -> [Member; 2] {
    let [one, other] = processes(plans);
    [join(&one, 0), join(&other, 1)]
}

/// Two ranks of two processes find out at the same time that their operations differ. One of them records it, and both
/// report that.
#[test]
fn the_first_failure_is_that_of_all_processes() {
    let faults = [Mutant::RecordUnwritten, Mutant::SecondFailureKept];
    let plans = plans();
    check("first failure", Some(2), &faults, move || {
        let plans = plans.clone();
        let ((one, first), (other, second)) = run(
            move || members(&plans),
            |member| barrier(member),
            |member| broadcast(member, 0),
        );
        let [first, second] = [first, second].map(|ended| ended.unwrap_err().to_string());
        assert_eq!(first, second);
        for named in [
            format!("rank 0: barrier (operation 1) at {one}"),
            format!("rank 1: broadcast from rank 0 (operation 1) at {other}"),
        ] {
            assert!(first.contains(&named), "{first}");
        }
    });
}

/// The death of a process ends the wait for its rank, whatever it was doing.
#[test]
fn the_death_of_a_process_ends_a_wait() {
    let faults = [
        Mutant::DeathUnheard,
        Mutant::NoHeavyFence,
        Mutant::NoLastLook,
    ];
    let plans = plans();
    check("death", Some(3), &faults, move || {
        let plans = plans.clone();
        // The second rank never comes to an operation: its process has died.
        let first = Builder::new().stack_size(STACK_WORDS).spawn(move || {
            let [own, other] = processes(&plans);
            let mut member = join(&own, 0);
            std::mem::forget(join(&other, 1));
            let state = own.state().clone();
            let news = Builder::new().stack_size(STACK_WORDS);
            let news = news.spawn(move || state.lost(&[1], 0)).unwrap();
            let (_, ended) = barrier(&mut member);
            news.join().unwrap();
            ended.unwrap_err()
        });
        match first.unwrap().join().unwrap() {
            Failure::PeerLost { remote, how, .. } => {
                assert_eq!((remote.rank, how), (1, Loss::Died))
            }
            other => panic!("{other:?}"),
        }
    });
}
