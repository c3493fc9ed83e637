//! `--svg`, `--dot`, `--timeline FILE`: a plan as pictures in files or on standard output.

use anyhow::{Result, bail};
use corecast_plan::{Drawing, Plan};

use super::PlanArgs;
use crate::output;
use crate::planning::Team;

/// What became of the pictures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Saved {
    /// None was asked for.
    Nothing,
    /// Files alone were written.
    InFiles,
    /// Standard output is taken by a picture.
    OnStandardOutput,
}

/// Whether any picture is to be saved.
pub(super) fn wanted(args: &PlanArgs) -> bool {
    args.svg.is_some() || args.dot.is_some() || timeline_file(args).is_some()
}

/// Whether the terminal is to show the timeline.
pub(super) fn timeline_in_terminal(args: &PlanArgs) -> bool {
    args.timeline.as_deref() == Some("")
}

/// Where the timeline is to be saved.
fn timeline_file(args: &PlanArgs) -> Option<&str> {
    args.timeline.as_deref().filter(|path| !path.is_empty())
}

/// Saves what is asked for.
///
/// # Errors
///
/// A plan that is no tree; two pictures on standard output; a path that cannot be written.
pub(super) fn save(args: &PlanArgs, team: &Team, plan: &Plan) -> Result<Saved> {
    let pictures = [
        ("--svg", args.svg.as_deref()),
        ("--dot", args.dot.as_deref()),
        ("--timeline", timeline_file(args)),
    ];
    let drawn = Drawing::of_plan(&team.costs, plan);
    let Some(drawing) = drawn else {
        if wanted(args) || args.timeline.is_some() {
            let pattern = plan.pattern;
            bail!(
                "pattern \"{pattern}\" is no tree: there is nothing for --svg, --dot or --timeline to draw"
            );
        }
        return Ok(Saved::Nothing);
    };
    let drawing = drawing
        .with_threads(&team.threads)
        .with_numa(&team.numa)
        .with_title(format!(
            "{} of {} members on {}, {}",
            plan.operation,
            team.threads.len(),
            team.machine,
            plan.pattern
        ));
    let on_output: Vec<&str> = pictures
        .iter()
        .filter(|(_, path)| *path == Some("-"))
        .map(|(flag, _)| *flag)
        .collect();
    if on_output.len() > 1 {
        bail!(
            "{} both to \"-\": standard output takes one picture",
            on_output.join(" and ")
        );
    }
    for (flag, path) in pictures {
        let Some(path) = path else { continue };
        let picture = match flag {
            "--svg" => drawing.svg(),
            "--dot" => drawing.dot(),
            _ => drawing.timeline_svg(),
        };
        output::save(path, &picture)?;
    }
    Ok(match (wanted(args), on_output.is_empty()) {
        (false, _) => Saved::Nothing,
        (true, true) => Saved::InFiles,
        (true, false) => Saved::OnStandardOutput,
    })
}
