//! Members that end amid random programs: killed, stopped, by a panic or an exit, one or several.
//! All others fail and name the member, whatever they are doing, and no resource stays behind.

use super::apart::{Apart, clock_ns};
use super::doom::{self, Doom};
use super::draw::Program;
use super::mixed;
use super::play::{Player, Witness};
use super::processes::{enter, shares};
use super::spec::Spec;
use super::watch::{cases, replayable, watched};
use crate::own_process::WATCHDOG;
use corecast_team::{Failure, Loss, Team};
use rustix::process::Signal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Survives,
    /// It is killed by another process.
    Killed,
    Exits,
    /// One of its ranks ends.
    Goes(Doom),
}

/// A team of several processes, of which the first survives.
struct Round {
    seed: u64,
    spec: Spec,
    ranks: Vec<Vec<usize>>,
    fates: Vec<Fate>,
    /// Time from when all have met to the first kill.
    pause: Duration,
}

impl Round {
    fn draw(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(mixed(&[seed, 7]));
        let n = rng.usize(2..=7);
        let processes = rng.usize(2..=n.min(4));
        let spec = Spec::draw(&mut rng, n);
        let ranks = shares(&mut rng, n, processes);
        let fates = [
            Fate::Killed,
            Fate::Killed,
            Fate::Exits,
            Fate::Goes(Doom::Panic),
            Fate::Goes(Doom::Leave),
        ];
        let fate = |by: usize| match by {
            0 => Fate::Survives,
            1 => fates[rng.usize(..fates.len())],
            // In some rounds several processes end.
            _ if rng.u32(..3) == 0 => fates[rng.usize(..fates.len())],
            _ => Fate::Survives,
        };
        Self {
            fates: (0..processes).map(fate).collect(),
            seed,
            spec,
            ranks,
            pause: Duration::from_micros(rng.u64(..20_000)),
        }
    }

    fn name(&self, session: &str) -> String {
        format!("{session}-{}", self.seed)
    }

    /// Enters as one of the processes, and plays until the team fails.
    fn play(&self, session: &str, by: usize, started: impl FnOnce()) -> Vec<Told> {
        let requests: Vec<Option<usize>> = self.ranks[by].iter().copied().map(Some).collect();
        let team = enter(&self.name(session), &self.spec, &requests);
        started();
        let doom_of = |rank| match self.fates[by] {
            Fate::Goes(doom) if rank == self.ranks[by][0] => Some(doom),
            _ => None,
        };
        let progress = AtomicU64::new(0);
        play(&team, &self.spec, self.seed, doom_of, &progress)
    }

    /// Whether the others may fail with this failure.
    fn explains(&self, failure: &Failure) -> bool {
        let Failure::PeerLost { remote, how, .. } = failure else {
            return false;
        };
        let of = |(fate, ranks): (&Fate, &Vec<usize>)| match fate {
            Fate::Survives => false,
            Fate::Killed | Fate::Exits => *how == Loss::Died && ranks.contains(&remote.rank),
            Fate::Goes(doom) => {
                let expected = match doom {
                    Doom::Panic => Loss::Panicked,
                    Doom::Leave => Loss::Left,
                };
                (*how == expected && remote.rank == ranks[0])
                    // Its process may have ended before another rank looks.
                    || (*how == Loss::Died && ranks.contains(&remote.rank))
            }
        };
        self.fates.iter().zip(&self.ranks).any(of)
    }
}

/// A rank's failure, when the rank had called the team, and when the failure came, by [`clock_ns`].
struct Told {
    failure: Failure,
    called_at: u64,
    at: u64,
}

/// Plays one program after another until the team fails; `progress` has the number of the latest
/// program.
fn play(
    team: &Team,
    spec: &Spec,
    seed: u64,
    doom_of: impl Fn(usize) -> Option<Doom> + Sync,
    progress: &AtomicU64,
) -> Vec<Told> {
    let witness = Witness::new(&team.ranks());
    let told = team.run(|member| {
        doom::await_time(doom_of(member.rank()));
        for number in 0.. {
            // The numbers of operations increase from program to program, by more than a program
            // has.
            let program =
                Program::draw_from(mixed(&[seed, number]), spec, 20, 100 * number as usize);
            let has_failed = || team.failure().is_some();
            let mut player = Player::new(&program, member, &witness, &has_failed);
            progress.fetch_max(number, Ordering::Relaxed);
            match player.play(&program, member) {
                Ok(()) if doom::is_time_to_leave() => break,
                Ok(()) => {}
                Err(failure) => {
                    return Some(Told {
                        failure,
                        called_at: player.called_at,
                        at: clock_ns(),
                    });
                }
            }
        }
        None
    });
    told.into_iter().flatten().collect()
}

