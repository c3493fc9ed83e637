//! `--svg`, `--dot`, `--timeline FILE`: saves pictures of a plan in files or on standard output.

use anyhow::{Result, bail};
use corecast_draw::plan::Drawing;
use corecast_plan::{Pattern, Plan};

use super::args::PlanArgs;
use crate::output;
use corecast_plan::Members;

/// Where the pictures were written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Saved {
    /// No picture was asked for.
    Nothing,
    /// All pictures are in files.
    InFiles,
    /// One picture is on standard output, which can take no other text.
    OnStandardOutput,
}

/// The drawing of `plan`; `None` where it is no tree.
pub(super) fn drawing<'a>(
    team: &'a Members,
    plan: &'a Plan,
    hosts: Option<&'a [String]>,
) -> Option<Drawing<'a>> {
    let title = format!(
        "{} of {} members on {}, {}",
        plan.operation,
        team.threads.len(),
        team.machine,
        plan.pattern
    );
    let drawing = Drawing::of_plan(&team.costs, plan)?;
    let drawing = drawing
        .with_threads(&team.threads)
        .with_numa(&team.numa)
        .with_title(title);
    Some(match hosts {
        Some(hosts) => drawing.with_hosts(hosts),
        None => drawing,
    })
}

/// Saves the pictures that the arguments ask for.
///
/// # Errors
///
/// The plan is no tree, two pictures are to be on standard output, or a path cannot be written.
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
