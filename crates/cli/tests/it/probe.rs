//! `corecast probe` on this machine, and the other commands after it.

use crate::common::{corecast, corecast_in};
use corecast_model::MachineFile;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn a_measurement_is_shown_kept_and_used() {
    let cache = tempfile::tempdir().unwrap();
    let run = corecast_in(cache.path(), &["probe", "--time-limit", "5"]);
    if !run.output.stderr.is_empty() {
        println!("SKIPPED: {}", String::from_utf8_lossy(&run.output.stderr));
        return;
    }
    let text = run.text();
    for part in [
        "one way, ns",
        "send, ns",
        "receive, ns",
        "minimum",
        "±",
        "saved in ",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let plan = corecast_in(cache.path(), &["plan"]).text();
    assert!(
        plan.contains("costs measured on this machine 2") && !plan.contains("not been measured"),
        "{plan}"
    );
    let topo = corecast_in(cache.path(), &["topo", "--json"]).json();
    assert_eq!(topo["costs"]["basis"], "measured");
    assert!(topo["costs"]["send"][0][1].as_f64().unwrap() > 0.0);
}

#[test]
fn a_measurement_is_a_machine_file_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("here.json");
    let path = path.to_str().unwrap();
    let run = corecast(&[
        "probe",
        "--time-limit",
        "5",
        "--basis",
        "batch",
        "--csv",
        "--output",
        path,
    ]);
    if !run.output.stderr.is_empty() {
        println!("SKIPPED: {}", String::from_utf8_lossy(&run.output.stderr));
        return;
    }
    assert!(
        run.text()
            .starts_with("schema,from,to,from_numa,to_numa,send,send_half_width,receive,")
    );
    let plan = corecast(&["plan", "--json", "-i", path]).json();
    assert_eq!(plan["unit"], "ns");
}

/// The machine file in a cache folder.
fn machine_file(folder: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_machine = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("machine-")
    };
    entries.find(is_machine).unwrap()
}

/// A measurement in depth is interrupted, saved, continued and shown; its values are tested in `corecast_probe`.
#[test]
fn a_measurement_in_depth_is_kept_and_gone_on_with() {
    let cache = tempfile::tempdir().unwrap();
    let shown = |args: &[&str]| corecast_in(cache.path(), args);
    let first = shown(&["probe", "--coherence", "--time-limit", "1"]);
    if !first.output.stderr.is_empty() {
        println!("SKIPPED: {}", String::from_utf8_lossy(&first.output.stderr));
        return;
    }
    let text = first.text();
    for part in ["read latency, ns", "ticks a ns", "saved in "] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let json =
        |args: &[&str]| -> serde_json::Value { serde_json::from_str(&shown(args).text()).unwrap() };
    let file = json(&["probe", "--coherence", "--time-limit", "100", "--json"]);
    assert_eq!(
        (&file["schema"], &file["deep"]["schema"]),
        (&1.into(), &1.into())
    );
    let latencies = file["deep"]["latencies"].as_array().unwrap();
    let left = file["deep"]["left"].as_array().unwrap();
    assert!(latencies.len() >= 20 && !left.is_empty());
    let is_left = |name: &str| {
        left.iter()
            .any(|one| one.as_str().unwrap().starts_with(name))
    };
    assert!(is_left("waits") && !is_left("latency"), "{left:?}");

    // A measurement of messages keeps the measurement in depth, and a file is shown without measuring.
    shown(&["probe", "--time-limit", "2"]).text();
    let folder = cache.path().join("corecast");
    let path = machine_file(&folder);
    let path = path.to_str().unwrap();
    let kept = json(&["probe", "--coherence", "-i", path, "--json"]);
    assert_eq!(kept["deep"]["latencies"], file["deep"]["latencies"]);
    let text = shown(&["probe", "--deep", "-i", path]).text();
    assert!(
        text.contains("R_L") && text.contains("parts are left"),
        "{text}"
    );
}

/// A process that this thread starts inherits its pinning, and so has one hardware thread.
#[test]
fn on_one_cpu_probe_and_main_job_explain_and_go_on() {
    let first = corecast_machine::discover().machine.pus[0].os_index;
    let pinned = match corecast_machine::pin_current(first) {
        Ok(pinning) => pinning.guard(),
        Err(why) => return println!("SKIPPED: {why}"),
    };
    let cache = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = corecast_in(cache.path(), args).output;
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [shown, said] = run(&["probe"]);
    assert!(shown.contains("these are the built-in costs"), "{shown}");
    assert!(
        said.contains("cannot be measured on one") && said.lines().count() == 1,
        "{said}"
    );
    let [file, _] = run(&["probe", "--json"]);
    let file: serde_json::Value = serde_json::from_str(&file).unwrap();
    assert_eq!(
        (&file["schema"], &file["threads"][0]),
        (&1.into(), &first.into())
    );
    let [job, _] = run(&["--quick"]);
    assert!(
        job.contains("cannot be measured on one") && job.contains("nothing was raced"),
        "{job}"
    );
    drop(pinned);
}

