//! One message between two ranks: half of a round trip.
//!
//! The probe measures this time, and models of machines are made of it. Corecast's queues race
//! against hand-written loops and, where it is installed, against `core-to-core-latency` (Viennot),
//! a program that people measure their machines with: `cargo install core-to-core-latency`.

use crate::cpu_placement::CpuPlacement;
use crate::engine::{Engine, Flaw, Ledger, Member, Role};
use crate::external::{External, Print};
use crate::floor;
use crate::race::Entrant;
use corecast_wire::queue::{self, Backend, Options, Receiver, Sender};
use corecast_wire::{SegmentError, WaitConfig};
use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Name of the other program; `REMEDY` installs it.
const PROGRAM: &str = "core-to-core-latency";
const REMEDY: &str = "cargo install core-to-core-latency";

/// Round trips per sample of that program. All `SAMPLES` take a few milliseconds.
const ROUND_TRIPS: u64 = 1000;
const SAMPLES: u64 = 20;

/// Slots of the queues, of which at most one is in use at a time.
const SLOTS: usize = 64;

/// Bytes of a message: as many as a cache line holds beside its header.
const BYTES: usize = queue::SLOT_PAYLOAD_BYTES;

/// The entrants of a race on two placements; with `peers`, `core-to-core-latency` is among them.
///
/// # Errors
///
/// [`SegmentError`] when memory is short.
///
/// # Panics
///
/// If there are not two placements.
pub fn entrants(
    placements: &[CpuPlacement],
    peers: bool,
) -> Result<Vec<Entrant<'static>>, SegmentError> {
    assert_eq!(
        placements.len(),
        2,
        "a message goes from one rank to another"
    );
    let mut entrants: Vec<Entrant<'static>> = floor::round_trips().into();
    entrants.push(Entrant::threads(floor::Swap::new()));
    for backend in Backend::ALL {
        entrants.push(Entrant::threads(Queue::new(backend)?));
    }
    if peers {
        entrants.extend(core_to_core(placements));
    }
    Ok(entrants)
}

/// An entrant for each of the two methods of `core-to-core-latency` that make round trips.
fn core_to_core(placements: &[CpuPlacement]) -> Vec<Entrant<'static>> {
    let ways = [
        ("1", "compare-and-swap on one line"),
        ("2", "a line each way"),
    ];
    let (CpuPlacement::Pu(a), CpuPlacement::Pu(b)) = (placements[0], placements[1]) else {
        return vec![Entrant::absent(PROGRAM, "", "it pins its threads")];
    };
    let Some(program) = find(PROGRAM, env::var_os("PATH").as_deref(), env::home_dir()) else {
        return vec![Entrant::absent(
            PROGRAM,
            "",
            format!("not found ({REMEDY})"),
        )];
    };
    let entrant = |(number, words): (&str, &str)| {
        let setting = format!("{words}: {ROUND_TRIPS} {SAMPLES} -b {number} -c {a},{b}");
        let mut external = External::new(PROGRAM, setting, &program);
        let cores = format!("{a},{b}");
        let (trips, samples) = (ROUND_TRIPS.to_string(), SAMPLES.to_string());
        let words = [&trips, &samples, "--csv", "-b", number, "-c", &cores];
        external.arguments = words.map(Into::into).into();
        // Each round trip is two messages.
        external.print = Print::Matrix(2 * ROUND_TRIPS * SAMPLES);
        Entrant::process(external)
    };
    ways.map(entrant).into()
}

/// Finds a program on the path, or where cargo installs programs.
fn find(name: &str, path: Option<&OsStr>, home: Option<PathBuf>) -> Option<PathBuf> {
    let folders = path.map(|path| env::split_paths(path).collect::<Vec<_>>());
    let cargo = home.map(|home| home.join(".cargo/bin"));
    let mut folders = folders.unwrap_or_default().into_iter().chain(cargo);
    folders.find_map(|folder| {
        let program = folder.join(name);
        program.is_file().then_some(program)
    })
}

