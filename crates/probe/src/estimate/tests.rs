//! The estimator on samples whose truth is known.

use super::*;
use fastrand::Rng;

/// A floor with a one-sided tail, as times have: floor + exponential of mean `tail`.
fn exponential(rng: &mut Rng, floor: f64, tail: f64) -> f64 {
    floor - tail * (1.0 - rng.f64()).ln()
}

fn samples(seed: u64, count: usize, mut f: impl FnMut(&mut Rng, usize) -> f64) -> Vec<f64> {
    let mut rng = Rng::with_seed(seed);
    (0..count).map(|k| f(&mut rng, k)).collect()
}

/// The median of floor + exponential.
fn truth(floor: f64, tail: f64) -> f64 {
    floor + tail * std::f64::consts::LN_2
}

#[test]
fn nothing_gives_nothing() {
    assert_eq!(Estimate::of(&[]), None);
    assert_eq!(Estimate::of(&[f64::NAN, f64::INFINITY]), None);
}

#[test]
fn one_sample_is_its_own_median() {
    let one = Estimate::of(&[7.0]).unwrap();
    assert_eq!((one.median, one.half_width, one.samples), (7.0, 0.0, 1));
}

#[test]
fn few_samples_span_their_range() {
    let few = Estimate::of(&[10.0, 14.0, 11.0]).unwrap();
    assert_eq!((few.median, few.half_width), (11.0, 3.0));
}

#[test]
fn even_counts_take_the_middle() {
    assert_eq!(Estimate::of(&[1.0, 2.0, 3.0, 4.0]).unwrap().median, 2.5);
}

#[test]
fn the_interval_holds_the_truth_about_as_often_as_it_says() {
    let (floor, tail) = (60.0, 8.0);
    for count in [20, 64, 500] {
        let hits = (0..400)
            .filter(|&seed| {
                let e = Estimate::of(&samples(seed, count, |rng, _| {
                    exponential(rng, floor, tail)
                }))
                .unwrap();
                (e.median - truth(floor, tail)).abs() <= e.half_width
            })
            .count();
        assert!(hits >= 374, "{hits} of 400 with {count} samples");
    }
}

#[test]
fn more_samples_narrow_the_interval() {
    let width = |count| {
        let s = samples(5, count, |rng, _| exponential(rng, 60.0, 8.0));
        Estimate::of(&s).unwrap().half_width
    };
    assert!(width(4000) < width(40) / 4.0);
}

#[test]
fn interrupted_samples_are_left_out_and_counted() {
    // One sample in ten was interrupted for 5 to 500 times its length.
    let s = samples(9, 1000, |rng, k| {
        let quiet = exponential(rng, 60.0, 2.0);
        if k % 10 == 3 {
            quiet * (5.0 + 495.0 * rng.f64())
        } else {
            quiet
        }
    });
    let e = Estimate::of(&s).unwrap();
    assert_eq!((e.discarded, e.samples), (100, 900));
    assert!((e.median - truth(60.0, 2.0)).abs() < 0.4, "{e:?}");
}

#[test]
fn almost_half_of_the_samples_may_be_bad() {
    let s = samples(11, 1001, |rng, k| {
        if k % 20 < 9 {
            1e6
        } else {
            exponential(rng, 30.0, 1.0)
        }
    });
    let e = Estimate::of(&s).unwrap();
    assert!((e.median - truth(30.0, 1.0)).abs() < 0.5, "{e:?}");
}

#[test]
fn drift_shows_in_the_half_width() {
    let steady = samples(3, 1000, |rng, _| exponential(rng, 60.0, 1.0));
    let drifting = samples(3, 1000, |rng, k| {
        exponential(rng, 60.0, 1.0) + 20.0 * k as f64 / 1000.0
    });
    let (steady, drifting) = (
        Estimate::of(&steady).unwrap(),
        Estimate::of(&drifting).unwrap(),
    );
    assert!(steady.settled(0.01), "{steady:?}");
    assert!(!drifting.settled(0.01), "{drifting:?}");
    // The halves' medians lie 10 apart.
    assert!(drifting.half_width > 4.0, "{drifting:?}");
}

#[test]
fn a_step_in_the_middle_is_not_settled() {
    let s = samples(4, 400, |rng, k| {
        exponential(rng, if k < 200 { 50.0 } else { 70.0 }, 0.1)
    });
    let e = Estimate::of(&s).unwrap();
    assert!(e.half_width > 9.0 && !e.settled(0.05), "{e:?}");
}

#[test]
fn bad_values_are_counted_as_left_out() {
    let e = Estimate::of(&[5.0, f64::NAN, 5.0, 5.0]).unwrap();
    assert_eq!((e.median, e.samples, e.discarded), (5.0, 3, 1));
}

#[test]
fn equal_samples_have_no_width() {
    let e = Estimate::of(&[8.0; 100]).unwrap();
    assert_eq!((e.median, e.half_width), (8.0, 0.0));
    assert!(e.settled(0.0));
}
