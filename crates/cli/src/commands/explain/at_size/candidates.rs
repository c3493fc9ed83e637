//! The algorithms that an operation can have at one size, with what races and models say of each.

use anyhow::Result;
use corecast::Algorithms;
use corecast::model::profile::SizeRace;
use corecast_bench::Forecast;
use serde::Serialize;

/// One algorithm.
#[derive(Serialize)]
pub(super) struct Candidate {
    pub(super) algorithm: &'static str,
    pub(super) runs: bool,
    pub(super) built_in: bool,
    pub(super) predicted_ns: Option<f64>,
    pub(super) t_min_ns: Option<f64>,
    pub(super) t_max_ns: Option<f64>,
    pub(super) measured_ns: Option<f64>,
    pub(super) interval_ns: Option<(f64, f64)>,
    pub(super) samples: Option<u64>,
    pub(super) dropped: Option<String>,
}

/// The algorithms of `operation`: the one that `runs`, then those that were measured, then the others, each by its time.
/// `built_in` is Corecast's own choice at the size of `race`, which is the nearest race. `forecast` says what the models say
/// of an algorithm.
pub(super) fn candidates(
    operation: &str,
    (runs, built_in): (&str, &str),
    race: Option<&SizeRace>,
    forecast: impl Fn(&str) -> Option<Forecast>,
) -> Result<Vec<Candidate>> {
    let raced = |algorithm| race.and_then(|race| race.candidate(Some(algorithm)));
    // Of the sizes of an algorithm those are told that were raced, and the one that runs.
    let base = Algorithms::names(operation)?;
    let told = |algorithm: &&'static str| {
        raced(algorithm).is_some() || base.contains(algorithm) || *algorithm == runs
    };
    let told = Algorithms::sized_names(operation)?.into_iter().filter(told);
    let mut candidates: Vec<Candidate> = told
        .map(|algorithm| {
            let forecast = forecast(algorithm);
            // Races record the built-in choice without a name.
            let unnamed = || race?.candidate(None).filter(|_| algorithm == built_in);
            let record = raced(algorithm).or_else(unnamed);
            Candidate {
                algorithm,
                runs: algorithm == runs,
                built_in: algorithm == built_in,
                predicted_ns: forecast
                    .map(|forecast| forecast.simulated_ns)
                    .or(record.and_then(|record| record.predicted_ns)),
                t_min_ns: forecast.and_then(|forecast| forecast.t_min_ns),
                t_max_ns: forecast.and_then(|forecast| forecast.t_max_ns),
                measured_ns: record.and_then(|record| record.measured_ns),
                interval_ns: record.and_then(|record| record.interval_ns),
                samples: record.map(|record| record.samples),
                dropped: record.and_then(|record| record.dropped.clone()),
            }
        })
        .collect();
    candidates.sort_by(|a, b| {
        let class = |one: &Candidate| (!one.runs, one.measured_ns.is_none());
        let time = |one: &Candidate| one.measured_ns.or(one.predicted_ns).unwrap_or(f64::MAX);
        class(a).cmp(&class(b)).then(time(a).total_cmp(&time(b)))
    });
    Ok(candidates)
}
