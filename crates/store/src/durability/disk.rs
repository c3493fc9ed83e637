//! What durability needs of a file system: the seam at which tests put a disk that crashes.

use std::fmt::Debug;
use std::io;

/// A folder of files.
pub(crate) trait Disk: Debug + Send + Sync {
    /// The names of the files in it.
    fn list(&self) -> io::Result<Vec<String>>;
    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;
    /// Makes an empty file; one of this name is emptied.
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file another name. One that has that name already is replaced.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes durable which files there are and how they are called.
    fn sync_names(&self) -> io::Result<()>;
    /// A file as messages tell it.
    fn shown(&self, name: &str) -> String;
}

/// A file.
pub(crate) trait DiskFile: Debug + Send + Sync {
    fn bytes(&self) -> io::Result<u64>;
    /// Where what was written ends: after it there are only zeros. A file system that keeps no account of it says the whole length.
    fn written_bytes(&self) -> io::Result<u64>;
    /// Makes it at least so long, with zeros that have their place on the disk.
    fn allocate(&self, bytes: u64) -> io::Result<()>;
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Reads until the buffer is full or the file ends; returns how much.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Makes durable what was written within the length that is durable.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes durable what was written, and the length.
    fn sync_all(&self) -> io::Result<()>;
}
