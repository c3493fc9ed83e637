//! Layer 3: functions for large counts (`_c`) under a library that lacks them. Programs ask the loader whether there is one, by weak
//! symbols as mpi4py does or by `dlsym`, and find that of this library. What it does not serve then goes to the library's function for
//! counts of 32 bits, where they are enough.

use crate::process;
use corecast_network::{Handle, Library};
use std::ffi::{c_int, c_void};
use std::ptr::null;

/// Calls the library's other function; counts that it cannot take are an error of the communicator's.
///
/// # Safety
///
/// MPI's, of the function that `call` calls. It returns `None` where a count is too large.
#[cold]
pub(crate) unsafe fn call(raw: Handle, call: impl FnOnce(&Group) -> Option<c_int>) -> c_int {
    let Some(library) = process::library() else {
        return process::missing();
    };
    let comm = library.handle(raw);
    let group = Group { library, comm };
    call(&group).unwrap_or_else(|| {
        let code = library.dialect().no_count();
        // SAFETY: the communicator that the program has given.
        unsafe { (library.functions().comm_call_errhandler)(comm, code) };
        code
    })
}

/// A communicator, by which it is known how many counts there are.
pub(crate) struct Group {
    library: &'static Library,
    comm: Handle,
}

/// Counts or places of 32 bits.
pub(crate) struct Narrow(Option<Vec<c_int>>);

impl Narrow {
    /// Null where they have no meaning.
    pub(crate) fn as_ptr(&self) -> *const c_int {
        self.0.as_ref().map_or(null(), Vec::as_ptr)
    }
}

/// One count.
pub(crate) fn one(count: impl TryInto<c_int>) -> Option<c_int> {
    count.try_into().ok()
}

/// So many counts or places; `None` if one is too large.
///
/// # Safety
///
/// There are so many, or it is null.
pub(crate) unsafe fn all<N: Copy + TryInto<c_int>>(
    numbers: *const N,
    many: usize,
) -> Option<Narrow> {
    if many == 0 || numbers.is_null() {
        return Some(Narrow(None));
    }
    // SAFETY: the caller's promise.
    let numbers = unsafe { std::slice::from_raw_parts(numbers, many) };
    let narrow: Option<Vec<c_int>> = numbers.iter().map(|&number| one(number)).collect();
    Some(Narrow(Some(narrow?)))
}

impl Group {
    /// How many elements this rank gives, or takes where the root gives. They have no meaning where they lie in place, and for the group
    /// of the root in an intercommunicator, which has other ones.
    pub(crate) fn own(&self, root: c_int, buffer: *const c_void, count: i64) -> Option<c_int> {
        match root < 0 || buffer == self.library.dialect().in_place() {
            true => Some(0),
            false => one(count),
        }
    }

    /// A count that has a meaning for the root alone.
    pub(crate) fn at_root(&self, root: c_int, count: i64) -> Option<c_int> {
        match self.is_root(root) {
            true => one(count),
            false => Some(0),
        }
    }

    /// The ranks of which each has a part; 0 if it is no communicator, of which the library will say so.
    pub(crate) fn parts(&self) -> usize {
        let functions = self.library.functions();
        match self.is_inter() {
            Some(true) => self.ask(functions.comm_remote_size),
            Some(false) => self.ask(functions.comm_size),
            None => 0,
        }
    }

    /// The same if there is such a buffer, which is not `MPI_IN_PLACE`.
    pub(crate) fn parts_of(&self, buffer: *const c_void) -> usize {
        match buffer == self.library.dialect().in_place() {
            true => 0,
            false => self.parts(),
        }
    }

    /// The same if this rank is the root.
    pub(crate) fn parts_of_root(&self, root: c_int) -> usize {
        match self.is_root(root) {
            true => self.parts(),
            false => 0,
        }
    }

    /// The ranks of this one's group.
    pub(crate) fn members(&self) -> usize {
        match self.is_inter() {
            Some(_) => self.ask(self.library.functions().comm_size),
            None => 0,
        }
    }

    fn is_root(&self, root: c_int) -> bool {
        match self.is_inter() {
            Some(true) => root == self.library.dialect().root(),
            Some(false) => {
                let mut rank = 0;
                // SAFETY: a communicator, and a place for a number.
                let code = unsafe { (self.library.functions().comm_rank)(self.comm, &mut rank) };
                code == 0 && rank == root
            }
            None => false,
        }
    }

    fn is_inter(&self) -> Option<bool> {
        if self.comm == self.library.no_communicator() {
            return None;
        }
        let mut inter = 0;
        // SAFETY: a place for a number. A handle that is no communicator is an error of the call.
        let ended = unsafe { (self.library.functions().comm_test_inter)(self.comm, &mut inter) };
        (ended == 0).then_some(inter != 0)
    }

    fn ask(&self, size: unsafe extern "C-unwind" fn(Handle, *mut c_int) -> c_int) -> usize {
        let mut found = 0;
        // SAFETY: a communicator, and a place for a number.
        match unsafe { size(self.comm, &mut found) } {
            0 => usize::try_from(found).unwrap_or(0),
            _ => 0,
        }
    }
}
