//! The promise of a tuning: at no size of the sweep is what was chosen slower than the best single static choice.
//!
//! Each seed is a machine on which every algorithm has a start-up time and a time for each byte, so each is best at some
//! lengths. What the tuner measures is noisy (see [`Synthetic`]); what is compared here are the times without noise.

use crate::synthetic::{Synthetic, search_space};
use corecast_collectives::{Algorithms, entry};
use corecast_model::Collective;
use corecast_tune::candidates::{name, runs};
use corecast_tune::outcome::{Point, Tuned};
use corecast_tune::predict::Unknown;
use corecast_tune::tuner::{SIZES, TuneRequest, tune};
use fastrand::Rng;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// How many times as long as the best static choice a tuned one may take.
const ALLOWED: f64 = 1.03;

/// Machines that are tuned.
const SEEDS: u64 = 40;

/// How much longer or shorter a contender takes in a whole replicate, as if by the place of its buffers.
const PLACEMENT: f64 = 0.03;

/// Operations with many algorithms, and with few.
const OPERATIONS: [Collective; 4] = [
    Collective::Broadcast,
    Collective::Reduce,
    Collective::Allreduce,
    Collective::Allgather,
];

/// The time without noise of an algorithm on the machine of a seed. Algorithms differ by up to `spread`: 1 is twice the
/// time. An algorithm that has sizes is best with one of them, and slower the farther the one that it runs with is.
fn true_time(seed: u64, spread: f64, operation: Collective, bytes: usize, algorithm: &str) -> f64 {
    let algorithm = match algorithm {
        "built-in" => built_in(operation, bytes),
        other => other,
    };
    let base = algorithm.split(':').next().unwrap();
    let letters = operation.name().bytes().chain(base.bytes());
    let key = letters.fold(seed + 1, |key, letter| {
        (key ^ u64::from(letter)).wrapping_mul(0x100_0000_01b3)
    });
    let mut rng = Rng::with_seed(key);
    let times = |rng: &mut Rng| 1.0 + spread * rng.f64();
    let (start, byte) = (200.0 * times(&mut rng), 0.1 * times(&mut rng));
    let whole = start + byte * bytes as f64;
    let sizes = entry(operation, base).and_then(|known| known.sizes);
    let sized = sizes.map_or(1.0, |sizes| {
        // Sizes beyond the data are alike.
        let (values, least) = (sizes.kind.values(), bytes.max(1));
        let step = |size: usize| (size.min(least) as f64).log2();
        let best = step(values[rng.usize(..values.len())]);
        let place = sizes.names.iter().position(|&name| name == algorithm);
        let own = step(place.map_or(sizes.kind.built_in(8), |place| values[place]));
        1.0 + STEP * (own - best).abs()
    });
    whole * sized
}

/// The algorithm that a team runs if it is asked for none.
fn built_in(operation: Collective, bytes: usize) -> &'static str {
    let space = search_space(8);
    let outline = space.setting(&space.plans);
    let chosen = outline.chooses(&Algorithms::default(), operation.name(), bytes);
    chosen.unwrap().algorithm()
}

/// How much longer an algorithm takes with half or twice the size that is best.
const STEP: f64 = 0.06;

/// How many times as long as the best static choice one takes, at the size where it loses most.
fn worst(seed: u64, spread: f64, tuned: &Tuned, choice: impl Fn(usize) -> &'static str) -> f64 {
    let time = |bytes, algorithm: &str| true_time(seed, spread, tuned.operation, bytes, algorithm);
    // What the built-in choice runs does not race by its own name.
    let names = |point: &Point| -> BTreeSet<&'static str> {
        let raced = point.algorithms.iter().map(|one| name(*one));
        raced
            .chain([built_in(tuned.operation, point.bytes)])
            .collect()
    };
    // A static choice is one that can run at every size.
    let everywhere = tuned.points.iter().map(names);
    let fixed = everywhere.reduce(|all, here| &all & &here).unwrap();
    let sizes = || tuned.points.iter().map(|point| point.bytes);
    let cost = |algorithm: &str| -> f64 { sizes().map(|bytes| time(bytes, algorithm).ln()).sum() };
    let best = fixed
        .into_iter()
        .min_by(|a, b| cost(a).total_cmp(&cost(b)))
        .unwrap();
    let ratios = sizes().map(|bytes| time(bytes, choice(bytes)) / time(bytes, best));
    ratios.fold(0.0, f64::max)
}

