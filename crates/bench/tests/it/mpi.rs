//! Open MPI and MPICH, where they are installed. No time is asserted.
//!
//! With `CORECAST_REQUIRE_PEERS=1` an absent implementation fails these tests.

use crate::common::shortest;
use corecast_bench::peers::Mpi;
use corecast_bench::session::SessionError;
use corecast_bench::sized::{Conditions, Start, Task};
use corecast_bench::{Entry, Status, cpu_placement, race};
use corecast_model::Collective;
use std::fs;
use std::thread;
use std::time::Duration;

const NAMES: [&str; 2] = ["Open MPI", "MPICH"];

fn task(operation: Collective, ranks: usize, bytes: usize) -> Task {
    Task {
        operation,
        ranks,
        bytes,
    }
}

/// Sessions of two free ranks whose limit no busy machine reaches.
fn patient(variables: &[(&str, &str)]) -> Mpi {
    let limit = Duration::from_secs(300);
    Mpi::with(&cpu_placement::free(2), variables, Some(limit))
}

/// Prints which implementations are missing; fails if all are required.
fn complain(mpi: &Mpi) {
    for name in NAMES {
        if mpi.sessions().iter().any(|s| s.name() == name) {
            continue;
        }
        let entrants = mpi.entrants(task(Collective::Barrier, 2, 0));
        let absent = entrants.iter().find(|e| e.name() == name).unwrap();
        let reason = absent.reason_absent().unwrap();
        assert!(reason.contains("install"), "{reason}");
        println!("SKIPPED: {name}: {reason}");
        let required = std::env::var("CORECAST_REQUIRE_PEERS").is_ok_and(|v| v == "1");
        assert!(!required, "CORECAST_REQUIRE_PEERS is set: {name}: {reason}");
    }
}

/// Checks an entry. A peer whose ranks poll may exceed any limit on a busy machine; all other
/// failures count.
fn sound(entry: &Entry) {
    match &entry.status {
        Status::Timed => assert!(entry.timed().iter().all(|&ns| ns > 0.0)),
        Status::Skipped(_) => {}
        Status::Failed(reason) => assert!(
            reason.contains("not done after") || reason.contains("not tried again"),
            "{} ({}): {reason}",
            entry.name,
            entry.setting
        ),
        Status::Pending => panic!("{} did not run", entry.name),
    }
}

#[test]
fn loose_operations_are_timed_together() {
    let placements = cpu_placement::pinned(2, &cpu_placement::allowed_pus());
    let mpi = Mpi::under(
        &placements,
        Conditions::from(true).starting(Start::BackToBack),
    );
    complain(&mpi);
    for session in mpi.sessions() {
        match session.time(&task(Collective::Reduce, 2, 64), 100) {
            Ok(timed) => {
                assert!(timed.took > Duration::ZERO);
                assert_eq!(timed.rank_times.unwrap().start_spread, None);
            }
            // A peer whose ranks poll may exceed any limit on a busy machine.
            Err(SessionError::TimedOut(_)) => {}
            Err(error) => panic!("{}: {error}", session.name()),
        }
    }
}

#[test]
fn every_operation_at_every_setting_is_verified_and_timed() {
    let placements = cpu_placement::pinned(2, &cpu_placement::allowed_pus());
    let mpi = Mpi::open(&placements);
    complain(&mpi);
    for operation in Collective::ALL {
        for bytes in [8, 100_000] {
            let task = task(
                operation,
                2,
                if operation == Collective::Barrier {
                    0
                } else {
                    bytes
                },
            );
            let entrants = mpi.entrants(task);
            let comparison = race::run(
                &task.to_string(),
                &placements,
                &shortest(),
                &entrants,
                |_| {},
            )
            .unwrap();
            comparison.entries.iter().for_each(sound);
        }
    }
}

#[test]
fn waiting_ranks_use_no_cpu() {
    let mpi = patient(&[]);
    for name in NAMES {
        let Some(session) = mpi.sessions().iter().find(|s| s.name() == name) else {
            continue;
        };
        let task = task(Collective::Allreduce, 2, 64);
        session.check(&task, 2).unwrap();
        session.time(&task, 10).unwrap();
        let pids = session.pids();
        assert_eq!(pids.len(), 2);
        for pid in pids {
            let state = || {
                let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
                let (_, rest) = stat.rsplit_once(") ").unwrap();
                rest[..1].to_owned()
            };
            // The process has answered and is about to sleep.
            let asleep = (0..60_000).any(|_| {
                thread::sleep(Duration::from_millis(5));
                state() == "S"
            });
            assert!(asleep, "{name}: process {pid} is in state {}", state());
        }
    }
}

#[test]
fn a_wrong_result_is_noticed() {
    // To start is most of the time, and waits for much.
    thread::scope(|scope| {
        for fault in [
            Collective::Allreduce,
            Collective::Scan,
            Collective::Exscan,
            Collective::Alltoallv,
            Collective::Barrier,
        ] {
            scope.spawn(move || is_noticed(fault));
        }
    });
}

fn is_noticed(fault: Collective) {
    let variables = [("CORECAST_PEER_FAULT", fault.name())];
    let mpi = patient(&variables);
    for name in NAMES {
        let Some(session) = mpi.sessions().iter().find(|s| s.name() == name) else {
            continue;
        };
        session
            .check(&task(Collective::Broadcast, 2, 64), 3)
            .unwrap();
        let wrong = session.check(&task(fault, 2, 64), 3).unwrap_err();
        assert!(matches!(wrong, SessionError::Wrong(_)), "{name}: {wrong}");
        assert!(wrong.to_string().contains(fault.name()), "{name}: {wrong}");
    }
}

#[test]
fn nothing_stays_behind() {
    let mpi = patient(&[]);
    let mut pids = Vec::new();
    for name in NAMES {
        if let Some(session) = mpi.sessions().iter().find(|s| s.name() == name) {
            session.check(&task(Collective::Gather, 2, 8), 1).unwrap();
            pids.extend(session.pids());
        }
    }
    let mine = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        pids.iter().any(|pid| name.contains(&pid.to_string()))
    };
    drop(mpi);
    for pid in &pids {
        assert!(
            !fs::exists(format!("/proc/{pid}")).unwrap(),
            "{pid} still runs"
        );
    }
    for entry in fs::read_dir("/dev/shm").unwrap().flatten() {
        let path = entry.path();
        assert!(!mine(entry), "{} is left", path.display());
    }
}
