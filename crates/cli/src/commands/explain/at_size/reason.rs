//! Why an algorithm runs, in a sentence.

use corecast::algorithms::Chosen;
use corecast::rules::{AskedBy, CORECAST_ALGO, Rule};
use corecast_model::profile::{SizeRace, TunedCandidate};

/// A sentence that says why this algorithm runs.
pub(super) fn reason(rule: &Rule<'_>, runs: &Chosen, race: Option<&SizeRace>) -> String {
    let who = match rule.by {
        AskedBy::Program => "the program asks for it",
        AskedBy::Environment => CORECAST_ALGO,
        AskedBy::Profile => "the tuning",
        AskedBy::BuiltIn => {
            return "nothing else is asked for: Corecast's choice at this length".to_owned();
        }
    };
    if let (Some(asked), false) = (rule.algorithm, runs.as_asked) {
        return format!(
            "{who} asks for {asked}, which this team cannot run: Corecast's choice instead"
        );
    }
    let tuned = match (rule.by, race) {
        (AskedBy::Profile, Some(race)) => race,
        (AskedBy::Profile, None) => return "it was tuned for this length".to_owned(),
        _ => return format!("{who} asks for it"),
    };
    raced(rule, tuned)
}

/// A sentence with the result of the chosen algorithm in its race.
fn raced(rule: &Rule<'_>, race: &SizeRace) -> String {
    let label = |one: &TunedCandidate| match &one.algorithm {
        Some(name) => name.clone(),
        None => "Corecast's choice".to_owned(),
    };
    let chosen = race.candidate(rule.algorithm);
    let times = |one: &TunedCandidate| {
        let measured = one.measured_ns?;
        let interval = one
            .interval_ns
            .map(|(low, high)| format!(" ({low:.0} to {high:.0})"));
        let predicted = one.predicted_ns.map(|ns| format!(", predicted {ns:.0} ns"));
        let (interval, predicted) = (interval.unwrap_or_default(), predicted.unwrap_or_default());
        Some(format!("a median of {measured:.0} ns{interval}{predicted}"))
    };
    let others = race
        .candidates
        .iter()
        .filter(|one| one.algorithm.as_deref() != rule.algorithm);
    let next = others
        .filter_map(|one| Some((one, one.measured_ns?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let next = next.map(|(one, ns)| format!("; the next was {} with {ns:.0} ns", label(one)));
    let bytes = match race.bytes {
        0 => String::new(),
        bytes => format!(" of {bytes} bytes"),
    };
    let name = match rule.algorithm {
        Some(_) => "it",
        None => "Corecast's choice",
    };
    let verb = match rule.tuned.is_some_and(|range| range.mended.is_some()) {
        true => "took part in",
        false => "won",
    };
    format!(
        "{name} {verb} the race{bytes} of {} candidates{}{}",
        race.candidates.len(),
        chosen
            .and_then(times)
            .map_or(String::new(), |times| format!(" with {times}")),
        next.unwrap_or_default()
    )
}
