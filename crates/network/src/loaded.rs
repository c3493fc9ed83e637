//! Finds the MPI library among what the process has loaded.
//!
//! A look-up in the global scope is not enough: Python opens its extension modules, and with them the library, for
//! themselves alone. So all loaded objects are asked, by a handle that loads nothing.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::NonNull;

/// An object of the process that defines MPI.
#[derive(Debug)]
pub struct Loaded {
    /// A handle of the loader's, never closed: the library stays as long as the process calls it.
    object: NonNull<c_void>,
    path: CString,
}

// SAFETY: the loader's functions may be called from any thread, and the handle is never closed.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// The first object of the process whose own name is that of an MPI library and which defines the profiling interface;
    /// `None` if there is none yet.
    pub fn find() -> Option<Self> {
        objects().into_iter().find_map(|path| {
            let name = path.to_bytes().rsplit(|&byte| byte == b'/').next()?;
            // libmpi.so.40, libmpich.so.12, libmpi_abi.so.1, libmpi_cray.so.12, ...
            if !name.starts_with(b"libmpi") && !name.starts_with(b"libpsmpi") {
                return None;
            }
            // SAFETY: a string; the object is loaded already, and no constructor runs.
            let object =
                unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
            let loaded = Self {
                object: NonNull::new(object)?,
                path,
            };
            // Bindings of other languages have such names too, and find the functions in what they need.
            let defined = loaded.symbol(c"PMPI_Allgather")?;
            loaded.defines(defined).then_some(loaded)
        })
    }

    /// Loads a library by its name, so that also the modules that it loads itself find it; says whether there is one.
    pub(crate) fn open(name: &CStr) -> bool {
        // SAFETY: a string. A library of this name is one of MPI, whose constructors may run at any time.
        !unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) }.is_null()
    }

    /// The file of the library.
    pub fn path(&self) -> &CStr {
        &self.path
    }

    /// The address of a symbol in the library or in what it needs.
    pub fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is valid for ever, and the name a string.
        NonNull::new(unsafe { libc::dlsym(self.object.as_ptr(), name.as_ptr()) })
    }

    /// The address of an object of the library's, such as a predefined handle. A program may have been linked with a copy of
    /// it, which the library then uses as well, and which is found in the global scope only.
    pub(crate) fn object(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: a string.
        let copy = NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) });
        copy.or_else(|| self.symbol(name))
    }

    /// Whether the symbol lies in this object itself.
    fn defines(&self, symbol: NonNull<c_void>) -> bool {
        // SAFETY: plain data, for which zeros are valid.
        let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: any address may be asked for.
        if unsafe { libc::dladdr(symbol.as_ptr(), &mut found) } == 0 || found.dli_fname.is_null() {
            return false;
        }
        // SAFETY: the loader's own string, of an object that stays.
        (unsafe { CStr::from_ptr(found.dli_fname) }) == self.path.as_c_str()
    }

    /// Whether this is the library of the standard's binary interface.
    pub(crate) fn is_standard(&self) -> bool {
        let path = self.path.to_bytes();
        path.windows(10).any(|window| window == b"libmpi_abi")
    }
}

/// The paths of all objects of the process.
fn objects() -> Vec<CString> {
    /// # Safety
    ///
    /// `paths` is the vector that was given to `dl_iterate_phdr`.
    unsafe extern "C" fn each(
        info: *mut libc::dl_phdr_info,
        _: usize,
        paths: *mut c_void,
    ) -> c_int {
        // SAFETY: the caller's promise, and the loader's.
        let (paths, info) = unsafe { (&mut *paths.cast::<Vec<CString>>(), &*info) };
        if !info.dlpi_name.is_null() {
            // SAFETY: the loader's string lives while it calls.
            paths.push(unsafe { CStr::from_ptr(info.dlpi_name) }.to_owned());
        }
        0
    }
    let mut paths: Vec<CString> = Vec::new();
    // SAFETY: the function does what the loader asks for, on the vector that it is given.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut paths).cast()) };
    paths
}

/// The next definition of a symbol after the calling object, in the order in which the loader looks for it; `None` if there
/// is none in the global scope.
pub fn next_definition(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: a string. The caller is linked into the object after which the loader looks.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) })
}
