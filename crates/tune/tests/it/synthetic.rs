//! The whole tuner on synthetic machines, whose best choices are known and whose clock is virtual.

use corecast_collectives::{Algorithms, BarrierPlan, Plans};
use corecast_model::Collective;
use corecast_plan::patterns;
use corecast_tune::candidates::Asked;
use corecast_tune::check::check;
use corecast_tune::outcome::Outcome;
use corecast_tune::predict::{Predict, Unknown};
use corecast_tune::racer::{Contender, RaceFailed, Racer, Subject};
use corecast_tune::search_space::{Other, Rival, SearchSpace};
use corecast_tune::sequential_test::SequentialTest;
use corecast_tune::tuner::{SIZES, TuneRequest, tune};
use corecast_wire::WaitConfig;
use fastrand::Rng;
use std::rc::Rc;
use std::time::Duration;

/// The time of a contender at a size in nanoseconds; `None` if its results are wrong.
type Law = Rc<dyn Fn(Collective, usize, &str) -> Option<f64>>;

/// A machine on which each contender takes the time that the law says, with drift.
pub(crate) struct Synthetic {
    law: Law,
    pub(crate) rng: Rng,
    now: Duration,
    /// Time of a round of one contender.
    batch: Duration,
    /// Relative difference of a contender's time in a whole replicate, as if by the place of its buffers.
    pub(crate) placement: f64,
    /// Number of races after which the tuning is interrupted.
    patience: usize,
    /// Collective and bytes of each replicate, in order.
    replicates: Vec<(Collective, usize)>,
    /// Collective, bytes, contenders and rounds of each race, in order.
    log: Vec<(Collective, usize, Vec<String>, u32)>,
}

impl Synthetic {
    pub(crate) fn new(law: impl Fn(Collective, usize, &str) -> Option<f64> + 'static) -> Self {
        Self {
            law: Rc::new(law),
            rng: Rng::with_seed(7),
            now: Duration::ZERO,
            batch: Duration::from_millis(2),
            placement: 0.0,
            patience: usize::MAX,
            replicates: Vec::new(),
            log: Vec::new(),
        }
    }
}

impl Racer for Synthetic {
    fn race(
        &mut self,
        subject: Subject,
        contenders: &[Contender],
        test: &mut SequentialTest,
        limit: Duration,
    ) -> Result<(), RaceFailed> {
        let (operation, bytes) = (subject.operation(), subject.bytes());
        let begin = self.now;
        let before = test.rounds();
        self.replicates.push((operation, bytes));
        let place = |rng: &mut Rng| 1.0 + self.placement * (2.0 * rng.f64() - 1.0);
        let places: Vec<f64> = contenders.iter().map(|_| place(&mut self.rng)).collect();
        // The time that checks and calibration would take.
        self.now += self.batch * contenders.len() as u32;
        while !test.over() && (self.now - begin < limit || test.rounds() < before + 3) {
            let drift = 1.0 + 0.5 * self.rng.f64();
            let racing = test.racing();
            let mut samples = vec![None; contenders.len()];
            for at in racing {
                self.now += self.batch;
                let tail = if self.rng.u8(..20) == 0 { 5.0 } else { 1.0 };
                let noise = 1.0 + 0.02 * (self.rng.f64() - 0.5);
                let time = (self.law)(operation, bytes, &contenders[at].name);
                samples[at] = time.map(|time| time * drift * noise * tail * places[at]);
            }
            test.round(&samples);
        }
        for (at, contender) in contenders.iter().enumerate() {
            if (self.law)(operation, bytes, &contender.name).is_none() {
                test.fail(at, "wrong result".to_owned());
            }
        }
        let names: Vec<String> = contenders.iter().map(|c| c.name.clone()).collect();
        match self.log.last_mut() {
            // This is a further replicate of the last race.
            Some(last) if (last.0, last.1, &last.2) == (operation, bytes, &names) => {
                last.3 = test.rounds();
            }
            _ => self.log.push((operation, bytes, names, test.rounds())),
        }
        Ok(())
    }

