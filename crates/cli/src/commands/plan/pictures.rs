//! `--svg`, `--dot`, `--timeline FILE`: saves pictures of a plan in files or on standard output.

use anyhow::{Result, bail};
use corecast_draw::plan::Drawing;
use corecast_plan::{Pattern, Plan};

use super::args::PlanArgs;
use crate::output;
use corecast_plan::Members;

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

/// Saves the pictures that the arguments ask for, and returns whether there are any.
///
/// # Errors
///
/// The plan is no tree, or a path cannot be written.
pub(super) fn save(
    args: &PlanArgs,
    drawing: Option<&Drawing<'_>>,
    pattern: Pattern,
) -> Result<bool> {
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
        return Ok(false);
    };
    for (flag, path) in pictures {
        let Some(path) = path else { continue };
        let picture = match flag {
            "--svg" => drawing.svg(),
            "--dot" => drawing.dot(),
            _ => drawing.timeline_svg(),
        };
        output::save(path, &picture)?;
    }
    Ok(wanted)
}
