//! Unmodified programs under the adapter, with Open MPI and with MPICH: every collective against what the standard says, on
//! communicators of all kinds; messages that are on their way meanwhile; handles that are used again; threads; errors; other
//! tools; Fortran; and the switch that turns it off.
//!
//! The programs in `programs/` check their own results, and do not use Corecast.

mod hosts;

use corecast::record::{Place, Record, Sums};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An MPI library.
#[derive(Clone, Copy, Debug)]
struct Mpi {
    /// The suffix that distributions give its commands.
    name: &'static str,
    /// How the launcher passes a variable on.
    passes: fn(&str, &str) -> Vec<String>,
}

/// A folder with the commands of an MPI library that has the binary interface of MPI 5, which distributions do not have yet.
const STANDARD: &str = "CORECAST_TEST_MPI_ABI";

const LIBRARIES: [Mpi; 3] = [
    Mpi {
        name: "openmpi",
        passes: |name, value| vec!["-x".to_owned(), format!("{name}={value}")],
    },
    Mpi {
        name: "mpich",
        passes: |name, value| vec!["-genv".to_owned(), name.to_owned(), value.to_owned()],
    },
    Mpi {
        name: "abi",
        passes: |name, value| vec!["-genv".to_owned(), name.to_owned(), value.to_owned()],
    },
];

/// The library in the folder where cargo leaves it for tests; a copy in the parent folder may be of an earlier build.
fn adapter() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.with_file_name("libcorecast_mpi.so");
    assert!(library.exists(), "{} is missing", library.display());
    library
}

fn source(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    folder.join(name)
}

impl Mpi {
    /// One of the library's commands.
    fn command(self, name: &str) -> String {
        match (std::env::var(STANDARD), name) {
            (Ok(folder), "mpirun") if self.name == "abi" => format!("{folder}/{name}"),
            (Ok(folder), _) if self.name == "abi" => format!("{folder}/{name}_abi"),
            _ => format!("{name}.{}", self.name),
        }
    }

    /// Compiles a program or, by `more`, a library. `None` where the compiler is missing, which is said; where all peers are
    /// required, that fails the test.
    fn compile(self, compiler: &str, file: &str, more: &[&str]) -> Option<PathBuf> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi");
        std::fs::create_dir_all(&folder).unwrap();
        let test = std::thread::current().name().unwrap().replace("::", "-");
        let built = folder.join(format!("{test}-{file}.{}", self.name));
        let compiler = self.command(compiler);
        let output = Command::new(&compiler)
            .args(["-O1", "-o"])
            .arg(&built)
            .arg(source(file))
            .args(more)
            .current_dir(&folder)
            .output();
        match output {
            Ok(output) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{compiler} {file}: {errors}");
                Some(built)
            }
            Err(_) => {
                let required = std::env::var_os("CORECAST_REQUIRE_PEERS").is_some();
                assert!(
                    !required || !compiler.starts_with("mpicc") || self.name == "abi",
                    "there is no {compiler}"
                );
                let hint = if self.name == "abi" { STANDARD } else { "" };
                eprintln!(
                    "SKIPPED: {file} with {}: there is no {compiler} {hint}",
                    self.name
                );
                None
            }
        }
    }

    /// Adds its launcher to a command that runs another: for `ranks` processes, with these variables in their environment. A
    /// hang ends by a signal, long after any machine would be done.
    fn launcher<'a>(
        self,
        command: &'a mut Command,
        ranks: usize,
        variables: &[(&str, &str)],
    ) -> &'a mut Command {
        let launcher = self.command("mpirun");
        command.args(["timeout", "600", &launcher, "-n", &ranks.to_string()]);
        for (name, value) in variables {
            command.args((self.passes)(name, value));
        }
        command
            .env_remove("CORECAST_DISABLE")
            .env("RUST_BACKTRACE", "0")
            // Open MPI's own conditions for root, and for more processes than cores.
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("OMPI_MCA_mpi_yield_when_idle", "1")
    }

    /// Runs a program as `ranks` processes, with these variables in their environment.
    fn run(
        self,
        ranks: usize,
        variables: &[(&str, &str)],
        program: &Path,
        arguments: &[&str],
    ) -> Output {
        // Open MPI's launchers make and remove one folder of a user's, and fail where another does so meanwhile.
        let files = tempfile::tempdir().unwrap();
        let mut command = Command::new("env");
        let launcher = self.launcher(&mut command, ranks, variables);
        launcher.env("TMPDIR", files.path());
        outcome(launcher.arg(program).args(arguments))
    }

    /// Runs a program under the adapter, which says what it does.
    fn run_under(
        self,
        ranks: usize,
        more: &[(&str, &str)],
        program: &Path,
        arguments: &[&str],
    ) -> Output {
        let library = adapter();
        let mut variables = vec![
            ("LD_PRELOAD", library.to_str().unwrap()),
            ("CORECAST_DEBUG", "INFO"),
        ];
        variables.extend_from_slice(more);
        self.run(ranks, &variables, program, arguments)
    }
}

