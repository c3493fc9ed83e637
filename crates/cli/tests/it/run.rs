//! `corecast run`: processes that are one team, and how they end.

use crate::common::corecast;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The code of every process of a team when `corecast run` starts this test program.
#[test]
fn member() {
    let Some(team) = corecast::Builder::new().inherited().unwrap() else {
        return;
    };
    let dies = std::env::var_os("CORECAST_TEST_DIES").is_some();
    let size = team.size();
    let ended = team.run(|member| {
        let sum = member
            .allreduce_value(member.rank() + 1, |a, b| a + b)
            .unwrap();
        // Rank 1 has this when all have the sum. A team that has failed would end an allreduce that is late.
        let told = member.reduce_value(1, 0, |a, b| a + b);
        if dies && member.rank() == 1 {
            told.unwrap();
            std::process::exit(3);
        }
        let barrier = member.barrier();
        println!(
            "\nrank {} of {size}: {sum}, {}",
            member.rank(),
            barrier.is_ok()
        );
        barrier.is_ok() == dies
    });
    assert!(!ended[0]);
}

fn team(n: &str, dies: bool) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
    command.args(["run", "-n", n, "--"]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "run::member", "--nocapture", "--test-threads=1"]);
    if dies {
        command.env("CORECAST_TEST_DIES", "1");
    }
    command.output().unwrap()
}

#[test]
fn processes_are_one_team() {
    let output = team("3", false);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for rank in 0..3 {
        assert!(
            said.contains(&format!("rank {rank} of 3: 6, true")),
            "{said}"
        );
    }
}

#[test]
fn the_first_failure_is_the_exit_code_and_the_others_hear_of_it() {
    let output = team("3", true);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    for rank in [0, 2] {
        assert!(
            said.contains(&format!("rank {rank} of 3: 6, false")),
            "{said}"
        );
    }
}

#[test]
fn programs_get_their_place_and_their_arguments() {
    let script =
        "echo $CORECAST_TEAM_RANK/$CORECAST_TEAM_SIZE $0; test -e /proc/self/fd/$CORECAST_TEAM_FD";
    let mut lines: Vec<String> = corecast(&["run", "-n", "2", "--", "sh", "-c", script, "word"])
        .text()
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort();
    assert_eq!(lines, ["0/2 word", "1/2 word"]);
    let killed = corecast(&["run", "-n", "1", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.output.status.code(), Some(128 + 9));
}

#[test]
fn what_cannot_be_started_is_told() {
    let said = corecast(&["run", "-n", "2", "--", "/no/such/program"]).refusal();
    assert!(said.contains("/no/such/program"), "{said}");
    let said = corecast(&["run", "-n", "0", "--", "true"]).refusal();
    assert!(said.contains("-n 0"), "{said}");
    corecast(&["run"]).refusal();
    for (program, code) in [("/no/such/program", 127), ("/etc/passwd", 126)] {
        for options in [&["run"][..], &["run", "--explain"]] {
            let run = corecast(&[options, &["--", program]].concat());
            assert_eq!(run.output.status.code(), Some(code), "{}", run.stderr());
            assert!(run.stderr().contains(program), "{}", run.stderr());
        }
    }
    corecast(&["run", "--json", "--", "true"]).refusal();
}

#[test]
fn one_program_ends_as_it_would_without() {
    for options in [&["run"][..], &["run", "--explain"], &["run", "--pin"]] {
        let run = |script| corecast(&[options, &["--", "sh", "-c", script]].concat());
        let ended = run("echo $0; exit 5");
        assert_eq!(ended.output.status.code(), Some(5), "{}", ended.stderr());
        assert_eq!(ended.output.stdout, b"sh\n");
        let killed = run("kill -9 $$");
        let status = killed.output.status;
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(
            status.code().or(status.signal()),
            Some(if options.contains(&"--explain") {
                137
            } else {
                9
            })
        );
    }
}

/// Signals to the command reach the program.
#[test]
fn signals_are_passed_on() {
    for options in [&["run"][..], &["run", "--explain"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
        let script = "trap 'echo heard; exit 7' USR1; echo ready; while :; do sleep 0.01; done";
        command.args(options).args(["--", "sh", "-c", script]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let mut lines = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut lines, &mut said).unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::USR1).unwrap();
        std::io::BufRead::read_line(&mut lines, &mut said).unwrap();
        assert_eq!(said, "ready\nheard\n");
        assert_eq!(child.wait().unwrap().code(), Some(7));
    }
}

/// Variables that the user has set stay, with and without the library.
#[test]
fn what_the_user_has_set_stays() {
    let run = |name: &str, value: &str, options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_corecast"));
        command.arg("run").args(options).args(["--", "env"]);
        for unset in [
            "OMP_PLACES",
            "OMP_PROC_BIND",
            "OMP_NUM_THREADS",
            "LD_PRELOAD",
        ] {
            command.env_remove(unset);
        }
        let output = command.env(name, value).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let value = |name: &str| {
            let line = said
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.map(str::to_owned)
        };
        [
            value("LD_PRELOAD"),
            value("OMP_PLACES"),
            value("OMP_PROC_BIND"),
        ]
    };
    let [preload, places, _] = run("SOMETHING", "1", &[]);
    let preload = preload.unwrap();
    let libraries: Vec<&str> = preload.split(':').collect();
    assert!(
        libraries[0].ends_with("/libcorecast_openmp.so"),
        "{preload}"
    );
    assert!(libraries[1].ends_with("/libcorecast_mpi.so"), "{preload}");
    assert_eq!(places, None);
    let [preload, ..] = run("LD_PRELOAD", "libm.so.6", &[]);
    assert!(preload.unwrap().ends_with("/libcorecast_mpi.so:libm.so.6"));
    let [preload, ..] = run("CORECAST_DISABLE", "1", &[]);
    assert_eq!(preload, None);
    let [_, places, bind] = run("OMP_NUM_THREADS", "1", &["--pin"]);
    let (places, bind) = (places.unwrap(), bind.unwrap());
    assert!(
        places.starts_with('{') && places.ends_with('}') && bind == "close",
        "{places} {bind}"
    );
    let [_, places, bind] = run("OMP_PLACES", "{0}", &["--pin"]);
    assert_eq!((places.as_deref(), bind), (Some("{0}"), None));
}

