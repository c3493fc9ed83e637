//! The facts of this machine, which are read from the system or found by trying.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use corecast::costs::{self, CostSource};
use corecast::rules;
use corecast::store::{Store, Stored};
use corecast_machine::{CpuList, Discovery, cpu_time, pin_current};
use corecast_model::profile::Circumstances;
use corecast_transfer::Process;
use corecast_wire::{HardwareWait, Segment, copy, fence_kind, shared_fence_kind};
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use serde::Serialize;

use crate::limits::Limits;
use crate::pinning::{Pinning, try_pinning};
use crate::program::Program;

/// How long processors are kept busy to measure the time that the host takes from them.
const STEAL_WATCH: Duration = Duration::from_millis(400);
/// The most processors that are watched: a host that takes time takes it from any.
const STEAL_PUS_MAX: usize = 8;

/// The input of all checks.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    /// The PUs and CPU time that this process may use.
    pub limits: Limits,
    /// Number of PUs that this process may use.
    pub usable: usize,
    /// Number of PUs that are online.
    pub online: usize,
    /// Number of cores of the usable PUs.
    pub cores: usize,
    /// The frequency governors of the PUs, by the governor's and the driver's names.
    pub governors: BTreeMap<String, Governed>,
    /// The instruction by which the CPU waits for a write of a line; absent where it has none.
    pub wait_instruction: Option<&'static str>,
    /// How long the C library's copies take at places that are bad for them, in times of a loop of vectors.
    pub copy_slowness: f64,
    /// Time that the host takes; absent where the kernel does not report it.
    pub steal: Option<Steal>,
    /// Whether threads can be pinned.
    pub pinning: Pinning,
    /// Whether a sealed file in memory can be made and mapped.
    pub shared_memory: Trial,
    /// Whether a process can read the memory of one that is not its child, as ranks of a team do.
    pub peer_memory: Trial,
    /// `kernel.yama.ptrace_scope`, where the kernel has it.
    pub ptrace_scope: Option<u32>,
    /// Whether a descriptor of a process can be opened.
    pub pidfd: Trial,
    /// Whether `membarrier` can replace the fence of a notifying rank.
    pub membarrier: Membarrier,
    /// The room in `/dev/shm`; absent where there is no such file system.
    pub dev_shm: Option<Space>,
    /// The source of the costs from which teams are planned.
    pub costs: CostSource,
    /// The stored profile of races and tunings.
    pub profile: Known,
    /// The program that was examined; absent where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
}

/// PUs under one governor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Governed {
    /// The governor's name.
    pub governor: String,
    /// The driver that sets the frequencies.
    pub driver: String,
    /// The PUs, as a list.
    pub pus: String,
}

/// Time that the host took from busy processors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steal {
    /// Part of the time that the host took, from 0 to 1.
    pub part: f64,
    /// Number of processors watched.
    pub pus: usize,
    /// Time of the watch in seconds.
    pub seconds: f64,
}

/// The outcome of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Trial {
    /// It succeeded.
    Works,
    /// It failed, with the system's message.
    Refused(String),
}

impl Trial {
    fn of<T, E: ToString>(outcome: Result<T, E>) -> Self {
        match outcome {
            Ok(_) => Self::Works,
            Err(error) => Self::Refused(error.to_string()),
        }
    }
}

/// Whether `membarrier` orders a rank that goes to sleep with the one that wakes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Membarrier {
    /// It works among the threads of a process.
    pub threads: bool,
    /// It works between processes.
    pub processes: bool,
    /// `CORECAST_FENCE=symmetric` is set, so it was not tried.
    pub switched_off: bool,
}

/// A file system's room, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Space {
    /// The size of the file system.
    pub total: u64,
    /// The free part.
    pub free: u64,
}

/// The stored profile of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// There is none.
    Absent,
    /// It cannot be used, for this reason.
    Unusable(String),
    /// There is one.
    Found {
        /// Its file.
        path: PathBuf,
        /// Date and time when it was made.
        created: String,
        /// Number of stored races of plans.
        races: usize,
        /// The circumstances under which each tuning was made.
        tunings: Vec<Circumstances>,
        /// The circumstances of today.
        now: Circumstances,
    },
}

impl Facts {
    /// Gathers all facts. Takes about half a second, in which up to eight PUs are busy.
    ///
    /// `reader` starts a process that calls [`read_peer`] with its last three arguments. If that is refused, the
    /// process prints the reason and fails.
    pub fn gather(program: Option<Program>, reader: Command) -> Self {
        let here = corecast_machine::discover();
        let store = Store::standard();
        let pus: Vec<u32> = here.machine.pus.iter().map(|pu| pu.os_index).collect();
        let cores: BTreeSet<u32> = here.machine.pus.iter().map(|pu| pu.core).collect();
        Self {
            limits: Limits::of(&here),
            usable: here.usable.len(),
            online: here.online.len(),
            cores: cores.len(),
            governors: governors(&pus),
            wait_instruction: HardwareWait::here().map(|found| found.instruction().name()),
            copy_slowness: copy::library_slowness(),
            steal: steal(&here, &pus),
            pinning: try_pinning(&pus),
            shared_memory: Trial::of(Segment::shared(1 << 16)),
            peer_memory: peer_memory(reader),
            ptrace_scope: word("/proc/sys/kernel/yama/ptrace_scope").and_then(|w| w.parse().ok()),
            pidfd: Trial::of(pidfd_open(getpid(), PidfdFlags::empty())),
            membarrier: Membarrier {
                threads: fence_kind().is_asymmetric(),
                processes: shared_fence_kind().is_asymmetric(),
                switched_off: std::env::var_os("CORECAST_FENCE").is_some_and(|v| v == "symmetric"),
            },
            dev_shm: dev_shm(),
            costs: costs::here(&store, &here).1,
            profile: profile(&store, &here),
            program,
        }
    }
}

