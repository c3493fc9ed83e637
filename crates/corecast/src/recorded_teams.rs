//! Records of teams: of one that is asked for its own, and of all of a process, which are written at its end where the
//! environment asks for that.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Instant;

use corecast_team::{CallKind, Recording};
use corecast_wire::ending;
use corecast_wire::sync::{AtomicU32, Ordering};

use crate::debug::{Level, say};
use crate::record::{self, Kind, Place, Record, SCHEMA, Sums, Wait};

/// Sums by place and kind.
type Waits = BTreeMap<(Place, Kind), Sums>;

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
    member_ns: u64,
}

static TEAMS: Mutex<Option<Teams>> = Mutex::new(None);

/// The process that [`TEAMS`] is about, which a forked one must not wait for: a thread that is not in it may hold it.
static PROCESS: AtomicU32 = AtomicU32::new(0);

fn teams() -> MutexGuard<'static, Option<Teams>> {
    TEAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The record of one team, made at that moment.
pub(crate) fn record(recording: &Recording, ranks: usize, made: Instant) -> Record {
    let mut waits = Waits::new();
    add(recording, &mut waits);
    record_of(waits, ranks, recording.member_ns(), made)
}

/// Has the calls of a team with `ranks` ranks in this process written at the end of the process, if the environment asks
/// for that.
pub(crate) fn write_at_end(recording: &Arc<Recording>, ranks: usize) {
    let Some(folder) = record::folder() else {
        return;
    };
    let process = std::process::id();
    let mut teams = teams();
    // The teams of a parent are in its own record.
    let teams = match &mut *teams {
        Some(teams) if teams.process == process => teams,
        other => other.insert(Teams {
            folder,
            process,
            made: Instant::now(),
            live: Vec::new(),
            waits: Waits::new(),
            threads: 0,
            member_ns: 0,
        }),
    };
    PROCESS.store(process, Ordering::Relaxed);
    teams.settle(|recording| Arc::strong_count(recording) == 1);
    teams.threads = teams.threads.max(ranks);
    teams.live.push(Arc::clone(recording));
    // A forked process inherits it.
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| _ = ending::at_exit(finish));
}

impl Teams {
    /// Adds up the calls of live teams that have `ended`, and forgets these teams.
    fn settle(&mut self, ended: impl Fn(&Arc<Recording>) -> bool) {
        let (ended, live) = self.live.drain(..).partition(ended);
        self.live = live;
        for recording in Vec::from_iter::<Vec<_>>(ended) {
            add(&recording, &mut self.waits);
            self.member_ns += recording.member_ns();
        }
    }
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
    if teams.waits.is_empty() {
        return;
    }
    let record = record_of(teams.waits, teams.threads, teams.member_ns, teams.made);
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
    let program = std::env::current_exe();
    let wait = |((place, kind), sums)| Wait { place, kind, sums };
    Record {
        schema: SCHEMA,
        program: program.map_or_else(|_| "unknown".into(), |path| path.to_string_lossy().into()),
        process: std::process::id(),
        seconds: made.elapsed().as_secs_f64(),
        threads,
        in_regions_ns,
        objects: Vec::new(),
        waits: waits.into_iter().map(wait).collect(),
    }
}

fn add(recording: &Recording, waits: &mut Waits) {
    for at in recording.calls() {
        let place = Place::Call {
            file: at.site.file().to_owned(),
            line: at.site.line(),
            column: at.site.column(),
            rank: at.rank,
        };
        let kind = match at.kind {
            CallKind::Operation(operation) => Kind::Operation(operation),
            CallKind::Start(operation) => Kind::Start(operation),
            CallKind::Wait => Kind::Wait,
        };
        *waits.entry((place, kind)).or_default() += Sums {
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
