use super::*;

fn points(xs: &[u32], time: impl Fn(f64) -> f64) -> Vec<Point> {
    let point = |&x: &u32| Point {
        x,
        ns: Figure {
            value: time(f64::from(x)),
            half_width: 0.5,
            samples: 50,
        },
    };
    xs.iter().map(point).collect()
}

const LINES: [u32; 9] = [1, 2, 4, 8, 16, 24, 32, 64, 128];

fn near(figure: Figure, truth: f64, part: f64) {
    let far = (figure.value - truth).abs();
    assert!(far <= part * truth.abs(), "{figure:?} is not {truth}");
}

/// Whether the truth is in the interval.
fn holds(figure: Figure, truth: f64) -> bool {
    (figure.value - truth).abs() <= figure.half_width
}

#[test]
fn exact_lines_are_found_exactly() {
    // Table 3, intra socket.
    let fit = line(&points(&LINES, |n| 63.4 + 11.1 * n)).unwrap();
    near(fit.base, 63.4, 1e-9);
    near(fit.slope, 11.1, 1e-9);
    assert!(fit.misfit < 1e-9 && fit.inverse.is_none());
    assert!((fit.at(10.0) - 174.4).abs() < 1e-6);
}

#[test]
fn curves_of_the_papers_tables_are_told_from_lines() {
    // Table 2 (I, E) and Table 4 (E, E).
    let contended = points(&[1, 2, 4, 8, 15, 30, 60], |n| 863.6 + 23.9 * n - 667.4 / n);
    let fit = line_or_curve(&contended).unwrap();
    near(fit.base, 863.6, 1e-6);
    near(fit.slope, 23.9, 1e-6);
    near(fit.inverse.unwrap(), 667.4, 1e-6);
    let fit = line_or_curve(&points(&LINES, |n| 1521.0 + 76.0 * n - 1096.0 / n)).unwrap();
    near(fit.inverse.unwrap(), 1096.0, 1e-6);
    // Table 2 (E, E): a = 0.
    let fit = line_or_curve(&points(&LINES, |n| 320.5 + 56.2 * n)).unwrap();
    assert_eq!(fit.inverse, None);
}

#[test]
fn a_curve_that_misses_more_than_the_line_is_no_model() {
    // Copies between far cores: prefetching sets in between 4 and 8 lines.
    let times = [
        136.0, 148.0, 163.0, 286.0, 359.0, 452.0, 525.0, 853.0, 1491.0,
    ];
    let mut all = points(&LINES, |n| n);
    for (point, time) in all.iter_mut().zip(times) {
        point.ns.value = time;
    }
    let (simple, chosen) = (line(&all).unwrap(), line_or_curve(&all).unwrap());
    assert!(chosen.misfit <= simple.misfit, "{chosen:?} {simple:?}");
    assert!(chosen.at(1.0) > 0.0, "{chosen:?}");
}

#[test]
fn noise_stays_within_the_interval_about_as_often_as_promised() {
    let mut random = fastrand::Rng::with_seed(11);
    // Sum of uniforms: close to normal, standard deviation 2 %.
    let mut noise = || 1.0 + 0.02 * ((0..12).map(|_| random.f64()).sum::<f64>() - 6.0);
    let (mut base, mut slope, mut bent) = (0, 0, 0);
    const RUNS: usize = 1000;
    for _ in 0..RUNS {
        let mut all = points(&LINES, |n| 60.0 + 11.0 * n);
        all.iter_mut().for_each(|point| {
            point.ns.value *= noise();
            point.ns.half_width = 0.0;
        });
        let fit = line(&all).unwrap();
        base += usize::from(holds(fit.base, 60.0));
        slope += usize::from(holds(fit.slope, 11.0));
        bent += usize::from(line_or_curve(&all).unwrap().inverse.is_some());
    }
    assert!(base > 900 && slope > 900, "{base} and {slope} of {RUNS}");
    assert!(bent < 100, "{bent} straight lines were bent");
}

#[test]
fn points_that_are_wrong_altogether_do_not_matter() {
    for wrong in 0..LINES.len() {
        for factor in [0.2, 3.0, 100.0] {
            let mut all = points(&LINES, |n| 60.0 + 11.0 * n);
            all[wrong].ns.value *= factor;
            let fit = line(&all).unwrap();
            near(fit.base, 60.0, 1e-6);
            near(fit.slope, 11.0, 1e-6);
            // It is not hidden that a point is off.
            assert!(fit.misfit > 0.5, "{wrong} {factor}: {fit:?}");
        }
    }
}

#[test]
fn a_step_does_not_tilt_what_is_before_it() {
    // The longest transfers no longer fit a cache.
    let fit = line(&points(&LINES, |n| {
        let step = if n > 32.0 { 900.0 } else { 0.0 };
        60.0 + 11.0 * n + step
    }));
    let fit = fit.unwrap();
    near(fit.base, 60.0, 1e-6);
    near(fit.slope, 11.0, 1e-6);
}

#[test]
fn intervals_of_points_become_intervals_of_coefficients() {
    // Two points, each 10 ± 1 apart by 1: a slope of 0 ± √2.
    let mut two = points(&[1, 2], |_| 10.0);
    two.iter_mut().for_each(|point| point.ns.half_width = 1.0);
    let fit = line(&two).unwrap();
    assert!(
        (fit.slope.half_width - 2.0_f64.sqrt()).abs() < 1e-9,
        "{fit:?}"
    );
    assert!(
        (fit.base.half_width - 5.0_f64.sqrt()).abs() < 1e-9,
        "{fit:?}"
    );
}

#[test]
fn too_few_points_make_no_line() {
    assert_eq!(line(&[]), None);
    assert_eq!(line(&points(&[3], |n| n)), None);
    assert_eq!(line(&points(&[3, 3], |n| n)), None);
    assert!(line_or_curve(&points(&[1, 2, 3], |n| 5.0 * n)).is_some());
    // Nothing divides by a time of nothing.
    let fit = line(&points(&[1, 2, 4], |_| 0.0)).unwrap();
    assert!(fit.base.value.is_finite() && fit.slope.half_width.is_finite());
}
