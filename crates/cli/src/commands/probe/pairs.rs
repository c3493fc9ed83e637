//! `corecast probe` without `--deep`: measures the costs of messages between each two hardware threads.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use corecast::store::Store;
use corecast_model::Collective;
use corecast_model::Matrix;
use corecast_probe::{Config, Measurement, Outcome, measure_or_builtin};
use owo_colors::OwoColorize;

use super::args::ProbeArgs;
use crate::options::Global;
use crate::{failure, interrupt, output, progress, team};
use corecast_draw::matrix;
use corecast_draw::matrix::Grid;
use corecast_model::words::count;
use corecast_tune::measure;

/// Measures, saves and shows the costs.
pub(super) fn run(global: &Global, args: &ProbeArgs) -> Result<ExitCode> {
    if let Some(machine) = &global.machine {
        bail!("probe measures this machine, not {machine:?}: leave -i out");
    }
    let machine = corecast_machine::discover().machine;
    let known = corecast::costs::built_in(&machine);
    let threads = team::members(&args.team, &known)?;
    args.check(global, &threads)?;
    let whole = threads == known.threads();
    let mut config = Config::new(threads);
    if let Some(seconds) = args.time_limit {
        config.time_limit = Duration::from_secs(seconds);
    }
    let bar = progress::bar("measuring");
    let outcome = measure_or_builtin(&config, &machine, |p| {
        bar.at(
            p.done as f64 / p.total.max(1) as f64,
            &format!("{} of {} pairs", p.done, p.total),
        );
    });
    bar.finish();
    let (file, measurement) = match outcome? {
        Outcome::Measured(measurement) => {
            let basis = args.basis.into();
            let file = measure::with_calls(&measurement, basis, &Collective::WITH_ALGORITHMS)?;
            let store = Store::standard();
            let kept = (args.output.is_none() && whole).then_some(&store);
            let file = match interrupt::happened() {
                true => file,
                false => measure::with_waits(file, kept)?,
            };
            (file, Some(measurement))
        }
        // The machine cannot be measured: warn, and go on with built-in costs.
        Outcome::BuiltIn { why, file } => {
            failure::warn(&why);
            (*file, None)
        }
    };
    let mut refused = None;
    let saved = match &args.output {
        Some(path) => match output::save(path, &file.to_json()) {
            Ok(()) => format!("saved in {path}"),
            // The measurement is shown all the same.
            Err(error) => {
                refused = Some(error);
                "not saved".to_owned()
            }
        },
        None if measurement.is_none() => {
            "not measured and not saved: these are the built-in costs by class of proximity"
                .to_owned()
        }
        None if interrupt::happened() => "not saved: interrupted".to_owned(),
        None if whole => output::kept("", Store::standard().save_machine(&file)),
        None => "not saved: only a measurement of all threads is kept, name a file with --output"
            .to_owned(),
    };
    let [send, receive] = Grid::of_costs(&file, file.threads());
    if let Some(path) = &args.svg {
        let title = format!("{}: cost of one message", machine.name);
        output::save(path, &matrix::svg(&title, &[&send, &receive]))?;
    }
    let taken = [&args.output, &args.svg]
        .into_iter()
        .any(|path| path.as_deref() == Some("-"));
    if taken {
        // Standard output has what was asked for.
    } else if global.json {
        output::print(&file.to_json())?;
    } else if args.csv {
        output::print(&matrix::csv(&send, &receive))?;
    } else {
        output::print(&text(measurement.as_deref(), &send, &receive, &saved))?;
    }
    match refused {
        Some(error) => Err(error),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The matrices, and notes on the measurement.
fn text(measurement: Option<&Measurement>, send: &Grid, receive: &Grid, saved: &str) -> String {
    let screen = output::screen();
    let mut out = String::new();
    if let Some(measurement) = measurement {
        let (mean, half): (&Matrix, &Matrix) =
            (&measurement.one_way.ns, &measurement.one_way.half_width_ns);
        let spread = |i: usize, j: usize| half.get(i, j);
        let one_way = Grid::new(
            "one way",
            "ns",
            send.labels.clone(),
            send.numa.clone(),
            |i, j| mean.get(i, j),
            Some(&spread),
        );
        out = matrix::text(&one_way, "half of a round trip", screen);
    }
    for (grid, hint) in [
        (send, "row sends to column"),
        (receive, "column receives from row"),
    ] {
        let _ = write!(out, "\n{}", matrix::text(grid, hint, screen));
    }
    if let Some(measurement) = measurement {
        let _ = writeln!(
            out,
            "\n{}, batches of {}, {} samples each, {} left out as interrupted, {:.1} s",
            if measurement.sampled {
                "some pairs of each class"
            } else {
                "all pairs"
            },
            measurement.batch,
            measurement.samples,
            count(measurement.discarded as usize, "sample"),
            measurement.elapsed.as_secs_f64()
        );
        for note in &measurement.notes {
            let _ = writeln!(out, "{}", format!("note: {note}").style(screen.dim()));
        }
    }
    let _ = writeln!(out, "{saved}");
    out
}