/// Runs a launcher. At their end processes of Open MPI wait 2 s for its answer; a launcher that gets no CPU for so long takes
/// them for ended too early, under any program. Such a run is repeated, twice at most.
fn outcome(launcher: &mut Command) -> Output {
    for _ in 0..2 {
        let output = launcher.output().unwrap();
        if !String::from_utf8_lossy(&output.stderr).contains("exiting improperly") {
            return output;
        }
    }
    launcher.output().unwrap()
}

/// What a program said, which must have ended well.
#[track_caller]
fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{}: {text}", output.status);
    text
}

/// Runs a program with each library and number of ranks; it says that all is right, and the adapter that it served it.
#[track_caller]
fn all_right(file: &str, more: &[(&str, &str)], runs: &[(usize, &[&str])]) {
    all_right_with(&LIBRARIES, file, more, runs);
}

/// The same with some of the libraries.
#[track_caller]
fn all_right_with(libraries: &[Mpi], file: &str, more: &[(&str, &str)], runs: &[(usize, &[&str])]) {
    for mpi in libraries {
        let Some(program) = mpi.compile("mpicc", file, &["-lpthread"]) else {
            continue;
        };
        for (ranks, arguments) in runs {
            let text = said(&mpi.run_under(*ranks, more, &program, arguments));
            assert!(text.contains("all right"), "{mpi:?}, {ranks} ranks: {text}");
            let served = format!("corecast: MPI: collectives of {ranks} ranks on ");
            assert!(text.contains(&served), "{mpi:?}: {text}");
        }
    }
}

#[test]
fn every_collective_does_what_the_standard_says() {
    let rounds = match std::env::var("CORECAST_TEST_CASES") {
        Ok(cases) => (cases.parse::<usize>().unwrap() * 100).to_string(),
        Err(_) => "150".to_owned(),
    };
    // All on teams, and then against the library, which some calls go to.
    let on_teams = [("CORECAST_MPI_RACE", "0")];
    let runs: [(usize, &[&str]); 3] = [
        (2, &["1", &rounds, "1"]),
        (3, &["2", &rounds, "1"]),
        (5, &["3", &rounds, "1"]),
    ];
    all_right("everything.c", &on_teams, &runs);
    all_right("everything.c", &[], &[(3, &["4", &rounds])]);
}

