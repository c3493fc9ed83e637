//! Barriers of C and C++ runtime libraries, in programs of their own.
//!
//! The programs are small, belong to this crate, and are compiled when they are
//! needed, since these libraries read their settings once per process and a
//! build of Corecast must not need a C compiler. A missing library becomes an
//! absent entrant that says so.
//!
//! | name | settings |
//! | --- | --- |
//! | `gomp` | `OMP_WAIT_POLICY` active, passive, default; bound and not |
//! | `libomp` | `KMP_BLOCKTIME` infinite, default; bound and not; each `KMP_PLAIN_BARRIER_PATTERN` |
//! | `C++ std::barrier` | bound and not |

mod constructs;

pub use constructs::NativeConstructs;

use crate::cpu_placement::CpuPlacement;
use crate::external::External;
use crate::peers::Selection;
use crate::peers::workshop::{Recipe, SourceFile, Workshop};
use crate::race::Entrant;
use std::ffi::OsString;
use std::path::Path;

const ENDING: SourceFile = ("ending.h", include_str!("native/ending.h"));
const MEASURE: SourceFile = ("measure.h", include_str!("native/measure.h"));
const OMP: SourceFile = ("omp_barrier.c", include_str!("native/omp_barrier.c"));
const PARALLEL: SourceFile = ("omp_parallel.c", include_str!("native/omp_parallel.c"));
const STD: SourceFile = ("std_barrier.cpp", include_str!("native/std_barrier.cpp"));

/// Length of the batch that a program times: longer than a batch on threads,
/// since it must outweigh the launch.
const BATCH_US: u32 = 2000;

const GOMP_RECIPES: &[Recipe] = &[
    &["gcc", "-O2", "-fopenmp"],
    &["cc", "-O2", "-fopenmp", "-lgomp"],
];
const LIBOMP_RECIPES: &[Recipe] = &[
    &["clang", "-O2", "-fopenmp=libomp"],
    // libomp also serves the calls that GCC generates. It comes first, and
    // libgomp only as needed, which it then is not: were both loaded, libgomp
    // would pin the first thread before libomp counts the PUs it may use.
    &[
        "gcc",
        "-O2",
        "-fopenmp",
        "-Wl,--as-needed",
        "-l:libomp.so.5",
    ],
];
const STD_RECIPES: &[Recipe] = &[
    &["g++", "-std=c++20", "-O2", "-pthread"],
    &["c++", "-std=c++20", "-O2", "-pthread"],
];

/// The barriers of C and C++ libraries for a race on `placements`.
///
/// # Cost
///
/// Up to three compilations, about a second each.
pub fn barriers(placements: &[CpuPlacement], selection: Selection) -> Vec<Entrant<'static>> {
    let mut entrants = Vec::new();
    let team = ProgramThreads::of(placements);
    let workshop = match Workshop::open(&[ENDING, MEASURE, OMP, STD]) {
        Ok(workshop) => workshop,
        Err(reason) => {
            let names = ["gomp", "libomp", "C++ std::barrier"];
            return names
                .map(|name| Entrant::absent(name, "", reason.clone()))
                .into();
        }
    };

    match workshop.build("gomp", OMP, GOMP_RECIPES, "install gcc") {
        Ok(program) => entrants.extend(gomp(&workshop, &program, &team, selection)),
        Err(reason) => entrants.push(Entrant::absent("gomp", "", reason)),
    }
    match workshop.build("libomp", OMP, LIBOMP_RECIPES, "install clang and libomp") {
        Ok(program) => entrants.extend(libomp(&workshop, &program, &team, selection, "PLAIN")),
        Err(reason) => entrants.push(Entrant::absent("libomp", "", reason)),
    }
    match workshop.build("std", STD, STD_RECIPES, "install g++ 11 or later") {
        Ok(program) => entrants.extend(std_barrier(&workshop, &program, &team)),
        Err(reason) => entrants.push(Entrant::absent("C++ std::barrier", "", reason)),
    }
    entrants
}

