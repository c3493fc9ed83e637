//! Checks of a program: its libraries, its OpenMP and MPI runtimes, and how they wait.

use crate::facts::Facts;
use crate::finding::{Finding, Level};
use crate::program::{Found, Program, Runtime};
use corecast_model::words::count;

/// Beginnings of the names of interpreters that load modules while they run.
const INTERPRETERS: [&str; 11] = [
    "python", "pypy", "perl", "ruby", "julia", "lua", "node", "Rscript", "java", "octave", "php",
];
/// Programs that start other programs.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "busybox"];

/// Runs all checks of a program.
pub(super) fn examine(facts: &Facts, program: &Program) -> Vec<Finding> {
    vec![
        kind(program),
        libraries(program),
        openmp(facts, program),
        mpi(program),
        corecast(program),
    ]
}

/// Says what kind of file the program is, and checks whether it runs here.
fn kind(program: &Program) -> Finding {
    const NAME: &str = "program";
    let Program {
        binary,
        architecture,
        ..
    } = program;
    let what = match program.scripts.as_slice() {
        [] => binary.clone(),
        [script] => format!("{script} is a script, and its interpreter {binary}"),
        scripts => format!(
            "{} are scripts, each the interpreter of the one before, and the last one's {binary}",
            scripts.join(", ")
        ),
    };
    if program.foreign {
        return Finding::at(
            Level::Warning,
            NAME,
            format!(
                "{what} is for {architecture} and this machine is another: it does not run here, and its libraries are \
                     not looked for"
            ),
            "build it for this machine, or run doctor on the machine that it is for",
        );
    }
    if is_one_of(program, &SHELLS) {
        return Finding::at(
            Level::Note,
            NAME,
            format!("{what}: the programs that a shell starts are not seen"),
            "look at those programs themselves: corecast doctor PROGRAM",
        );
    }
    let linked = match program.r#static {
        true => "linked statically".to_owned(),
        false => format!("with {}", libraries_count(program)),
    };
    Finding::ok(NAME, format!("{what}, for {architecture}, {linked}"))
}

/// Checks whether all libraries that the program needs are there.
fn libraries(program: &Program) -> Finding {
    const NAME: &str = "libraries";
    if program.foreign {
        return Finding::ok(NAME, "not looked for");
    }
    if program.missing.is_empty() {
        return Finding::ok(NAME, "none is missing");
    }
    let missing: Vec<String> = program
        .missing
        .iter()
        .map(|m| format!("{} (needed by {})", m.name, m.needed_by))
        .collect();
    Finding::at(
        Level::Warning,
        NAME,
        format!("not found: {}: it will not start", missing.join(", ")),
        "install what brings them, or name their folders in LD_LIBRARY_PATH",
    )
}

/// Checks which OpenMP runtimes the program has, and whether its threads have a CPU each.
fn openmp(facts: &Facts, program: &Program) -> Finding {
    const NAME: &str = "OpenMP";
    let found = of(program, |found| found.runtime.is_openmp());
    let [first, rest @ ..] = found.as_slice() else {
        return sealed(NAME, program).unwrap_or_else(|| nothing(NAME, program));
    };
    let named = list(&found);
    if !rest.is_empty() {
        return Finding::at(
            Level::Warning,
            NAME,
            format!(
                "{} runtimes in one program: {named}: each starts threads of its own, together more than there are CPUs, \
                 and such programs are known to hang or crash",
                found.len()
            ),
            "build or install all parts against one of them (conda: all packages from one channel; pip: see which package \
             brings which); until then OMP_NUM_THREADS=1 where only one of them has much to do",
        );
    }
    let quota = facts.limits.quota_cpus.filter(|&c| c < facts.usable as f64);
    // A float cast saturates, and turns NaN into 0.
    let paid = quota.map_or(facts.usable, |cpus| (cpus as usize).max(1));
    let threads = program.settings.get("OMP_NUM_THREADS");
    // The variable may list a number for each level of nesting.
    let outer = threads.and_then(|t| t.split(',').next()?.trim().parse::<usize>().ok());
    let started = outer.unwrap_or(facts.usable);
    let sleep = match first.runtime {
        Runtime::GnuOpenmp => "OMP_WAIT_POLICY=passive",
        _ => "KMP_BLOCKTIME=0 or OMP_WAIT_POLICY=passive",
    };
    let asked: Vec<String> = program
        .settings
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let settings = match asked.is_empty() {
        true => String::new(),
        false => format!(" with {}", asked.join(" ")),
    };
    if started > paid {
        let who = match outer {
            Some(_) => "are asked for",
            None => "start by default, one for each usable PU",
        };
        return Finding::at(
            Level::Warning,
            NAME,
            format!(
                "{named}{settings}: {} {who}, and there is time for {}: waits take the CPU from those that work",
                count(started, "thread"),
                count(paid, "CPU")
            ),
            format!(
                "OMP_NUM_THREADS={paid}; with more threads than CPUs {sleep}, so that waits sleep soon"
            ),
        );
    }
    Finding::at(
        Level::Note,
        NAME,
        format!("{named}{settings}: its barriers are its own, or Corecast's under corecast run"),
        format!(
            "with a CPU for each thread OMP_PROC_BIND=close and OMP_PLACES=cores keep threads in their places; with more \
             threads than CPUs, or other programs beside it, {sleep}, and no binding"
        ),
    )
}

