//! `--dry-run`: shows the algorithms that would race, with the model's predictions.

use std::fmt::Write;

use anyhow::Result;
use corecast_model::Collective;
use corecast_plan::Operation;
use corecast_tune::candidates::{CandidateSet, candidate_set, name};
use corecast_tune::tuner::TuneRequest;
use serde::Serialize;

use super::course::Course;
use crate::options::Global;
use crate::output;
use corecast_model::words::ranges;

/// The output of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    kind: &'static str,
    teams: Vec<Team<'a>>,
}

#[derive(Serialize)]
struct Team<'a> {
    threads: &'a [u32],
    pinned: bool,
    /// Patterns that race for barrier, broadcast and reduce, the team's own first.
    plans: [Vec<&'a str>; 3],
    /// Ways to wait, the team's own first.
    waits: Vec<&'a str>,
    races: Vec<Race>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct Race {
    operation: &'static str,
    bytes: usize,
    #[serde(flatten)]
    candidate_set: CandidateSet,
}

/// Shows the candidates of all teams.
pub(super) fn show(global: &Global, courses: &[Course], request: &TuneRequest) -> Result<()> {
    let teams: Vec<Team<'_>> = courses.iter().map(|course| team(course, request)).collect();
    if global.json {
        return output::json(&Report {
            schema: 1,
            kind: "tune dry run",
            teams,
        });
    }
    let mut text = String::new();
    for team in &teams {
        let _ = writeln!(
            text,
            "{} ranks on PU {}: who would race, by prediction in ns",
            team.threads.len(),
            ranges(team.threads.to_vec())
        );
        if let Some(note) = team.note {
            let _ = writeln!(text, "{note}");
        }
        for (what, names) in ["barrier", "broadcast", "reduce"].iter().zip(&team.plans) {
            if names.len() > 1 {
                let _ = writeln!(text, "{what} plans: {}", names.join(", "));
            }
        }
        let _ = writeln!(text, "waits: {}", team.waits.join(", "));
        for race in &team.races {
            let one = |name: &str, ns: Option<f64>| match ns {
                Some(ns) => format!("{name} {ns:.0}"),
                None => name.to_owned(),
            };
            let racing = race.candidate_set.racing.iter();
            let racing: Vec<String> = racing
                .map(|p| one(name(p.algorithm), p.predicted_ns))
                .collect();
            let out = race.candidate_set.left_out.iter();
            let out: Vec<String> = out
                .map(|l| format!("{}: {}", one(l.algorithm, l.predicted_ns), l.why))
                .collect();
            let size = match race.bytes {
                0 => String::new(),
                bytes => format!(" of {bytes} bytes"),
            };
            let _ = writeln!(text, "{}{size}: {}", race.operation, racing.join(", "));
            if global.verbose > 0 && !out.is_empty() {
                let _ = writeln!(text, "    left out: {}", out.join("; "));
            }
        }
    }
    output::print(&text)
}

fn team<'a>(course: &'a Course, request: &TuneRequest) -> Team<'a> {
    let search_space = &course.search_space;
    let own = [
        &search_space.barrier,
        &search_space.tree[0].0,
        &search_space.tree[1].0,
    ];
    let operations = [Operation::Barrier, Operation::Broadcast, Operation::Reduce];
    let plans = [0, 1, 2].map(|at| {
        let rivals = search_space
            .rivals_of(operations[at])
            .map(|rival| &rival.name[..]);
        [&own[at][..]].into_iter().chain(rivals).collect()
    });
    let others = search_space.wait_configs.iter().map(|(name, _)| &name[..]);
    let mut races = Vec::new();
    for &operation in &request.operations {
        let sizes: &[usize] = match operation {
            Collective::Barrier => &[0],
            _ => &request.sizes,
        };
        races.extend(sizes.iter().map(|&bytes| Race {
            operation: operation.name(),
            bytes,
            candidate_set: candidate_set(
                operation,
                bytes,
                &search_space.setting(&search_space.plans),
                &search_space.algorithms,
                course.model.as_ref(),
                request.most,
            ),
        }));
    }
    Team {
        threads: &course.planned.rank_pus,
        pinned: course.pinned,
        plans,
        waits: [&search_space.waits[..]]
            .into_iter()
            .chain(others)
            .collect(),
        races,
        note: course.note.as_deref(),
    }
}
