use super::*;
use crate::fault::{self, Fault};
use std::ops::Range;

/// A fault is noticed in one of so many cases.
const CASES: u64 = 1000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs one case, and returns what was seen.
fn case(seed: u64, over_trees: bool) -> Result<Seen, String> {
    let mut simulation = Simulation::new(seed, over_trees);
    let result = simulation.run();
    let weather = simulation.io.weather;
    result
        .map_err(|error| format!("{error}\n{weather:?}\nCORECAST_REPLAY={seed} runs it again"))?;
    Ok(simulation.seen)
}

/// `CORECAST_TEST_SEEDS` says how many cases are run, and `CORECAST_REPLAY` that it is this one.
#[test]
fn members_agree_in_any_weather_and_go_on_when_it_is_quiet() {
    cases(false);
}

#[test]
fn members_agree_over_trees_in_any_weather_and_go_on_when_it_is_quiet() {
    cases(true);
}

fn cases(over_trees: bool) {
    let seeds = match number("CORECAST_REPLAY") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CORECAST_TEST_SEEDS").unwrap_or(1000),
    };
    let mut all = Seen::default();
    for seed in seeds.clone() {
        let seen = case(seed, over_trees).unwrap_or_else(|error| panic!("{error}"));
        all.deaths += seen.deaths;
        all.restarts += seen.restarts;
        all.snapshots += seen.snapshots;
        all.configurations += seen.configurations;
        all.quiet += seen.quiet;
        all.acknowledged.extend(seen.acknowledged);
    }
    let acknowledged = all.acknowledged.len();
    println!(
        "{seeds:?}: {acknowledged} commands acknowledged, {} submitted in quiet weather, {} deaths, {} restarts, {} \
         snapshots, {} configurations",
        all.quiet, all.deaths, all.restarts, all.snapshots, all.configurations
    );
    if seeds.end - seeds.start >= 300 {
        let least = all.deaths.min(all.restarts).min(all.snapshots);
        assert!(least > 30 && all.configurations > 1000, "hardly any faults");
    }
}

#[test]
fn a_broken_rule_is_noticed() {
    let faults = [
        Fault::NothingCarried,
        Fault::CarriedIgnored,
        Fault::ReportIgnored,
        Fault::BallotIgnored,
        Fault::LeaderChangeDropsCarried,
        Fault::RestartedLeads,
        Fault::ToldUnchosen,
        Fault::DuplicatesDelivered,
    ];
    for fault in faults {
        let found = (0..CASES)
            .find_map(|seed| Some((seed, fault::with(Some(fault), || case(seed, false)).err()?)));
        let (seed, error) =
            found.unwrap_or_else(|| panic!("{fault:?} is not noticed in {CASES} cases"));
        println!("{fault:?}: case {seed}: {error}");
    }
}

/// Weather in which nothing happens but what a test does.
fn calm(size: usize, submits: u32, lag_max: u64) -> Weather {
    Weather {
        size,
        lost: 0,
        doubled: 0,
        late: 0,
        dies: 0,
        pauses: 0,
        submits,
        lag_max,
        tells_ends: false,
    }
}

/// Of seven members in good weather, whose acceptor is 1, one ends that has two others below it. Returns for each millisecond the
/// longest time from the first delivery of a command to its last one.
fn lags_by_ms(fault: Option<Fault>) -> Vec<u64> {
    let mut simulation = Simulation::within(calm(7, 800, 1000), Rng::with_seed(1), true);
    fault::with(fault, || {
        simulation.run_until(ENDS_NS)?;
        assert_eq!(binary(7).children(2, 1, 0), [4, 5]);
        simulation.machines[2].is_dead = true;
        simulation.run()
    })
    .unwrap();
    let mut lags = vec![0; (END_NS / 1_000_000) as usize];
    for (time_ns, lag_ns) in simulation.seen.lags {
        let longest = &mut lags[(time_ns / 1_000_000) as usize];
        *longest = lag_ns.max(*longest);
    }
    lags
}

const ENDS_NS: u64 = 10_000_000;

/// A packet takes at most 20 µs, and three pass one after another; who asks others waits for longer.
const OVER_TREE_NS: u64 = 100_000;

#[test]
fn those_below_a_member_that_ends_ask_others_until_the_tree_leaves_it_out() {
    let is_late = |lag: &u64| *lag > OVER_TREE_NS;
    let lags = lags_by_ms(None);
    println!("{lags:?}");
    assert!(!lags[2..10].iter().any(is_late), "all is well");
    assert!(lags[10..14].iter().any(is_late), "the member has an end");
    assert!(!lags[14..].iter().any(is_late), "the tree is repaired");

    let lags = lags_by_ms(Some(Fault::NotPassedOn));
    assert!(
        lags[2..10].iter().filter(|it| is_late(it)).count() > 4,
        "{lags:?}"
    );
    let lags = lags_by_ms(Some(Fault::SilentKept));
    assert!(
        lags[14..24].iter().filter(|it| is_late(it)).count() > 5,
        "{lags:?}"
    );
}