/// Checks which MPI libraries the program has.
fn mpi(program: &Program) -> Finding {
    const NAME: &str = "MPI";
    let found = of(program, |found| found.runtime.is_mpi());
    match found.as_slice() {
        [] => sealed(NAME, program).unwrap_or_else(|| Finding::ok(NAME, "none found")),
        [one] => Finding::at(
            Level::Note,
            NAME,
            format!(
                "{}: its collectives are its own, Corecast changes nothing in them",
                list(&[*one])
            ),
            match one.runtime {
                Runtime::OpenMpi => {
                    "one rank for each CPU at most, as ranks spin while they wait; with more, mpirun --oversubscribe --mca \
                     mpi_yield_when_idle 1"
                }
                _ => "one rank for each CPU at most, as ranks spin while they wait",
            },
        ),
        _ => Finding::at(
            Level::Warning,
            NAME,
            format!(
                "{} libraries in one program: {}: their handles do not fit each other",
                found.len(),
                list(&found)
            ),
            "build all parts with the compiler wrapper (mpicc) of one of them",
        ),
    }
}

/// Says whether the program uses Corecast.
fn corecast(program: &Program) -> Finding {
    let found = of(program, |found| found.runtime == Runtime::Corecast);
    let words = match (found.is_empty(), program.stripped) {
        (false, _) => list(&found),
        (true, false) => "not found in it".to_owned(),
        (true, true) => {
            "not found in it, which is stripped: Rust programs hold it within".to_owned()
        }
    };
    Finding::ok("Corecast", words)
}

/// The finding for a static and stripped program, whose runtimes cannot be seen; `None` for others.
fn sealed(name: &'static str, program: &Program) -> Option<Finding> {
    let sealed = program.r#static && program.stripped;
    sealed.then(|| {
        Finding::at(
            Level::Note,
            name,
            "unknown: the program is linked statically and stripped, so what lies within cannot be seen",
            "look at a build of it that is not stripped",
        )
    })
}

/// The finding where no runtime was found, which says whether one may be hidden.
fn nothing(name: &'static str, program: &Program) -> Finding {
    if is_one_of(program, &INTERPRETERS) || program.dlopen && !is_one_of(program, &SHELLS) {
        let who = match program.dlopen {
            true => "the program loads libraries while it runs (dlopen)",
            false => "an interpreter loads modules while it runs",
        };
        return Finding::at(
            Level::Note,
            name,
            format!("none found, but {who}, and those cannot be seen beforehand"),
            "look at such a library itself (corecast doctor PATH/TO/MODULE.so), or at /proc/PID/maps while the program runs",
        );
    }
    let unsure = match program.stripped {
        true => "; it is stripped, so what is linked into it cannot be seen",
        false => "",
    };
    Finding::ok(name, format!("none found{unsure}"))
}

/// Whether the program's name is one of `names`, with a version at most behind it.
fn is_one_of(program: &Program, names: &[&str]) -> bool {
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let called = match program.scripts.is_empty() {
        true => vec![file(&program.path), file(&program.binary)],
        false => vec![file(&program.binary)],
    };
    let version = |tail: &str| {
        tail.chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | '-'))
    };
    called.iter().any(|called| {
        let fits = |name: &str| called.strip_prefix(name).is_some_and(version);
        names.iter().any(|name| fits(name))
    })
}

fn of(program: &Program, which: impl Fn(&Found) -> bool) -> Vec<&Found> {
    program
        .runtimes
        .iter()
        .filter(|found| which(found))
        .collect()
}

fn list(found: &[&Found]) -> String {
    let each: Vec<String> = found
        .iter()
        .map(|found| format!("{} ({})", found.runtime.name(), found.file))
        .collect();
    each.join(", ")
}