/// Nothing is loaded before `mpirun`, which is told in its own way what to load before the program.
#[test]
fn launchers_are_told_what_to_load() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = folder.path().join("mpirun.tested");
    let run = |version: &str, off: &str| {
        let script = format!(
            "#!/bin/sh\ncase $1 in\n--version) echo '{version}' ;;\n*) echo \"$LD_PRELOAD|$*\" ;;\nesac\n"
        );
        // Another process writes it: a child that another test forks meanwhile must not have it open for writing.
        let written = Command::new("sh")
            .args(["-c", "printf '%s' \"$1\" > \"$0\" && chmod 755 \"$0\""])
            .arg(&launcher)
            .arg(script)
            .status();
        assert!(written.unwrap().success());
        let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(["run", "--"])
            .arg(&launcher)
            .args(["-n", "2", "program"])
            .env_remove("LD_PRELOAD")
            .env("CORECAST_DISABLE", off)
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        (String::from_utf8(output.stdout).unwrap(), errors)
    };
    let (said, _) = run("mpirun (Open MPI) 4.1.4", "");
    assert!(said.starts_with("|-x LD_PRELOAD=/"), "{said}");
    assert!(
        said.contains("/libcorecast_mpi.so -x CORECAST_DISABLE"),
        "{said}"
    );
    assert!(said.ends_with(" -n 2 program\n"), "{said}");
    let (said, _) = run("HYDRA build details:", "");
    assert!(said.starts_with("|-genv LD_PRELOAD /"), "{said}");
    assert!(
        said.ends_with("/libcorecast_mpi.so -n 2 program\n"),
        "{said}"
    );
    let (said, errors) = run("a batch system", "");
    assert_eq!(said, "|-n 2 program\n");
    assert!(
        errors.contains("LD_PRELOAD=/") && errors.contains("libcorecast_mpi.so"),
        "{errors}"
    );
    let (said, _) = run("HYDRA build details:", "1");
    assert_eq!(said, "|-n 2 program\n");
}

