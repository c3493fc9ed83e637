//! Teams of processes as users and launchers make them.

use corecast::operator::Sum;
use corecast::process::{Address, TEAM_FD, TEAM_RANK, TEAM_SIZE};
use corecast::{Builder, Error, Team};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The variable that is set for the children, which run this test program: the address, or "inherited".
const PART: &str = "CORECAST_TEST_PART";

/// Makes teams by no profile, with limits against hangs.
pub(crate) fn builder() -> Builder {
    Builder::new()
        .cache_folder("/nonexistent/corecast-tests")
        .patience(Duration::from_secs(300))
        .join_limit(Duration::from_secs(300))
}

fn exercise(team: &Team) {
    let size = team.size() as u64;
    let ended = team.run(|member| {
        for len in [1, 100, 20_000] {
            let mut sum = vec![member.rank() as u64 + 1; len];
            member.allreduce(&mut sum, Sum)?;
            assert_eq!(sum, vec![size * (size + 1) / 2; len]);
            member.barrier()?;
        }
        Ok::<_, corecast::Failure>(())
    });
    assert_eq!(ended, vec![Ok(()); team.ranks().len()]);
    // The places of all ranks are known in every process.
    assert_eq!(team.pus().len(), team.size());
    assert_eq!(team.explain().ranks.len(), team.size());
}

/// Starts this program as another process, with this value of [`PART`].
fn start(part: &str, prepare: impl FnOnce(&mut Command)) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "processes::part", "--nocapture"])
        .env(PART, part)
        .stdout(Stdio::null());
    prepare(&mut command);
    command.spawn().unwrap()
}

fn name(test: &str) -> String {
    format!("facade-{test}-{}", std::process::id())
}

/// The test that a child runs: it does what [`PART`] says.
#[test]
fn part() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let team = match part.as_str() {
        "inherited" => builder().inherited().unwrap().unwrap(),
        name => {
            let address = Address::Name(name.to_owned());
            builder().enter(&address, 3, &[None]).unwrap()
        }
    };
    exercise(&team);
}

#[test]
fn processes_meet_and_are_seated_as_one_team() {
    let name = name("meet");
    let mut other = start(&name, |_| {});
    let team = builder()
        .enter(&Address::Name(name), 3, &[None, Some(2)])
        .unwrap();
    assert_eq!(team.ranks().len(), 2);
    assert!(team.ranks().contains(&2));
    assert_eq!(team.pus(), builder().threads(3).build().unwrap().pus());
    exercise(&team);
    // Either this process came first and has planned, or its explanation says that another one has.
    let explained = team.explain();
    let elsewhere = explained
        .assumptions
        .iter()
        .any(|said| said.contains("the process that came first"));
    assert_eq!(explained.operations.is_empty(), elsewhere);
    assert!(other.wait().unwrap().success());
}

#[test]
fn launchers_hand_the_memory_on() {
    let memory = builder().found(2).unwrap();
    let children: Vec<Child> = (0..2)
        .map(|rank| {
            let memory = memory.try_clone().unwrap();
            start("inherited", |command| {
                command
                    .stdin(Stdio::from(memory))
                    .env(TEAM_FD, "0")
                    .env(TEAM_RANK, rank.to_string())
                    .env(TEAM_SIZE, "2");
            })
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert!(builder().inherited().unwrap().is_none());
}

#[test]
fn what_does_not_fit_is_refused_in_words() {
    let address = Address::Name(name("refused"));
    let error = builder()
        .threads(3)
        .enter(&address, 2, &[None])
        .unwrap_err();
    assert!(
        matches!(error, Error::Size { asked: 3, size: 2 }),
        "{error}"
    );
    let text = |builder: Builder, size, requested_ranks: &[Option<usize>]| {
        builder
            .enter(&address, size, requested_ranks)
            .unwrap_err()
            .to_string()
    };
    assert!(text(builder(), 0, &[]).contains("at least one rank"));
    assert!(text(builder(), 2, &[]).contains("a process brings at least one"));
    let rooted = text(builder().root(7), 2, &[None]);
    assert!(rooted.contains("root 7 is outside"), "{rooted}");
    // Numbers that are others in 32 bits.
    for rank in [2, (1 << 32) | 1, u32::MAX as usize, usize::MAX] {
        let said = text(builder(), 2, &[Some(rank), Some(0)]);
        let expected = format!("rank {rank} is outside of a team of 2");
        assert!(said.starts_with(&expected), "{said}");
    }
    for size in [(1 << 32) + 2, usize::MAX] {
        let said = text(builder(), size, &[Some(0), Some(1)]);
        assert!(said.contains(&size.to_string()), "{said}");
    }
    let impatient = builder().join_limit(Duration::from_millis(50));
    let missing = text(impatient, 2, &[Some(1)]);
    assert!(missing.contains("nobody has come for rank 0"), "{missing}");
}

#[test]
fn wishes_of_reductions_and_depth_reach_the_team() {
    let team = builder()
        .threads(3)
        .deterministic(true)
        .depth(0)
        .build()
        .unwrap();
    let refused = team.run(|member| member.overlap(|_| ()).unwrap_err().to_string());
    assert!(refused[0].contains("depth 0"), "{refused:?}");
    let deep = builder().threads(2).depth(3).build().unwrap();
    let depths = deep.run(|member| member.overlap(|flight| flight.depth()).unwrap());
    assert_eq!(depths, [3, 3]);
    // 1e16 + 1 + 1 depends on the order of reduction, which is (0 1) 2 for every plan and root.
    for pattern in ["chain", "binomial", "sequential"] {
        let team = builder()
            .threads(3)
            .pattern(pattern.parse().unwrap())
            .root(2)
            .deterministic(true)
            .build()
            .unwrap();
        let sums = team.run(|member| {
            let mine = [1.0, 1e16, -1e16][member.rank()];
            member.allreduce_value(mine, |a, b| a + b)
        });
        assert_eq!(sums, [Ok(0.0), Ok(0.0), Ok(0.0)], "{pattern}");
    }
}
