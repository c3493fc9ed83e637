//! What a server begins with: the newest whole snapshot, and the records after it.
//!
//! Only the end of the last segment may be torn: it is cut off there. Whatever else is missing or damaged is told, and
//! nothing is changed. The last segment is written anew, from what was read: the kernel may show what an earlier server has
//! written and a failed sync has dropped. Whoever goes on with the log of a process that has ended writes anew only what was not
//! known to be durable.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use super::disk::Disk;
use super::fault::seeded;
use super::header::{self, Kind};
use super::log::{Log, Mark};
use super::record::{ALIGNED_TO, Record};
use super::snapshot::{self, Unread};

/// What is recovered.
pub(crate) trait Restore: Default {
    /// Takes the next chunk of a snapshot.
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), String>;
    /// Takes the next entry.
    fn entry(&mut self, bytes: &[u8]) -> Result<(), String>;
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Recovered<S> {
    pub(crate) state: S,
    pub(crate) log: Log,
    /// Bytes of the snapshot.
    pub(crate) snapshot_bytes: u64,
    /// What whoever runs the server should know.
    pub(crate) notes: Vec<String>,
}

/// Recovers what is on a disk; nothing where there is nothing.
pub(crate) fn recover<S: Restore>(
    disk: &Arc<dyn Disk>,
    segment_bytes: u64,
) -> io::Result<Recovered<S>> {
    let names = disk.list()?;
    let of_kind = |kind: Kind| {
        let mut found: Vec<u64> = names.iter().filter_map(|it| kind.index(it)).collect();
        found.sort_unstable();
        found
    };
    let mut notes = Vec::new();
    let (mut at, mut state, mut snapshot_bytes) = (0, S::default(), 0);
    for index in of_kind(Kind::Snapshot).into_iter().rev() {
        let mut found = S::default();
        match snapshot::read(disk, index, |chunk| found.chunk(chunk)) {
            Ok(bytes) => {
                (at, state, snapshot_bytes) = (index, found, bytes);
                break;
            }
            Err(Unread::Disk(error)) => return Err(error),
            Err(Unread::Damaged(why)) => notes.push(why),
        }
    }
    let segments = of_kind(Kind::Segment);
    // A segment ends where the next one begins. Those that end before the snapshot are no longer needed.
    let needed = |place: &usize| segments.get(place + 1).is_none_or(|next| *next > at);
    let places: Vec<usize> = (0..segments.len()).filter(needed).collect();
    let snapshot_at = at;
    let first = places.first().map(|it| segments[*it]);
    let lacks = match first {
        Some(first) => first > at,
        None => !notes.is_empty(),
    };
    if lacks {
        let missing = first.map_or("what follows".to_owned(), |first| {
            format!("the entries from {at} to {first}")
        });
        notes.push(format!(
            "{}: {missing} cannot be had: put the folder back from a copy",
            disk.shown("")
        ));
        return Err(invalid(notes.join("; ")));
    }
    let mut bytes_read = 0;
    let mut last = None;
    for place in places {
        let (first, next) = (segments[place], segments.get(place + 1).copied());
        let segment = Segment::read(disk, first)?;
        let later = &segments[place + 1..];
        let (offset, end) = segment.records(first, later, |index, bytes| {
            if index < snapshot_at && !seeded!(AppliedTwice) {
                return Ok(());
            }
            state.entry(bytes)
        })?;
        bytes_read += (offset - header::BYTES) as u64;
        at = at.max(end);
        let Some(next) = next else {
            notes.extend(segment.torn(offset, end)?);
            last = Some((segment, first, offset, end));
            continue;
        };
        if end != next {
            let why = "a record that is damaged or missing, before others that are whole";
            return Err(segment.damaged(offset, why, later));
        }
    }
    let mut log = match last {
        Some((segment, first, offset, end)) if end >= snapshot_at => match seeded!(TailKept) {
            false => {
                let records = &segment.bytes[..offset - header::BYTES];
                Log::begin(Arc::clone(disk), first, records, end, segment_bytes)?
            }
            true => segment.go_on(first, offset, end, end, segment_bytes)?,
        },
        // The snapshot has more than the log. Whoever has made it may have been killed before its name was durable.
        _ => {
            if !seeded!(SnapshotUnnamed) {
                disk.sync_names()?;
            }
            Log::begin(Arc::clone(disk), at, &[], at, segment_bytes)?
        }
    };
    log.add_bytes(bytes_read);
    Ok(Recovered {
        state,
        log,
        snapshot_bytes,
        notes,
    })
}