/// Waits are reported for the line of their barrier. One thread comes to the first barrier of a round only after it
/// has seen the other asleep there and has slept itself; both go on to the second. The program prints a lower bound
/// of the wait at the first and an upper bound of the wait at the second, which hold however busy the machine is.
#[test]
fn waits_are_told_by_place() {
    const SOURCE: &str = "\
#define _GNU_SOURCE
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}
static int sleeps(long thread) {
    char path[64], text[512];
    snprintf(path, sizeof path, \"/proc/self/task/%ld/stat\", thread);
    FILE *file = fopen(path, \"r\");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return strrchr(text, ')')[2] == 'S';
}
int main(void) {
    const struct timespec nap = {0, 20000000}, moment = {0, 100000};
    const long first = syscall(SYS_gettid);
    atomic_int come = 0;
    long long napped = 0, after = 0;
#pragma omp parallel num_threads(2)
    for (int round = 1; round <= 5; round++) {
        long long late = 0;
        if (omp_get_thread_num() == 0) {
            come = round;
        } else {
            while (come != round || !sleeps(first))
                nanosleep(&moment, 0);
            long long asleep = now();
            nanosleep(&nap, 0);
            late = now();
            napped += late - asleep;
        }
#pragma omp barrier
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            after += now() - late;
    }
    printf(\"%lld %lld\\n\", napped, after);
    return 0;
}
";
    let Some(program) = compiled(SOURCE, &["-fopenmp", "-g"]) else {
        return;
    };
    let barriers = || {
        let lines = SOURCE.lines().zip(1u64..);
        lines.filter_map(|(line, number)| (line == "#pragma omp barrier").then_some(number))
    };
    let [first, second] = barriers().collect::<Vec<_>>()[..] else {
        panic!("two barriers")
    };
    let program = program.to_str().unwrap();
    let told = corecast(&["run", "--explain", "--", program]).stderr();
    assert!(
        told.contains(&format!("waits.c:{first} main")) && told.contains("for others"),
        "{told}"
    );
    let run = corecast(&["run", "--explain", "--json", "--", program]);
    let said = String::from_utf8(run.output.stdout.clone()).unwrap();
    let (napped, after) = said.trim().split_once(' ').unwrap();
    let [napped, after]: [u64; 2] = [napped, after].map(|ns| ns.parse().unwrap());
    let told = run.stderr();
    let value: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(value["schema"], 1);
    let waits = value["processes"][0]["waits"].as_array().unwrap();
    let at = |line: u64, what: &str| {
        let wait = waits
            .iter()
            .find(|wait| wait["place"]["line"] == line && wait["kind"] == "barrier");
        wait.unwrap_or_else(|| panic!("line {line}: {told}"))[what]
            .as_u64()
            .unwrap()
    };
    for line in [first, second] {
        assert_eq!((at(line, "times"), at(line, "own")), (10, 10), "{told}");
    }
    // There are five naps of 20 ms. The adapter may use another clock, and clocks differ by less than a twentieth.
    assert!(napped >= 100_000_000, "{said}");
    let imbalance = [first, second].map(|line| at(line, "imbalance_ns"));
    assert!(imbalance[0] >= napped / 20 * 19, "{said}{told}");
    assert!(imbalance[1] <= after / 20 * 21, "{said}{told}");
}

/// A program that makes a team of threads itself, when `corecast run` starts this test program.
#[test]
fn threads() {
    if std::env::var_os("CORECAST_TEST_THREADS").is_none() {
        return;
    }
    let team = corecast::Builder::new().threads(2).build().unwrap();
    team.run(|member| {
        for _ in 0..50 {
            member.barrier().unwrap();
        }
        member.broadcast_value(0, 1).unwrap();
        let waited = member.overlap(|flight| flight.barrier()?.wait());
        waited.unwrap().unwrap();
    });
}

/// The waits of each process, and the same as text.
fn explained(options: &[&str], test: &str, variable: (&str, &str)) -> Vec<serde_json::Value> {
    let run = |json: &[&str]| {
        let program = std::env::current_exe().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args([&["run", "--explain"], json, options, &["--"]].concat())
            .arg(program)
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(variable.0, variable.1)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        said
    };
    let text = run(&[]);
    for word in ["in teams, of which", "for others", "operation", "run.rs:"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let value: serde_json::Value = serde_json::from_str(&run(&["--json"])).unwrap();
    value["processes"].as_array().unwrap().clone()
}

#[test]
fn waits_of_teams_are_told_by_call() {
    let processes = explained(&[], "run::threads", ("CORECAST_TEST_THREADS", "1"));
    let [process] = &processes[..] else {
        panic!("{processes:?}");
    };
    assert_eq!(process["threads"], 2);
    let waits = process["waits"].as_array().unwrap();
    let mut told: Vec<_> = waits
        .iter()
        .map(|wait| {
            assert_eq!(wait["ranks"].as_array().unwrap().len(), 2, "{wait}");
            assert!(wait["place"]["column"].is_u64(), "{wait}");
            let counts = ["times", "own", "unsplit"].map(|count| wait[count].as_u64().unwrap());
            (wait["kind"].as_str().unwrap(), counts)
        })
        .collect();
    told.sort_unstable();
    let expected = [
        ("barrier", [100, 100, 0]),
        ("broadcast", [2, 2, 0]),
        ("start-barrier", [2, 2, 2]),
        ("wait", [2, 2, 2]),
    ];
    assert_eq!(told, expected);
}

#[test]
fn waits_of_processes_are_told_by_call() {
    let processes = explained(&["-n", "3"], "run::member", ("CORECAST_TEST_NONE", "1"));
    let mut ranks: Vec<u64> = processes
        .iter()
        .map(|process| {
            let waits = process["waits"].as_array().unwrap();
            assert_eq!(waits.len(), 3, "{process}");
            let rank = |wait: &serde_json::Value| wait["ranks"][0]["rank"].as_u64().unwrap();
            assert!(
                waits
                    .iter()
                    .all(|wait| wait["times"] == 1 && rank(wait) == rank(&waits[0])),
                "{process}"
            );
            rank(&waits[0])
        })
        .collect();
    ranks.sort_unstable();
    assert_eq!(ranks, [0, 1, 2]);
}

/// Compilers turn a call at the end of a function into a jump, so a barrier that ends a region returns to the adapter.
#[test]
fn a_barrier_that_ends_a_region_is_told_of_that_region() {
    const SOURCE: &str = "\
static int sum;
int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
        sum++;
#pragma omp barrier
    }
    return sum != 2;
}
";
    let Some(program) = compiled(SOURCE, &["-fopenmp", "-g", "-O2"]) else {
        return;
    };
    let told = corecast(&[
        "run",
        "--explain",
        "--json",
        "--",
        program.to_str().unwrap(),
    ])
    .stderr();
    let value: serde_json::Value = serde_json::from_str(&told).unwrap();
    let waits = value["processes"][0]["waits"].as_array().unwrap();
    let barrier = waits.iter().find(|wait| wait["kind"] == "barrier").unwrap();
    assert_eq!(barrier["place"]["function"], "main", "{told}");
}

#[test]
fn a_static_program_is_told_apart() {
    let Some(program) = compiled(
        "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n",
        &["-fopenmp", "-static"],
    ) else {
        return;
    };
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(["run", "--"])
        .arg(&program)
        .env("CORECAST_DEBUG", "INFO")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.contains("linked statically"),
        "{said}"
    );
}

/// Compiles `source` to a program `waits`; `None`, with a message, where there is no compiler for it.
fn compiled(source: &str, options: &[&str]) -> Option<PathBuf> {
    let name = std::thread::current().name().unwrap().replace("::", "-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let (file, program) = (folder.join("waits.c"), folder.join("waits"));
    std::fs::write(&file, source).unwrap();
    let made = Command::new("gcc")
        .args(options)
        .arg(&file)
        .arg("-o")
        .arg(&program)
        .output();
    if made.is_ok_and(|made| made.status.success()) {
        return Some(program);
    }
    assert!(
        std::env::var_os("CORECAST_REQUIRE_PEERS").is_none(),
        "gcc {options:?} does not work"
    );
    println!("SKIPPED: gcc {options:?} does not work here");
    None
}