/// Parallel regions of OpenMP libraries for a race of forks and joins on `placements`, at the settings
/// that [`barriers`] uses.
///
/// # Cost
///
/// Up to two compilations, about a second each.
pub fn forks(placements: &[CpuPlacement], selection: Selection) -> Vec<Entrant<'static>> {
    let team = ProgramThreads::of(placements);
    let mut entrants = Vec::new();
    let workshop = match Workshop::open(&[ENDING, MEASURE, PARALLEL]) {
        Ok(workshop) => workshop,
        Err(reason) => {
            let names = ["gomp", "libomp"];
            return names
                .map(|name| Entrant::absent(name, "", reason.clone()))
                .into();
        }
    };
    match workshop.build("gomp", PARALLEL, GOMP_RECIPES, "install gcc") {
        Ok(program) => entrants.extend(gomp(&workshop, &program, &team, selection)),
        Err(reason) => entrants.push(Entrant::absent("gomp", "", reason)),
    }
    let remedy = "install clang and libomp";
    match workshop.build("libomp", PARALLEL, LIBOMP_RECIPES, remedy) {
        Ok(program) => entrants.extend(libomp(&workshop, &program, &team, selection, "FORKJOIN")),
        Err(reason) => entrants.push(Entrant::absent("libomp", "", reason)),
    }
    entrants
}

fn gomp(
    workshop: &Workshop,
    program: &Path,
    team: &ProgramThreads,
    selection: Selection,
) -> Vec<Entrant<'static>> {
    let (bindings, policies): (usize, &[&str]) = match selection {
        Selection::All => (2, &["active", "passive", "default"]),
        Selection::Likely if team.is_oversubscribed() => (1, &["passive", "default"]),
        Selection::Likely | Selection::Threads => (1, &["active", "default"]),
    };
    let mut entrants = Vec::new();
    for bound in team.bindings().take(bindings) {
        for &policy in policies {
            let mut variables = team.omp_binding(bound);
            if policy != "default" {
                variables.push(("OMP_WAIT_POLICY".to_owned(), policy.to_owned()));
            }
            entrants.push(team.omp(workshop, "gomp", program, variables));
        }
    }
    entrants
}

/// `kind` is the barrier that is raced: `PLAIN` or `FORKJOIN`.
fn libomp(
    workshop: &Workshop,
    program: &Path,
    team: &ProgramThreads,
    selection: Selection,
    kind: &str,
) -> Vec<Entrant<'static>> {
    let (bindings, patterns): (usize, &[&str]) = match selection {
        Selection::All => (2, &["linear", "tree", "hyper", "hierarchical", "dist"]),
        Selection::Likely | Selection::Threads => (1, &[]),
    };
    let mut entrants = Vec::new();
    let variable = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    for bound in team.bindings().take(bindings) {
        for blocktime in [Some("infinite"), None] {
            let mut variables = team.omp_binding(bound);
            variables.extend(blocktime.map(|time| variable("KMP_BLOCKTIME", time)));
            entrants.push(team.omp(workshop, "libomp", program, variables));
        }
    }
    for &pattern in patterns {
        let mut variables = team.omp_binding(team.is_pinned());
        variables.push(variable("KMP_BLOCKTIME", "infinite"));
        let both_phases = format!("{pattern},{pattern}");
        for of in ["PLAIN", "FORKJOIN", "REDUCTION"] {
            // libomp takes the last pattern for all kinds of barrier or for none.
            if of == kind || pattern == "dist" {
                let key = format!("KMP_{of}_BARRIER_PATTERN");
                variables.push(variable(&key, &both_phases));
            }
        }
        entrants.push(team.omp(workshop, "libomp", program, variables));
    }
    entrants
}

