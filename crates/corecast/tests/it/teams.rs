//! Teams as users make them, on any machine.

use std::process::Command;
use std::time::Duration;

use corecast::choose::DecidedBy;
use corecast::model::synthetic;
use corecast::plan::{Operation, RootChoice, Space, plan};
use corecast::queue::Backend;
use corecast::{Builder, Pattern, Pinning, Team};

/// A builder that finds no stored measurements.
fn builder() -> Builder {
    Builder::new()
        .cache_folder("/nonexistent/corecast-tests")
        .patience(Duration::from_secs(300))
}

/// Runs every operation with every root a few times and checks the results.
fn exercise(team: &Team) {
    let size = team.size() as u64;
    let sum = size * (size + 1) / 2;
    let results = team.run(|member| {
        let mine = member.rank() as u64 + 1;
        for root in 0..member.size() {
            member.barrier()?;
            let heard = member.broadcast_value(root, if root == member.rank() { 77 } else { 0 })?;
            assert_eq!(heard, 77);
            let reduced = member.reduce_value(root, mine, |a, b| a + b)?;
            assert_eq!(reduced, (root == member.rank()).then_some(sum));
            assert_eq!(member.allreduce_value(mine, |a, b| a + b)?, sum);
        }
        Ok::<_, corecast::Failure>(())
    });
    results.into_iter().collect::<Result<Vec<()>, _>>().unwrap();
}