/// A machine file of a network with this L and o.
fn network(name: &str, latency_ns: f64, overhead_ns: f64) -> String {
    use corecast::model::cluster::Network;
    let host = |name: &str| {
        let file = corecast::model::synthetic("core:2").unwrap();
        (name.to_owned(), file, vec![0])
    };
    let network = Network {
        latency_ns,
        overhead_ns,
        gap_ns: 0.0,
        byte_ns: 1.0,
    };
    let file = corecast::MachineFile::of_hosts(name, vec![host("a"), host("b")], network);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.json"));
    std::fs::write(&path, file.unwrap().to_json()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Ranks play hosts, whose ranks lie side by side or take turns. Between them everything goes by messages.
#[test]
fn several_hosts_are_a_team_each_and_messages_between_them() {
    let rounds = match std::env::var("CORECAST_TEST_CASES") {
        Ok(cases) => (cases.parse::<usize>().unwrap() * 50).to_string(),
        Err(_) => "80".to_owned(),
    };
    for mpi in LIBRARIES {
        let Some(program) = mpi.compile("mpicc", "everything.c", &[]) else {
            continue;
        };
        // All on teams, whatever is faster, and once against the library.
        let far = network("far", 1e6, 100.0);
        // All messages are long.
        let near = network("near", 1.0, 1.0);
        let cases = [
            (4, "r / 2", "5", "0"),
            (5, "r % 2", "6", "0"),
            (3, "r", "7", "0"),
            (4, "r / 2", "8", "1"),
            (6, "r % 2", "9", "0"),
        ];
        for (ranks, hosts, seed, race) in cases {
            // Where each host has three ranks, two of them are near cards of their own.
            let cards = match ranks {
                6 => "[ $r -gt 3 ] || export CORECAST_MPI_CARD=$((r / 2));",
                _ => "",
            };
            let script = format!(
                "r=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; export CORECAST_MPI_HOST=$(({hosts} + 1)); {cards} exec \"$@\""
            );
            let arguments = [
                "-c",
                &script,
                "sh",
                program.to_str().unwrap(),
                seed,
                &rounds,
                "1",
            ];
            let mut more = vec![("CORECAST_MPI_RACE", race)];
            let mut trees =
                "binomial trees between them, segments as asked for or built in, by assumed costs:";
            let by_file = format!(
                "binomial trees between them, segments by the model, by {far}: L 1000.0, o 0.1 µs,"
            );
            if ranks == 5 {
                trees = "planned trees between them,";
                more.extend([
                    ("CORECAST_MPI_TREES", "planned"),
                    ("CORECAST_MPI_SEGMENTS", "halves:64"),
                ]);
            }
            if ranks == 3 {
                trees = &by_file;
                more.push(("CORECAST_MPI_NETWORK", &far));
            }
            if ranks == 6 {
                trees = "binomial trees between them, segments by the model, by";
                more.push(("CORECAST_MPI_NETWORK", &near));
            }
            let shell = Path::new("/bin/sh");
            let text = said(&mpi.run_under(ranks, &more, shell, &arguments));
            assert!(text.contains("all right"), "{mpi:?}, {hosts}: {text}");
            let count = match ranks {
                3 => "3 hosts",
                6 => "2 hosts of 2 leaders each",
                _ => "2 hosts",
            };
            let served = format!("are taken over: {count}, {trees}");
            assert!(text.contains(&served), "{mpi:?}, {hosts}: {text}");
        }
    }
}

/// Buffers of MPI's in a heap that the ranks of a host map, and such of the library's own where that is turned off.
#[test]
fn memory_of_mpi_is_shared_memory() {
    all_right(
        "memory.c",
        &[("CORECAST_MPI_RACE", "0")],
        &[(2, &["1"]), (3, &["1"])],
    );
    all_right("memory.c", &[("CORECAST_MPI_HEAP", "0")], &[(2, &["0"])]);
}

/// Windows are the library's as they are without the adapter, and what lies in them is lent; where that is turned off it is copied.
#[test]
fn windows_of_shared_memory_are_lent() {
    let lent = [("CORECAST_MPI_RACE", "0")];
    all_right("windows.c", &lent, &[(2, &["1", "threads"])]);
    // MPICH makes windows with barriers of its own, in which more ranks than cores spin for long.
    all_right_with(&LIBRARIES[..1], "windows.c", &lent, &[(3, &["1"])]);
    let copied = [("CORECAST_MPI_RACE", "0"), ("CORECAST_MPI_HEAP", "0")];
    all_right("windows.c", &copied, &[(2, &["0"])]);
}

#[test]
fn a_rank_that_waits_lets_messages_pass() {
    all_right("progress.c", &[], &[(2, &[]), (4, &[])]);
    // Waits that end soon do not.
    let on_teams = [("CORECAST_MPI_RACE", "0"), ("CORECAST_WAIT", "spin")];
    all_right("reductions.c", &on_teams, &[(2, &[])]);
}

#[test]
fn handles_that_are_used_again_are_those_of_others() {
    all_right("handles.c", &[], &[(3, &["60"])]);
}

/// Ranks agree whose turn a call is, whatever each of them has at hand.
#[test]
fn more_communicators_than_are_kept_at_hand_are_used_in_turn() {
    all_right("many.c", &[], &[(2, &[])]);
}

/// Callbacks of attributes: the one that is called while a communicator is freed may call collectives on it.
#[test]
fn attributes_are_copied_and_deleted_as_without_the_adapter() {
    all_right("attributes.c", &[], &[(2, &[]), (3, &[])]);
}

/// On teams: in Open MPI two ranks that give themselves too much may wait for ever.
#[test]
fn what_an_error_handler_throws_reaches_the_program() {
    for mpi in LIBRARIES {
        let Some(program) = mpi.compile("mpicxx", "throws.cpp", &[]) else {
            continue;
        };
        let on_teams = [("CORECAST_MPI_RACE", "0")];
        let text = said(&mpi.run_under(2, &on_teams, &program, &[]));
        assert!(text.contains("all right"), "{mpi:?}: {text}");
    }
}

/// On teams: Open MPI may wait for ever for a rank that gives itself too much.
#[test]
fn error_handlers_call_collectives_and_jump_out_of_the_call() {
    for mpi in LIBRARIES {
        let Some(program) = mpi.compile("mpicc", "jumps.c", &[]) else {
            continue;
        };
        let on_teams = [("CORECAST_MPI_RACE", "0")];
        let text = said(&mpi.run_under(2, &on_teams, &program, &[]));
        assert!(text.contains("all right"), "{mpi:?}: {text}");
    }
}

#[test]
fn what_the_library_refuses_is_refused_on_teams() {
    all_right("refused.c", &[], &[(2, &[]), (3, &[])]);
}

#[test]
fn threads_call_on_communicators_of_their_own() {
    all_right("threads.c", &[], &[(2, &[]), (3, &[])]);
}

/// MPICH of Debian 12 starts no further programs, so this is with Open MPI.
#[test]
fn processes_that_were_spawned_are_left_to_the_library() {
    let [mpi, ..] = LIBRARIES;
    let Some(program) = mpi.compile("mpicc", "spawn.c", &[]) else {
        return;
    };
    let text = said(&mpi.run_under(2, &[], &program, &[program.to_str().unwrap()]));
    assert!(text.contains("all right"), "{text}");
    assert!(
        text.contains("corecast: MPI: collectives of 2 ranks on "),
        "{text}"
    );
    assert!(!text.contains("collectives of 4 ranks"), "{text}");
}

/// In the library's place, which at times hangs where ranks differ, and on several hosts.
#[test]
fn ranks_that_give_themselves_another_length_hear_of_it_alone() {
    let on_teams = ("CORECAST_MPI_RACE", "0");
    all_right("lengths.c", &[on_teams], &[(2, &[]), (3, &[])]);
    for mpi in LIBRARIES {
        let Some(program) = mpi.compile("mpicc", "lengths.c", &[]) else {
            continue;
        };
        let script = "r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; export CORECAST_MPI_HOST=$((r % 2 + 1)); exec \"$1\"";
        let arguments = ["-c", script, "sh", program.to_str().unwrap()];
        let text = said(&mpi.run_under(4, &[on_teams], Path::new("/bin/sh"), &arguments));
        assert!(text.contains("all right"), "{mpi:?}: {text}");
        assert!(text.contains("are taken over: 2 hosts"), "{mpi:?}: {text}");
    }
}

/// In the library's place: Open MPI fails in these by itself.
#[test]
fn elements_may_lie_backwards_in_memory() {
    let on_teams = ("CORECAST_MPI_RACE", "0");
    all_right("extents.c", &[on_teams], &[(2, &[]), (3, &[])]);
}

/// In the library's place, and with races, in which some calls go to it.
#[test]
fn types_may_have_addresses_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let arguments = [file.to_str().unwrap(), "on teams"];
    let on_teams = ("CORECAST_MPI_RACE", "0");
    all_right("bottom.c", &[on_teams], &[(2, &arguments), (3, &arguments)]);
    all_right("bottom.c", &[], &[(2, &arguments[..1])]);
}

/// On teams, and with races.
#[test]
fn integers_are_compared_as_the_library_does() {
    let on_teams = ("CORECAST_MPI_RACE", "0");
    all_right("compare.c", &[on_teams], &[(2, &[]), (3, &[])]);
    all_right("compare.c", &[], &[(2, &[])]);
}

/// While calls are raced, on teams and by the library.
#[test]
fn what_cannot_be_compared_gives_the_same_in_all_calls() {
    all_right("nan.c", &[], &[(2, &[]), (3, &[])]);
}

/// Open MPI 4.1 has none, but a program that asks the loader finds this library's.
#[test]
fn functions_for_large_counts_are_there_whatever_the_library_has() {
    all_right("large.c", &[], &[(2, &[]), (3, &[])]);
}

/// On teams, and with races.
#[test]
fn what_ranks_give_is_only_read() {
    let on_teams = ("CORECAST_MPI_RACE", "0");
    all_right("constant.c", &[on_teams], &[(2, &[]), (4, &[])]);
    all_right("constant.c", &[], &[(2, &[])]);
}

#[test]
fn types_that_a_rank_renames_are_what_they_were() {
    let on_teams = ("CORECAST_MPI_RACE", "0");
    all_right("names.c", &[on_teams], &[(2, &[]), (3, &[])]);
}

/// By both names of `MPI_Finalize`.
#[test]
fn functions_that_mpi_calls_at_its_end_may_call_collectives() {
    let on_teams = ("CORECAST_MPI_RACE", "0");
    let runs: [(usize, &[&str]); 3] = [(2, &["MPI"]), (3, &["MPI"]), (2, &["PMPI"])];
    all_right("ends.c", &[on_teams], &runs);
}

/// The others need not wait for it.
#[test]
fn a_rank_that_can_make_no_team_says_why() {
    for mpi in LIBRARIES {
        let Some(program) = mpi.compile("mpicc", "descriptors.c", &[]) else {
            continue;
        };
        let text = said(&mpi.run_under(3, &[], &program, &[]));
        assert!(text.contains("all right"), "{mpi:?}: {text}");
        let stay = "corecast: MPI: collectives of 3 ranks stay with the library, says rank";
        let memory = "its processes could not map one memory:";
        for said in [
            format!("{stay} 0: {memory} another one has failed, and says why"),
            format!("{stay} 2: {memory} Too many open files"),
        ] {
            assert_eq!(text.matches(&said).count(), 2, "{mpi:?}: {text}");
        }
        assert!(text.contains("are taken over"), "{mpi:?}: {text}");
    }
}

#[test]
fn errors_are_the_librarys() {
    all_right("errors.c", &[], &[(2, &[]), (3, &[])]);
}

#[test]
fn the_bindings_of_fortran_are_served() {
    for mpi in LIBRARIES {
        let Some(program) = mpi.compile("mpifort", "fortran.f90", &[]) else {
            continue;
        };
        let text = said(&mpi.run_under(2, &[], &program, &[]));
        assert!(text.contains("all right"), "{mpi:?}: {text}");
        assert!(text.contains("are taken over"), "{mpi:?}: {text}");
    }
}

/// The waits of each process that has ended, by the addresses of calls and by what was called; all places are in the program.
fn waits(folder: &Path, program: &Path) -> Vec<BTreeMap<(String, u64), Sums>> {
    let mut processes = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read(entry.unwrap().path()).unwrap();
        let record: Record = serde_json::from_slice(&text).unwrap();
        let mut waits = BTreeMap::new();
        for wait in record.waits {
            let Place::Code {
                object,
                address,
                rank: Some(_),
            } = wait.place
            else {
                panic!("{:?}", wait.place);
            };
            let object = &record.objects[object.expect("it is in an object")];
            assert_eq!(
                Path::new(&object.path).canonicalize().unwrap(),
                program.canonicalize().unwrap()
            );
            *waits.entry((wait.kind.name(), address)).or_default() += wait.sums;
        }
        assert_eq!(record.threads, 1);
        processes.push(waits);
    }
    processes
}

