//! Records of teams: of one that is asked for its own, and of all of a process, which are written at its end where the
//! environment asks for that.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::ptr::without_provenance;
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Instant;

use corecast_team::{CallKind, CallSite, Recording, Stay};
use corecast_wire::arch::{cycles, cycles_per_ns};
use corecast_wire::ending;
use corecast_wire::sync::{AtomicU32, Ordering};

use crate::debug::{Level, say};
use crate::record::{self, Kind, Object, Place, Record, SCHEMA, Sums, Wait};

/// Sums by place and kind, and the objects that places are in.
#[derive(Debug, Default)]
struct Waits {
    sums: BTreeMap<(Place, Kind), Sums>,
    objects: Vec<Object>,
    /// The object of each address that was seen.
    found: HashMap<NonZeroUsize, Option<usize>>,
}

/// The teams of this process whose record is written at its end.
#[derive(Debug)]
struct Teams {
    folder: PathBuf,
    process: u32,
    made: Instant,
    live: Vec<Arc<Recording>>,
    /// Of teams that have ended.
    waits: Waits,
    threads: usize,
    /// Of members of teams that have ended.
    stays: Vec<Stay>,
    /// Of threads whose calls others have noted.
    noted: HashMap<ThreadId, Stay>,
}

static TEAMS: Mutex<Option<Teams>> = Mutex::new(None);

/// The process that [`TEAMS`] is about, which a forked one must not wait for: a thread that is not in it may hold it.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// This process's rank in its job, if somebody has said it.
static RANK: OnceLock<usize> = OnceLock::new();

pub(crate) fn set_rank(rank: usize) {
    let _ = RANK.set(rank);
}

fn teams() -> MutexGuard<'static, Option<Teams>> {
    TEAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The record of one team, made at that moment.
pub(crate) fn record(recording: &Recording, ranks: usize, made: Instant) -> Record {
    let mut waits = Waits::default();
    waits.add(recording);
    record_of(waits, ranks, recording.member_ns(), made)
}

/// Has the calls of a team with `ranks` ranks in this process written at the end of the process, if the environment asks
/// for that.
pub(crate) fn write_at_end(recording: &Arc<Recording>, ranks: usize) {
    of_this_process(|teams| {
        teams.settle(|recording| Arc::strong_count(recording) == 1);
        teams.threads = teams.threads.max(ranks);
        teams.live.push(Arc::clone(recording));
    });
}

/// Adds a call of the calling thread, which ends now, to what is written at the end of the process, if the environment asks
/// for that. Between its first and its last one the thread counts as busy with calls.
pub(crate) fn note(code: NonZeroUsize, kind: Kind, is_own: bool, began: u64) {
    let (thread, left) = (thread::current().id(), cycles());
    let joined = began.min(left);
    of_this_process(|teams| {
        teams.threads = teams.threads.max(1);
        let first = Stay {
            thread: Some(thread),
            joined,
            left,
        };
        teams.noted.entry(thread).or_insert(first).left = left;
        let place = teams.waits.code(code, None);
        let sums = Sums::whole(is_own, ns(left - joined));
        *teams.waits.sums.entry((place, kind)).or_default() += sums;
    });
}

/// Calls `add` with what this process has recorded, if the environment asks for a record.
fn of_this_process(add: impl FnOnce(&mut Teams)) {
    let process = std::process::id();
    let mut teams = teams();
    // The teams of a parent are in its own record.
    if teams.as_ref().is_none_or(|teams| teams.process != process) {
        let Some(folder) = record::folder() else {
            return;
        };
        *teams = Some(Teams {
            folder,
            process,
            made: Instant::now(),
            live: Vec::new(),
            waits: Waits::default(),
            threads: 0,
            stays: Vec::new(),
            noted: HashMap::new(),
        });
        PROCESS.store(process, Ordering::Relaxed);
        // A forked process inherits it.
        static AT_EXIT: Once = Once::new();
        AT_EXIT.call_once(|| _ = ending::at_exit(finish));
    }
    teams.as_mut().map(add);
}

impl Teams {
    /// Adds up the calls of live teams that have `ended`, and forgets these teams.
    fn settle(&mut self, ended: impl Fn(&Arc<Recording>) -> bool) {
        let (ended, live) = self.live.drain(..).partition(ended);
        self.live = live;
        for recording in Vec::from_iter::<Vec<_>>(ended) {
            self.waits.add(&recording);
            self.stays.extend(recording.stays());
        }
    }
}