fn libraries_count(program: &Program) -> String {
    match program.libraries.len() {
        1 => "1 library".to_owned(),
        n => format!("{n} libraries"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Missing;

    fn plain() -> Program {
        Program {
            path: "./p".into(),
            scripts: Vec::new(),
            binary: "./p".into(),
            architecture: "x86_64".into(),
            foreign: false,
            r#static: false,
            stripped: false,
            dlopen: false,
            libraries: vec!["/lib/libc.so.6".into()],
            missing: Vec::new(),
            runtimes: Vec::new(),
            settings: std::collections::BTreeMap::new(),
        }
    }

    fn with(runtimes: &[(Runtime, &str)]) -> Program {
        let found = |&(runtime, file): &(Runtime, &str)| Found {
            runtime,
            file: file.into(),
        };
        Program {
            runtimes: runtimes.iter().map(found).collect(),
            ..plain()
        }
    }

    #[test]
    fn a_plain_program_is_well() {
        for finding in examine(&Facts::sound(), &plain()) {
            assert_eq!(
                (finding.level, finding.fix),
                (Level::Ok, None),
                "{}",
                finding.found
            );
        }
        assert_eq!(kind(&plain()).found, "./p, for x86_64, with 1 library");
    }

    #[test]
    fn one_openmp_is_a_note_with_its_own_settings() {
        let facts = Facts::sound();
        let program = with(&[(Runtime::GnuOpenmp, "/lib/libgomp.so.1")]);
        let finding = openmp(&facts, &program);
        assert_eq!(finding.level, Level::Note);
        assert!(
            finding
                .found
                .starts_with("GNU libgomp (/lib/libgomp.so.1): ")
        );
        assert!(!finding.fix.unwrap().contains("KMP_BLOCKTIME"));
        let program = with(&[(Runtime::LlvmOpenmp, "./p")]);
        assert!(
            openmp(&facts, &program)
                .fix
                .unwrap()
                .contains("KMP_BLOCKTIME=0")
        );
    }

    #[test]
    fn more_threads_than_cpus_are_a_warning() {
        let mut facts = Facts::sound();
        let mut program = with(&[(Runtime::GnuOpenmp, "/lib/libgomp.so.1")]);
        facts.limits.quota_cpus = Some(2.0);
        let finding = openmp(&facts, &program);
        assert_eq!(finding.level, Level::Warning);
        assert!(
            finding.found.contains("4 threads start by default"),
            "{}",
            finding.found
        );
        assert!(finding.fix.unwrap().starts_with("OMP_NUM_THREADS=2;"));
        program
            .settings
            .insert("OMP_NUM_THREADS".into(), "2,2".into());
        assert_eq!(openmp(&facts, &program).level, Level::Note);
        program
            .settings
            .insert("OMP_NUM_THREADS".into(), "16".into());
        facts.limits.quota_cpus = None;
        let finding = openmp(&facts, &program);
        assert_eq!(finding.level, Level::Warning);
        assert!(
            finding.found.contains("16 threads are asked for"),
            "{}",
            finding.found
        );
        assert!(
            finding.found.contains("time for 4 CPUs"),
            "{}",
            finding.found
        );
    }

    #[test]
    fn two_runtimes_are_a_warning_also_of_the_same_kind() {
        let copies = [
            (Runtime::GnuOpenmp, "/lib/libgomp.so.1"),
            (Runtime::GnuOpenmp, "/w/libgomp-a34b3233.so.1"),
        ];
        let finding = openmp(&Facts::sound(), &with(&copies));
        assert_eq!(finding.level, Level::Warning);
        assert!(finding.found.starts_with("2 runtimes in one program: "));
        assert!(finding.found.contains("libgomp-a34b3233"));
        let two = [
            (Runtime::OpenMpi, "libmpi.so.40"),
            (Runtime::Mpich, "libmpi.so.12"),
        ];
        assert_eq!(mpi(&with(&two)).level, Level::Warning);
        let finding = mpi(&with(&two[..1]));
        assert_eq!(finding.level, Level::Note);
        assert!(finding.fix.unwrap().contains("mpi_yield_when_idle"));
    }

    #[test]
    fn what_cannot_be_seen_is_said() {
        let level = |change: fn(&mut Program), words: &str| {
            let mut program = plain();
            change(&mut program);
            let finding = openmp(&Facts::sound(), &program);
            assert!(finding.found.contains(words), "{}", finding.found);
            finding.level
        };
        let stripped: fn(&mut Program) = |p| p.stripped = true;
        assert_eq!(level(stripped, "is stripped"), Level::Ok);
        let both: fn(&mut Program) = |p| (p.stripped, p.r#static) = (true, true);
        assert_eq!(level(both, "unknown"), Level::Note);
        assert_eq!(level(|p| p.dlopen = true, "(dlopen)"), Level::Note);
        let python: fn(&mut Program) = |p| p.binary = "/usr/bin/python3.11".into();
        assert_eq!(level(python, "an interpreter"), Level::Note);
        assert_eq!(
            level(|p| p.binary = "./pythonic".into(), "none found"),
            Level::Ok
        );
    }

    #[test]
    fn scripts_and_strangers_are_told() {
        let mut program = plain();
        program.scripts = vec!["./run.sh".into()];
        program.binary = "/bin/sh".into();
        let finding = kind(&program);
        assert_eq!(finding.level, Level::Note);
        assert!(
            finding.found.starts_with("./run.sh is a script"),
            "{}",
            finding.found
        );
        program = plain();
        program.foreign = true;
        program.architecture = "aarch64".into();
        let finding = kind(&program);
        assert_eq!(finding.level, Level::Warning);
        assert!(
            finding.found.starts_with("./p is for aarch64"),
            "{}",
            finding.found
        );
    }

    #[test]
    fn missing_libraries_are_named() {
        let mut program = plain();
        program.missing.push(Missing {
            name: "libq.so.1".into(),
            needed_by: "./p".into(),
        });
        let finding = libraries(&program);
        assert_eq!(finding.level, Level::Warning);
        assert!(
            finding.found.contains("libq.so.1 (needed by ./p)"),
            "{}",
            finding.found
        );
    }
}
