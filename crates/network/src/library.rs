//! The library with what is asked of it once.

use crate::Handle;
use crate::dialect::{Dialect, Operation};
use crate::functions::Functions;
use crate::loaded::Loaded;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

/// An MPI library that is initialised.
#[derive(Debug)]
pub struct Library {
    loaded: Loaded,
    dialect: Dialect,
    functions: Functions,
    handle_mask: Handle,
    world: Handle,
    alone: Handle,
    byte: Handle,
    no_type: Handle,
    no_op: Handle,
    no_info: Handle,
    no_communicator: Handle,
    errors_return: Handle,
    refuses_aliases: OnceLock<bool>,
    operations: Vec<(Handle, Operation)>,
}

/// Why a library cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// The process has loaded none.
    #[error("the process has loaded no MPI library: link one, or open it before the first call")]
    None,
    /// A function is missing.
    #[error("the MPI library lacks {0:?}, which MPI 3.1 has: use a newer one")]
    Function(&'static CStr),
    /// A predefined handle is missing.
    #[error(
        "the MPI library lacks the predefined handle of {0}: it is of a kind that Corecast does not know"
    )]
    Constant(&'static str),
}

impl Library {
    /// The library of this process, initialised or not.
    ///
    /// # Errors
    ///
    /// [`FindError`].
    ///
    /// # Examples
    ///
    /// A Rust program that links no MPI has none:
    ///
    /// ```
    /// use corecast_network::{FindError, Library};
    /// assert_eq!(Library::find().unwrap_err(), FindError::None);
    /// ```
    pub fn find() -> Result<Self, FindError> {
        let loaded = Loaded::find().ok_or(FindError::None)?;
        let functions = Functions::of(&loaded).map_err(FindError::Function)?;
        let dialect = Dialect::of(&loaded);
        let known = |name, found: Option<Handle>| found.ok_or(FindError::Constant(name));
        Ok(Self {
            dialect,
            functions,
            handle_mask: dialect.handle_mask(),
            world: known("MPI_COMM_WORLD", dialect.world(&loaded))?,
            alone: known("MPI_COMM_SELF", dialect.alone(&loaded))?,
            byte: known("MPI_BYTE", dialect.byte(&loaded))?,
            no_type: known("MPI_DATATYPE_NULL", dialect.no_type(&loaded))?,
            no_op: known("MPI_OP_NULL", dialect.no_op(&loaded))?,
            no_info: known("MPI_INFO_NULL", dialect.no_info(&loaded))?,
            no_communicator: known("MPI_COMM_NULL", dialect.no_communicator(&loaded))?,
            errors_return: known("MPI_ERRORS_RETURN", dialect.errors_return(&loaded))?,
            refuses_aliases: OnceLock::new(),
            operations: dialect.operations(&loaded),
            loaded,
        })
    }

    /// What the library was loaded from.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Its binary interface.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Its functions.
    #[inline(always)]
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// The bits of a handle that count, as it came through a register.
    #[inline(always)]
    pub fn handle(&self, raw: Handle) -> Handle {
        raw & self.handle_mask
    }

    /// The handle at a place of the program's, which is as long as the library's handles are.
    ///
    /// # Safety
    ///
    /// There is one.
    pub unsafe fn handle_at(&self, place: *const c_void) -> Handle {
        // SAFETY: the caller's promise; a program gives any kind of place, so it may be at any address.
        unsafe {
            match u32::try_from(self.handle_mask) {
                Ok(_) => place.cast::<u32>().read_unaligned() as Handle,
                Err(_) => place.cast::<Handle>().read_unaligned(),
            }
        }
    }

    /// `MPI_COMM_WORLD`
    pub fn world(&self) -> Handle {
        self.world
    }

    /// `MPI_COMM_SELF`
    pub fn alone(&self) -> Handle {
        self.alone
    }

    /// `MPI_BYTE`
    pub fn byte(&self) -> Handle {
        self.byte
    }

    /// `MPI_DATATYPE_NULL`
    pub fn no_type(&self) -> Handle {
        self.no_type
    }

    /// `MPI_OP_NULL`
    pub fn no_op(&self) -> Handle {
        self.no_op
    }

    /// `MPI_INFO_NULL`
    pub fn no_info(&self) -> Handle {
        self.no_info
    }

    /// `MPI_COMM_NULL`
    pub fn no_communicator(&self) -> Handle {
        self.no_communicator
    }

    /// The predefined operation that a handle is; `None` for one of the program's own.
    #[inline]
    pub fn operation(&self, op: Handle) -> Option<Operation> {
        let found = self.operations.iter().find(|&&(handle, _)| handle == op);
        found.map(|&(_, operation)| operation)
    }

