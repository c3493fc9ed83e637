//! Records of waits as users get them: from a team, and from the processes of a team at their end.

use std::process::{Command, Stdio};

use crate::processes::builder;
use corecast::process::Address;
use corecast::record::{FOLDER, Kind, Place, Record, SCHEMA, Sums};
use corecast::{Failure, Member, Team};

/// The variable that names the team of a child, which runs this test program.
const PART: &str = "CORECAST_TEST_RECORDED";

/// 30 barriers at one place and one at another.
fn barriers(member: &mut Member) -> Result<(), Failure> {
    for _ in 0..30 {
        member.barrier()?;
    }
    member.barrier()
}

/// The barriers' sums by rank: those at the first place, and those at the second one.
#[track_caller]
fn of_ranks(record: &Record) -> Vec<(usize, [Sums; 2])> {
    let mut places: Vec<(&Place, Sums)> = Vec::new();
    for wait in &record.waits {
        assert_eq!(wait.kind, Kind::BARRIER);
        assert_eq!((wait.sums.own, wait.sums.unsplit), (wait.sums.times, 0));
        places.push((&wait.place, wait.sums));
    }
    places.sort_by_key(|(place, _)| match place {
        Place::Call { rank, line, .. } => (*rank, *line),
        Place::Code { .. } => panic!("{place}"),
    });
    let (pairs, []) = places.as_chunks::<2>() else {
        panic!("{record}");
    };
    let pair = |[(place, first), (_, second)]: &[(&Place, Sums); 2]| match place {
        Place::Call { rank, file, .. } if file.ends_with("records.rs") => {
            (*rank, [*first, *second])
        }
        other => panic!("{other}"),
    };
    pairs.iter().map(pair).collect()
}

/// The one barrier of the second place has a last rank, which has waited for nobody.
#[track_caller]
fn check(ranks: &[(usize, [Sums; 2])], size: usize) {
    let numbers: Vec<usize> = ranks.iter().map(|&(rank, _)| rank).collect();
    assert_eq!(numbers, Vec::from_iter(0..size));
    for (rank, [first, second]) in ranks {
        assert_eq!((first.times, second.times), (30, 1), "rank {rank}");
        // Each time is rounded to nanoseconds by itself.
        assert!(
            second.longest_ns.abs_diff(second.time_ns()) <= 1,
            "rank {rank}"
        );
    }
    assert_eq!(
        ranks.iter().map(|(_, [_, one])| one.imbalance_ns).min(),
        Some(0)
    );
}

#[test]
fn teams_record_if_they_are_asked_to() {
    let plain = builder().threads(2).build().unwrap();
    plain.run(|member| barriers(member).unwrap());
    assert_eq!(plain.record(), None);

    let team = builder().threads(3).record(true).build().unwrap();
    assert!(team.record().unwrap().waits.is_empty());
    team.run(|member| barriers(member).unwrap());
    let record = team.record().unwrap();
    check(&of_ranks(&record), 3);
    assert_eq!((record.schema, record.threads), (SCHEMA, 3));
    assert_eq!(record.process, std::process::id());
    let waited: u64 = record.waits.iter().map(|wait| wait.sums.time_ns()).sum();
    assert!(waited <= record.in_regions_ns + record.waits.len() as u64);
    let text = record.to_string();
    assert_eq!(text.lines().count(), 1 + 6, "{text}");
    assert!(
        text.contains("records.rs:") && text.contains("imbalance"),
        "{text}"
    );
    let json = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
}

fn enter(name: &str, ranks: &[Option<usize>]) -> Team {
    let address = Address::Name(name.to_owned());
    builder().record(true).enter(&address, 3, ranks).unwrap()
}

/// The test that a child runs: a part of a team of processes, several small teams, and one that lives until the end.
#[test]
fn recorded_part() {
    let Ok(name) = std::env::var(PART) else {
        return;
    };
    let team = enter(&name, &[Some(2)]);
    team.run(|member| barriers(member).unwrap());
    for _ in 0..20 {
        let team = builder().threads(1).build().unwrap();
        team.run(|member| member.broadcast_value(0, 7).unwrap());
    }
    // Asked not to, it leaves no trace.
    let silent = builder().threads(1).record(false).build().unwrap();
    silent.run(|member| member.allreduce_value(7, |a, b| a + b).unwrap());
    std::mem::forget(team);
}

#[test]
fn processes_write_their_part_at_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("recorded-{}", std::process::id());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "records::recorded_part", "--nocapture"])
        .env(PART, &name)
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let team = enter(&name, &[None, None]);
    team.run(|member| barriers(member).unwrap());
    assert!(child.wait().unwrap().success());

    let files = std::fs::read_dir(folder.path()).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    let expected = folder.path().join(format!("{}-teams.json", child.id()));
    assert_eq!(files, [expected]);
    let mut theirs: Record = serde_json::from_slice(&std::fs::read(&files[0]).unwrap()).unwrap();
    assert_eq!(theirs.process, child.id());
    let (small, of_team) = theirs
        .waits
        .into_iter()
        .partition(|wait| wait.kind != Kind::BARRIER);
    theirs.waits = of_team;
    let small: Vec<_> = Vec::from_iter::<Vec<_>>(small);
    let broadcasts: Vec<_> = small
        .iter()
        .map(|wait| (wait.kind.name(), wait.sums.times))
        .collect();
    assert_eq!(broadcasts, [("broadcast".to_owned(), 20)]);

    let ours = team.record().unwrap();
    check(&[of_ranks(&ours), of_ranks(&theirs)].concat(), 3);
}
