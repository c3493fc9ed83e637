//! Choices that are announced are those that run: every collective is executed at lengths across every limit, the
//! algorithm that ran is recorded, and compared with what `TeamOutline` chooses, which `corecast explain` prints.
//!
//! That each algorithm also sends what its entry says is checked in `algorithms.rs`.

#![cfg(debug_assertions)]

use corecast_collectives::operator::{Ordered, Sum};
use corecast_collectives::preferences::TeamOutline;
use corecast_collectives::registry::Request;
use corecast_collectives::registry::record::{self, Ran};
use corecast_collectives::{Algorithms, Collective, Plans};
use corecast_plan::Pattern;
use corecast_process::{Address, ProcessGroup};
use corecast_team::{Failure, Member, Options, Team};
use corecast_wire::queue::{DEFAULT_SLOTS, message_bytes_max};
use std::collections::BTreeSet;

/// Lengths of a block on both sides of every limit of a choice, in whole elements of eight bytes.
fn lengths() -> BTreeSet<usize> {
    let message = message_bytes_max(DEFAULT_SLOTS) / 16 * 16;
    let limits = [
        0,
        56,
        683,
        2 << 10,
        2458,
        4 << 10,
        message,
        2 * message,
        16 << 10,
        128 << 10,
    ];
    let around = |limit: usize| [limit.saturating_sub(8), limit, limit + 8];
    let of = |limit: usize| around(limit / 8 * 8);
    limits.into_iter().flat_map(of).collect()
}

/// Makes a call whose block has `bytes`, and returns the first algorithm that this rank ran.
fn ran(member: &mut Member, collective: Collective, bytes: usize, ordered: bool) -> Ran {
    let (n, len) = (member.size(), bytes / 8);
    // Zeros, as tests are not optimised and the system has them.
    let (mut one, is_root) = (vec![0u64; len], member.rank() == 0);
    let (send, all) = (one.clone(), || vec![0u64; n * len]);
    let add = Ordered(Sum);
    let call = || -> Result<(), Failure> {
        match collective {
            Collective::Barrier => member.barrier(),
            Collective::Broadcast => member.broadcast(0, &mut one),
            Collective::Reduce if ordered => member.reduce(0, &mut one, add),
            Collective::Reduce => member.reduce(0, &mut one, Sum),
            Collective::Allreduce if ordered => member.allreduce(&mut one, add),
            Collective::Allreduce => member.allreduce(&mut one, Sum),
            Collective::Scatter => member.scatter(0, is_root.then(all).as_deref(), &mut one),
            Collective::Gather => member.gather(0, &send, is_root.then(all).as_deref_mut()),
            Collective::Allgather => member.allgather(&send, &mut all()),
            Collective::Alltoall => member.alltoall(&all(), &mut all()),
            Collective::ReduceScatter if ordered => member.reduce_scatter(&all(), &mut one, add),
            Collective::ReduceScatter => member.reduce_scatter(&all(), &mut one, Sum),
            _ if ordered => member.scan(&mut one, add),
            _ => member.scan(&mut one, Sum),
        }
    };
    let (ended, ran) = record::recorded(call);
    ended.unwrap();
    ran[0]
}

/// Compares a team with its outline; returns the algorithms that ran.
fn hold(team: &Team, outline: &TeamOutline<'_>, asked: &Algorithms) -> BTreeSet<Ran> {
    let all = team.run(|member| {
        let mut seen = BTreeSet::new();
        for collective in Collective::WITH_ALGORITHMS {
            for bytes in lengths() {
                // Without an operator a call has one form.
                let forms: &[bool] = match collective {
                    Collective::Reduce
                    | Collective::Allreduce
                    | Collective::ReduceScatter
                    | Collective::Scan => &[false, true],
                    _ => &[false],
                };
                for &ordered in forms {
                    let ran = ran(member, collective, bytes, ordered);
                    let request = Request {
                        element: 8,
                        keeps_order: ordered || outline.deterministic,
                        ..Request::of_bytes(bytes)
                    };
                    let chosen = outline.chooses_for(asked, collective.name(), &request);
                    assert_eq!(
                        ran,
                        (collective, chosen.unwrap().algorithm()),
                        "{bytes} bytes, {outline:?}, asked {asked}"
                    );
                    if !ordered {
                        assert_eq!(member.algorithm(collective, 0, bytes, 8), ran.1);
                    }
                    seen.insert(ran);
                }
            }
        }
        seen
    });
    all.into_iter().flatten().collect()
}

/// Asks for one algorithm, often with a size, between two lengths of each operation.
fn asked(rng: &mut fastrand::Rng) -> Algorithms {
    let mut asked = Algorithms::default();
    for operation in Algorithms::OPERATIONS {
        let names = Algorithms::sized_names(operation).unwrap();
        let name = rng.choice(&names).copied();
        let ranges = match operation {
            "barrier" => vec![(usize::MAX, name)],
            _ => vec![(56, None), (rng.usize(1000..100_000), name)],
        };
        asked.ask(operation, &ranges).unwrap();
    }
    asked
}

fn plans(n: usize, pattern: &str) -> Plans {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let pattern: Pattern = pattern.parse().unwrap();
    Plans::of_pattern(machine.costs(), pattern, Some(0)).unwrap()
}

#[test]
fn threads_run_what_was_said() {
    let mut rng = fastrand::Rng::with_seed(18);
    let mut seen = BTreeSet::new();
    for (n, pattern) in [
        (1, "smelt"),
        (2, "smelt"),
        (3, "dissemination:2"),
        (4, "binary"),
        (8, "smelt"),
        (17, "chain"),
    ] {
        let plans = plans(n, pattern);
        for oversubscribed in [false, true] {
            for asked in [Algorithms::default(), asked(&mut rng)] {
                let deterministic = rng.bool();
                let options = Options {
                    parallelism: Some(if oversubscribed { 1 } else { n }),
                    algorithms: asked,
                    deterministic,
                    ..Options::default()
                };
                let outline = TeamOutline {
                    sharing: if oversubscribed { n } else { 1 },
                    deterministic,
                    ..TeamOutline::new(&plans)
                };
                let team = Team::with_options(plans.clone(), &options).unwrap();
                seen.extend(hold(&team, &outline, &asked));
            }
        }
    }
    assert!(seen.len() > 25, "too few algorithms ran: {seen:?}");
}

#[test]
fn processes_run_what_was_said() {
    for n in [2, 4] {
        let plans = plans(n, "smelt");
        let asked = Algorithms::default();
        let address = Address::Name(format!("chosen-{n}-{}", std::process::id()));
        let options = Options {
            parallelism: Some(n),
            ..Options::default()
        };
        let all = vec![None; n];
        let made = || Ok::<_, corecast_collectives::PlansError>(plans.clone());
        let team = ProcessGroup::enter(&address, n, &all, made, &options).unwrap();
        let outline = TeamOutline {
            processes: true,
            ..TeamOutline::new(&plans)
        };
        hold(&team, &outline, &asked);
    }
}
