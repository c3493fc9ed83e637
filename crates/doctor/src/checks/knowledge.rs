//! Checks of the stored knowledge of this machine: measured costs, races, tunings.

use corecast::costs::CostSource;
use corecast_model::profile::Circumstances;

use crate::facts::{Facts, Known};
use crate::finding::{Finding, Level};
use corecast_model::words::count;

/// Checks whether plans are made with costs that were measured here.
pub(super) fn costs(facts: &Facts) -> Finding {
    const NAME: &str = "costs";
    match &facts.costs {
        CostSource::BuiltIn { why } => Finding::at(
            Level::Note,
            NAME,
            format!("from the literature, trust the order of plans and not their times: {why}"),
            "corecast probe",
        ),
        known => Finding::ok(NAME, known.to_string()),
    }
}

/// Checks whether races and tunings are stored, and still hold.
pub(super) fn profile(facts: &Facts) -> Finding {
    const NAME: &str = "profile";
    let (path, created, races, tunings, now) = match &facts.profile {
        Known::Absent => {
            return Finding::at(
                Level::Note,
                NAME,
                "none: nothing was raced on this machine yet, the model chooses",
                "corecast, which races plans, or corecast tune, which races algorithms by length too",
            );
        }
        Known::Unusable(reason) => {
            return Finding::at(
                Level::Warning,
                NAME,
                reason,
                "remove that file and run corecast tune",
            );
        }
        Known::Found {
            path,
            created,
            races,
            tunings,
            now,
        } => (path, created, races, tunings, now),
    };
    let holds = format!(
        "{} and {} of {created} in {}",
        count(*races, "race"),
        count(tunings.len(), "tuning"),
        path.display()
    );
    let stale: Vec<&Circumstances> = tunings.iter().filter(|under| *under != now).collect();
    let Some(first) = stale.first() else {
        return Finding::ok(NAME, holds);
    };
    Finding::at(
        Level::Warning,
        NAME,
        format!(
            "{holds}: {} of {} not used any more, {}",
            stale.len(),
            count(tunings.len(), "tuning"),
            difference(first, now)
        ),
        "corecast tune",
    )
}

/// The points in which two circumstances differ, in words.
fn difference(then: &Circumstances, now: &Circumstances) -> String {
    let text = |microcode: &Option<String>| microcode.clone().unwrap_or_else(|| "unknown".into());
    let points = [
        ("microcode", text(&then.microcode), text(&now.microcode)),
        ("cpuset", then.cpuset.clone(), now.cpuset.clone()),
        ("edition", then.edition.clone(), now.edition.clone()),
    ];
    let changed: Vec<String> = points
        .iter()
        .filter(|(_, then, now)| then != now)
        .map(|(what, then, now)| format!("made with {what} {then}, now it is {now}"))
        .collect();
    changed.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_was_measured_and_raced_is_well() {
        let facts = Facts::sound();
        assert_eq!(costs(&facts).level, Level::Ok);
        let finding = profile(&facts);
        assert_eq!(finding.level, Level::Ok);
        assert!(
            finding
                .found
                .starts_with("3 races and 0 tunings of 2026-11-23")
        );
    }

    #[test]
    fn what_is_missing_has_a_command_that_makes_it() {
        let mut facts = Facts::sound();
        facts.costs = CostSource::BuiltIn {
            why: "not measured yet".into(),
        };
        assert_eq!(costs(&facts).fix.as_deref(), Some("corecast probe"));
        facts.profile = Known::Absent;
        assert_eq!(profile(&facts).level, Level::Note);
        facts.profile = Known::Unusable("profile.json cannot be used".into());
        assert_eq!(profile(&facts).level, Level::Warning);
    }

    #[test]
    fn a_profile_of_another_microcode_is_stale() {
        let mut facts = Facts::sound();
        let under = |microcode: &str| Circumstances {
            microcode: Some(microcode.into()),
            cpuset: "0-3".into(),
            edition: "e".into(),
        };
        facts.profile = Known::Found {
            path: "profile.json".into(),
            created: "2026-11-23".into(),
            races: 0,
            tunings: vec![under("0x1"), under("0x2")],
            now: under("0x2"),
        };
        let finding = profile(&facts);
        assert_eq!(finding.level, Level::Warning);
        let words = "1 of 2 tunings not used any more, made with microcode 0x1, now it is 0x2";
        assert!(finding.found.ends_with(words), "{}", finding.found);
    }
}