#[test]
fn teams_of_any_size_work() {
    for ranks in [1, 2, 5, 8] {
        let team = builder().threads(ranks).build().unwrap();
        assert_eq!(team.size(), ranks);
        exercise(&team);
        exercise(
            &builder()
                .threads(ranks)
                .backend(Backend::FastForward)
                .build()
                .unwrap(),
        );
        let text = team.explain().to_string();
        for part in [
            "barrier",
            "broadcast",
            "reduce",
            "costs:",
            "races:",
            "waits:",
            "fence:",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }
}

#[test]
fn threads_are_pinned_unless_they_share() {
    let usable = corecast::machine::discover().usable;
    let team = builder().build().unwrap();
    assert_eq!(team.pus(), usable.as_slice());
    assert!(
        team.pinning()
            .iter()
            .all(|pinning| *pinning == Pinning::Planned)
    );
    let during = team.run(|member| {
        member.barrier().unwrap();
        let seen = team.pinning().remove(member.rank());
        member.barrier().unwrap();
        seen
    });
    // A sandbox may refuse pinning, which is then reported.
    let fine = |pinning: &Pinning| !matches!(pinning, Pinning::Off | Pinning::Planned);
    assert!(during.iter().all(fine), "{during:?}");
    assert!(team.pinning().iter().all(fine), "{:?}", team.pinning());

    let crowd = builder().threads(usable.len() + 1).build().unwrap();
    assert!(
        crowd
            .pinning()
            .iter()
            .all(|pinning| *pinning == Pinning::Off)
    );
    assert_eq!(crowd.pus().last(), usable.first().as_ref());
    assert!(crowd.explain().assumptions[0].contains("has its turn"));
    let unpinned = builder().threads(1).pin(false).build().unwrap();
    assert_eq!(unpinned.pin_here(0), Pinning::Off);
}

/// Teams of any PUs in any order: a multicast is the broadcast of a team of its PUs alone.
#[test]
fn teams_are_of_any_pus_in_any_order() {
    let usable = corecast::machine::discover().usable;
    let mut order: Vec<u32> = usable.as_slice().to_vec();
    for count in 1..=order.len().min(6) {
        order.rotate_left(1);
        let mut pus = order[..count].to_vec();
        pus.reverse();
        let list: Vec<String> = pus.iter().map(u32::to_string).collect();
        let team = builder().cores(list.join(",")).build().unwrap();
        assert_eq!(team.pus(), pus);
        exercise(&team);
    }
}

/// Teams do not run plans that share lines, so their plans are trees.
#[test]
fn machines_that_know_of_shared_lines_have_teams() {
    let words = "package:2 core:3 send=10,20 receive=30,60 write=5 transfer=2,4";
    let machine = synthetic(words).unwrap();
    for pattern in [Pattern::Best, Pattern::Optimal] {
        let builder = builder().threads(6).machine(machine.clone());
        let team = builder.pattern(pattern).build().unwrap();
        let explained = team.explain();
        assert!(explained.operations.iter().all(|o| o.root.is_some()));
        exercise(&team);
    }
}

/// On this machine plans that share lines take less than half as long as the best tree of messages, which is what
/// teams choose. The explanation says what the best is best of.
#[test]
fn explanations_name_the_schedules_that_a_gap_holds_for() {
    let words = "package:2 core:8 send=100,200 receive=300,600 write=5 transfer=20,40";
    let machine = synthetic(words).unwrap();
    let (optimal, broadcast) = (Pattern::Optimal, Operation::Broadcast);
    let shared = plan(machine.costs(), Pattern::Best, broadcast, RootChoice::Auto).unwrap();
    assert_eq!(shared.scope.space, Space::TreesWithGroups);

    let team = |pattern| {
        let builder = builder().threads(16).machine(machine.clone());
        builder.pattern(pattern).build().unwrap().explain()
    };
    let explained = team(optimal);
    let chosen = &explained.operations[1];
    assert_eq!(chosen.operation, broadcast);
    assert!(shared.latency < 0.5 * chosen.predicted.unwrap());
    assert_eq!(chosen.bound_space, Some(Space::Trees));
    assert_eq!(chosen.bound_root, chosen.root);
    let text = explained.to_string();
    assert!(text.contains("tree of messages with root"), "{text}");
    let json = serde_json::to_value(&explained).unwrap();
    assert_eq!(json["operations"][1]["bound_space"], "trees of messages");

    // Rounds have no root, and are compared with every barrier of messages.
    let explained = team(Pattern::Dissemination { radix: 2 });
    let barrier = &explained.operations[0];
    assert_eq!(barrier.bound_space, Some(Space::Barriers));
    assert_eq!(barrier.bound_root, None);
    let text = explained.to_string();
    assert!(text.contains("barrier of messages"), "{text}");
}

/// Roots for which a copy to the tree's root is predicted to be faster are in the team's explanation, and operations
/// from them give the same.
#[test]
fn explanations_name_the_roots_that_copy() {
    let machine = synthetic("core:16 send=10 receive=30").unwrap();
    let binary = builder().threads(16).machine(machine).root(0);
    let team = binary.pattern(Pattern::Binary).build().unwrap();
    let explained = team.explain();
    for chosen in &explained.operations[1..] {
        assert_eq!(chosen.copied_roots, (3..16).collect::<Vec<_>>());
    }
    assert!(explained.operations[0].copied_roots.is_empty());
    let text = explained.to_string();
    let found = |way| text.contains(&format!("other roots: 3-15 by a copy {way} rank 0"));
    assert!(found("to") && found("from"), "{text}");
    exercise(&team);
}

#[test]
fn a_counter_barrier_has_no_gap() {
    let ranks = corecast::machine::discover().unthrottled_parallelism() + 1;
    let explained = builder().threads(ranks).build().unwrap().explain();
    let barrier = &explained.operations[0];
    assert_eq!(barrier.decided_by, DecidedBy::Sharing);
    assert_eq!((barrier.predicted, barrier.gap), (None, None));
    assert_eq!(barrier.bound_space, None);
}

#[test]
fn the_best_has_a_gap_and_may_be_asked_for() {
    let machine = synthetic("package:2 core:4").unwrap();
    let team = |builder: Builder| builder.threads(8).machine(machine.clone()).build().unwrap();
    let asked = team(builder().pattern(Pattern::Best));
    let chosen = team(builder());
    let (asked_for, by_model) = (asked.explain(), chosen.explain());
    for (preferences, model) in asked_for.operations.iter().zip(&by_model.operations) {
        assert_eq!(
            (preferences.pattern.as_str(), preferences.decided_by),
            ("best", DecidedBy::User)
        );
        assert!(preferences.runners_up.is_empty(), "nothing else is planned");
        assert!(
            model.predicted <= preferences.predicted,
            "none is less than any"
        );
        let gap = preferences.gap.unwrap();
        assert!((0.0..0.5).contains(&gap), "{gap}");
    }
    let text = asked_for.to_string();
    assert!(
        text.contains("barrier   best over two trees from rank"),
        "{text}"
    );
    assert!(
        text.contains("a better tree of messages with root")
            || text.contains("no tree of messages with root")
    );
    exercise(&asked);
    // A preference for a root holds for barriers too.
    let rooted = team(builder().pattern(Pattern::Best).root(5)).explain();
    assert!(
        rooted
            .operations
            .iter()
            .all(|chosen| chosen.root == Some(5))
    );
    let [_, broadcast, reduce] = &by_model.operations[..] else {
        panic!("three operations");
    };
    assert_eq!(broadcast.root, reduce.root);
}

#[test]
fn preferences_are_heard() {
    let asked = |pattern: &str| builder().threads(4).pattern(pattern.parse().unwrap());
    let team = asked("chain").root(2).build().unwrap();
    for chosen in team.explain().operations {
        assert_eq!(chosen.pattern, "chain");
        assert_eq!((chosen.root, chosen.decided_by), (Some(2), DecidedBy::User));
    }
    exercise(&team);
    // Only barriers have rounds. The other operations are chosen as without a preference, and the reason says
    // so.
    let team = asked("dissemination:3").build().unwrap();
    let [barrier, broadcast, _] = &team.explain().operations[..] else {
        panic!("three operations");
    };
    assert_eq!(
        (barrier.pattern.as_str(), barrier.root),
        ("dissemination:3", None)
    );
    assert_eq!(broadcast.decided_by, DecidedBy::Model);
    assert!(
        broadcast
            .reason
            .contains("dissemination:3, which was asked for")
    );
    exercise(&team);
}

/// Whether `ranks` ranks share hardware threads on this machine.
fn shares(ranks: usize) -> bool {
    ranks > corecast::machine::discover().unthrottled_parallelism()
}

#[test]
fn the_model_chooses_the_least_of_all() {
    let machine = synthetic("package:2 core:4").unwrap();
    let team = builder().threads(8).machine(machine).build().unwrap();
    let explanation = team.explain();
    for chosen in &explanation.operations {
        if chosen.decided_by == DecidedBy::Sharing {
            assert!(shares(8) && chosen.operation == Operation::Barrier);
            assert_eq!((chosen.pattern.as_str(), chosen.root), ("counter", None));
        } else {
            assert_eq!(chosen.decided_by, DecidedBy::Model);
            assert!(!shares(8) || chosen.operation != Operation::Barrier);
        }
        let best = chosen.predicted.unwrap_or(chosen.runners_up[0].predicted);
        for other in &chosen.runners_up {
            assert!(other.predicted >= best);
            let pattern: Pattern = other.pattern.parse().unwrap();
            assert!(!matches!(pattern, Pattern::Bad | Pattern::BadBinary));
        }
    }
    assert_eq!(explanation.operations[0].operation, Operation::Barrier);
    assert!(explanation.races.contains("costs were given"));
    exercise(&team);
}

#[test]
fn impossible_teams_are_refused_with_what_was_asked() {
    let first = corecast::machine::discover().usable.first().unwrap();
    let refusal = |builder: Builder| builder.build().unwrap_err().to_string();
    for (builder, part) in [
        (builder().threads(0), "at least one rank"),
        (builder().cores("65000"), "\"65000\": no PU 65000 runs"),
        (
            builder().cores(format!("{first},{first}")),
            "is listed twice",
        ),
        (builder().cores("x"), "\"x\" is no number or range"),
        (builder().threads(2).root(5), "root 5 is outside"),
        (
            builder().threads(2).pattern(Pattern::Knomial { radix: 1 }),
            "radix of at least 2",
        ),
        (builder().threads(2).slots(3), "power of two"),
        (
            builder()
                .threads(9)
                .machine(synthetic("core:1").unwrap())
                .pin(false),
            "too few for a team of 9",
        ),
    ] {
        let message = refusal(builder);
        // A machine of one PU has costs for any number of ranks on it.
        let known = part.contains("too few") && corecast::machine::discover().usable.len() == 1;
        assert!(known || message.contains(part), "{message}");
    }
}

/// Numbers whose memory no machine has, or whose bytes are more than a number can say.
#[test]
fn teams_without_end_are_refused() {
    let of = |slots| builder().threads(2).slots(slots);
    for (builder, parts) in [
        (
            builder().threads(1 << 24),
            ["of 16777216 ranks", " bytes of memory"],
        ),
        (
            builder().threads((1 << 24) + 1),
            ["at most 16777216", "16777217"],
        ),
        (
            builder().threads(1 << 40),
            ["at most 16777216", "1099511627776"],
        ),
        (
            builder().threads(usize::MAX),
            ["at most 16777216", "18446744073709551615"],
        ),
        (of(1 << 40), [" bytes", "fewer slots"]),
        (of(1 << 57), [" bytes", "fewer slots"]),
        (of(1 << 58), [" bytes", "fewer slots"]),
        (of(1 << 61), [" bytes", "fewer slots"]),
        (of(1 << 63), [" bytes", "fewer slots"]),
        (
            builder().threads(2).depth(usize::MAX),
            ["at most 65536", "18446744073709551615"],
        ),
    ] {
        let said = builder.build().unwrap_err().to_string();
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
}

#[test]
fn users_bring_their_own_threads() {
    let team = builder().threads(2).build().unwrap();
    let sums: Vec<u64> = std::thread::scope(|scope| {
        let team = &team;
        let threads = [0, 1].map(|rank| {
            scope.spawn(move || {
                team.pin_here(rank);
                let mut member = team.join(rank).unwrap();
                member.allreduce_value(rank as u64, |a, b| a + b).unwrap()
            })
        });
        threads.map(|thread| thread.join().unwrap()).into()
    });
    assert_eq!(sums, [1, 1]);
    assert!(team.join(0).unwrap_err().to_string().contains("twice"));
    assert!(team.failure().is_none());
}

#[test]
fn explanations_are_json_too() {
    let team = builder().threads(2).build().unwrap();
    let json = serde_json::to_value(team.explain()).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["ranks"].as_array().unwrap().len(), 2);
    assert_eq!(json["operations"][0]["operation"], "barrier");
    assert!(json["costs"]["builtin"]["why"].is_string());
}

/// The variable that is set for the child below, which runs this test program.
const CHILD: &str = "CORECAST_TEST_CHILD";

#[test]
fn the_start_up_line_is_said_when_asked_for() {
    if std::env::var_os(CHILD).is_some() {
        builder().threads(2).build().unwrap();
        return;
    }
    let said = |level: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "teams::the_start_up_line_is_said_when_asked_for",
                "--exact",
                "--nocapture",
            ])
            .env(CHILD, "1")
            .env("CORECAST_DEBUG", level)
            .output()
            .unwrap();
        assert!(output.status.success());
        let stderr = String::from_utf8(output.stderr).unwrap();
        let ours = stderr.lines().filter(|line| line.starts_with("corecast: "));
        ours.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(said("OFF").is_empty());
    let line = said("INFO").pop().unwrap();
    for part in [
        "team of 2 ranks",
        "barrier ",
        "least by the model",
        "waits ",
    ] {
        assert!(line.contains(part), "{part} is missing in {line}");
    }
    assert!(said("TRACE").iter().any(|line| line.contains("why: ")));
}
