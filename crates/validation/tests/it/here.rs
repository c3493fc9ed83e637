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
