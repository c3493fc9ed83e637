//! `--svg`, `--dot`, `--timeline FILE`: a plan as pictures in files or on standard output.

use anyhow::{Result, bail};
use corecast_draw::plan::Drawing;
use corecast_plan::{Pattern, Plan};

use super::args::PlanArgs;
use crate::output;
use corecast_plan::Members;

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

/// The picture of `plan`; none where it is no tree.
pub(super) fn drawing<'a>(team: &'a Members, plan: &'a Plan) -> Option<Drawing<'a>> {
    let title = format!(
        "{} of {} members on {}, {}",
        plan.operation,
        team.threads.len(),
        team.machine,
        plan.pattern
    );
    let drawing = Drawing::of_plan(&team.costs, plan)?;
    Some(
        drawing
            .with_threads(&team.threads)
            .with_numa(&team.numa)
            .with_title(title),
    )
}

/// Saves what is asked for.
///
/// # Errors
///
/// A plan that is no tree; two pictures on standard output; a path that cannot be written.
pub(super) fn save(
    args: &PlanArgs,
    drawing: Option<&Drawing<'_>>,
    pattern: Pattern,
) -> Result<Saved> {
    let pictures = [
        ("--svg", args.svg.as_deref()),
        ("--dot", args.dot.as_deref()),
        ("--timeline", args.timeline_file()),
    ];
    let wanted = pictures.iter().any(|(_, path)| path.is_some());
    let Some(drawing) = drawing else {
        if wanted || args.timeline.is_some() {
            bail!(
                "pattern \"{pattern}\" is no tree: there is nothing for --svg, --dot or --timeline to draw"
            );
        }
        return Ok(Saved::Nothing);
    };
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
    Ok(match (wanted, on_output.is_empty()) {
        (false, _) => Saved::Nothing,
        (true, true) => Saved::InFiles,
        (true, false) => Saved::OnStandardOutput,
    })
}
