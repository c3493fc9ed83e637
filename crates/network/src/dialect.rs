//! What differs between the binary interfaces of MPI libraries.
//!
//! Sources: `mpi.h` of Open MPI 4.1 and of MPICH 4.0; for the interface of the standard MPI 5.0, appendix A.

use crate::Handle;
use crate::loaded::Loaded;
use std::ffi::{CStr, c_void};

/// The binary interface of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Handles are addresses of the library's objects.
    OpenMpi,
    /// Handles are numbers of 32 bits. Intel MPI, MVAPICH and Cray MPICH speak it as well.
    Mpich,
    /// The binary interface that MPI 5 lays down.
    Standard,
}

/// An operation of the standard's for reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `MPI_MAX`
    Max,
    /// `MPI_MIN`
    Min,
    /// `MPI_SUM`
    Sum,
    /// `MPI_PROD`
    Product,
    /// `MPI_LAND`
    LogicalAnd,
    /// `MPI_BAND`
    And,
    /// `MPI_LOR`
    LogicalOr,
    /// `MPI_BOR`
    Or,
    /// `MPI_LXOR`
    LogicalXor,
    /// `MPI_BXOR`
    Xor,
    /// `MPI_MINLOC`
    MinLocation,
    /// `MPI_MAXLOC`
    MaxLocation,
    /// `MPI_REPLACE`, which no reduction takes.
    Replace,
    /// `MPI_NO_OP`, which no reduction takes.
    Nothing,
}

/// Each operation, with Open MPI's symbol, MPICH's number and the standard's.
const OPERATIONS: [(Operation, &CStr, Handle, Handle); 14] = [
    (Operation::Max, c"ompi_mpi_op_max", 0x5800_0001, 0x23),
    (Operation::Min, c"ompi_mpi_op_min", 0x5800_0002, 0x22),
    (Operation::Sum, c"ompi_mpi_op_sum", 0x5800_0003, 0x21),
    (Operation::Product, c"ompi_mpi_op_prod", 0x5800_0004, 0x24),
    (
        Operation::LogicalAnd,
        c"ompi_mpi_op_land",
        0x5800_0005,
        0x30,
    ),
    (Operation::And, c"ompi_mpi_op_band", 0x5800_0006, 0x28),
    (Operation::LogicalOr, c"ompi_mpi_op_lor", 0x5800_0007, 0x31),
    (Operation::Or, c"ompi_mpi_op_bor", 0x5800_0008, 0x29),
    (
        Operation::LogicalXor,
        c"ompi_mpi_op_lxor",
        0x5800_0009,
        0x32,
    ),
    (Operation::Xor, c"ompi_mpi_op_bxor", 0x5800_000a, 0x2a),
    (
        Operation::MinLocation,
        c"ompi_mpi_op_minloc",
        0x5800_000b,
        0x38,
    ),
    (
        Operation::MaxLocation,
        c"ompi_mpi_op_maxloc",
        0x5800_000c,
        0x39,
    ),
    (
        Operation::Replace,
        c"ompi_mpi_op_replace",
        0x5800_000d,
        0x3c,
    ),
    (Operation::Nothing, c"ompi_mpi_op_no_op", 0x5800_000e, 0x3d),
];

impl Dialect {
    /// The dialect of a library, by the symbols that only it has.
    pub(crate) fn of(loaded: &Loaded) -> Self {
        if loaded.symbol(c"ompi_mpi_comm_world").is_some() {
            Self::OpenMpi
        } else if loaded.is_standard() {
            Self::Standard
        } else {
            Self::Mpich
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
            Self::Standard => "the MPI-5 ABI",
        }
    }

    /// The bits of a handle that count.
    pub(crate) fn handle_mask(self) -> Handle {
        match self {
            Self::Mpich => 0xffff_ffff,
            Self::OpenMpi | Self::Standard => usize::MAX,
        }
    }

    /// `MPI_IN_PLACE`
    pub fn in_place(self) -> *const c_void {
        match self {
            Self::Mpich => std::ptr::without_provenance(usize::MAX),
            Self::OpenMpi | Self::Standard => std::ptr::without_provenance(1),
        }
    }