/// Plays the process of a round that `words` name.
pub(crate) fn play_part(words: &[String]) {
    let [session, seed, by] = words else {
        panic!("{words:?}");
    };
    let (round, by) = (
        Round::draw(seed.parse().unwrap()),
        by.parse::<usize>().unwrap(),
    );
    let fate = round.fates[by];
    let pause = round.pause;
    let started = move || {
        println!("\nstarted");
        std::thread::spawn(move || {
            std::thread::sleep(pause);
            match fate {
                Fate::Exits => {
                    println!("\ngone {}", clock_ns());
                    std::process::exit(0);
                }
                Fate::Goes(_) => doom::strike(),
                Fate::Killed | Fate::Survives => {}
            }
        });
    };
    let played = catch_unwind(AssertUnwindSafe(|| round.play(session, by, started)));
    if let Some(at) = doom::gone_at() {
        println!("\ngone {at}");
    }
    match played {
        Ok(told) => {
            for told in told {
                assert!(round.explains(&told.failure), "{}", told.failure);
                println!("\ntold {} {}", told.called_at, told.at);
            }
        }
        Err(panic) if fate == Fate::Goes(Doom::Panic) => {
            let why = panic.downcast_ref::<String>().map(String::as_str);
            assert_eq!(why, Some(doom::ON_PURPOSE));
        }
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Plays one round as the process that survives. Returns how long each rank waited in nanoseconds,
/// from the first end of a member or from its own call, whichever was later.
fn survive(round: &Round, session: &str) -> Vec<u64> {
    let mut others: Vec<Option<Apart>> = (1..round.ranks.len())
        .map(|by| {
            let part = format!("kill {session} {} {by}", round.seed);
            Some(Apart::start(&part))
        })
        .collect();
    let (told, gone_at) = std::thread::scope(|scope| {
        let others = &mut others;
        let blows = scope.spawn(move || {
            others
                .iter_mut()
                .flatten()
                .for_each(|other| drop(other.says("started")));
            std::thread::sleep(round.pause);
            let mut gone = Vec::new();
            for (other, fate) in others.iter().zip(&round.fates[1..]) {
                if let (Some(other), Fate::Killed) = (other, fate) {
                    gone.push(clock_ns());
                    other.signal(Signal::KILL);
                }
            }
            for (other, fate) in others.iter_mut().zip(&round.fates[1..]) {
                match fate {
                    Fate::Survives => {}
                    Fate::Killed => drop(other.take()),
                    // A process that learns of another's end first prints nothing.
                    Fate::Exits | Fate::Goes(_) => {
                        let said = other.as_mut().and_then(|other| other.may_say("gone"));
                        gone.extend(said.map(|at| at.parse::<u64>().unwrap()));
                    }
                }
            }
            gone.into_iter().min().unwrap()
        });
        let told = round.play(session, 0, || {});
        (told, blows.join().unwrap())
    });
    assert_eq!(told.len(), round.ranks[0].len());
    let wait = |called_at: u64, at: u64| at.saturating_sub(called_at.max(gone_at));
    let mut waits = Vec::new();
    for one in &told {
        let failure = &one.failure;
        assert!(
            round.explains(failure),
            "{failure}, after {:?}",
            round.fates
        );
        assert_eq!(*failure, told[0].failure, "all are told the same");
        waits.push(wait(one.called_at, one.at));
    }
    for (by, other) in others.into_iter().enumerate() {
        let Some(mut other) = other else {
            continue;
        };
        if round.fates[by + 1] == Fate::Survives {
            for _ in &round.ranks[by + 1] {
                let said = other.says("told");
                let (called_at, at) = said.split_once(' ').unwrap();
                waits.push(wait(called_at.parse().unwrap(), at.parse().unwrap()));
            }
        }
        other.ends_well(WATCHDOG);
    }
    waits
}

/// The resources of this process: its numbers of descriptors, threads, mappings of teams, and
/// children.
fn belongings() -> [usize; 4] {
    let count = |path: &str| std::fs::read_dir(path).unwrap().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let shared = maps.lines().filter(|line| line.contains("memfd:corecast"));
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let children = tasks.map(|task| {
        let path = task.unwrap().path().join("children");
        std::fs::read_to_string(path).map_or(0, |list| list.split_whitespace().count())
    });
    [
        count("/proc/self/fd"),
        count("/proc/self/task"),
        shared.count(),
        children.sum(),
    ]
}

/// Plays many rounds in one process, which has no more resources afterwards than before.
pub(crate) fn survive_all(words: &[String]) {
    let [session, first, end] = words else {
        panic!("{words:?}");
    };
    let seeds = first.parse::<u64>().unwrap()..end.parse().unwrap();
    let (mut waits, mut rounds) = (Vec::new(), 0);
    let mut before = None;
    for seed in seeds {
        let session = session.clone();
        let again = format!("CORECAST_TEST_SEED={seed} plays this again, at another point");
        let survived = catch_unwind(|| {
            watched(&again, WATCHDOG, move || {
                survive(&Round::draw(seed), &session)
            })
        });
        match survived {
            Ok(told) => {
                rounds += 1;
                waits.extend(told);
            }
            Err(_) => panic!("{again}"),
        }
        before.get_or_insert_with(settled);
    }
    assert_eq!(
        settled(),
        before.unwrap(),
        "descriptors, threads, mappings, children"
    );
    waits.sort_unstable();
    let ms = |ns: u64| ns as f64 / 1e6;
    println!(
        "\nwaits of {} ranks in {rounds} rounds: {:.1} ms (median), {:.1} ms (99 of 100), {:.1} ms (longest)",
        waits.len(),
        ms(waits[waits.len() / 2]),
        ms(waits[waits.len() * 99 / 100]),
        ms(waits[waits.len() - 1]),
    );
}

/// The resources of this process once they have stopped changing.
fn settled() -> [usize; 4] {
    let (mut last, mut since) = (belongings(), 0);
    while since < 20 {
        std::thread::sleep(Duration::from_millis(5));
        let now = belongings();
        since = if now == last { since + 1 } else { 0 };
        last = now;
    }
    last
}

/// Stops a process amid programs: the others fail if a limit is set; otherwise the team goes on
/// when the process does.
fn stop(seed: u64, session: &str) {
    let mut round = Round::draw(seed);
    round.fates.fill(Fate::Survives);
    let is_limited = seed.is_multiple_of(2);
    round.spec.options.patience = is_limited.then_some(LIMIT);
    let mut others: Vec<Apart> = (1..round.ranks.len())
        .map(|by| Apart::start(&format!("stop {session} {seed} {by}")))
        .collect();
    let progress = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let others = &mut others;
        let (round, progress) = (&round, &progress);
        scope.spawn(move || {
            others
                .iter_mut()
                .for_each(|other| drop(other.says("started")));
            std::thread::sleep(round.pause);
            others[0].signal(Signal::STOP);
            if is_limited {
                return;
            }
            std::thread::sleep(LIMIT);
            let before = progress.load(Ordering::Relaxed);
            others[0].signal(Signal::CONT);
            // If the team makes no progress, the watchdog ends this loop.
            while progress.load(Ordering::Relaxed) < before + 2 {
                std::thread::sleep(Duration::from_millis(1));
            }
            others[0].signal(Signal::KILL);
        });
        let requests: Vec<Option<usize>> = round.ranks[0].iter().copied().map(Some).collect();
        let team = enter(&round.name(session), &round.spec, &requests);
        let told = play(&team, &round.spec, seed, |_| None, progress);
        for told in told {
            match told.failure {
                Failure::Stalled { .. } if is_limited => {}
                Failure::PeerLost {
                    remote,
                    how: Loss::Died,
                    ..
                } if !is_limited && round.ranks[1].contains(&remote.rank) => {}
                other => panic!("{other}, limited: {is_limited}"),
            }
        }
    });
    for (by, other) in others.into_iter().enumerate() {
        match (by, is_limited) {
            (0, false) => other.ends(),
            (0, true) => {
                other.signal(Signal::CONT);
                other.ends_well(WATCHDOG);
            }
            _ => other.ends_well(WATCHDOG),
        }
    }
}