#[test]
fn waits_are_recorded_by_the_calls_of_the_program() {
    for mpi in LIBRARIES {
        for (compiler, file) in [("mpicc", "sites.c"), ("mpifort", "fortran.f90")] {
            let Some(program) = mpi.compile(compiler, file, &[]) else {
                continue;
            };
            let folder = tempfile::tempdir().unwrap();
            let variables = [
                ("CORECAST_EXPLAIN", folder.path().to_str().unwrap()),
                // A race would add calls of its own.
                ("CORECAST_MPI_RACE", "0"),
            ];
            let text = said(&mpi.run_under(2, &variables, &program, &[]));
            assert!(text.contains("all right"), "{mpi:?}: {text}");
            let processes = waits(folder.path(), &program);
            assert_eq!(processes.len(), 2, "{mpi:?}: {text}");
            for waits in processes.iter().filter(|_| file == "sites.c") {
                let own = |sums: &Sums| (sums.times, sums.own, sums.unsplit);
                let mut barriers: Vec<_> = waits
                    .iter()
                    .filter(|((kind, _), _)| kind == "barrier")
                    .map(|(_, sums)| own(sums))
                    .collect();
                barriers.sort_unstable();
                // Calls of the library's are not split, and the first ones are, before there is a team.
                let (times, by_team, by_library) = barriers[0];
                assert_eq!((times, by_team + by_library), (5, 5), "{mpi:?}");
                assert_eq!(barriers[1..], [(7, 0, 7), (30, 30, 0)], "{mpi:?}");
                let sums = waits.iter().filter(|((kind, _), _)| kind == "allreduce");
                let sums: Vec<_> = sums.map(|(_, sums)| own(sums)).collect();
                assert_eq!(sums, [(1, 1, 0)], "{mpi:?}");
            }
        }
    }
}

