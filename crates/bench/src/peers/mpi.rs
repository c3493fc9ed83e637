//! Open MPI and MPICH, in sessions of their own processes.
//!
//! `mpi/collectives.c` is compiled by the compiler of each, and started by its starter once for
//! each of the settings in `mpi/settings.txt`. Their processes stay for all races: see
//! [`crate::session`]. A missing implementation becomes an absent entrant that names the package.

use crate::cpu_placement::{self, CpuPlacement};
use crate::peers::workshop::{Recipe, SourceFile, Workshop};
use crate::race::Entrant;
use crate::session::{FOLDER, Launch, Session};
use crate::sized::{Conditions, Task};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

const PROGRAM: SourceFile = ("collectives.c", include_str!("mpi/collectives.c"));
const GUARD: SourceFile = ("guard.h", include_str!("mpi/guard.h"));
const SETTINGS: &str = include_str!("mpi/settings.txt");

/// One implementation of MPI, and how to build and start programs with it.
struct Flavour {
    name: &'static str,
    /// The first word of its lines in the settings.
    word: &'static str,
    recipes: &'static [Recipe],
    starter: &'static str,
    remedy: &'static str,
    pinned: &'static [&'static str],
    free: &'static [&'static str],
}

const FLAVOURS: [Flavour; 2] = [
    Flavour {
        name: "Open MPI",
        word: "open-mpi",
        recipes: &[&["mpicc.openmpi", "-O2"]],
        starter: "mpirun.openmpi",
        remedy: "install openmpi-bin and libopenmpi-dev",
        pinned: &["--oversubscribe", "--bind-to", "core:overload-allowed"],
        free: &["--oversubscribe", "--bind-to", "none"],
    },
    Flavour {
        name: "MPICH",
        word: "mpich",
        recipes: &[&["mpicc.mpich", "-O2"]],
        starter: "mpirun.mpich",
        remedy: "install mpich and libmpich-dev",
        pinned: &["-bind-to", "core"],
        free: &["-bind-to", "none"],
    },
];

/// Prefixes of variables that are removed from the environment: those of the user's shell would
/// change the setting that is printed, and those of a starter that runs this program would make the
/// ranks part of its job.
const FOREIGN: [&str; 9] = [
    "OMPI_", "OPAL_", "ORTE_", "PMIX_", "PMI_", "MPIR_", "MPICH_", "HYDRA_", "UCX_",
];

/// The MPI peers of all races on the same placements.
#[derive(Debug)]
pub struct Mpi {
    sessions: Vec<Arc<Session>>,
    absent: Vec<(&'static str, String)>,
}

impl Mpi {
    /// Compiles the program with each implementation that is installed, for ranks on `placements`.
    ///
    /// # Cost
    ///
    /// Up to two compilations, about half a second each. Processes start with the first race.
    pub fn open(placements: &[CpuPlacement]) -> Mpi {
        Mpi::with(placements, &[], None)
    }

    /// Like [`open`](Self::open), under other conditions than the usual ones.
    pub fn under(placements: &[CpuPlacement], conditions: Conditions) -> Mpi {
        Mpi::build(placements, &[], None, conditions)
    }

    /// Like [`open`](Self::open), with further variables in the processes' environment, and a limit
    /// for each order.
    pub fn with(
        placements: &[CpuPlacement],
        variables: &[(&str, &str)],
        limit: Option<Duration>,
    ) -> Mpi {
        let conditions = cpu_placement::oversubscribed(placements).into();
        Mpi::build(placements, variables, limit, conditions)
    }

    fn build(
        placements: &[CpuPlacement],
        variables: &[(&str, &str)],
        limit: Option<Duration>,
        conditions: Conditions,
    ) -> Mpi {
        let mut mpi = Mpi {
            sessions: Vec::new(),
            absent: Vec::new(),
        };
        let workshop = match Workshop::open(&[PROGRAM, GUARD]) {
            Ok(workshop) => workshop,
            Err(reason) => {
                mpi.absent = FLAVOURS.map(|f| (f.name, reason.clone())).into();
                return mpi;
            }
        };
        for flavour in &FLAVOURS {
            let built = starts(flavour).and_then(|()| {
                workshop.build(flavour.word, PROGRAM, flavour.recipes, flavour.remedy)
            });
            let program = match built {
                Ok(program) => program,
                Err(reason) => {
                    mpi.absent.push((flavour.name, reason));
                    continue;
                }
            };
            for setting in settings(flavour.word, cpu_placement::oversubscribed(placements)) {
                let mut launch = launch(flavour, &program, placements, setting);
                let more = variables.iter();
                let more = more.map(|&(key, value)| (key.to_owned(), value.to_owned()));
                launch.environment.extend(more);
                let shown = shown(setting, placements);
                let mut session = Session::new(flavour.name, shown, launch).under(conditions);
                if let Some(limit) = limit {
                    session = session.limited(limit);
                }
                let session = session.keeping(workshop.directory());
                mpi.sessions.push(Arc::new(session));
            }
        }
        mpi
    }