    /// A handle that each dialect has in its own way; `None` if the library lacks the symbol.
    fn constant(
        self,
        loaded: &Loaded,
        (ompi, mpich, standard): (&CStr, Handle, Handle),
    ) -> Option<Handle> {
        match self {
            Self::OpenMpi => loaded.object(ompi).map(|symbol| symbol.addr().get()),
            Self::Mpich => Some(mpich),
            Self::Standard => Some(standard),
        }
    }

    /// `MPI_COMM_WORLD`
    pub(crate) fn world(self, loaded: &Loaded) -> Option<Handle> {
        self.constant(loaded, (c"ompi_mpi_comm_world", 0x4400_0000, 0x101))
    }

    /// `MPI_COMM_SELF`
    pub(crate) fn alone(self, loaded: &Loaded) -> Option<Handle> {
        self.constant(loaded, (c"ompi_mpi_comm_self", 0x4400_0001, 0x102))
    }

    /// `MPI_ERRORS_RETURN`
    pub(crate) fn errors_return(self, loaded: &Loaded) -> Option<Handle> {
        self.constant(loaded, (c"ompi_mpi_errors_return", 0x5400_0001, 0x143))
    }

    /// `MPI_BYTE`
    pub(crate) fn byte(self, loaded: &Loaded) -> Option<Handle> {
        self.constant(loaded, (c"ompi_mpi_byte", 0x4c00_010d, 0x247))
    }

    /// `MPI_DATATYPE_NULL`
    pub(crate) fn no_type(self, loaded: &Loaded) -> Option<Handle> {
        self.constant(loaded, (c"ompi_mpi_datatype_null", 0x0c00_0000, 0x200))
    }

    /// `MPI_COMM_NULL`
    pub(crate) fn no_communicator(self, loaded: &Loaded) -> Option<Handle> {
        self.constant(loaded, (c"ompi_mpi_comm_null", 0x0400_0000, 0x100))
    }

    /// `MPI_INFO_NULL`
    pub(crate) fn no_info(self, loaded: &Loaded) -> Option<Handle> {
        self.constant(loaded, (c"ompi_mpi_info_null", 0x1c00_0000, 0x130))
    }

    /// `MPI_OP_NULL`
    pub(crate) fn no_op(self, loaded: &Loaded) -> Option<Handle> {
        self.constant(loaded, (c"ompi_mpi_op_null", 0x1800_0000, 0x20))
    }

    /// The operations, by handle.
    pub(crate) fn operations(self, loaded: &Loaded) -> Vec<(Handle, Operation)> {
        let each = |&(operation, ompi, mpich, standard): &(Operation, &CStr, Handle, Handle)| {
            Some((self.constant(loaded, (ompi, mpich, standard))?, operation))
        };
        OPERATIONS.iter().filter_map(each).collect()
    }

    /// Whether a level of thread support lets several threads call at a time.
    pub(crate) fn is_multiple(self, level: i32) -> bool {
        match self {
            // Drafts and the final text have other numbers, all of them above that of MPI_THREAD_SERIALIZED.
            Self::Standard => level > 2 && level != 1024 && level != 2048,
            Self::OpenMpi | Self::Mpich => level > 2,
        }
    }

    /// `MPI_ERR_TRUNCATE`
    pub fn truncated(self) -> i32 {
        match self {
            Self::Mpich => 14,
            Self::OpenMpi | Self::Standard => 15,
        }
    }

    /// `MPI_ROOT`
    pub fn root(self) -> i32 {
        match self {
            Self::Mpich => -3,
            Self::OpenMpi | Self::Standard => -4,
        }
    }

    /// `MPI_ERR_COUNT`
    pub fn no_count(self) -> i32 {
        2
    }

    /// `MPI_ERR_BASE`
    pub fn no_base(self) -> i32 {
        match self {
            Self::Mpich => 46,
            Self::OpenMpi | Self::Standard => 24,
        }
    }

    /// `MPI_ERR_OTHER`
    pub fn other_error(self) -> i32 {
        match self {
            Self::Mpich => 15,
            Self::OpenMpi | Self::Standard => 16,
        }
    }
}