/// The log of a disk that was recovered, for another process that goes on with it after the one that has written it has ended. It
/// reads what follows a mark that was told of it, or the whole segment, writes that anew, as a sync may have failed that nobody has
/// told of, and makes it durable, unless nothing has to be. `bytes` are those of all its records.
pub(crate) fn reopen(
    disk: &Arc<dyn Disk>,
    segment_bytes: u64,
    bytes: u64,
    mark: Option<Mark>,
) -> io::Result<Log> {
    let names = disk.list()?;
    let segments = names.iter().filter_map(|it| Kind::Segment.index(it));
    let last = segments.max().ok_or_else(|| {
        invalid(format!(
            "{}: the log that was there is gone",
            disk.shown("")
        ))
    })?;
    let mark = match mark {
        Some(mark) if mark.segment == last => mark,
        // Whoever has begun it may have been killed before its name was durable.
        _ => {
            if !seeded!(TakenUnnamed) {
                disk.sync_names()?;
            }
            Mark::begin(last)
        }
    };
    let mut segment = Segment::read_from(disk, last, mark.offset)?;
    let (offset, end) = segment.records(mark.end, &[], |_, _| Ok(()))?;
    // What is torn is whole at those who have not been answered.
    let is_torn = segment.torn(offset, end)?.is_some();
    let is_durable = mark.durable == mark.end || is_torn;
    if is_durable && !seeded!(TakenUnwritten) {
        let whole = offset - segment.from;
        let written = segment.written.max(whole);
        segment.bytes[whole..written].fill(0);
        let file = disk.open(&segment.name)?;
        file.write_at(&segment.bytes[..written], mark.offset)?;
        file.sync_all()?;
    }
    let durable = if is_durable { end } else { mark.durable };
    let mut log = segment.go_on(last, offset, end, durable, segment_bytes)?;
    log.add_bytes(bytes);
    Ok(log)
}

fn invalid(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

/// A segment as it was read, from the end of a record on.
struct Segment<'a> {
    disk: &'a Arc<dyn Disk>,
    name: String,
    /// Where `bytes` begin in the file. Other offsets are from the file's beginning as well.
    from: usize,
    /// All up to the end of the file, of which so many were written. The rest is room: zeros, which need no memory until they are
    /// looked at.
    bytes: Vec<u8>,
    written: usize,
}

impl<'a> Segment<'a> {
    fn read(disk: &'a Arc<dyn Disk>, first: u64) -> io::Result<Self> {
        Self::read_from(disk, first, header::BYTES as u64)
    }

    fn read_from(disk: &'a Arc<dyn Disk>, first: u64, from: u64) -> io::Result<Self> {
        let name = Kind::Segment.name(first);
        let file = disk.open(&name)?;
        let mut header = [0; header::BYTES];
        let read = file.read_at(&mut header, 0)?;
        if let Err(why) = header::check(&header[..read], Kind::Segment, first) {
            return Err(invalid(format!(
                "{}: {why}: put the folder back from a copy",
                disk.shown(&name)
            )));
        }
        let from = usize::try_from(from).map_err(io::Error::other)?;
        let behind = |end: u64| {
            let end = usize::try_from(end).map_err(io::Error::other)?;
            Ok::<_, io::Error>(end.saturating_sub(from))
        };
        let room = behind(file.bytes()?)?;
        // The zeros behind the last record may lack.
        let mut bytes = vec![0; room.next_multiple_of(ALIGNED_TO)];
        // Reading the room as well would take as long as a slow disk.
        let written = behind(file.written_bytes()?)?.min(room);
        let written = file.read_at(&mut bytes[..written], from as u64)?;
        Ok(Self {
            disk,
            name,
            from,
            bytes,
            written,
        })
    }