    /// Whether an error of a collective is that of arguments which the library has refused, before it has sent anything. The library
    /// must be [running](Self::is_running).
    pub fn has_refused(&self, code: c_int) -> bool {
        let mut class = 0;
        // SAFETY: a place for a number.
        let known = unsafe { (self.functions.error_class)(code, &mut class) } == 0;
        // Classes of arguments are the first ones, in all libraries.
        known && class > 0 && class < self.dialect.truncated()
    }

    /// Whether the library refuses to send from where it receives, which MPI forbids. It is tried once. The library must be
    /// [running](Self::is_running).
    pub fn refuses_aliases(&self) -> bool {
        *self.refuses_aliases.get_or_init(|| {
            let (functions, byte, mut data) = (&self.functions, self.byte, 0_u8);
            let data: *mut c_void = (&raw mut data).cast();
            let Some(mut own) = self.make_quiet() else {
                return false;
            };
            // SAFETY: a place for a byte, on a communicator of this process alone, which is used no more.
            unsafe {
                let refused =
                    (functions.allgather_bytes)(data.cast_const(), 1, byte, data, 1, byte, own)
                        != 0;
                (functions.comm_free)(&mut own);
                refused
            }
        })
    }

    /// A new communicator of this process alone, which returns errors. It is no duplicate, which would have copies of what the program
    /// has attached to `MPI_COMM_SELF`, by callbacks of the program's. The library must be [running](Self::is_running).
    pub fn make_quiet(&self) -> Option<Handle> {
        let mut made: Handle = 0;
        // SAFETY: a place for a handle.
        if unsafe { (self.functions.comm_split)(self.alone, 0, 0, &mut made) } != 0 {
            return None;
        }
        let mut made = self.handle(made);
        // SAFETY: the communicator that was just made.
        unsafe {
            if (self.functions.comm_set_errhandler)(made, self.errors_return) == 0 {
                return Some(made);
            }
            (self.functions.comm_free)(&mut made);
        }
        None
    }

    /// Whether collectives take a type of the program's: it is committed. `quiet` is a communicator that
    /// [`make_quiet`](Self::make_quiet) has made.
    pub fn takes_type(&self, quiet: Handle, datatype: Handle) -> bool {
        // MPICH looks at the type only if there are elements.
        let mut place = 0_u128;
        let place = (&raw mut place).cast();
        // SAFETY: a broadcast of one process moves nothing.
        unsafe { (self.functions.broadcast)(place, 1, datatype, 0, quiet) == 0 }
    }

    /// Whether reductions take a pair of a predefined type, whose elements have 64 bytes at most, and an operation.
    pub fn takes_pair(&self, quiet: Handle, datatype: Handle, op: Handle) -> bool {
        let (given, mut taken) = ([0_u128; 4], [0_u128; 4]);
        let (given, taken) = (given.as_ptr().cast(), taken.as_mut_ptr().cast());
        // SAFETY: room for an element.
        unsafe { (self.functions.allreduce)(given, taken, 1, datatype, op, quiet) == 0 }
    }

    /// Whether the library is initialised and not finalised, so that it can be called.
    pub fn is_running(&self) -> bool {
        let (mut begun, mut ended) = (0, 0);
        // SAFETY: places for numbers; both may be called at any time.
        unsafe {
            (self.functions.initialized)(&mut begun);
            (self.functions.finalized)(&mut ended);
        }
        begun != 0 && ended == 0
    }

    /// Whether all of the first `size` ranks of a communicator are processes that started together with this one. Processes that
    /// were spawned, or connected to, are in no such communicator. The library must be [running](Self::is_running).
    pub fn is_within_world(&self, communicator: Handle, size: usize) -> bool {
        let (mut own, mut world): (Handle, Handle) = (0, 0);
        let ranks: Vec<c_int> = (0..size as c_int).collect();
        let mut found = vec![-1; size];
        // SAFETY: places for handles and numbers, as many as there are ranks.
        unsafe {
            let ended = (self.functions.comm_group)(communicator, &mut own)
                | (self.functions.comm_group)(self.world, &mut world);
            if ended != 0 {
                return false;
            }
            let (count, into) = (size as c_int, found.as_mut_ptr());
            (self.functions.group_translate_ranks)(own, count, ranks.as_ptr(), world, into);
            (self.functions.group_free)(&mut own);
            (self.functions.group_free)(&mut world);
        }
        // All dialects say by a number below 0 that a rank is not there.
        found.iter().all(|&rank| rank >= 0)
    }

    /// Whether several threads may call at a time. The library must be [running](Self::is_running).
    pub fn is_multithreaded(&self) -> bool {
        let mut level: c_int = 0;
        // SAFETY: a place for a number.
        unsafe { (self.functions.query_thread)(&mut level) };
        self.dialect.is_multiple(level)
    }
}