/// Members submit all the time in calm weather, and each three milliseconds the one that `pauses` does so for as long as `pause_ns`
/// draws. Returns how it ended, and the last change of the configuration before the first pause.
fn with_pauses(
    (size, lag_max): (usize, u64),
    (seed, fault): (u64, Option<Fault>),
    pauses: impl Fn(&Simulation) -> usize,
    pause_ns: Range<u64>,
) -> (Simulation, u64) {
    let weather = calm(size, 1000, lag_max);
    let mut simulation = Simulation::within(weather, Rng::with_seed(seed), false);
    let mut random = Rng::with_seed(seed);
    let before = fault::with(fault, || {
        simulation.run_until(6_000_000)?;
        let before = simulation.io.log.last().0;
        for ms in (6..SUBMITS_NS / 1_000_000).step_by(3) {
            simulation.run_until(ms * 1_000_000)?;
            let member = pauses(&simulation);
            let until_ns = simulation.io.now_ns + random.u64(pause_ns.clone());
            simulation.machines[member].paused_until_ns = until_ns;
        }
        simulation.run()?;
        Ok::<_, String>(before)
    });
    (simulation, before.unwrap())
}

/// A member, neither leader nor acceptor, pauses for a moment now and then, while the others submit all the time. Returns how often
/// the configuration has changed since there was a leader.
fn changes_where_one_is_busy(seed: u64, fault: Option<Fault>) -> u64 {
    let (ended, before) = with_pauses((5, 20), (seed, fault), |_| 4, 1_000_000..1_300_000);
    assert!(ended.seen.quiet > 100, "{}", ended.seen.quiet);
    ended.io.log.last().0 - before
}

#[test]
fn a_member_that_pauses_for_a_moment_is_waited_for() {
    let changes = |fault| -> u64 {
        let changes = (0..50).map(|seed| changes_where_one_is_busy(seed, fault));
        changes.sum()
    };
    let (awaited, not) = (changes(None), changes(Some(Fault::NobodyAwaited)));
    println!("{awaited} changes, and {not} where nobody is waited for");
    // Reports that overtake each other may say that a member has less than it has.
    assert!(awaited < 20 && not > 500);
}

/// The acceptor pauses now and then for longer than members wait until they submit again. Returns how many entries of the log are no
/// command that was delivered.
fn entries_wasted(seed: u64, fault: Option<Fault>) -> u64 {
    let acceptor = |simulation: &Simulation| simulation.io.log.last().1.acceptor;
    let (ended, before) = with_pauses((3, 1000), (seed, fault), acceptor, 1_400_000..1_700_000);
    let (after, _) = ended.io.log.last();
    assert_eq!(after, before, "the acceptor was not replaced");
    let last = ended.seen.chosen.last_key_value();
    let entries = ended.machines[0].driver.next();
    assert!(last.is_some_and(|(index, _)| *index < entries));
    entries - ended.seen.chosen.len() as u64
}

#[test]
fn what_is_submitted_again_is_proposed_once() {
    let wasted = |fault| -> u64 { (0..20).map(|seed| entries_wasted(seed, fault)).sum() };
    let (once, again) = (wasted(None), wasted(Some(Fault::ProposedAgain)));
    println!("{once} entries wasted, and {again} where all is proposed again");
    assert!(once == 0 && again > 500);
}

/// The leader or the acceptor pauses once while all submit. Returns how often the configuration changes meanwhile, and the longest
/// time in which nobody delivers anything.
fn one_pause(
    (seed, fault): (u64, Option<Fault>),
    (is_leader, starves): (bool, bool),
    pause_ns: u64,
) -> (u64, u64) {
    let mut simulation = Simulation::within(calm(3, 1000, 1000), Rng::with_seed(seed), false);
    let changes = fault::with(fault, || {
        simulation.run_until(PAUSES_NS)?;
        let (before, last) = simulation.io.log.last();
        let member = if is_leader {
            last.leader
        } else {
            last.acceptor
        };
        let machine = &mut simulation.machines[member];
        (machine.paused_until_ns, machine.starves) = (PAUSES_NS + pause_ns, starves);
        simulation.run_until(PAUSES_NS + pause_ns - 1)?;
        let after = simulation.io.log.last().0;
        simulation.run()?;
        Ok::<_, String>(after - before)
    });
    let times: std::collections::BTreeSet<_> = simulation.seen.first_ns.into_values().collect();
    let times: Vec<_> = times.into_iter().collect();
    let gaps = times.windows(2).map(|it| it[1] - it[0]);
    (changes.unwrap(), gaps.max().unwrap())
}

const PAUSES_NS: u64 = 6_000_000;

#[test]
fn a_member_that_gets_no_cpu_is_waited_for_longer_but_not_for_ever() {
    // Members wait for 2 ms, and for up to 1.5 ms more until it is their turn: eight times as long for one that gets no CPU.
    let (silent_ns, starved_ns) = (4_000_000, 8 * 4_000_000);
    for (seed, is_leader) in (0..20).flat_map(|seed| [(seed, true), (seed, false)]) {
        let pause = |fault, starves, ns| {
            let (changes, gap_ns) = one_pause((seed, fault), (is_leader, starves), ns);
            println!("{seed}, {is_leader}, {fault:?}, {starves}: {changes} changes, {gap_ns} ns");
            (changes, gap_ns)
        };
        let (changes, gap_ns) = pause(None, false, 12_000_000);
        assert!(changes > 0 && gap_ns < silent_ns);
        let (changes, gap_ns) = pause(None, true, 12_000_000);
        assert!(changes == 0 && gap_ns > 11_000_000);
        let (changes, gap_ns) = pause(None, true, 40_000_000);
        assert!(changes > 0 && gap_ns < starved_ns);

        let (changes, _) = pause(Some(Fault::StarvedReplaced), true, 12_000_000);
        assert!(changes > 0, "nobody notices that it is not waited for");
        let (_, gap_ns) = pause(Some(Fault::StarvedAwaited), true, 40_000_000);
        assert!(gap_ns > starved_ns, "nobody notices that all stand still");
    }
}
