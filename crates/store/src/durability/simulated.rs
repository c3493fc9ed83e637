//! A disk for tests, which fails and crashes: what was not synced is there afterwards in parts, or not at all.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard};

use super::disk::{Disk, DiskFile};

/// What reaches the disk at once, or does not.
const SECTOR: usize = 512;

/// A file's number, for as long as anything refers to it.
type Inode = usize;

#[derive(Debug, Default)]
struct FileState {
    /// What programs see.
    seen: Vec<u8>,
    /// What is there after a crash.
    durable: Vec<u8>,
    /// What may be: writes since the last sync.
    pending: Vec<(usize, Vec<u8>)>,
}

impl FileState {
    fn write(&mut self, bytes: &[u8], offset: usize) {
        let end = (offset + bytes.len()).max(self.seen.len());
        self.seen.resize(end, 0);
        self.seen[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.pending.push((offset, bytes.to_vec()));
    }

    /// Makes those of the pending bytes durable of which `keeps` says so, within the length that is durable.
    fn settle(&mut self, mut keeps: impl FnMut() -> bool) {
        for (offset, bytes) in std::mem::take(&mut self.pending) {
            let mut at = 0;
            while at < bytes.len() {
                let begin = offset + at;
                let length = (SECTOR - begin % SECTOR).min(bytes.len() - at);
                let end = (begin + length).min(self.durable.len());
                if keeps() && begin < end {
                    self.durable[begin..end].copy_from_slice(&bytes[at..at + end - begin]);
                }
                at += length;
            }
        }
    }
}

#[derive(Clone, Debug)]
enum NameChange {
    Set(String, Inode),
    Remove(String),
}

fn apply(names: &mut BTreeMap<String, Inode>, change: NameChange) {
    match change {
        NameChange::Set(name, inode) => drop(names.insert(name, inode)),
        NameChange::Remove(name) => drop(names.remove(&name)),
    }
}

struct State {
    random: fastrand::Rng,
    files: Vec<FileState>,
    names: BTreeMap<String, Inode>,
    durable_names: BTreeMap<String, Inode>,
    /// Changes of names since the last sync of names; a crash keeps any of them.
    pending_names: Vec<NameChange>,
    /// Operations until the disk is gone, or until one of them fails.
    crashes_in: Option<u64>,
    fails_in: Option<u64>,
    crashed: bool,
    /// Bytes that all files may have together.
    room: Option<usize>,
}

impl State {
    fn used(&self) -> usize {
        let inodes = self.names.values();
        inodes.map(|it| self.files[*it].seen.len()).sum()
    }

    /// How long a file can be that is to be so long.
    fn longest(&self, inode: Inode, wanted: usize) -> usize {
        let length = self.files[inode].seen.len();
        let left = |room: usize| room.saturating_sub(self.used());
        let most = self.room.map_or(wanted, |it| length + left(it));
        wanted.min(most).max(length)
    }
}

/// A disk.
#[derive(Clone)]
pub(crate) struct SimulatedDisk(Arc<Mutex<State>>);

#[derive(Debug)]
struct File {
    disk: SimulatedDisk,
    inode: Inode,
}

impl fmt::Debug for SimulatedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimulatedDisk")
    }
}

impl SimulatedDisk {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            random: fastrand::Rng::with_seed(seed),
            files: Vec::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending_names: Vec::new(),
            crashes_in: None,
            fails_in: None,
            crashed: false,
            room: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Has the disk crash before the operation that many from now.
    pub(crate) fn crash_in(&self, operations: u64) {
        self.state().crashes_in = Some(operations);
    }

    /// Has the operation that many from now fail.
    pub(crate) fn fail_in(&self, operations: u64) {
        self.state().fails_in = Some(operations);
    }

    /// Has all files have no more than so many bytes, or any number.
    pub(crate) fn set_room(&self, bytes: Option<usize>) {
        self.state().room = bytes;
    }

    /// Bytes of all files that have a name.
    pub(crate) fn used(&self) -> usize {
        self.state().used()
    }

    pub(crate) fn has_crashed(&self) -> bool {
        self.state().crashed
    }

    /// The machine has lost power and is on again.
    pub(crate) fn crash(&self) {
        let state = &mut *self.state();
        let random = &mut state.random;
        let share = random.f64();
        for file in &mut state.files {
            if file.seen.len() != file.durable.len() && random.bool() {
                file.durable.resize(file.seen.len(), 0);
            }
            file.settle(|| random.f64() < share);
            file.seen = file.durable.clone();
        }
        for change in std::mem::take(&mut state.pending_names) {
            if random.bool() {
                apply(&mut state.durable_names, change);
            }
        }
        state.names = state.durable_names.clone();
        self.restart_of(state);
    }

    /// The process was killed and is there again; the kernel keeps what it was given.
    pub(crate) fn restart(&self) {
        self.restart_of(&mut self.state());
    }

