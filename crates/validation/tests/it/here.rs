//! Compares measurements of this project's own machine with predictions from messages and empty calls of the same
//! minute. The figures of the record are fixed; the predictions are made anew.

use corecast_validation::sections::here;

#[test]
fn short_collectives_take_what_is_predicted() {
    let rows = here::rows(here::SHORT_BYTES);
    assert!(rows.len() >= 50, "every operation at several sizes");
    let median = here::median_error(&rows);
    assert!(median <= here::LIMIT, "median error {median}");
}

#[test]
fn predictions_are_the_same_every_time() {
    let all = || here::rows(8).into_iter().map(|row| row.simulated);
    let first: Vec<f64> = all().collect();
    assert!(!first.is_empty() && all().eq(first));
}

/// Bounds say nothing where they are far apart, and are wrong where measured times are outside. How many of the
/// record's races lie between them is counted in docs/validation.md, by this.
#[test]
fn bounds_are_counted_for_measured_times_too() {
    let rows = here::rows(8);
    for row in &rows {
        assert!(row.holds(row.t_min) && row.holds(row.t_max));
        assert!(!row.holds(row.t_min - 1.0) && !row.holds(row.t_max + 1.0));
    }
    assert!(rows.iter().any(|row| !row.holds(row.measured)));
}