    /// Every setting as an entrant of a race, and an absent entrant for each missing
    /// implementation.
    pub fn entrants(&self, task: Task) -> Vec<Entrant<'static>> {
        let sessions = self.sessions.iter();
        let present = sessions.map(|session| Entrant::session(Arc::clone(session), task));
        let absent = self.absent.iter();
        let absent = absent.map(|(name, reason)| Entrant::absent(*name, "", reason.clone()));
        present.chain(absent).collect()
    }

    /// The sessions of the implementations that are there.
    pub fn sessions(&self) -> &[Arc<Session>] {
        &self.sessions
    }
}

/// Checks that the starter is there; the error is the reason and what the user can do.
fn starts(flavour: &Flavour) -> Result<(), String> {
    match Command::new(flavour.starter).arg("--version").output() {
        Ok(_) => Ok(()),
        Err(e) => Err(format!("{}: {e} ({})", flavour.starter, flavour.remedy)),
    }
}

/// The lines of the settings that are for `word`, without their first two words.
fn settings(word: &str, oversubscribed: bool) -> impl Iterator<Item = &'static str> {
    let lines = SETTINGS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(move |line| {
        let (of, rest) = line.split_once(' ')?;
        let rest = rest.trim_start();
        let (when, words) = rest.split_once(' ').unwrap_or((rest, ""));
        let fits = when == "always" || when == if oversubscribed { "crowded" } else { "roomy" };
        (of == word && fits).then_some(words.trim())
    })
}

fn shown(setting: &str, placements: &[CpuPlacement]) -> String {
    let words = match setting {
        "" => "default",
        words => words,
    };
    match cpu_placement::describe(placements).as_str() {
        "any" => format!("{words}, unbound"),
        places => format!("{words}, bound to {places}"),
    }
}

fn launch(flavour: &Flavour, program: &Path, placements: &[CpuPlacement], setting: &str) -> Launch {
    let places = cpu_placement::describe(placements);
    let pinned = places != "any";
    let binding = if pinned { flavour.pinned } else { flavour.free };
    let mut arguments: Vec<OsString> = binding.iter().map(Into::into).collect();
    arguments.extend(["-n".into(), placements.len().to_string().into()]);
    let (variables, words): (Vec<&str>, Vec<&str>) = setting
        .split_ascii_whitespace()
        .partition(|word| word.contains('='));
    arguments.extend(words.iter().map(Into::into));
    arguments.push(program.into());
    arguments.push(FOLDER.into());
    if pinned {
        arguments.push(places.into());
    }
    let variable = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let variables = variables.iter().filter_map(|word| word.split_once('='));
    // Open MPI runs as root, which is usual in containers, only with these.
    let root = [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ];
    Launch {
        program: flavour.starter.into(),
        arguments,
        environment: root.into_iter().chain(variables).map(variable).collect(),
        environment_removed: std::env::vars_os()
            .filter_map(|(key, _)| key.into_string().ok())
            .filter(|key| FOREIGN.iter().any(|beginning| key.starts_with(beginning)))
            .collect(),
        ranks: placements.len(),
        oversubscribed: cpu_placement::oversubscribed(placements),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_implementation_has_its_default_first() {
        for flavour in &FLAVOURS {
            for oversubscribed in [false, true] {
                let words: Vec<&str> = settings(flavour.word, oversubscribed).collect();
                assert_eq!(words[0], "", "{}", flavour.name);
                assert!(words.len() > 1, "{}", flavour.name);
            }
        }
        let oversubscribed: Vec<&str> = settings("open-mpi", true).collect();
        assert!(
            oversubscribed
                .iter()
                .any(|s| s.contains("mpi_yield_when_idle 1"))
        );
        let lines = SETTINGS.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            assert!(["open-mpi", "mpich"].contains(&words[0]), "{line}");
            assert!(["always", "crowded", "roomy"].contains(&words[1]), "{line}");
        }
    }

    #[test]
    fn starters_get_arguments_and_ranks_their_places() {
        let placements = cpu_placement::pinned(3, &[4, 6]);
        let setting = "--mca coll ^tuned A=1";
        let launch = launch(&FLAVOURS[0], Path::new("/x"), &placements, setting);
        let words: Vec<_> = launch.arguments.iter().map(|w| w.to_str()).collect();
        let words: Vec<&str> = words.into_iter().flatten().collect();
        assert_eq!(
            words.join(" "),
            "--oversubscribe --bind-to core:overload-allowed -n 3 --mca coll ^tuned /x {folder} 4,6"
        );
        assert!(launch.environment.contains(&("A".into(), "1".into())));
        assert_eq!(
            shown(setting, &placements),
            "--mca coll ^tuned A=1, bound to 4,6"
        );
        assert_eq!(shown("", &cpu_placement::free(2)), "default, unbound");
    }
}
