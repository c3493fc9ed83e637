//! `corecast probe --deep` and `--coherence`: measures in depth, saves each part as soon as it is done, and
//! shows the tables.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use corecast::store::{Store, Stored};
use corecast_model::Collective;
use corecast_model::{Deep, Machine, MachineFile};
use corecast_probe::deep::{DeepConfig, Scope, deep};

use super::args::ProbeArgs;
use crate::options::Global;
use crate::{failure, output, progress, team};
use corecast_draw::deep;
use corecast_tune::measure;

/// The place where the parts are saved.
enum Place<'a> {
    /// The store of this machine's measurements.
    Store(Store),
    /// A file that the user named.
    File(&'a str),
    /// Nothing is saved, for this reason.
    Nowhere(&'static str),
}

impl Place<'_> {
    /// The earlier measurement of these hardware threads of this machine, if there is one.
    fn earlier(&self, machine: &Machine, threads: &[u32]) -> Option<MachineFile> {
        let found = match self {
            Self::Store(store) => match store.measured(machine) {
                Stored::Found(_, file) => Some(file),
                Stored::Absent => None,
                Stored::Unusable(why) => {
                    failure::warn(&why);
                    None
                }
            },
            Self::File(path) if Path::new(path).exists() => {
                let text = std::fs::read_to_string(path).ok()?;
                MachineFile::from_json(&text).ok()
            }
            Self::File(_) | Self::Nowhere(_) => None,
        };
        found.filter(|file| {
            file.threads() == threads && file.machine().fingerprint() == machine.fingerprint()
        })
    }

    /// Saves the measurement, and returns a sentence that says where.
    fn keep(&self, file: &MachineFile) -> Result<String> {
        Ok(match self {
            Self::Store(store) => {
                let path = store.save_machine(file)?;
                format!("saved in {}", path.display())
            }
            Self::File("-") => String::new(),
            Self::Nowhere(why) => format!("not saved: {why}"),
            Self::File(path) => {
                output::replace(path, &file.to_json())?;
                format!("saved in {path}")
            }
        })
    }
}

/// Runs the command with `--deep` or `--coherence`.
pub(super) fn run(global: &Global, args: &ProbeArgs) -> Result<ExitCode> {
    if let Some(source) = &global.machine {
        return show_kept(global, args, source);
    }
    let machine = corecast_machine::discover().machine;
    let known = corecast::costs::built_in(&machine);
    let threads = team::members(&args.team, &known)?;
    args.check(global, &threads)?;
    let place = match &args.output {
        Some(path) => Place::File(path),
        None if threads != known.threads() => {
            Place::Nowhere("only a measurement of all threads is kept, name a file with --output")
        }
        None => Place::Store(Store::standard()),
    };
    let bar = progress::bar("measuring");
    let earlier = place.earlier(&machine, &threads);
    let (file, before) = match earlier {
        Some(file) => {
            let before = file.deep().cloned();
            (file, before)
        }
        None => {
            bar.say("messages");
            let file = measure::now(&machine, &threads, &Collective::WITH_ALGORITHMS)?;
            // If it cannot be kept, the last attempt says so.
            let _ = place.keep(&file);
            (file, None)
        }
    };
    let mut config = DeepConfig::new(threads);
    config.scope = scope(args);
    if let Some(seconds) = args.time_limit {
        config.time_limit = Duration::from_secs(seconds);
    }
    bar.start();
    let mut file = file;
    let found = deep(&config, &machine, before, |progress, found| {
        let done = progress.done as f64 / progress.total.max(1) as f64;
        bar.at(
            done,
            &format!("{} of {} parts", progress.done, progress.total),
        );
        if progress.done > 0 {
            let _ = with(&file, found).and_then(|file| place.keep(&file));
        }
    });
    bar.finish();
    let found = found?;
    file = with(&file, &found)?;
    let (said, refused) = match place.keep(&file) {
        Ok(said) => (said, None),
        Err(error) => (format!("not saved: {error:#}"), Some(error)),
    };
    let code = show(global, args, &file, &found, &said)?;
    match (refused, place) {
        // The user named the file, so the command has not done what it was asked for.
        (Some(error), Place::File(_)) => Err(error),
        (Some(error), _) => {
            failure::warn(&format!("not saved: {error:#}"));
            Ok(code)
        }
        (None, _) => Ok(code),
    }
}

fn with(file: &MachineFile, found: &Deep) -> Result<MachineFile> {
    Ok(file.clone().with_deep(found.clone())?)
}

fn scope(args: &ProbeArgs) -> Scope {
    match args.deep {
        true => Scope::All,
        false => Scope::Coherence,
    }
}

/// Shows the measurement of a machine file instead of measuring.
fn show_kept(global: &Global, args: &ProbeArgs, source: &str) -> Result<ExitCode> {
    args.check_shown(source)?;
    let file = crate::source::open(Some(source))?.file;
    let Some(found) = file.deep().cloned() else {
        bail!(
            "{source:?} has no measurement in depth: corecast probe --deep --output FILE makes one here"
        );
    };
    show(global, args, &file, &found, &format!("from {source}"))
}

fn show(
    global: &Global,
    args: &ProbeArgs,
    file: &MachineFile,
    found: &Deep,
    saved: &str,
) -> Result<ExitCode> {
    if global.json || args.output.as_deref() == Some("-") {
        output::print(&file.to_json())?;
        return Ok(ExitCode::SUCCESS);
    }
    let screen = output::screen();
    let name = &file.machine().name;
    let text = deep::text(name, found, args.deep, screen);
    output::print(&format!("{text}{saved}\n"))?;
    Ok(ExitCode::SUCCESS)
}
