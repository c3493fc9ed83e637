//! `corecast serve` as a process: what it prints, that it answers, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::corecast;

/// Starts the command; returns it with the first line that it prints.
fn started(arguments: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .arg("serve")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = child.stdout.as_mut().unwrap();
    BufReader::new(out).read_line(&mut line).unwrap();
    (child, line)
}

fn asked(address: &str, requests: &[u8], reply_bytes: usize) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(requests).unwrap();
    let mut replies = vec![0; reply_bytes];
    stream.read_exact(&mut replies).unwrap();
    String::from_utf8(replies).unwrap()
}

#[test]
fn it_serves_and_ends_well_by_each_signal() {
    for (replicas, signal) in [("1", Signal::TERM), ("2", Signal::INT), ("3", Signal::HUP)] {
        let (mut child, line) = started(&["--port", "0", "--replicas", replicas]);
        let told = line.strip_prefix("corecast: serving on ").expect(&line);
        let (address, rest) = told.split_once(", ").unwrap();
        assert!(rest.starts_with(&format!("{replicas} replica")), "{line}");
        let expected = "+OK\r\n$2\r\n42\r\n";
        let found = asked(address, b"SET a 42\r\nGET a\r\n", expected.len());
        assert_eq!(found, expected);
        // A client that stays does not hold it up.
        let _client = TcpStream::connect(address).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal:?}");
        let mut errors = String::new();
        child.stderr.unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!(errors, "");
    }
}

/// The processes of which this one is the parent.
fn children(parent: u32) -> Vec<Pid> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = all.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |number: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        let behind = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        behind.split(' ').nth(1) == Some(&parent.to_string())
    };
    numbers.filter(is_child).filter_map(Pid::from_raw).collect()
}

#[test]
fn processes_serve_are_started_again_and_end_well() {
    let (mut child, line) = started(&["--port", "0", "--replicas", "3", "--processes"]);
    let told = line.strip_prefix("corecast: serving on ").expect(&line);
    let (address, rest) = told.split_once(", ").unwrap();
    assert_eq!(rest, "3 replicas as asked for, each a process\n");
    assert_eq!(asked(address, b"SET a 42\r\n", 5), "+OK\r\n");
    // Until all have begun, the first two may be all that have the data.
    let serving = |number: usize| {
        let mut found = Vec::new();
        while found.len() < number {
            found = children(child.id());
        }
        found
    };
    let first = serving(3);
    kill_process(first[0], Signal::KILL).unwrap();
    let get = || asked(address, b"GET a\r\n", 8);
    assert_eq!(get(), "$2\r\n42\r\n");
    while serving(3).contains(&first[0]) {}
    assert_eq!(get(), "$2\r\n42\r\n");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut errors = String::new();
    child.stderr.unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "");
}

#[test]
fn json_says_where_and_how_many() {
    let (mut child, line) = started(&["--json", "--port", "0", "--password", "secret"]);
    let told: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(told["schema"], 1);
    assert!(told["replicas"].as_u64().is_some_and(|it| it > 0));
    let refusal = "-NOAUTH Authentication required.\r\n";
    let found = asked(
        told["address"].as_str().unwrap(),
        b"GET a\r\n",
        refusal.len(),
    );
    assert_eq!(found, refusal);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_folder_keeps_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let dir = path.to_str().unwrap();
    for expected in [":1\r\n", ":2\r\n"] {
        let (mut child, line) = started(&["--port", "0", "--dir", dir, "--appendfsync", "always"]);
        let told = line.strip_prefix("corecast: serving on ").expect(&line);
        let (address, _) = told.split_once(", ").unwrap();
        assert_eq!(asked(address, b"INCR a\r\n", expected.len()), expected);
        let second = corecast(&["serve", "--port", "0", "--dir", dir]).refusal();
        assert!(
            second.contains("another server has it") && second.contains(dir),
            "{second}"
        );
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_folder_keeps_what_processes_have_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let dir = path.to_str().unwrap();
    let arguments = ["--port", "0", "--dir", dir, "--appendfsync", "everysec"];
    let processes = ["--processes", "--replicas", "2"];
    // A folder may be given to a server of either kind.
    let kinds: [&[&str]; 4] = [&processes, &processes, &[], &processes];
    for (kind, expected) in kinds.iter().zip([":1\r\n", ":2\r\n", ":3\r\n", ":4\r\n"]) {
        let (mut child, line) = started(&[&arguments[..], kind].concat());
        let told = line.strip_prefix("corecast: serving on ").expect(&line);
        let (address, _) = told.split_once(", ").unwrap();
        assert_eq!(asked(address, b"INCR a\r\n", expected.len()), expected);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let mut errors = String::new();
        child.stderr.unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!(errors, "");
    }
}

#[test]
fn what_it_cannot_do_is_refused() {
    let refused = |arguments: &[&str]| corecast(&[&["serve"], arguments].concat()).refusal();
    assert!(refused(&["--replicas", "0"]).contains("0 replicas: 1 to 64 are possible"));
    let many = refused(&["--replicas", "17", "--processes"]);
    assert!(many.contains("17 replicas: 1 to 16 are possible as processes"));
    assert!(refused(&["--bind", "192.0.2.1"]).contains("--bind 192.0.2.1 --port 6379"));
    assert!(refused(&["--bind", "nowhere"]).contains("nowhere"));
    assert!(refused(&["-i", "core:4"]).contains("leave out -i"));
    assert!(refused(&["--appendfsync", "always"]).contains("--dir"));
    assert!(refused(&["--dir", "/nonexistent/a", "--appendfsync", "often"]).contains("`everysec`"));
    assert!(refused(&["--dir", "/proc/nothing"]).contains("/proc/nothing"));
    assert!(refused(&["--password-file", "/nonexistent"]).contains("/nonexistent"));
}