/// How long a process stays stopped, and how long others wait for it if they have a limit.
const LIMIT: Duration = Duration::from_millis(200);

/// Plays another process of [`stop`].
pub(crate) fn stop_part(words: &[String]) {
    let [session, seed, by] = words else {
        panic!("{words:?}");
    };
    let mut round = Round::draw(seed.parse().unwrap());
    // The creator's limit counts, whichever process creates the team.
    round.spec.options.patience = round.seed.is_multiple_of(2).then_some(LIMIT);
    let by: usize = by.parse().unwrap();
    let requests: Vec<Option<usize>> = round.ranks[by].iter().copied().map(Some).collect();
    let team = enter(&round.name(session), &round.spec, &requests);
    println!("\nstarted");
    play(&team, &round.spec, round.seed, |_| None, &AtomicU64::new(0));
}

#[test]
fn whoever_is_stopped_is_told_if_there_is_a_limit_and_waited_for_if_not() {
    for seed in cases(2) {
        let session = format!("stops-{}", std::process::id());
        replayable("waited_for_if_not", seed, move || stop(seed, &session));
    }
}

#[test]
fn whoever_goes_at_any_point_is_told_to_all_others() {
    let seeds = cases(30);
    let session = format!("kills-{}", std::process::id());
    let part = format!("survive {session} {} {}", seeds.start, seeds.end);
    let mut survivor = Apart::start(&part);
    // Not asserted: the machine may be busy.
    println!("{}", survivor.says("waits"));
    survivor.ends_well(WATCHDOG);
}
