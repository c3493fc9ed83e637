//! The library's own functions, by their profiling names, so that no tool that has taken the others is in between.
//!
//! `Handle` stands for every kind of handle. Where one is written, [`Handle`] is long enough for all dialects.

use crate::Handle;
use crate::loaded::Loaded;
use std::ffi::{CStr, c_char, c_int, c_void};

/// A callback that copies an attribute: communicator, key, the key's own word, the attribute, the new attribute, and whether
/// there is one.
pub(crate) type CopyAttribute =
    unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;

/// A callback that is told that an attribute is deleted: communicator, key, the attribute, the key's own word.
pub(crate) type DeleteAttribute =
    unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void) -> c_int;

/// A buffer that is read.
pub type Send = *const c_void;
/// A buffer that is written.
pub type Receive = *mut c_void;
/// Numbers of elements, or where they begin, for each rank.
pub type Ints = *const c_int;
/// Numbers of elements in functions for large counts.
pub type Counts = *const i64;

/// A place for a status, long enough for every dialect's.
pub type Status = [u64; 8];

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident : $symbol:literal ($($argument:ty),*);)*) => {
        /// Functions of the library. All return MPI's error codes, and have the contracts of the standard. Error handlers and
        /// operators of programs in C++ may throw through them.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "the standard describes each by the name that it has there")]
        pub struct Functions {
            $(pub $name: unsafe extern "C-unwind" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            /// Looks all functions up; the name of one that is missing as error.
            pub(crate) fn of(loaded: &Loaded) -> Result<Self, &'static CStr> {
                Ok(Self {
                    $($name: {
                        let symbol = loaded.symbol($symbol).ok_or($symbol)?;
                        // SAFETY: the standard says which arguments the function of this name has, and the types above are
                        // passed as its own.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C-unwind" fn($($argument),*) -> c_int,
                            >(symbol.as_ptr())
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    init: c"PMPI_Init"(*mut c_int, *mut c_void);
    finalize: c"PMPI_Finalize"();
    send: c"PMPI_Send"(Send, c_int, Handle, c_int, c_int, Handle);
    recv: c"PMPI_Recv"(Receive, c_int, Handle, c_int, c_int, Handle, *mut c_void);
    iprobe: c"PMPI_Iprobe"(c_int, c_int, Handle, *mut c_int, *mut c_void);
    initialized: c"PMPI_Initialized"(*mut c_int);
    finalized: c"PMPI_Finalized"(*mut c_int);
    query_thread: c"PMPI_Query_thread"(*mut c_int);
    comm_rank: c"PMPI_Comm_rank"(Handle, *mut c_int);
    comm_size: c"PMPI_Comm_size"(Handle, *mut c_int);
    comm_remote_size: c"PMPI_Comm_remote_size"(Handle, *mut c_int);
    comm_test_inter: c"PMPI_Comm_test_inter"(Handle, *mut c_int);
    comm_group: c"PMPI_Comm_group"(Handle, *mut Handle);
    group_translate_ranks: c"PMPI_Group_translate_ranks"(
        Handle, c_int, Ints, Handle, *mut c_int
    );
    group_free: c"PMPI_Group_free"(*mut Handle);
    comm_free: c"PMPI_Comm_free"(*mut Handle);
    comm_create_keyval: c"PMPI_Comm_create_keyval"(
        CopyAttribute, DeleteAttribute, *mut c_int, *mut c_void
    );
    comm_set_attr: c"PMPI_Comm_set_attr"(Handle, c_int, *mut c_void);
    comm_call_errhandler: c"PMPI_Comm_call_errhandler"(Handle, c_int);
    comm_set_errhandler: c"PMPI_Comm_set_errhandler"(Handle, Handle);
    error_class: c"PMPI_Error_class"(c_int, *mut c_int);
    comm_split: c"PMPI_Comm_split"(Handle, c_int, c_int, *mut Handle);
    isend: c"PMPI_Isend"(Send, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    get_count: c"PMPI_Get_count"(*mut c_void, Handle, *mut c_int);
    irecv: c"PMPI_Irecv"(Receive, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    test: c"PMPI_Test"(*mut Handle, *mut c_int, *mut c_void);
    cancel: c"PMPI_Cancel"(*mut Handle);
    wait: c"PMPI_Wait"(*mut Handle, *mut c_void);
    type_size: c"PMPI_Type_size_x"(Handle, *mut i64);
    type_extent: c"PMPI_Type_get_extent"(Handle, *mut isize, *mut isize);
    type_true_extent: c"PMPI_Type_get_true_extent"(Handle, *mut isize, *mut isize);
    type_envelope: c"PMPI_Type_get_envelope"(
        Handle, *mut c_int, *mut c_int, *mut c_int, *mut c_int
    );
    type_contents: c"PMPI_Type_get_contents"(
        Handle, c_int, c_int, c_int, *mut c_int, *mut isize, *mut Handle
    );
    type_name: c"PMPI_Type_get_name"(Handle, *mut c_char, *mut c_int);
    type_contiguous: c"PMPI_Type_contiguous"(c_int, Handle, *mut Handle);
    type_hindexed: c"PMPI_Type_create_hindexed"(
        c_int, *const c_int, *const isize, Handle, *mut Handle
    );
    type_commit: c"PMPI_Type_commit"(*mut Handle);
    type_dup: c"PMPI_Type_dup"(Handle, *mut Handle);
    type_free: c"PMPI_Type_free"(*mut Handle);
    pack: c"PMPI_Pack"(Send, c_int, Handle, Receive, c_int, *mut c_int, Handle);
    unpack: c"PMPI_Unpack"(Send, c_int, *mut c_int, Receive, c_int, Handle, Handle);
    pack_size: c"PMPI_Pack_size"(c_int, Handle, Handle, *mut c_int);
    info_get: c"PMPI_Info_get"(Handle, *const c_char, c_int, *mut c_char, *mut c_int);
    reduce_local: c"PMPI_Reduce_local"(Send, Receive, c_int, Handle, Handle);
    op_commutative: c"PMPI_Op_commutative"(Handle, *mut c_int);
    win_shared_query: c"PMPI_Win_shared_query"(
        Handle, c_int, *mut isize, *mut c_int, *mut *mut c_void
    );
    broadcast: c"PMPI_Bcast"(Receive, c_int, Handle, c_int, Handle);
    allreduce: c"PMPI_Allreduce"(Send, Receive, c_int, Handle, Handle, Handle);
    allgather_bytes: c"PMPI_Allgather"(Send, c_int, Handle, Receive, c_int, Handle, Handle);
}
