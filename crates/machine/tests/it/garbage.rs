//! Random damage to a fixture: discovery neither panics nor breaks its invariants.

use std::fs;
use std::path::{Path, PathBuf};

use corecast_machine::Scope;

use crate::fixture::Fixture;

const GARBAGE: &[&[u8]] = &[
    b"",
    b"-1",
    b"0",
    b"4294967295",
    b"99999999999999999999999",
    b"0-3,",
    b"3-0",
    b"0-65535",
    b"7,1000,65535",
    b"0-7:3/2",
    b"\xff\xfe\x00\x80",
    b"max max",
    b"-1 0",
    b"1 1",
    b"\n\n\n:\n::\n0::/../..\n - cgroup2 \n",
    b"processor : 99999\nCPU part : 0x\nflags :",
    b"Node 0 MemTotal: 18446744073709551615 kB",
    b"Data\nData",
    b"1K",
];

/// A machine with all files that discovery reads, control groups included.
fn full() -> Fixture {
    let fixture = Fixture::grid(2, 2, 1, 2);
    fixture.write("/proc/self/cgroup", "3:cpu,cpuset:/a\n0::/a/b");
    fixture.write(
        "/proc/self/mountinfo",
        "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
         31 23 0:27 / /cg1 rw - cgroup cgroup rw,cpu,cpuset",
    );
    fixture.write("/sys/fs/cgroup/a/b/cpu.max", "150000 100000");
    fixture.write("/sys/fs/cgroup/a/b/cpuset.cpus.effective", "0-6");
    fixture.write("/cg1/a/cpu.cfs_quota_us", "500000");
    fixture.write("/cg1/a/cpu.cfs_period_us", "100000");
    fixture.write("/cg1/a/cpuset.effective_cpus", "1-7");
    fixture.write("/proc/self/status", "Mems_allowed_list:\t0-3");
    fixture.write("/sys/devices/cpu_core/cpus", "0-3");
    fixture
}

fn files(directory: &Path, all: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    // The order of a directory differs between file systems; a seed must replay anywhere.
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, all);
        }
        all.push(path);
    }
}

/// Damages the fixture `times` times, discovering after each. A failure names the seed.
fn damage(seed: u64, times: usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let fixture = full();
    for _ in 0..times {
        let mut all = Vec::new();
        files(fixture.root(), &mut all);
        let Some(path) = random.choice(&all) else {
            return;
        };
        match (random.u8(0..4), path.is_dir()) {
            (0, true) => fs::remove_dir_all(path).unwrap(),
            (1, true) => {
                fs::remove_dir_all(path).unwrap();
                fs::write(path, b"not a directory").unwrap();
            }
            (_, true) => {}
            (0, false) => fs::remove_file(path).unwrap(),
            (1, false) => {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            }
            (_, false) => fs::write(path, random.choice(GARBAGE).unwrap()).unwrap(),
        }
        let mask = random
            .choice([None, Some("0-7"), Some("2,4"), Some("9-12")])
            .unwrap();
        let scope = if random.bool() {
            Scope::Usable
        } else {
            Scope::Online
        };
        // `discover_as` checks the invariants.
        fixture.discover_as(mask, scope);
    }
}

#[test]
fn random_damage_never_breaks_discovery() {
    let seeds = match std::env::var("CORECAST_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
    {
        Some(seed) => seed..seed + 1,
        None => 0..60_u64,
    };
    for seed in seeds {
        let outcome = std::panic::catch_unwind(|| damage(seed, 25));
        assert!(outcome.is_ok(), "replay with CORECAST_TEST_SEED={seed}");
    }
}

#[test]
fn every_single_file_missing_or_garbled() {
    let pristine = full();
    let mut all = Vec::new();
    files(pristine.root(), &mut all);
    for path in all.iter().filter(|path| path.is_file()) {
        let original = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        pristine.discover();
        // The most telling kinds of garbage: out of range, backwards, no text.
        for garbage in [1, 6, 8, 10].map(|at| GARBAGE[at]) {
            fs::write(path, garbage).unwrap();
            pristine.discover();
        }
        fs::write(path, original).unwrap();
    }
}
