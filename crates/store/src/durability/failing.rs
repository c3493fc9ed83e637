//! A disk for tests, one of whose syncs fails.

use std::io;
use std::sync::Arc;

use corecast_wire::sync::{AtomicU64, Ordering};

use super::disk::{Disk, DiskFile};

/// What says of a process that a test starts which of its syncs fails.
pub(crate) const FAILS: &str = "STORE_TEST_FAILS";

/// A disk, one of whose syncs fails; those after it succeed.
#[derive(Debug)]
pub(crate) struct FailingDisk {
    disk: Arc<dyn Disk>,
    left: Arc<AtomicU64>,
}

#[derive(Debug)]
struct FailingFile {
    file: Box<dyn DiskFile>,
    left: Arc<AtomicU64>,
}

impl FailingDisk {
    /// The same disk, unless this process was told to have one that fails.
    pub(crate) fn or(disk: Arc<dyn Disk>) -> Arc<dyn Disk> {
        let told = std::env::var(FAILS).ok().and_then(|it| it.parse().ok());
        match told {
            None => disk,
            Some(left) => Arc::new(Self {
                disk,
                left: Arc::new(AtomicU64::new(left)),
            }),
        }
    }

    fn wrapped(&self, file: io::Result<Box<dyn DiskFile>>) -> io::Result<Box<dyn DiskFile>> {
        let left = Arc::clone(&self.left);
        file.map(|file| Box::new(FailingFile { file, left }) as Box<dyn DiskFile>)
    }
}

impl FailingFile {
    fn sync(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        // Relaxed: only a count.
        match self.left.fetch_sub(1, Ordering::Relaxed) {
            1 => Err(io::Error::other("a sync that fails")),
            _ => sync(),
        }
    }
}

impl Disk for FailingDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        self.wrapped(self.disk.open(name))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        self.wrapped(self.disk.create(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.disk.sync_names()
    }

    fn shown(&self, name: &str) -> String {
        self.disk.shown(name)
    }
}

impl DiskFile for FailingFile {
    fn bytes(&self) -> io::Result<u64> {
        self.file.bytes()
    }

    fn written_bytes(&self) -> io::Result<u64> {
        self.file.written_bytes()
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        self.file.allocate(bytes)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_at(bytes, offset)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync(|| self.file.sync_data())
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync(|| self.file.sync_all())
    }
}