#[test]
fn probes_that_cannot_be_made() {
    for (args, quoted) in [
        (&["-i", "core:4"][..], "\"core:4\""),
        (&["--threads", "65000"], "65000"),
        (&["--time-limit", "0"], "'0'"),
        (&["--basis", "guess"], "'guess'"),
        (
            &["--deep", "-i", "core:4"],
            "\"core:4\" has no measurement in depth",
        ),
        (&["--coherence", "--csv"], "--csv"),
        (&["--deep", "--threads", "65000"], "65000"),
        (&["--threads", "0"], "--threads \"0\""),
        (&["--subset", "1"], "--subset 1"),
        (&["--deep", "--threads", "0"], "--threads \"0\""),
        (&["--output", "/nonexistent/x.json"], "/nonexistent/x.json"),
        (
            &["--deep", "--output", "/nonexistent/x.json"],
            "/nonexistent/x.json",
        ),
        (&["--svg", "/nonexistent/x.svg"], "/nonexistent/x.svg"),
    ] {
        let line = corecast(&[&["probe"], args].concat()).refusal();
        assert!(line.contains(quoted), "{args:?}: {line}");
    }
}

/// What cannot be measured is no reason to write a file, and a file that is there stays as it is.
#[test]
fn a_refused_probe_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.json");
    let name = path.to_str().unwrap();
    corecast(&["probe", "--threads", "0", "--output", name]).refusal();
    assert!(!path.exists());
    std::fs::write(&path, "mine").unwrap();
    corecast(&["probe", "--output", name, "--svg", "/nonexistent/x.svg"]).refusal();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    corecast(&["probe", "--output", folder.path().to_str().unwrap()]).refusal();
}

/// A cache that cannot be written costs no measurement: the result is printed, and one line says that it was not kept.
#[test]
fn a_measurement_that_cannot_be_kept_is_shown() {
    for args in [
        &["probe", "--time-limit", "1"][..],
        &["probe", "--time-limit", "1", "--json"],
        &["probe", "--coherence", "--time-limit", "1"],
        &["tune", "--op", "barrier", "--budget", "1", "--ranks", "2"],
    ] {
        let run = corecast_in(std::path::Path::new("/dev/null/cache"), args);
        let said = run.stderr();
        assert_eq!(run.output.status.code(), Some(0), "{args:?}: {said}");
        let shown = String::from_utf8_lossy(&run.output.stdout);
        assert!(shown.lines().count() >= 1, "{args:?}: {shown}");
        if said.contains("cannot be measured") || said.contains("cannot be told apart") {
            println!("SKIPPED: {said}");
            continue;
        }
        assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
        assert!(said.contains("not saved"), "{args:?}: {said}");
    }
}

/// Runs the probe as two ranks of a library; `None` where there is none, which is said.
fn under_mpirun(library: &str, args: &[&str]) -> Option<(String, String)> {
    // Open MPI's launchers make and remove one folder of a user's, and fail where another does so meanwhile.
    let files = tempfile::tempdir().unwrap();
    let output = Command::new("timeout")
        .args(["300", &format!("mpirun.{library}"), "-n", "2"])
        .arg(env!("CARGO_BIN_EXE_corecast"))
        .arg("probe")
        .args(args)
        .env("TMPDIR", files.path())
        .env("XDG_CACHE_HOME", "/nonexistent/corecast-tests")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .output()
        .unwrap();
    if output.status.code() == Some(127) {
        let required = std::env::var("CORECAST_REQUIRE_PEERS").is_ok_and(|value| value == "1");
        assert!(!required, "there is no mpirun.{library}");
        println!("SKIPPED: the probe of a network with {library}: there is no mpirun.{library}");
        return None;
    }
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (said, errors) = (text(output.stdout), text(output.stderr));
    Some((said, errors))
}

#[test]
fn a_network_is_measured_under_mpirun_and_its_file_is_one_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("both.json");
    let path = path.to_str().unwrap();
    for library in ["openmpi", "mpich"] {
        let args = ["--time-limit", "1", "--output", path];
        let Some((said, errors)) = under_mpirun(library, &args) else {
            continue;
        };
        // One rank speaks, and says that there is no network here.
        // A busy machine may have messages of some length take a step more, which is said too.
        assert_eq!(said.matches(" between hosts ").count(), 1, "{said}{errors}");
        assert_eq!(said.matches("saved in").count(), 1, "{said}{errors}");
        assert_eq!(errors.matches("as if they were on two hosts").count(), 1);

        let file = MachineFile::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
        let cluster = file.cluster().unwrap();
        assert_eq!(cluster.hosts.len(), 2);
        let measured = cluster.measured.as_ref().unwrap();
        // On a busy machine times may be any; the file was refused if they were below 0 or not finite.
        let network = cluster.network;
        assert!(network.overhead_ns > 0.0, "{network:?}");
        let mut ways = measured.sizes.iter().map(|size| size.one_way.median);
        assert!(ways.all(|way| way > 0.0), "{measured:?}");
        // What the terms say of a message of one byte is what it took.
        let of_byte = measured.sizes[1].one_way.median;
        let off = network.message_ns(1) / of_byte;
        assert!((0.999..1.001).contains(&off), "{off} {measured:?}");

        let plan = corecast(&["plan", "-i", path, "--pattern", "levels"]).text();
        assert!(plan.contains("between hosts: 1 messages"), "{plan}");
    }
}

#[test]
fn what_says_nothing_of_a_network_is_refused_once() {
    for (library, args, refusal) in [
        (
            "openmpi",
            &["--deep"][..],
            "corecast: --deep: under mpirun the network is measured",
        ),
        // The other rank ends as well, which MPICH's launcher waits for.
        (
            "mpich",
            &["--output", "/nonexistent/x.json"],
            "corecast: cannot write \"/nonexistent/x.json\"",
        ),
    ] {
        let Some((said, errors)) = under_mpirun(library, args) else {
            continue;
        };
        assert_eq!(
            (said.trim(), errors.matches(refusal).count()),
            ("", 1),
            "{errors}"
        );
    }
}