/// Nanoseconds of all threads together: where stays of a thread overlap, as it is in several teams, they count once.
fn ns_of(mut stays: Vec<Stay>) -> u64 {
    stays.sort_by_key(|stay| stay.joined);
    let mut ends: HashMap<ThreadId, u64> = HashMap::new();
    let mut ticks = 0;
    for stay in stays {
        let Some(thread) = stay.thread else {
            ticks += stay.left - stay.joined;
            continue;
        };
        let end = ends.entry(thread).or_insert(stay.joined);
        ticks += stay.left.saturating_sub(stay.joined.max(*end));
        *end = stay.left.max(*end);
    }
    ns(ticks)
}

fn ns(ticks: u64) -> u64 {
    (ticks as f64 / cycles_per_ns()).round() as u64
}

/// Called at the end of the process: writes the record.
extern "C" fn finish() {
    let process = std::process::id();
    if PROCESS.load(Ordering::Relaxed) != process {
        return;
    }
    let Some(mut teams) = teams().take() else {
        return;
    };
    teams.settle(|_| true);
    if teams.waits.sums.is_empty() {
        return;
    }
    teams.stays.extend(teams.noted.into_values());
    let in_teams_ns = ns_of(teams.stays);
    let record = record_of(teams.waits, teams.threads, in_teams_ns, teams.made);
    let path = teams.folder.join(format!("{process}-teams.json"));
    let text = serde_json::to_vec(&record).map_err(Into::into);
    if let Err(error) = text.and_then(|text| std::fs::write(&path, text)) {
        say(Level::Warn, || {
            format!(
                "cannot write the record of waits to {}: {error}",
                path.display()
            )
        });
    }
}

fn record_of(waits: Waits, threads: usize, in_regions_ns: u64, made: Instant) -> Record {
    let wait = |((place, kind), sums)| Wait { place, kind, sums };
    Record {
        schema: SCHEMA,
        program: record::program(),
        process: std::process::id(),
        seconds: made.elapsed().as_secs_f64(),
        threads,
        in_regions_ns,
        objects: waits.objects,
        waits: waits.sums.into_iter().map(wait).collect(),
    }
}

impl Waits {
    fn add(&mut self, recording: &Recording) {
        for at in recording.calls() {
            let place = match at.site {
                CallSite::Source(site) => Place::Call {
                    file: site.file().to_owned(),
                    line: site.line(),
                    column: site.column(),
                    rank: at.rank,
                },
                CallSite::Code(address) => self.code(address, Some(at.rank)),
            };
            let kind = match at.kind {
                CallKind::Operation(operation) => Kind::Operation(operation),
                CallKind::Start(operation) => Kind::Start(operation),
                CallKind::Wait => Kind::Wait,
            };
            *self.sums.entry((place, kind)).or_default() += Sums {
                times: at.sums.calls,
                own: at.sums.calls,
                imbalance_ns: at.sums.imbalance,
                mechanism_ns: at.sums.mechanism,
                unsplit: at.sums.unsplit,
                unsplit_ns: at.sums.unsplit_time,
                longest_ns: at.sums.longest,
            };
        }
    }

    /// A place in the program's code. `rank` is that of a team, which counts unless the process has one.
    fn code(&mut self, address: NonZeroUsize, rank: Option<usize>) -> Place {
        let objects = &mut self.objects;
        let object = self.found.entry(address).or_insert_with(|| {
            let object = Object::of(without_provenance(address.get()))?;
            let known = objects.iter().position(|known| *known == object);
            Some(known.unwrap_or_else(|| {
                objects.push(object);
                objects.len() - 1
            }))
        });
        Place::Code {
            object: *object,
            address: address.get() as u64,
            rank: RANK.get().copied().or(rank),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_thread_counts_once() {
        let here = thread::current().id();
        let other = thread::spawn(|| thread::current().id()).join().unwrap();
        let (here, other) = (Some(here), Some(other));
        let check = |stays: &[(Option<ThreadId>, u64, u64)], millions: u64| {
            let stay = |&(thread, from, to): &(_, u64, u64)| Stay {
                thread,
                joined: from * 1_000_000,
                left: to * 1_000_000,
            };
            let expected = (millions * 1_000_000) as f64 / cycles_per_ns();
            assert_eq!(
                ns_of(stays.iter().map(stay).collect()),
                expected.round() as u64
            );
        };
        check(&[], 0);
        check(&[(here, 1, 4), (here, 2, 3)], 3);
        check(&[(here, 2, 6), (here, 1, 3)], 5);
        check(&[(here, 1, 2), (here, 4, 5)], 2);
        check(&[(here, 1, 3), (other, 1, 3)], 4);
        check(&[(None, 1, 3), (None, 1, 3)], 4);
    }
}
