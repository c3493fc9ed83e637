//! Replicas that are processes, one of which writes the log until it is killed: what was released is in the log, in its order, and
//! nothing is there twice, whoever goes on with it.
//!
//! A case is a seed. `CORECAST_REPLAY=seed` runs one, `CORECAST_TEST_SEEDS=n` the first n.

use std::sync::Arc;

use super::disk::Disk;
use super::entry::Entry;
use super::fault::{self, Fault};
use super::journal::Journal;
use super::log::Mark;
use super::policy::AppendFsync;
use super::recovery::{recover, reopen};
use super::simulated::SimulatedDisk;
use super::simulation::{List, first_failure, number};
use super::tail::Tail;
use crate::bytes::{ByteReader, ByteWriter};

/// Small, so that segments are begun often.
const SEGMENT_BYTES: u64 = 1400;
const REPLICAS: usize = 3;

/// Replicas from their common beginning to their common end.
struct Generation<'a> {
    simulated: &'a SimulatedDisk,
    disk: Arc<dyn Disk>,
    random: &'a mut fastrand::Rng,
    policy: AppendFsync,
    number: u32,
    /// The index in the log of the order's first entry.
    base: u64,
    /// What is chosen, by index in the order; some entries change nothing.
    order: Vec<Option<Vec<u8>>>,
    /// How far the log is told to be.
    released: u64,
    written: u64,
    /// Up to where it is told to need no reading.
    mark: Option<Mark>,
    /// Each with how much it has applied.
    replicas: [(Arc<Tail>, usize); REPLICAS],
    writer: Option<(usize, Journal)>,
}

impl Generation<'_> {
    fn step(&mut self) -> Result<(), String> {
        let replica = self.random.usize(..REPLICAS);
        match self.random.u8(..16) {
            0..5 => self.choose(),
            5..9 => self.apply(replica),
            9..12 => self.commit(),
            12 => self.writer = None,
            13 => self.start_again(replica),
            _ if self.writer.is_none() => self.appoint(replica)?,
            _ => {}
        }
        Ok(())
    }

    fn choose(&mut self) {
        // No value is there twice, so that one that is written twice shows.
        let mut value = format!("{}.{}.", self.number, self.order.len()).into_bytes();
        let more = self.random.usize(..90);
        value.resize(value.len() + more, b'x');
        let value = Some(value).filter(|_| self.random.u8(..8) > 0);
        self.order.push(value);
    }

    fn apply(&mut self, replica: usize) {
        let (tail, applied) = &mut self.replicas[replica];
        for _ in 0..self.random.u8(1..5) {
            let Some(value) = self.order.get(*applied) else {
                break;
            };
            let entry = value.as_deref().map_or(Entry::Nothing, Entry::Bytes);
            tail.push(*applied as u64, entry);
            *applied += 1;
        }
        tail.trim(self.released);
    }

    /// The writer commits, unless it is killed amid that.
    fn commit(&mut self) {
        let Some((_, journal)) = &self.writer else {
            return;
        };
        match self.random.u8(..6) {
            0 => self.simulated.crash_in(self.random.u64(..12)),
            // A write may be there in part.
            1 => self.simulated.fail_in(self.random.u64(..12)),
            _ => {}
        }
        // By the event loop, as far as that may be, or by the thread.
        let at_once = self.random.bool() && journal.commit_at_once(self.random.usize(..600));
        if !at_once {
            journal.commit(0);
        }
        if self.random.u8(..4) == 0 {
            journal.sync();
        }
        if journal.failed().is_some() {
            self.writer = None;
        } else {
            self.released = self.released.max(journal.released());
            self.written = journal.written();
            self.mark = match self.random.u8(..4) {
                0 => self.mark,
                1 => None,
                _ => journal.mark(),
            };
        }
        self.simulated.restart();
    }

    /// A replica goes on with the log.
    fn appoint(&mut self, replica: usize) -> Result<(), String> {
        let log =
            reopen(&self.disk, SEGMENT_BYTES, 0, self.mark).map_err(|error| error.to_string())?;
        let next = log.end() - self.base;
        if next < self.written {
            return Err(format!("{} were written, {next} are there", self.written));
        }
        let source = Arc::clone(&self.replicas[replica].0).follow(next);
        let journal = Journal::new(log, Box::new(source), self.base, self.policy);
        self.writer = Some((replica, journal));
        Ok(())
    }

    /// A replica is killed, and takes the state of another one.
    fn start_again(&mut self, replica: usize) {
        if self.writer.as_ref().is_some_and(|it| it.0 == replica) {
            self.writer = None;
        }
        let (tail, applied) = &self.replicas[(replica + 1) % REPLICAS];
        let mut bytes = ByteWriter::default();
        tail.encode(&mut bytes);
        let own = Arc::new(Tail::default());
        assert!(own.decode(&mut ByteReader(&bytes.0)));
        self.replicas[replica] = (own, *applied);
    }
}

fn case(seed: u64) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let simulated = SimulatedDisk::new(random.u64(..));
    let disk: Arc<dyn Disk> = Arc::new(simulated.clone());
    let policy = AppendFsync::ALL[random.usize(..3)];
    // All that has to be there, and how much of it at least.
    let (mut expected, mut least): (Vec<Option<Vec<u8>>>, _) = (Vec::new(), 0);
    for number in 0..4 {
        let recovered = recover::<List>(&disk, SEGMENT_BYTES).map_err(|error| error.to_string())?;
        let end = recovered.log.end();
        if end < least || end > expected.len() as u64 {
            return Err(format!("{end} entries, of {least} to {}", expected.len()));
        }
        expected.truncate(end as usize);
        let List(found) = recovered.state;
        if !expected.iter().flatten().eq(&found) {
            return Err(format!("generation {number}: {} other values", found.len()));
        }
        let mut generation = Generation {
            simulated: &simulated,
            disk: Arc::clone(&disk),
            random: &mut random,
            policy,
            number,
            base: end,
            order: Vec::new(),
            released: 0,
            written: 0,
            mark: None,
            replicas: Default::default(),
            writer: None,
        };
        for _ in 0..150 {
            generation
                .step()
                .map_err(|error| format!("generation {number}: {error}"))?;
        }
        // What changes nothing has no record.
        let order = &generation.order[..generation.released as usize];
        let records = order
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |it| it + 1);
        least = end + records as u64;
        expected.extend(generation.order);
        // All end at once; with `always` power may be lost as well.
        match policy == AppendFsync::Always && random.bool() {
            true => simulated.crash(),
            false => simulated.restart(),
        }
    }
    Ok(())
}

#[test]
fn whoever_goes_on_with_the_log_loses_nothing() {
    if let Some(seed) = number("CORECAST_REPLAY") {
        assert_eq!(case(seed), Ok(()));
        return;
    }
    let seeds = number("CORECAST_TEST_SEEDS").unwrap_or(300);
    assert_eq!(first_failure(case, seeds), None);
}

#[test]
fn seeded_faults_are_found() {
    for fault in [
        Fault::ReleasedUnwritten,
        Fault::TrimmedUnreleased,
        Fault::TailNotTaken,
        Fault::ToldUnsynced,
        Fault::TakenUnwritten,
        Fault::TakenUnnamed,
    ] {
        let found = fault::with(Some(fault), || first_failure(case, 1_000));
        assert!(found.is_some(), "{fault:?} goes unnoticed");
    }
}