fn word(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn governors(pus: &[u32]) -> BTreeMap<String, Governed> {
    let mut found: BTreeMap<(String, String), CpuList> = BTreeMap::new();
    for &pu in pus {
        let folder = format!("/sys/devices/system/cpu/cpu{pu}/cpufreq");
        if let Some(governor) = word(&format!("{folder}/scaling_governor")) {
            let driver = word(&format!("{folder}/scaling_driver")).unwrap_or_default();
            found.entry((governor, driver)).or_default().insert(pu);
        }
    }
    let governed = |((governor, driver), pus): ((String, String), CpuList)| {
        let key = format!("{governor} by {driver}");
        let pus = pus.to_string();
        (
            key,
            Governed {
                governor,
                driver,
                pus,
            },
        )
    };
    found.into_iter().map(governed).collect()
}

/// Measures the time that the host takes. The processors are kept busy meanwhile, since idle ones lose none.
fn steal(here: &Discovery, pus: &[u32]) -> Option<Steal> {
    let watched = here.unthrottled_parallelism().min(STEAL_PUS_MAX);
    let pus = &pus[..watched.min(pus.len())];
    let begin = cpu_time(pus)?;
    let start = Instant::now();
    thread::scope(|scope| {
        for &pu in pus {
            scope.spawn(move || {
                // If pinning fails the threads still spread over the processors, only less evenly.
                let _ = pin_current(pu);
                while start.elapsed() < STEAL_WATCH {
                    std::hint::spin_loop();
                }
            });
        }
    });
    Some(Steal {
        part: cpu_time(pus)?.stolen_since(&begin),
        pus: pus.len(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Has a child read a word of this process. Systems that permit only parents to read their children refuse this, as
/// they refuse it between ranks, which are siblings.
fn peer_memory(mut reader: Command) -> Trial {
    use std::hash::{BuildHasher, RandomState};
    let word = Box::new(RandomState::new().hash_one(std::process::id()));
    let place = (&raw const *word).addr();
    let asked = reader
        .arg(std::process::id().to_string())
        .arg(place.to_string())
        .arg(word.to_string())
        .stdin(Stdio::null())
        .output();
    match asked {
        Ok(output) if output.status.success() => Trial::Works,
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let silent = || format!("the process that tried ended with {}", output.status);
            Trial::Refused(if said.is_empty() { silent() } else { said })
        }
        Err(error) => Trial::Refused(format!("no process could be started to try it: {error}")),
    }
}

/// Reads `word` at `address` of process `pid`; the child process of [`Facts::gather`] calls it.
///
/// # Errors
///
/// The system's message, if it refuses.
pub fn read_peer(pid: u32, address: u64, word: u64) -> Result<(), String> {
    let opened = Process::open(pid, (address, word));
    opened.map(drop).map_err(|error| error.to_string())
}

fn dev_shm() -> Option<Space> {
    let stat = rustix::fs::statvfs("/dev/shm").ok()?;
    Some(Space {
        total: stat.f_blocks.saturating_mul(stat.f_frsize),
        free: stat.f_bavail.saturating_mul(stat.f_frsize),
    })
}

fn profile(store: &Store, here: &Discovery) -> Known {
    match store.profile(&here.machine) {
        Stored::Absent => Known::Absent,
        Stored::Unusable(reason) => Known::Unusable(reason),
        Stored::Found(path, profile) => Known::Found {
            path,
            created: profile.created,
            races: profile.entries.len(),
            tunings: profile.tunings.into_iter().map(|t| t.under).collect(),
            now: rules::circumstances(here),
        },
    }
}

impl Facts {
    /// Facts of a made-up machine of four cores with one PU each, on which no check finds a problem, for tests.
    pub fn sound() -> Self {
        let mut limits = Limits::of(&corecast_machine::discover_at(
            std::path::Path::new("/nowhere"),
            &corecast_machine::Options::default(),
        ));
        limits.usable = "0-3".into();
        limits.online = "0-3".into();
        Self {
            limits,
            usable: 4,
            online: 4,
            cores: 4,
            governors: BTreeMap::new(),
            wait_instruction: None,
            copy_slowness: 1.0,
            steal: Some(Steal {
                part: 0.0,
                pus: 4,
                seconds: 0.4,
            }),
            pinning: Pinning {
                possible: vec![0, 1, 2, 3],
                refused: Vec::new(),
                reason: None,
            },
            shared_memory: Trial::Works,
            peer_memory: Trial::Works,
            ptrace_scope: Some(0),
            pidfd: Trial::Works,
            membarrier: Membarrier {
                threads: true,
                processes: true,
                switched_off: false,
            },
            dev_shm: Some(Space {
                total: 8 << 30,
                free: 8 << 30,
            }),
            costs: CostSource::Measured {
                path: "machine.json".into(),
                when: None,
            },
            profile: Known::Found {
                path: "profile.json".into(),
                created: "2026-11-23".into(),
                races: 3,
                tunings: Vec::new(),
                now: Circumstances::default(),
            },
            program: None,
        }
    }
}