    fn now(&self) -> Duration {
        self.now
    }

    fn interrupted(&self) -> bool {
        self.log.len() >= self.patience
    }
}

pub(crate) fn search_space(ranks: usize) -> SearchSpace {
    let tree = patterns::knomial(ranks, 0, 2);
    let rounds = corecast_plan::Rounds::dissemination(ranks, 2);
    SearchSpace {
        plans: Plans::of_tree(&tree),
        algorithms: Algorithms::default(),
        sharing: 1,
        processes: false,
        barrier: "binomial".to_owned(),
        barrier_ns: None,
        tree: [("binomial".to_owned(), None), ("binomial".to_owned(), None)],
        rivals: vec![
            Rival {
                name: "dissemination:2".to_owned(),
                predicted_ns: Some(100.0),
                plan: Other::Barrier(BarrierPlan::Rounds(rounds)),
            },
            Rival {
                name: "sequential".to_owned(),
                predicted_ns: None,
                plan: Other::Broadcast(patterns::sequential(ranks, 0)),
            },
        ],
        waits: "balanced".to_owned(),
        wait_configs: SearchSpace::wait_configs(WaitConfig::BALANCED),
        transfer_paths: false,
    }
}

/// The built-in choice takes its time; `ring` is better for allreduces from 4 KiB on and `trees` worse
/// everywhere; a barrier by rounds is better, and longer spins too.
pub(crate) fn plain(operation: Collective, bytes: usize, name: &str) -> Option<f64> {
    let base = 100.0 + bytes as f64;
    let times = match (operation, name) {
        (Collective::Barrier, "dissemination:2") => 0.7,
        (Collective::Barrier, "spin 50 µs") => 0.5,
        (Collective::Barrier, "crowded" | "yield 2 ms") => 9.0,
        (Collective::Allreduce, "ring") if bytes >= 4096 => 0.8,
        (Collective::Allreduce, "ring") => 1.2,
        (Collective::Broadcast, "sequential") => 0.6,
        (Collective::Broadcast, "whole") => return None,
        (Collective::Allreduce, "built-in") => 1.0,
        (_, "built-in" | "balanced" | "binomial") => 1.0,
        // These tie with the built-in choice.
        (_, "fixed" | "pull") => 1.001,
        _ => 1.5,
    };
    let sum = if operation == Collective::Allreduce {
        1.9
    } else {
        1.0
    };
    Some(base * times * sum)
}

fn run(racer: &mut Synthetic, request: &TuneRequest, model: &dyn Predict) -> Outcome {
    let mut last = 0.0;
    let mut steps = 0;
    let mut progress = |step: corecast_tune::tuner::Step| {
        assert!((0.0..=1.0).contains(&step.done), "{step:?}");
        last = step.done;
        steps += 1;
    };
    let outcome = tune(racer, &search_space(8), model, request, &mut progress).unwrap();
    assert_eq!(last, 1.0);
    assert!(steps > 1);
    outcome
}

fn tuned(outcome: &Outcome, operation: Collective) -> &corecast_tune::outcome::Tuned {
    let mut all = outcome.operations.iter();
    all.find(|t| t.operation == operation)
        .expect("it was tuned")
}

fn ranges(outcome: &Outcome, operation: Collective) -> Vec<(Option<usize>, Asked)> {
    let all = tuned(outcome, operation).ranges.iter();
    all.map(|r| (r.up_to_bytes, r.algorithm)).collect()
}