    /// What was read from an offset on.
    fn at(&self, offset: usize) -> &[u8] {
        self.bytes.get(offset - self.from..).unwrap_or(&[])
    }

    /// The log in this segment, whose records end here.
    fn go_on(
        &self,
        first: u64,
        offset: usize,
        end: u64,
        durable: u64,
        segment_bytes: u64,
    ) -> io::Result<Log> {
        let file = self.disk.open(&self.name)?;
        let mark = Mark {
            segment: first,
            offset: offset as u64,
            end,
            durable,
        };
        let (disk, room) = (Arc::clone(self.disk), file.bytes()?);
        Ok(Log::on(disk, file.into(), mark, room, segment_bytes))
    }

    /// Gives the entries of its whole records to `each`, the first one of which is `first`; returns where these end, in bytes and in
    /// entries.
    fn records(
        &self,
        first: u64,
        later: &[u64],
        mut each: impl FnMut(u64, &[u8]) -> Result<(), String>,
    ) -> io::Result<(usize, u64)> {
        let (mut offset, mut end) = (self.from, first);
        while let Some(record) = Record::read(self.at(offset)).filter(|it| it.first == end) {
            for entry in record.entries() {
                let taken = entry.ok_or_else(|| "an entry that is none".to_owned());
                let taken = taken.and_then(|(index, bytes)| each(index, bytes));
                taken.map_err(|why| self.damaged(offset, &why, later))?;
            }
            (offset, end) = (offset + record.bytes, record.end);
        }
        Ok((offset, end))
    }

    /// What is to be told of the rest of the last segment, whose whole records end here. An error if they do not end as a log may.
    fn torn(&self, offset: usize, end: u64) -> io::Result<Option<String>> {
        if self.is_durable_after(offset, end) && !seeded!(DurableCutOff) {
            let why = "a record that is damaged, before others that are whole";
            return Err(self.damaged(offset, why, &[]));
        }
        let rest = self.bytes[..self.written].get(offset - self.from..);
        let shown = self.disk.shown(&self.name);
        let told = || {
            format!("{shown}: cut off at byte {offset}, where a record was not written to its end")
        };
        let is_torn = rest.is_some_and(|it| it.iter().any(|byte| *byte != 0));
        Ok(is_torn.then(told))
    }

    /// Where nothing but zeros follows in the file, to a few bytes.
    fn used(&self) -> usize {
        const ZEROS: [u8; 64] = [0; 64];
        let mut pieces = self.bytes[..self.written].chunks(ZEROS.len());
        let used = pieces.rposition(|it| *it != ZEROS[..it.len()]);
        used.map_or(0, |it| self.from + self.written.min((it + 1) * ZEROS.len()))
    }

    /// Whether a record after `offset` tells that the one there, which begins with entry `end`, was durable.
    fn is_durable_after(&self, offset: usize, end: u64) -> bool {
        let places = (offset..self.used()).step_by(ALIGNED_TO);
        let mut later = places.filter_map(|at| Record::read(self.at(at)));
        later.any(|record| record.durable > end)
    }

    fn damaged(&self, offset: usize, why: &str, later: &[u64]) -> io::Error {
        let file = self.disk.shown(&self.name);
        let later = later
            .iter()
            .map(|it| self.disk.shown(&Kind::Segment.name(*it)));
        let later: String = later.map(|it| format!(" && rm {it}")).collect();
        invalid(format!(
            "{file}: at byte {offset}: {why}: put the folder back from a copy. To go on with what comes before, and lose what \
             comes after, keep a copy of the folder, and then: truncate -s {offset} {file}{later}"
        ))
    }
}
