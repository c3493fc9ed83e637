//! Programs that are not linked with MPI, and take part in a job of it when a launcher has started them.

use crate::functions::Status;
use crate::library::{FindError, Library};
use crate::loaded::Loaded;
use std::ffi::{CStr, CString, c_int, c_void};

/// The variable that names the library to open.
const NAMED: &str = "CORECAST_MPI_LIBRARY";

/// Names of libraries, by the launchers that start processes for them.
const OPEN_MPI: [&CStr; 2] = [c"libmpi.so.40", c"libmpi.so.80"];
/// MPICH and its descendants, of which some keep the name that MPICH 3 gave to their common interface.
const MPICH: [&CStr; 4] = [
    c"libmpich.so.12",
    c"libmpi.so.12",
    c"libmpi_abi.so.1",
    c"libmpi_abi.so.0",
];

/// What a launcher has told a process, before MPI is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The rank of this process.
    pub rank: usize,
    /// How many processes there are.
    pub size: usize,
    open_mpi: bool,
}

impl Launched {
    /// Asks the environment; `None` for a process that no launcher of MPI has started.
    ///
    /// # Examples
    ///
    /// ```
    /// // As `mpirun -n 2` of Open MPI would have it, and outside of any job.
    /// assert_eq!(corecast_network::Launched::find(), None);
    /// ```
    pub fn find() -> Option<Self> {
        Self::by(&|name| std::env::var(name).ok()?.parse().ok())
    }

    fn by(number: &dyn Fn(&str) -> Option<usize>) -> Option<Self> {
        let pairs = [
            ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true),
            ("PMI_RANK", "PMI_SIZE", false),
        ];
        pairs.into_iter().find_map(|(rank, size, open_mpi)| {
            let (rank, size) = (number(rank)?, number(size)?);
            (rank < size).then_some(Self {
                rank,
                size,
                open_mpi,
            })
        })
    }
}

/// Why a process cannot take part in its job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// No library can be opened.
    #[error(
        "no MPI library can be opened, {tried} were tried: name the one that mpirun belongs to in {NAMED}"
    )]
    NoLibrary {
        /// Names that were tried.
        tried: String,
    },
    /// The library cannot be called.
    #[error(transparent)]
    Library(#[from] FindError),
    /// The library sees another job than the launcher.
    #[error(
        "{library} sees {found} processes, and the launcher has started {started}: name the library that mpirun belongs to in {NAMED}"
    )]
    Strange {
        /// The library's file.
        library: String,
        /// Processes that the library sees.
        found: usize,
        /// Processes by the launcher.
        started: usize,
    },
}

/// A job of MPI that this process takes part in, from MPI's initialisation until this is dropped.
///
/// Messages come in the order in which they were sent. If the library meets an error, it ends the program, as MPI does by
/// default.
#[derive(Debug)]
pub struct Job {
    library: Library,
    rank: usize,
    size: usize,
}

impl Job {
    /// Opens the launcher's library, and initialises it. A process does this once, before it has other threads that call MPI.
    ///
    /// # Errors
    ///
    /// [`JobError`]. The environment variable `CORECAST_MPI_LIBRARY` names a library.
    pub fn begin(launched: Launched) -> Result<Self, JobError> {
        let named = std::env::var(NAMED)
            .ok()
            .and_then(|name| CString::new(name).ok());
        let names: Vec<&CStr> = match (&named, launched.open_mpi) {
            (Some(name), _) => vec![name],
            (None, true) => OPEN_MPI.to_vec(),
            (None, false) => MPICH.to_vec(),
        };
        if !names.iter().any(|name| Loaded::open(name)) {
            let tried: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
            return Err(JobError::NoLibrary {
                tried: tried.join(", "),
            });
        }
        let library = Library::find()?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI may be initialised without the program's arguments; the rest are places for numbers.
        unsafe {
            let functions = library.functions();
            (functions.init)(std::ptr::null_mut(), std::ptr::null_mut());
            (functions.comm_rank)(library.world(), &mut rank);
            (functions.comm_size)(library.world(), &mut size);
        }
        let job = Self {
            rank: rank as usize,
            size: size as usize,
            library,
        };
        match job.size == launched.size {
            true => Ok(job),
            false => Err(JobError::Strange {
                library: job.library.loaded().path().to_string_lossy().into_owned(),
                found: job.size,
                started: launched.size,
            }),
        }
    }

    /// The library.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The rank of this process.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Sends a message.
    ///
    /// # Panics
    ///
    /// If there is no such rank, or the message has 2 GiB or more.
    pub fn send(&self, to: usize, data: &[u8]) {
        let (count, to) = self.arguments(to, data.len());
        let world = self.library.world();
        // SAFETY: as many bytes as are there, to a rank that is there.
        unsafe {
            (self.library.functions().send)(
                data.as_ptr().cast(),
                count,
                self.library.byte(),
                to,
                0,
                world,
            )
        };
    }

    /// Receives the next message of a rank, which has as many bytes.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    pub fn receive(&self, from: usize, data: &mut [u8]) {
        let (count, from) = self.arguments(from, data.len());
        let world = self.library.world();
        let mut status = Status::default();
        let status: *mut c_void = (&raw mut status).cast();
        // SAFETY: room for as many bytes, and for a status; a longer message is an error by which MPI ends the program.
        unsafe {
            (self.library.functions().recv)(
                data.as_mut_ptr().cast(),
                count,
                self.library.byte(),
                from,
                0,
                world,
                status,
            )
        };
    }

    /// Whether a message of a rank is here. It has the library make progress.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    pub fn has_message(&self, from: usize) -> bool {
        let (_, from) = self.arguments(from, 0);
        let (mut found, mut status): (c_int, _) = (0, Status::default());
        let (world, status) = (self.library.world(), (&raw mut status).cast());
        // SAFETY: places for a number and a status.
        unsafe { (self.library.functions().iprobe)(from, 0, world, &mut found, status) };
        found != 0
    }

    fn arguments(&self, rank: usize, bytes: usize) -> (c_int, c_int) {
        assert!(rank < self.size, "there is no rank {rank} of {}", self.size);
        let count = c_int::try_from(bytes).expect("messages have less than 2 GiB");
        (count, rank as c_int)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and this value alone finalises it.
        unsafe { (self.library.functions().finalize)() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_say_who_a_process_is() {
        let with = |given: &'static [(&str, usize)]| {
            Launched::by(&|name| given.iter().find(|one| one.0 == name).map(|one| one.1))
        };
        let found = with(&[("OMPI_COMM_WORLD_RANK", 1), ("OMPI_COMM_WORLD_SIZE", 2)]).unwrap();
        assert_eq!((found.rank, found.size, found.open_mpi), (1, 2, true));
        let found = with(&[("PMI_RANK", 0), ("PMI_SIZE", 3)]).unwrap();
        assert_eq!((found.rank, found.size, found.open_mpi), (0, 3, false));
        assert_eq!(with(&[("PMI_RANK", 3), ("PMI_SIZE", 3)]), None);
        assert_eq!(with(&[("PMI_SIZE", 3)]), None);
    }
}