#[test]
fn what_is_best_is_found_and_ties_stay_built_in() {
    let mut racer = Synthetic::new(plain);
    let outcome = run(&mut racer, &TuneRequest::default(), &Unknown);
    assert!(!outcome.interrupted);
    // The barrier's plan, the broadcast's tree, and how to wait.
    let winners: Vec<(&str, &str)> = outcome
        .team
        .iter()
        .map(|race| (&race.what[..], &race.candidates[race.winner].name[..]))
        .collect();
    assert_eq!(
        winners,
        [
            ("barrier", "dissemination:2"),
            ("broadcast tree", "sequential"),
            ("waits", "spin 50 µs"),
        ]
    );
    assert!(matches!(outcome.plans.barrier(), BarrierPlan::Rounds(_)));
    assert_eq!(outcome.plans.broadcast(), &patterns::sequential(8, 0));
    assert_eq!(
        outcome.wait_config.map(|wait_config| wait_config.spin_ns),
        Some(50_000)
    );
    // Allreduces change once, between 512 and 4096 bytes; all other operations keep the built-in choice.
    let allreduce = ranges(&outcome, Collective::Allreduce);
    assert_eq!(allreduce.len(), 2, "{allreduce:?}");
    let (Some(limit), None) = allreduce[0] else {
        panic!("{allreduce:?}");
    };
    assert_eq!(allreduce[1], (None, Some("ring")));
    // The race at 2048 bytes has put the limit between 2048 and 4096.
    assert!((2048..4096).contains(&limit), "{limit}");
    for operation in Collective::WITH_ALGORITHMS {
        if operation != Collective::Allreduce {
            assert_eq!(ranges(&outcome, operation), [(None, None)], "{operation}");
        }
    }
}

#[test]
fn who_is_wrong_does_not_win_and_says_why() {
    let mut racer = Synthetic::new(plain);
    let outcome = run(&mut racer, &TuneRequest::default(), &Unknown);
    let point = &tuned(&outcome, Collective::Broadcast).points[0];
    let whole = point.candidates.iter().find(|c| c.name == "whole").unwrap();
    assert_eq!(whole.left.as_deref(), Some("failed: wrong result"));
    assert_eq!(whole.measured_ns, None);
    let scattered = point
        .candidates
        .iter()
        .find(|c| c.name == "scattered")
        .unwrap();
    let left = scattered.left.as_deref().unwrap();
    assert!(
        left.starts_with("out after round") && left.contains("times as long as"),
        "{left}"
    );
}

#[test]
fn the_same_machine_gives_the_same_tuning() {
    let once = run(
        &mut Synthetic::new(plain),
        &TuneRequest::default(),
        &Unknown,
    );
    let again = run(
        &mut Synthetic::new(plain),
        &TuneRequest::default(),
        &Unknown,
    );
    assert_eq!(once, again);
}

#[test]
fn the_budget_holds_and_is_shared() {
    for seconds in [2, 10, 60] {
        let mut racer = Synthetic::new(plain);
        let request = TuneRequest {
            budget: Duration::from_secs(seconds),
            ..TuneRequest::default()
        };
        let outcome = run(&mut racer, &request, &Unknown);
        // The last race may begin just before the end.
        assert!(
            racer.now < request.budget + Duration::from_secs(2),
            "{:?}",
            racer.now
        );
        if seconds > 2 {
            assert_eq!(outcome.operations.len(), Collective::WITH_ALGORITHMS.len());
        }
    }
}

#[test]
fn what_was_raced_at_all_first_sizes_before_an_interruption_is_kept() {
    let mut racer = Synthetic::new(plain);
    // Barrier, tree, waits, the first sizes of broadcasts, and one of reductions.
    let first = SIZES.len().div_ceil(3);
    racer.patience = 3 + first + 1;
    let outcome = run(&mut racer, &TuneRequest::default(), &Unknown);
    assert!(outcome.interrupted);
    let whole: Vec<Collective> = outcome.operations.iter().map(|t| t.operation).collect();
    assert_eq!(whole, [Collective::Barrier, Collective::Broadcast]);
    let broadcast = tuned(&outcome, Collective::Broadcast);
    assert_eq!(broadcast.points.len(), first);
}