/// At how many lengths an algorithm was chosen that is slower with its built-in size than with its best one, by more than
/// allowed, and at how many of these it got a size with which it is not.
fn sized(seed: u64, spread: f64, tuned: &Tuned) -> (usize, usize) {
    let at = |bytes: usize| {
        let time = |name: &str| true_time(seed, spread, tuned.operation, bytes, name);
        let chosen = name(tuned.algorithm(bytes));
        let space = search_space(8);
        let runs = runs(
            &space.setting(&space.plans),
            &space.algorithms,
            tuned.operation,
            bytes,
            tuned.algorithm(bytes),
        );
        let base = runs.split(':').next().unwrap();
        let sizes = entry(tuned.operation, base).unwrap().sizes?;
        let best = sizes
            .names
            .iter()
            .map(|name| time(name))
            .fold(f64::INFINITY, f64::min);
        let near = |name: &str| time(name) <= ALLOWED * best;
        (!near(base)).then(|| near(chosen))
    };
    let all: Vec<bool> = SIZES.into_iter().filter_map(at).collect();
    (all.len(), all.into_iter().filter(|&right| right).count())
}

/// How many machines of [`SEEDS`] have a choice that is slower than allowed, the greatest ratio, how many have one if
/// nothing is tuned, and the sums of [`sized`].
fn slower(spread: f64) -> (usize, f64, usize, (usize, usize)) {
    let request = TuneRequest {
        operations: OPERATIONS.into(),
        ..TuneRequest::default()
    };
    let (mut slower, mut greatest, mut untuned) = (0, 0.0_f64, 0);
    let mut sizes = (0, 0);
    for seed in 0..SEEDS {
        let known = RefCell::new(HashMap::new());
        let law = move |operation: Collective, bytes, name: &str| {
            let (mut known, key) = (
                known.borrow_mut(),
                (operation.name(), bytes, name.to_owned()),
            );
            let time = || true_time(seed, spread, operation, bytes, name);
            Some(*known.entry(key).or_insert_with(time))
        };
        let mut racer = Synthetic::new(law);
        racer.rng = Rng::with_seed(seed);
        racer.placement = PLACEMENT;
        let outcome = tune(
            &mut racer,
            &search_space(8),
            &Unknown,
            &request,
            &mut |_| {},
        )
        .unwrap();
        assert_eq!(outcome.operations.len(), OPERATIONS.len());
        let most = |choice: fn(&Tuned, usize) -> &'static str| {
            let each = outcome.operations.iter();
            each.map(|tuned| {
                // There are further ones where the choice changes.
                assert!(tuned.points.len() >= SIZES.len());
                worst(seed, spread, tuned, |bytes| choice(tuned, bytes))
            })
            .fold(0.0, f64::max)
        };
        let found = most(|tuned, bytes| name(tuned.algorithm(bytes)));
        slower += usize::from(found > ALLOWED);
        greatest = greatest.max(found);
        untuned += usize::from(most(|_, _| "built-in") > ALLOWED);
        for tuned in &outcome.operations {
            let (all, right) = sized(seed, spread, tuned);
            sizes = (sizes.0 + all, sizes.1 + right);
        }
    }
    (slower, greatest, untuned, sizes)
}

/// Algorithms take up to twice as long as others: at most one machine of twenty has a choice that is slower, by less than
/// 6 %.
#[test]
fn a_tuned_choice_is_not_slower_than_the_best_static_one() {
    let (slower, greatest, untuned, sizes) = slower(1.0);
    println!("{slower} of {SEEDS} slower, {greatest:.3}; untuned {untuned}; sizes {sizes:?}");
    assert!(20 * slower <= SEEDS as usize, "{slower} of {SEEDS}");
    assert!(greatest < 1.06, "{greatest}");
    assert!(sizes.0 >= 10 && 20 * sizes.1 >= 19 * sizes.0, "{sizes:?}");
    assert!(10 * untuned >= 9 * SEEDS as usize, "{untuned}");
}

/// Algorithms differ by at most 30 %, so the second best is often nearer than a replicate is to the truth. At one of
/// some forty points, no more than a fifth of the machines then have a choice that is slower, by less than 6 %.
#[test]
fn among_near_algorithms_few_choices_are_slower() {
    let (slower, greatest, untuned, sizes) = slower(0.3);
    println!("{slower} of {SEEDS} slower, {greatest:.3}; untuned {untuned}; sizes {sizes:?}");
    assert!(5 * slower <= SEEDS as usize, "{slower} of {SEEDS}");
    assert!(greatest < 1.06, "{greatest}");
    assert!(sizes.0 >= 10 && 20 * sizes.1 >= 19 * sizes.0, "{sizes:?}");
    assert!(10 * untuned >= 9 * SEEDS as usize, "{untuned}");
}
