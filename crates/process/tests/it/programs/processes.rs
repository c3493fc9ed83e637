//! Random programs on teams of processes.

use super::apart::Apart;
use super::draw::Program;
use super::play::{Player, Witness};
use super::spec::Spec;
use super::watch::cases;
use super::{STEPS, mixed};
use crate::own_process::WATCHDOG;
use corecast_process::Address;
use corecast_process::ProcessGroup;
use corecast_team::Team;
use std::time::Duration;

/// Number of processes that stay for all programs; each program uses some of them.
pub(crate) const PROCESSES: usize = 4;

/// The ranks of each process, at least one for those that take part.
pub(crate) fn shares(rng: &mut fastrand::Rng, n: usize, processes: usize) -> Vec<Vec<usize>> {
    let mut ranks: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut ranks);
    let mut shares = vec![Vec::new(); processes];
    for (index, rank) in ranks.into_iter().enumerate() {
        let by = if index < processes {
            index
        } else {
            rng.usize(..processes)
        };
        shares[by].push(rank);
    }
    shares
}

/// Enters as one of the processes of a team.
pub(crate) fn enter(name: &str, spec: &Spec, requests: &[Option<usize>]) -> Team {
    let address = Address::Name(name.to_owned());
    let plans = || Ok::<_, std::io::Error>(spec.plans.clone());
    let entered = ProcessGroup::enter(&address, spec.n, requests, plans, &spec.options);
    entered.unwrap_or_else(|error| panic!("{error}, with {requests:?} of {spec:?}"))
}

/// Plays all programs of `seeds`, as the process with this index.
pub(crate) fn play_as(index: usize, session: &str, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut rng = fastrand::Rng::with_seed(mixed(&[seed, 6]));
        let n = rng.usize(1..=9);
        let spec = Spec::draw(&mut rng, n);
        let program = Program::draw(seed, &spec, STEPS);
        let processes = rng.usize(1..=PROCESSES.min(n));
        let shares = shares(&mut rng, n, processes);
        // The process of each share changes with the seed.
        let turned = (index + seed as usize) % PROCESSES;
        let Some(ranks) = shares.get(turned) else {
            continue;
        };
        let any = rng.bool();
        let requests: Vec<Option<usize>> = ranks
            .iter()
            .map(|&rank| Some(rank).filter(|_| !any))
            .collect();
        let team = enter(&format!("{session}-{seed}"), &spec, &requests);
        let witness = Witness::new(&team.ranks());
        team.run(|member| {
            let has_failed = || team.failure().is_some();
            let mut player = Player::new(&program, member, &witness, &has_failed);
            let played = player.play(&program, member);
            played.unwrap_or_else(|failure| {
                panic!("CORECAST_TEST_SEED={seed} replays this: {failure}, in {spec:?}")
            });
        });
    }
}

#[test]
fn random_programs_of_processes_agree_with_the_reference() {
    let seeds = cases(100);
    let session = format!("programs-{}", std::process::id());
    let part = |index| format!("programs {index} {session} {} {}", seeds.start, seeds.end);
    let processes: Vec<Apart> = (0..PROCESSES)
        .map(|index| Apart::start(&part(index)))
        .collect();
    let limit = WATCHDOG + Duration::from_secs(seeds.end - seeds.start);
    for process in processes {
        process.ends_well(limit);
    }
}