#[test]
fn each_operation_has_a_race_before_any_has_all() {
    let mut racer = Synthetic::new(plain);
    let request = TuneRequest {
        // A machine so busy that there is time for a third of the races.
        budget: Duration::from_secs(3),
        ..TuneRequest::default()
    };
    let outcome = run(&mut racer, &request, &Unknown);
    assert_eq!(outcome.operations.len(), Collective::WITH_ALGORITHMS.len());
    let raced = outcome.operations.iter().map(|tuned| tuned.points.len());
    assert!(raced.clone().sum::<usize>() < Collective::WITH_ALGORITHMS.len() * SIZES.len());
    for tuned in &outcome.operations {
        assert!(tuned.points.is_sorted_by_key(|point| point.bytes));
    }
}

#[test]
fn the_built_in_limit_between_two_sizes_is_raced_as_well() {
    // At both sizes nothing beats the built-in choice, which is messages at the smaller one and segments at the larger.
    let law = |_, bytes, name: &str| match (bytes, name) {
        (512 | 65536, "built-in") => Some(100.0),
        (_, "messages") => Some(150.0),
        _ => Some(1000.0),
    };
    let mut racer = Synthetic::new(law);
    let request = TuneRequest {
        operations: vec![Collective::Broadcast],
        sizes: vec![512, 65536],
        ..TuneRequest::default()
    };
    let outcome = run(&mut racer, &request, &Unknown);
    let broadcast = tuned(&outcome, Collective::Broadcast);
    let chosen = [512, 4096, 65536].map(|bytes| broadcast.algorithm(bytes));
    assert_eq!(chosen, [None, Some("messages"), None]);
}