    fn restart_of(&self, state: &mut State) {
        state.crashed = false;
        (state.crashes_in, state.fails_in) = (None, None);
    }

    /// All files as programs see them.
    pub(crate) fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        let names = state.names.iter();
        names
            .map(|(name, inode)| (name.clone(), state.files[*inode].seen.clone()))
            .collect()
    }

    /// Damages a byte, which is durable like that.
    pub(crate) fn damage(&self, name: &str, at: usize, change: u8) {
        let mut state = self.state();
        let inode = state.names[name];
        let file = &mut state.files[inode];
        file.seen[at] ^= change;
        file.durable = file.seen.clone();
    }

    /// Begins an operation, and says whether it is to fail.
    fn operate(&self) -> io::Result<(MutexGuard<'_, State>, bool)> {
        let mut state = self.state();
        let counts = |left: &mut Option<u64>| {
            let now = *left == Some(0);
            *left = left.and_then(|it| it.checked_sub(1));
            now
        };
        state.crashed |= counts(&mut state.crashes_in);
        let fails = counts(&mut state.fails_in);
        match state.crashed {
            true => Err(io::Error::other("the disk is gone")),
            false => Ok((state, fails)),
        }
    }
}

fn full() -> io::Error {
    ErrorKind::StorageFull.into()
}

impl Disk for SimulatedDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.state().names.keys().cloned().collect())
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let inode = self.state().names.get(name).copied();
        let inode = inode.ok_or(ErrorKind::NotFound)?;
        let disk = self.clone();
        Ok(Box::new(File { disk, inode }))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let (mut state, fails) = self.operate()?;
        if fails {
            return Err(full());
        }
        // One of this name that is emptied is as good as a new one: what was in it is needed no more.
        let inode = state.files.len();
        state.files.push(FileState::default());
        let change = NameChange::Set(name.to_owned(), inode);
        apply(&mut state.names, change.clone());
        state.pending_names.push(change);
        let disk = self.clone();
        Ok(Box::new(File { disk, inode }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (mut state, fails) = self.operate()?;
        let inode = *state.names.get(from).ok_or(ErrorKind::NotFound)?;
        if fails {
            return Err(full());
        }
        for change in [
            NameChange::Set(to.to_owned(), inode),
            NameChange::Remove(from.to_owned()),
        ] {
            apply(&mut state.names, change.clone());
            state.pending_names.push(change);
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let (mut state, fails) = self.operate()?;
        if fails {
            return Err(full());
        }
        let change = NameChange::Remove(name.to_owned());
        apply(&mut state.names, change.clone());
        state.pending_names.push(change);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let (mut state, fails) = self.operate()?;
        if fails {
            return Err(ErrorKind::Other.into());
        }
        state.durable_names = state.names.clone();
        state.pending_names.clear();
        Ok(())
    }

    fn shown(&self, name: &str) -> String {
        format!("/simulated/{name}")
    }
}

impl File {
    fn sync(&self, length: bool) -> io::Result<()> {
        let (mut state, fails) = self.disk.operate()?;
        let State { files, random, .. } = &mut *state;
        let file = &mut files[self.inode];
        if fails {
            // The kernel takes what it could not write for written.
            let share = random.f64();
            file.settle(|| random.f64() < share);
            return Err(ErrorKind::Other.into());
        }
        if length {
            file.durable.resize(file.seen.len(), 0);
        }
        file.settle(|| true);
        Ok(())
    }
}

impl DiskFile for File {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.disk.state().files[self.inode].seen.len() as u64)
    }

    fn written_bytes(&self) -> io::Result<u64> {
        let state = self.disk.state();
        let seen = &state.files[self.inode].seen;
        let mut sectors = seen.chunks(SECTOR);
        let last = sectors.rposition(|sector| sector.iter().any(|byte| *byte != 0));
        let written = last.map_or(0, |last| (last + 1) * SECTOR);
        Ok(written.min(seen.len()) as u64)
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        let (mut state, fails) = self.disk.operate()?;
        if fails {
            return Err(full());
        }
        // What there is it is given, as on ext4.
        let length = state.longest(self.inode, bytes as usize);
        state.files[self.inode].seen.resize(length, 0);
        match length < bytes as usize {
            true => Err(full()),
            false => Ok(()),
        }
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let (mut state, fails) = self.disk.operate()?;
        let longest = state.longest(self.inode, offset as usize + bytes.len());
        let mut written = bytes.len().min(longest.saturating_sub(offset as usize));
        let fails = fails || written < bytes.len();
        if fails {
            written = state.random.usize(..=written);
        }
        state.files[self.inode].write(&bytes[..written], offset as usize);
        match fails {
            true => Err(full()),
            false => Ok(()),
        }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.disk.state();
        let seen = &state.files[self.inode].seen;
        let rest = seen.get(offset as usize..).unwrap_or(&[]);
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync(false)
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync(true)
    }
}