#[test]
fn other_tools_see_all_calls_above_and_below() {
    for mpi in LIBRARIES {
        let Some(program) = mpi.compile("mpicc", "sums.c", &[]) else {
            continue;
        };
        let tool = mpi
            .compile("mpicc", "tool.c", &["-shared", "-fPIC"])
            .unwrap();
        let (own, tool) = (adapter(), tool);
        let [own, tool] = [own.to_str().unwrap(), tool.to_str().unwrap()];
        for list in [format!("{tool}:{own}"), format!("{own}:{tool}")] {
            let variables = [("LD_PRELOAD", &list[..]), ("CORECAST_DEBUG", "INFO")];
            let text = said(&mpi.run(2, &variables, &program, &["9"]));
            assert!(
                text.contains("the tool saw 9 calls"),
                "{mpi:?}, {list}: {text}"
            );
            assert!(text.contains("are taken over"), "{mpi:?}, {list}: {text}");
        }
    }
}

#[test]
fn one_variable_turns_it_off_and_nothing_gained_is_said() {
    for mpi in LIBRARIES {
        let Some(program) = mpi.compile("mpicc", "sums.c", &[]) else {
            continue;
        };
        let library = adapter();
        let mut variables = vec![
            ("LD_PRELOAD", library.to_str().unwrap()),
            ("CORECAST_DEBUG", "INFO"),
        ];
        let text = said(&mpi.run(2, &variables, &program, &["0"]));
        assert!(
            text.contains("corecast: MPI: nothing was intercepted"),
            "{mpi:?}: {text}"
        );
        variables.push(("CORECAST_DISABLE", "1"));
        let text = said(&mpi.run(2, &variables, &program, &["9"]));
        assert!(!text.contains("corecast:"), "{mpi:?}: {text}");
    }
}