/// Two of Corecast's queues, one in each direction.
pub struct Queue {
    backend: Backend,
    ends: [Mutex<Option<(Sender, Receiver)>>; 2],
}

impl Queue {
    /// Creates both queues, whose ends spin while they wait.
    ///
    /// # Errors
    ///
    /// [`SegmentError`] when memory is short.
    pub fn new(backend: Backend) -> Result<Queue, SegmentError> {
        let options = Options {
            backend,
            slots: SLOTS,
            wait_config: WaitConfig::SPIN,
            ..Options::default()
        };
        let (there, come) = queue::queue(&options)?;
        let (back, go) = queue::queue(&options)?;
        Ok(Queue {
            backend,
            ends: [(there, go), (back, come)].map(|ends| Mutex::new(Some(ends))),
        })
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({:?})", self.backend)
    }
}

impl Engine for Queue {
    fn name(&self) -> &str {
        match self.backend {
            Backend::Ump => "corecast ump",
            Backend::FastForward => "corecast fastforward",
        }
    }

    fn setting(&self) -> String {
        format!("a queue each way, {BYTES} bytes, spins")
    }

    fn role(&self) -> Role {
        Role::Corecast
    }

    fn ranks(&self) -> usize {
        2
    }

    fn parts(&self) -> u32 {
        2
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        let mut ends = self.ends[rank]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (sender, receiver) = ends.take().expect("queues serve one race");
        Box::new(QueueRank {
            rank,
            sender,
            receiver,
            number: 0,
        })
    }
}

struct QueueRank {
    rank: usize,
    sender: Sender,
    receiver: Receiver,
    number: u64,
}

const GONE: &str = "both ends last as long as the race";

impl QueueRank {
    fn send(&mut self, message: &[u8; BYTES]) {
        self.sender.send(message).expect(GONE);
    }

    fn receive(&mut self) -> [u8; BYTES] {
        let mut message = [0; BYTES];
        self.receiver.receive(&mut message).expect(GONE);
        message
    }

    /// At rank 0, sends a message and waits for it to come back; at rank 1, returns the one that
    /// comes. Gives the message received.
    fn trip(&mut self) -> [u8; BYTES] {
        if self.rank > 0 {
            let message = self.receive();
            self.send(&message);
            return message;
        }
        self.number += 1;
        self.send(&[self.number as u8; BYTES]);
        self.receive()
    }
}

impl Member for QueueRank {
    fn run(&mut self, operations: u64) {
        for _ in 0..operations {
            std::hint::black_box(self.trip());
        }
    }

    fn verify(&mut self, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let mut flaw = Ok(());
        for number in 1..=ledger.rounds() {
            let (message, expected) = (self.trip(), [number as u8; BYTES]);
            if message != expected && flaw.is_ok() {
                flaw = Err(Flaw::WrongResult(format!(
                    "message {number} reached rank {rank} as {message:?}"
                )));
            }
        }
        flaw
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn programs_are_found_on_the_path_and_where_cargo_installs() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".cargo/bin");
        fs::create_dir_all(&folder).unwrap();
        let of = |path: Option<&OsStr>| find("x", path, Some(home.path().to_owned()));
        assert_eq!(of(None), None);
        fs::write(folder.join("x"), "").unwrap();
        assert_eq!(of(None), Some(folder.join("x")));
        let other = home.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("x"), "").unwrap();
        let path = env::join_paths([home.path(), &other]).unwrap();
        assert_eq!(of(Some(&path)), Some(other.join("x")));
    }

    #[test]
    fn unpinned_races_say_who_is_missing() {
        let missing = core_to_core(&[CpuPlacement::Free, CpuPlacement::Free]);
        assert_eq!(missing.len(), 1);
        assert!(missing[0].reason_absent().is_some());
    }
}