#[test]
fn sizes_that_fit_no_memory_are_left_out_with_a_word() {
    struct Small(Synthetic);
    impl Racer for Small {
        fn race(
            &mut self,
            s: Subject,
            c: &[Contender],
            j: &mut SequentialTest,
            l: Duration,
        ) -> Result<(), RaceFailed> {
            self.0.race(s, c, j, l)
        }
        fn now(&self) -> Duration {
            self.0.now()
        }
        fn bytes_max(&self, operation: Collective) -> usize {
            if operation == Collective::Alltoall {
                512
            } else {
                usize::MAX
            }
        }
    }
    let mut racer = Small(Synthetic::new(plain));
    let outcome = tune(
        &mut racer,
        &search_space(8),
        &Unknown,
        &TuneRequest::default(),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!(tuned(&outcome, Collective::Alltoall).points.len(), 3);
    assert!(
        outcome
            .notes
            .iter()
            .any(|n| n.contains("alltoall") && n.contains("512 bytes"))
    );
}

/// A model that predicts slow times for `owners`, which are fast for allreduces of 4 KiB.
struct Model;

impl Predict for Model {
    fn predict(&self, operation: Collective, algorithm: &str, _: &Plans, _: usize) -> Option<f64> {
        match (operation, algorithm) {
            (Collective::Allreduce, "doubling") => Some(100.0),
            (Collective::Allreduce, "trees") => Some(110.0),
            (Collective::Allreduce, "messages") => Some(120.0),
            (Collective::Allreduce, "rabenseifner") => Some(120.0),
            (Collective::Allreduce, "owners") => Some(130.0),
            (Collective::Allreduce, "ring") => Some(1000.0),
            (Collective::Allreduce, "direct") => Some(140.0),
            _ => None,
        }
    }
}

#[test]
fn the_model_prunes_and_says_why() {
    let mut racer = Synthetic::new(plain);
    let request = TuneRequest {
        operations: vec![Collective::Allreduce],
        sizes: vec![8],
        most: 3,
        ..TuneRequest::default()
    };
    let outcome = run(&mut racer, &request, &Model);
    let point = &tuned(&outcome, Collective::Allreduce).points[0];
    let raced: Vec<&str> = point.candidates.iter().map(|c| &c.name[..]).collect();
    assert_eq!(raced, ["built-in", "trees", "messages"]);
    assert_eq!(point.candidates[0].predicted_ns, Some(100.0));
    let why = |name: &str| {
        let mut all = point.left_out.iter();
        &all.find(|one| one.algorithm == name).unwrap().why[..]
    };
    assert_eq!(why("doubling"), "the built-in choice runs it");
    assert_eq!(why("rabenseifner"), "it does the same as messages here");
    assert_eq!(
        why("owners"),
        "predicted to take 1.30 times as long as the best"
    );
    assert_eq!(
        why("ring"),
        "predicted to take 10.00 times as long as the best"
    );
}

/// An allreduce that is slower than its parts, where only `trees` are not; a reduction that is slower at 512 bytes
/// than at 4 KiB; a barrier that is slower than an allreduce.
fn unsound(operation: Collective, bytes: usize, name: &str) -> Option<f64> {
    Some(match (operation, name) {
        (Collective::Barrier, "dissemination:2" | "balanced") => 4000.0,
        (Collective::Barrier, "dissemination") => 150.0,
        (Collective::Barrier, _) => 4100.0,
        (Collective::Allreduce, "trees") => 250.0 + bytes as f64,
        (Collective::Allreduce, _) => 1000.0 + bytes as f64,
        (Collective::Reduce, "whole") => 100.0 + bytes as f64 / 100.0,
        (Collective::Reduce, "built-in") if bytes == 512 => 4000.0,
        (Collective::Reduce, _) => 100.0 + bytes as f64 / 100.0,
        _ => 100.0 + bytes as f64 / 100.0,
    })
}

#[test]
fn violated_guidelines_are_mended_and_reported() {
    let request = TuneRequest {
        operations: vec![
            Collective::Barrier,
            Collective::Broadcast,
            Collective::Reduce,
            Collective::Allreduce,
        ],
        sizes: vec![8, 64],
        most: 1,
        ..TuneRequest::default()
    };
    // A model whose predictions leave the better algorithms out of the race.
    struct Wrong;
    impl Predict for Wrong {
        fn predict(&self, _: Collective, algorithm: &str, _: &Plans, _: usize) -> Option<f64> {
            Some(if algorithm == "messages" { 1.0 } else { 100.0 })
        }
    }
    let mut racer = Synthetic::new(unsound);
    let outcome = run(&mut racer, &request, &Wrong);
    let mut mended: Vec<(&str, usize, Option<&str>)> = outcome
        .findings
        .iter()
        .map(|f| (f.operation, f.bytes, f.mended_by.as_deref()))
        .collect();
    // The barrier is suspected only once the allreduce is mended.
    mended.sort_unstable();
    assert_eq!(
        mended,
        [
            ("allreduce", 8, Some("trees")),
            ("allreduce", 64, Some("trees")),
            ("barrier", 0, Some("dissemination")),
        ],
        "{:#?}",
        outcome.findings
    );
    assert_eq!(
        ranges(&outcome, Collective::Allreduce),
        [(None, Some("trees"))]
    );
    assert_eq!(
        ranges(&outcome, Collective::Barrier),
        [(None, Some("dissemination"))]
    );
    let point = &tuned(&outcome, Collective::Allreduce).points[0];
    let mended = point.mended.as_deref().unwrap();
    assert!(
        mended.contains("built-in was slower than reduce and broadcast"),
        "{mended}"
    );
    assert_eq!(point.winner().name, "trees");
}

#[test]
fn guidelines_that_cannot_be_mended_are_reported() {
    fn slow(operation: Collective, bytes: usize, _: &str) -> Option<f64> {
        let base = 100.0 + bytes as f64 / 100.0;
        Some(if operation == Collective::Reduce && bytes == 512 {
            4000.0
        } else {
            base
        })
    }
    let request = TuneRequest {
        operations: vec![Collective::Reduce],
        ..TuneRequest::default()
    };
    let outcome = run(&mut Synthetic::new(slow), &request, &Unknown);
    assert_eq!(outcome.findings.len(), 1);
    let finding = &outcome.findings[0];
    assert_eq!(
        (finding.operation, finding.bytes, &finding.mended_by),
        ("reduce", 512, &None)
    );
    assert_eq!(finding.bound, "reduce of 4096 bytes");
    assert!(
        finding.said.contains("no other algorithm"),
        "{}",
        finding.said
    );
}

#[test]
fn races_with_clear_losers_are_short() {
    fn clear(_: Collective, bytes: usize, name: &str) -> Option<f64> {
        let base = 100.0 + bytes as f64;
        Some(if name == "built-in" { base } else { base * 3.0 })
    }
    let request = TuneRequest {
        operations: vec![Collective::Allgather, Collective::Scatter],
        ..TuneRequest::default()
    };
    let mut racer = Synthetic::new(clear);
    run(&mut racer, &request, &Unknown);
    let sized = racer
        .log
        .iter()
        .filter(|(o, ..)| request.operations.contains(o));
    for (operation, bytes, names, rounds) in sized {
        assert!(
            *rounds <= 30,
            "{operation} {bytes} {names:?}: {rounds} rounds"
        );
    }
}

/// Broadcasts by `scattered` take a twentieth less time; the places of buffers make more of a difference.
fn near(operation: Collective, bytes: usize, name: &str) -> Option<f64> {
    let times = match (operation, name) {
        (Collective::Broadcast, "scattered") => 0.95,
        (_, "built-in") => 1.0,
        (_, "whole" | "chain") => 1.01,
        _ => 2.0,
    };
    Some((100.0 + bytes as f64) * times)
}

fn broadcasts(seconds: u64) -> TuneRequest {
    TuneRequest {
        operations: vec![Collective::Broadcast],
        sizes: vec![256 << 10, 1 << 20],
        budget: Duration::from_secs(seconds),
        ..TuneRequest::default()
    }
}

#[test]
fn what_is_in_doubt_gets_more_replicates_while_there_is_time() {
    let request = broadcasts(60);
    let planned = request.rules.of_long_data().replicates as usize;
    let (mut found, mut replicates) = (0, Vec::new());
    for seed in 0..20 {
        let mut racer = Synthetic::new(near);
        racer.rng = Rng::with_seed(seed);
        racer.placement = 0.08;
        let outcome = run(&mut racer, &request, &Unknown);
        let points = &tuned(&outcome, Collective::Broadcast).points;
        let right = points
            .iter()
            .filter(|p| p.algorithm() == Some("scattered"))
            .count();
        found += right;
        replicates.push(
            racer
                .replicates
                .iter()
                .filter(|replicate| replicate.1 == 1 << 20)
                .count(),
        );
        assert!(racer.now < request.budget + Duration::from_secs(2));
    }
    assert!(found >= 36, "{found} of 40");
    // The planned replicates do not always settle a race.
    replicates.sort_unstable();
    assert!(replicates[15] > planned, "{replicates:?}");
    // Further replicates of two races alternate.
    let mut racer = Synthetic::new(near);
    racer.placement = 0.08;
    run(&mut racer, &request, &Unknown);
    let beyond: Vec<usize> = racer
        .replicates
        .iter()
        .map(|replicate| replicate.1)
        .collect();
    let changes = beyond.windows(2).filter(|pair| pair[0] != pair[1]);
    assert!(changes.count() > 2, "{beyond:?}");
}

#[test]
fn doubts_end_with_the_budget() {
    let mut replicates = Vec::new();
    for seconds in [1, 3, 60] {
        let request = broadcasts(seconds);
        let mut racer = Synthetic::new(near);
        racer.placement = 0.08;
        run(&mut racer, &request, &Unknown);
        // A race that has begun runs its planned replicates.
        assert!(
            racer.now < request.budget + Duration::from_secs(1),
            "{:?}",
            racer.now
        );
        replicates.push(racer.replicates.len());
    }
    assert!(replicates[0] < replicates[2], "{replicates:?}");
}

#[test]
fn what_is_sure_takes_the_planned_replicates_only() {
    let mut racer = Synthetic::new(near);
    let request = broadcasts(60);
    run(&mut racer, &request, &Unknown);
    let planned = request.rules.of_long_data().replicates as usize;
    // Each race has two replicates at first, and the further ones alternate.
    let sized = racer.replicates.iter().filter(|replicate| replicate.1 > 8);
    let sizes: Vec<usize> = sized.map(|replicate| replicate.1 >> 18).collect();
    assert_eq!(sizes[..6], [1, 1, 4, 4, 1, 4]);
    assert_eq!(sizes.len(), planned * request.sizes.len());
}

#[test]
fn a_check_has_no_rival_that_is_the_same_program() {
    let request = TuneRequest {
        operations: vec![Collective::Allgather],
        sizes: vec![8, 1 << 20],
        ..TuneRequest::default()
    };
    let outcome = run(&mut Synthetic::new(plain), &request, &Unknown);
    let run_check = |racer: &mut Synthetic| {
        let budget = Duration::from_secs(60);
        let found = check(
            racer,
            &outcome,
            &search_space(8),
            &request.sizes,
            budget,
            &mut |_, _| {},
        );
        found.unwrap()
    };
    // No other algorithm is faster, and different places in memory do not count as a difference.
    let mut racer = Synthetic::new(plain);
    racer.placement = 0.08;
    let checked = run_check(&mut racer);
    assert_eq!(checked.len(), 2);
    for one in &checked {
        assert!(!one.is_slower(), "{one:?}");
        assert_eq!((one.tuned, one.built_in), ("built-in", "direct"));
        let rivals: Vec<&str> = one.others.iter().map(|rival| rival.name).collect();
        assert_eq!(rivals, ["ring", "bruck", "trees"]);
        let left: Vec<(&str, &str)> = one
            .left_out
            .iter()
            .map(|l| (l.algorithm, &l.why[..]))
            .collect();
        assert_eq!(left, [("direct", "the built-in choice runs it")]);
    }
    // Another algorithm is faster.
    fn ring(_: Collective, _: usize, name: &str) -> Option<f64> {
        Some(if name == "ring" { 900.0 } else { 1000.0 })
    }
    let mut racer = Synthetic::new(ring);
    racer.placement = 0.02;
    assert!(run_check(&mut racer).iter().all(|one| one.is_slower()));
}

/// Broadcasts of more than 256 KiB are best by the built-in algorithm in segments of 256 KiB, scans along a chain
/// everywhere in segments of 8 KiB, and barriers by lines that five ranks read. Times change by a twelfth with each
/// step to a neighbouring size.
fn sized(operation: Collective, bytes: usize, name: &str) -> Option<f64> {
    let (best, size) = match (operation, name.split_once(':')) {
        (Collective::Broadcast, Some(("fixed", size))) => ("256K", size),
        // Trees race with 8 bytes.
        (Collective::Broadcast, None) if name == "built-in" || bytes == 8 => ("256K", "32K"),
        (Collective::Scan, Some(("chain", size))) => ("8K", size),
        (Collective::Scan, None) if matches!(name, "chain" | "built-in") => ("8K", "32K"),
        (Collective::Barrier, Some(("m-way", size))) => ("5", size),
        // The best m of eight ranks is 1.
        (Collective::Barrier, None) if name == "m-way" => ("5", "1"),
        _ => return Some(5.0 * (100.0 + bytes as f64)),
    };
    let place = |size: &str| {
        let all = [
            "1", "2", "3", "4", "5", "6", "7", "8", "12", "16", "24", "32",
        ];
        let segments = [
            "4K", "8K", "16K", "32K", "64K", "128K", "256K", "512K", "1M",
        ];
        let of = |all: &[&str]| all.iter().position(|&one| one == size);
        of(&segments).or_else(|| of(&all)).unwrap() as f64
    };
    Some((100.0 + bytes as f64) * (1.0 + (place(size) - place(best)).abs() / 12.0))
}

#[test]
fn the_best_sizes_of_segments_and_groups_are_found() {
    let request = TuneRequest {
        operations: vec![Collective::Barrier, Collective::Broadcast, Collective::Scan],
        sizes: vec![64, 64 << 10, 1 << 20],
        ..TuneRequest::default()
    };
    for seed in 0..10 {
        let mut racer = Synthetic::new(sized);
        racer.rng = Rng::with_seed(seed);
        racer.placement = 0.02;
        let outcome = run(&mut racer, &request, &Unknown);
        let at = |operation, bytes| tuned(&outcome, operation).algorithm(bytes);
        // With sizes beyond the data there is one segment.
        assert!(racer.now < request.budget + Duration::from_secs(2));
        assert_eq!(at(Collective::Barrier, 0), Some("m-way:5"), "seed {seed}");
        assert_eq!(at(Collective::Broadcast, 64), None);
        assert_eq!(at(Collective::Broadcast, 64 << 10), Some("fixed:64K"));
        assert_eq!(at(Collective::Broadcast, 1 << 20), Some("fixed:256K"));
        // Both take the same time.
        let short = at(Collective::Scan, 64);
        assert!([None, Some("chain")].contains(&short), "{short:?}");
        assert_eq!(at(Collective::Scan, 1 << 20), Some("chain:8K"));
        // What was raced on the way is recorded, and the way ends one step beyond the best.
        let mut points = tuned(&outcome, Collective::Broadcast).points.iter();
        let long = points.find(|point| point.bytes == 1 << 20).unwrap();
        let segments = long.candidates.iter().map(|one| &one.name[..]);
        let segments: Vec<&str> = segments.filter(|name| name.starts_with("fixed:")).collect();
        for name in [
            "fixed:16K",
            "fixed:64K",
            "fixed:128K",
            "fixed:256K",
            "fixed:512K",
        ] {
            assert!(segments.contains(&name), "{segments:?}");
        }
        assert!(!segments.contains(&"fixed:1M") && !segments.contains(&"fixed:8K"));
        let built_in = long.candidates[0].ratio.unwrap();
        assert!((built_in - 1.25).abs() < 0.05, "{built_in}");
    }
}

/// A model that is right about barriers, and for which segments of 16 KiB are hopeless.
struct OfSizes;

impl Predict for OfSizes {
    fn predict(&self, operation: Collective, name: &str, _: &Plans, bytes: usize) -> Option<f64> {
        match (operation, name) {
            (Collective::Barrier, _) => sized(operation, bytes, name),
            (_, "fixed:16K") => Some(500.0),
            (_, "fixed") => Some(100.0),
            _ => None,
        }
    }
}

#[test]
fn the_model_proposes_and_prunes_sizes() {
    let request = TuneRequest {
        operations: vec![Collective::Barrier, Collective::Broadcast],
        sizes: vec![1 << 20],
        ..TuneRequest::default()
    };
    let mut racer = Synthetic::new(sized);
    let outcome = run(&mut racer, &request, &OfSizes);
    // The best size races beside the algorithms.
    let (.., first, _) = &racer.log[0];
    assert!(first.iter().any(|name| name == "m-way:5"), "{first:?}");
    assert!(!first.iter().any(|name| name == "m-way:4"), "{first:?}");
    let point = &tuned(&outcome, Collective::Broadcast).points[0];
    assert_eq!(point.algorithm(), Some("fixed:256K"));
    let why = point
        .left_out
        .iter()
        .find(|one| one.algorithm == "fixed:16K");
    let why = &why.unwrap().why;
    assert_eq!(why, "predicted to take 5.00 times as long as built-in");
    assert!(point.candidates.iter().all(|one| one.name != "fixed:16K"));
}
