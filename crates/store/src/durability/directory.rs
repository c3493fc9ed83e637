//! A folder of the file system, which one server at a time has.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, FlockOperation, SeekFrom, fallocate, flock, seek};
use rustix::io::Errno;

use super::disk::{Disk, DiskFile};

/// The file whose lock says that a server has the folder.
const LOCK: &str = "lock";

/// A server that was killed may take so long to be gone.
const GONE_MAX: Duration = Duration::from_millis(500);

/// A folder, locked for this server until it is dropped, in all processes that have the lock.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    /// The folder itself, to make its names durable.
    folder: File,
    lock: File,
}

impl Directory {
    /// Opens a folder, which is made if it is not there.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let told = |what: &str| {
            let shown = path.display();
            let what = what.to_owned();
            move |error: io::Error| {
                io::Error::new(error.kind(), format!("{shown}: {what}: {error}"))
            }
        };
        // What clients keep here is nobody else's business.
        let mut builder = fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(path);
        made.map_err(told("it cannot be made"))?;
        let folder = File::open(path).map_err(told("it cannot be opened"))?;
        let lock = path.join(LOCK);
        let lock = options().create(true).truncate(false).open(lock);
        let lock = lock.map_err(told("its lock cannot be made"))?;
        let begun = Instant::now();
        let locked = loop {
            let locked = flock(&lock, FlockOperation::NonBlockingLockExclusive);
            if locked != Err(Errno::WOULDBLOCK) || begun.elapsed() > GONE_MAX {
                break locked;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        match locked {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(io::Error::new(
                    io::ErrorKind::AddrInUse,
                    format!(
                        "{}: another server has it: end that one, or give this one a folder of its own",
                        path.display()
                    ),
                ));
            }
            Err(error) => return Err(told("its lock cannot be taken")(error.into())),
        }
        // The folder's own name.
        if let Some(parent) = path.parent() {
            let here = parent.as_os_str().is_empty();
            let parent = if here { Path::new(".") } else { parent };
            File::open(parent)
                .and_then(|it| it.sync_all())
                .map_err(told("its name cannot be made durable"))?;
        }
        Ok(Self {
            path: path.to_owned(),
            folder,
            lock,
        })
    }

    /// A folder for another process of the server that has opened it and given its lock.
    pub(crate) fn inherited(path: PathBuf, lock: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            folder: File::open(&path)?,
            path,
            lock: lock.into(),
        })
    }

    /// The lock, for another process of this server.
    pub(crate) fn lock(&self) -> BorrowedFd<'_> {
        self.lock.as_fd()
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

impl Disk for Directory {
    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?;
        let names = names.map(|it| Ok(it?.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(options().open(self.path.join(name))?))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut options = options();
        let options = options.create(true).truncate(true);
        Ok(Box::new(options.open(self.path.join(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        self.folder.sync_all()
    }

    fn shown(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}

impl DiskFile for File {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn written_bytes(&self) -> io::Result<u64> {
        let mut end = 0;
        loop {
            let begins = match seek(self, SeekFrom::Data(end)) {
                Ok(begins) => begins,
                Err(Errno::NXIO) => return Ok(end),
                // It keeps no account.
                Err(Errno::INVAL) => return self.bytes(),
                Err(error) => return Err(error.into()),
            };
            end = seek(self, SeekFrom::Hole(begins))?;
        }
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        match fallocate(self, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => Ok(()),
            // Some file systems, such as NFS before 4.2, cannot. There a write may find the disk full later.
            Err(Errno::OPNOTSUPP) => self.set_len(bytes),
            Err(error) => Err(error.into()),
        }
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match FileExt::read_at(self, &mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(length) => filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn sync_data(&self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn sync_all(&self) -> io::Result<()> {
        File::sync_all(self)
    }
}