fn std_barrier(
    workshop: &Workshop,
    program: &Path,
    team: &ProgramThreads,
) -> Vec<Entrant<'static>> {
    let entrant = |bound: bool| {
        let setting = match bound {
            true => format!("g++ -O2, sched_setaffinity {}", team.list(",")),
            false => "g++ -O2, unpinned".to_owned(),
        };
        let mut external = team.external(workshop, "C++ std::barrier", setting, program);
        if bound {
            external.arguments.push(team.list(",").into());
        }
        Entrant::process(external)
    };
    team.bindings().map(entrant).collect()
}

/// Threads and PUs of a program.
struct ProgramThreads {
    ranks: usize,
    pus: Vec<u32>,
    /// Arguments of the program after the number of ranks and the time.
    more: Vec<OsString>,
}

impl ProgramThreads {
    fn of(placements: &[CpuPlacement]) -> ProgramThreads {
        let mut pus = Vec::new();
        for placement in placements {
            if let CpuPlacement::Pu(pu) = placement
                && !pus.contains(pu)
            {
                pus.push(*pu);
            }
        }
        ProgramThreads {
            ranks: placements.len(),
            pus,
            more: Vec::new(),
        }
    }

    fn is_pinned(&self) -> bool {
        !self.pus.is_empty()
    }

    fn is_oversubscribed(&self) -> bool {
        self.ranks > self.pus.len().max(1)
    }

    /// Bound and unbound, or only unbound if the race has no PUs.
    fn bindings(&self) -> impl Iterator<Item = bool> {
        self.is_pinned().then_some(true).into_iter().chain([false])
    }

    fn list(&self, separator: &str) -> String {
        let pus: Vec<String> = self.pus.iter().map(u32::to_string).collect();
        pus.join(separator)
    }

    fn omp_binding(&self, bound: bool) -> Vec<(String, String)> {
        let mut variables = vec![("OMP_PROC_BIND".to_owned(), bound.to_string())];
        if bound {
            let places = format!("{{{}}}", self.list("},{"));
            variables.push(("OMP_PLACES".to_owned(), places));
        }
        variables
    }

    fn omp(
        &self,
        workshop: &Workshop,
        name: &str,
        program: &Path,
        environment: Vec<(String, String)>,
    ) -> Entrant<'static> {
        let words: Vec<String> = environment
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        let mut external = self.external(workshop, name, words.join(" "), program);
        external.environment = environment;
        Entrant::process(external)
    }

    fn external(
        &self,
        workshop: &Workshop,
        name: &str,
        setting: String,
        program: &Path,
    ) -> External {
        let mut external = External::new(name, setting, program);
        external.arguments = vec![self.ranks.to_string().into(), BATCH_US.to_string().into()];
        external.arguments.extend(self.more.iter().cloned());
        external.environment_removed = std::env::vars_os()
            .filter_map(|(key, _)| key.into_string().ok())
            .filter(|key| ["OMP_", "GOMP_", "KMP_"].iter().any(|p| key.starts_with(p)))
            .collect();
        external.keep(workshop.directory());
        external
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_placement;

    #[test]
    fn openmp_places_hold_one_pu_each() {
        let team = ProgramThreads::of(&cpu_placement::pinned(4, &[2, 5]));
        assert_eq!(
            team.omp_binding(true),
            [
                ("OMP_PROC_BIND".to_owned(), "true".to_owned()),
                ("OMP_PLACES".to_owned(), "{2},{5}".to_owned()),
            ]
        );
        assert_eq!(team.bindings().collect::<Vec<_>>(), [true, false]);
        let free = ProgramThreads::of(&cpu_placement::free(2));
        assert_eq!(free.bindings().collect::<Vec<_>>(), [false]);
    }

    #[test]
    fn the_workshop_lasts_as_long_as_its_programs() {
        let workshop = Workshop::open(&[ENDING, MEASURE, OMP, STD]).unwrap();
        let path = workshop.directory().path().to_owned();
        let team = ProgramThreads::of(&cpu_placement::free(2));
        let external = team.external(&workshop, "x", String::new(), Path::new("x"));
        drop(workshop);
        assert!(path.exists());
        drop(external);
        assert!(!path.exists());
    }
}
