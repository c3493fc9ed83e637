//! The log and its snapshots on a disk that crashes: what was told to be durable is there afterwards, and what is there is
//! the beginning of the order.
//!
//! A case is a seed. `CORECAST_REPLAY=seed` runs one, `CORECAST_TEST_SEEDS=n` the first n.

use std::io;
use std::sync::Arc;

use super::disk::Disk;
use super::fault::{self, Fault};
use super::log::Log;
use super::record::Entries;
use super::recovery::{Recovered, Restore, recover};
use super::simulated::SimulatedDisk;
use super::snapshot;

/// Small, so that segments are begun often.
const SEGMENT_BYTES: u64 = 1400;
const LIVES: u32 = 6;
const STEPS: u32 = 30;

/// What is recovered: the entries that came.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct List(pub(super) Vec<Vec<u8>>);

impl Restore for List {
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut rest = bytes;
        while let Some((length, more)) = rest.split_first() {
            let length = usize::from(*length);
            let value = more.get(..length).ok_or("an entry that is too long")?;
            self.0.push(value.to_vec());
            rest = &more[length..];
        }
        Ok(())
    }

    fn entry(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.0.push(bytes.to_vec());
        Ok(())
    }
}

/// What a server has done and told.
#[derive(Default)]
struct Told {
    /// By index: what was written, or nothing.
    order: Vec<Option<Vec<u8>>>,
    /// So many entries were told to be durable.
    durable: u64,
}

impl Told {
    fn values(&self, end: u64) -> impl Iterator<Item = &Vec<u8>> {
        self.order[..end as usize].iter().flatten()
    }

    /// What is wrong with what was recovered, given that so many entries have to be there.
    fn wrong(&self, found: &Recovered<List>, least: u64) -> Option<String> {
        let end = found.log.end();
        let List(values) = &found.state;
        match () {
            () if end < least => Some(format!("{least} entries were durable, {end} are there")),
            () if end > self.order.len() as u64 => Some(format!("{end} entries are too many")),
            () if !self.values(end).eq(values) => {
                let same = self.values(end).zip(values).take_while(|(l, r)| l == r);
                Some(format!(
                    "{} values, of which {} are right",
                    values.len(),
                    same.count()
                ))
            }
            () => None,
        }
    }
}

/// One life of a server: it ends when the disk does, or something fails, or by itself.
struct Life<'a> {
    disk: &'a Arc<dyn Disk>,
    random: &'a mut fastrand::Rng,
    told: &'a mut Told,
    log: Log,
    number: u32,
}

impl Life<'_> {
    /// Appends a record with some entries.
    fn append(&mut self) -> io::Result<()> {
        let mut entries = Entries::default();
        let first = self.log.end();
        // What was not written when the log was left behind a snapshot lies before.
        entries.begin(first);
        for index in first..first + self.random.u64(1..5) {
            // No value is there twice, so that one of an earlier life shows.
            let mut value = format!("{}.{index}.", self.number).into_bytes();
            let more = self.random.usize(..).checked_rem(90).unwrap_or(0);
            value.resize(value.len() + more, b'x');
            let value = Some(value).filter(|_| self.random.u8(..10) > 0);
            if let Some(value) = &value {
                assert!(entries.add(index, |out| out.extend_from_slice(value)));
            }
            self.told.order.push(value);
        }
        self.log.append(&entries, self.told.order.len() as u64)
    }

    fn snapshot(&mut self) -> io::Result<()> {
        // A replica may have applied more than was written.
        if self.random.bool() {
            self.append()?;
        }
        let index = self.told.order.len() as u64;
        let values: Vec<Vec<u8>> = self.told.values(index).cloned().collect();
        snapshot::write(self.disk, index, |writer| {
            for piece in values.chunks(5) {
                let lengths = piece.iter().map(|it| [&[it.len() as u8], &it[..]].concat());
                writer.chunk(&lengths.collect::<Vec<_>>().concat())?;
            }
            Ok(())
        })?;
        snapshot::remove_older(self.disk, index)
    }

    fn step(&mut self) -> io::Result<()> {
        match self.random.u8(..12) {
            0 => return self.snapshot(),
            1..=3 => {
                // A sync beside the log, which goes on meanwhile.
                self.log.write()?;
                if let Some((file, end)) = self.log.unsynced() {
                    if self.random.bool() {
                        self.append()?;
                    }
                    let synced = file.sync_all();
                    for _ in 0..self.random.u8(..4) {
                        self.append()?;
                        self.log.write()?;
                    }
                    self.log.synced(end, synced)?;
                }
            }
            4..=5 => {
                self.append()?;
                self.log.write()?;
            }
            _ => {
                self.append()?;
                self.log.write()?;
                self.log.sync()?;
            }
        }
        self.told.durable = self.log.durable();
        Ok(())
    }

    fn run(&mut self) {
        for _ in 0..STEPS {
            if self.step().is_err() {
                // Whoever goes on is told nothing: a failed log stays failed. Snapshots may fail alone.
                if self.log.failed().is_some() {
                    for _ in 0..self.random.u8(..3) {
                        let _ = self.step();
                    }
                }
                return;
            }
        }
    }
}

/// What went wrong in the case of a seed.
fn case(seed: u64) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let simulated = SimulatedDisk::new(random.u64(..));
    let disk: Arc<dyn Disk> = Arc::new(simulated.clone());
    let mut told = Told::default();
    for number in 0..LIVES {
        // A crash amid recovery is one, too.
        if random.u8(..4) == 0 {
            simulated.crash_in(random.u64(..8));
        }
        let recovered = recover::<List>(&disk, SEGMENT_BYTES);
        let recovered = match recovered {
            Err(_) if simulated.has_crashed() => {
                simulated.crash();
                continue;
            }
            other => other.map_err(|error| format!("life {number}: {error}"))?,
        };
        if let Some(wrong) = told.wrong(&recovered, told.durable) {
            return Err(format!("life {number}: {wrong}"));
        }
        let log = recovered.log;
        told.order.truncate(log.end() as usize);
        told.durable = log.durable();
        match random.u8(..4) {
            0 => simulated.fail_in(random.u64(..60)),
            1 => {}
            _ => simulated.crash_in(random.u64(..60)),
        }
        let mut life = Life {
            disk: &disk,
            random: &mut random,
            told: &mut told,
            log,
            number,
        };
        life.run();
        match simulated.has_crashed() || random.bool() {
            true => simulated.crash(),
            false => simulated.restart(),
        }
    }
    Ok(())
}

/// What is damaged after it was durable is noticed, unless it is the last of all.
fn damaged_case(seed: u64) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let simulated = SimulatedDisk::new(random.u64(..));
    let disk: Arc<dyn Disk> = Arc::new(simulated.clone());
    let mut told = Told::default();
    let log = recover::<List>(&disk, SEGMENT_BYTES)
        .map_err(|error| error.to_string())?
        .log;
    let mut life = Life {
        disk: &disk,
        random: &mut random,
        told: &mut told,
        log,
        number: 0,
    };
    life.run();
    // What the last record tells is the least that has to be there.
    let least = life.log.durable();
    life.append()
        .and_then(|()| life.log.write())
        .map_err(|error| error.to_string())?;
    simulated.restart();
    let names: Vec<String> = simulated.contents().into_keys().collect();
    let name = &names[random.usize(..names.len())];
    let before = simulated.contents();
    let used = before[name].iter().rposition(|it| *it != 0).unwrap_or(0) + 1;
    simulated.damage(name, random.usize(..used), 1 << random.u8(..8));
    let before = simulated.contents();
    match recover::<List>(&disk, SEGMENT_BYTES) {
        // Nothing is changed by who cannot read it.
        Err(error) if simulated.contents() != before => Err(format!("changed in spite of {error}")),
        Err(error) if !error.to_string().contains("/simulated/") => Err(error.to_string()),
        Err(_) => Ok(()),
        Ok(recovered) => match told.wrong(&recovered, least) {
            Some(wrong) => Err(format!("{name} was damaged: {wrong}")),
            None => Ok(()),
        },
    }
}

/// The first seed whose case goes wrong, and how.
pub(super) fn first_failure(
    case: fn(u64) -> Result<(), String>,
    seeds: u64,
) -> Option<(u64, String)> {
    // A fault may lead to a panic as well.
    let run = |seed| {
        let caught = std::panic::catch_unwind(|| case(seed));
        caught.unwrap_or_else(|_| Err("it has panicked".to_owned()))
    };
    (0..seeds).find_map(|seed| Some((seed, run(seed).err()?)))
}

pub(super) fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|it| it.parse().expect("a number"))
}

#[test]
fn what_was_told_to_be_durable_is_there() {
    if let Some(seed) = number("CORECAST_REPLAY") {
        assert_eq!(case(seed).and(damaged_case(seed)), Ok(()));
        return;
    }
    let seeds = number("CORECAST_TEST_SEEDS").unwrap_or(300);
    assert_eq!(first_failure(case, seeds), None);
    assert_eq!(first_failure(damaged_case, seeds), None);
}

#[test]
fn seeded_faults_are_found() {
    let in_lives = [
        Fault::ToldUnsynced,
        Fault::SyncRetried,
        Fault::ChecksumIgnored,
        Fault::LengthUnsynced,
        Fault::NameUnsynced,
        Fault::OldSegmentUnsynced,
        Fault::EndedAmidSync,
        Fault::SnapshotUnsynced,
        Fault::RemovedBeforeSnapshot,
        Fault::TailKept,
        Fault::AppliedTwice,
    ];
    for fault in in_lives {
        let found = fault::with(Some(fault), || first_failure(case, 2_000));
        assert!(found.is_some(), "{fault:?} goes unnoticed");
    }
    // It takes a server that is killed amid a snapshot, another one that begins with that, and then a power loss.
    let found = fault::with(Some(Fault::SnapshotUnnamed), || first_failure(case, 10_000));
    assert!(found.is_some(), "a snapshot without a name goes unnoticed");
    let found = fault::with(Some(Fault::DurableCutOff), || {
        first_failure(damaged_case, 2_000)
    });
    assert!(
        found.is_some(),
        "a cut that loses what was durable goes unnoticed"
    );
}
