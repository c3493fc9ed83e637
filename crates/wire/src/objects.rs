//! The objects of this process, which are the program and the libraries that the loader has put beside it.
//!
//! Nothing here keeps an object loaded, so an address means what it did only as long as no object was unloaded.

use std::ffi::{CStr, CString, c_int, c_void};

/// The addresses of an object.
///
/// # Examples
///
/// ```
/// use corecast_wire::objects::find;
///
/// let code = find as *const std::ffi::c_void;
/// let (span, _) = find(code).expect("code is in an object");
/// assert!(span.contains(code));
/// assert!(!span.contains(std::ptr::null()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first address.
    pub low: usize,
    /// Bytes.
    pub length: usize,
}

impl Span {
    /// Whether `at` is one of the addresses.
    #[inline(always)]
    pub fn contains(self, at: *const c_void) -> bool {
        at.addr().wrapping_sub(self.low) < self.length
    }
}

/// Where the object with the address `at` lies, and its path, which is empty for the program; `None` if no object has
/// that address.
///
/// It takes no lock that the loader holds while it runs constructors or destructors.
///
/// # Cost
///
/// A look at the headers of all objects: a microsecond or some.
///
/// # Examples
///
/// ```
/// use corecast_wire::objects::find;
///
/// assert!(find(std::ptr::null()).is_none());
/// ```
pub fn find(at: *const c_void) -> Option<(Span, CString)> {
    struct Search {
        at: *const c_void,
        found: Option<(Span, CString)>,
    }

    /// # Safety
    ///
    /// Only the loader calls it, with what `find` gives.
    unsafe extern "C" fn look(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        search: *mut c_void,
    ) -> c_int {
        // SAFETY: what the loader and `find` give.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
        if info.dlpi_phdr.is_null() {
            return 0;
        }
        // SAFETY: as the loader says; an object's headers live as long as it does.
        let headers =
            unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let loaded = || {
            headers
                .iter()
                .filter(|header| header.p_type == libc::PT_LOAD)
        };
        let low = loaded().map(|header| header.p_vaddr as usize).min();
        let end = loaded()
            .map(|header| (header.p_vaddr + header.p_memsz) as usize)
            .max();
        let (low, end) = (low.unwrap_or(0), end.unwrap_or(0));
        let span = Span {
            low: low.wrapping_add(info.dlpi_addr as usize),
            length: end - low,
        };
        if !span.contains(search.at) {
            return 0;
        }
        let path = match info.dlpi_name.is_null() {
            true => c"",
            // SAFETY: the loader's string, which lives as long as the object.
            false => unsafe { CStr::from_ptr(info.dlpi_name) },
        };
        search.found = Some((span, path.to_owned()));
        1
    }

    let mut search = Search { at, found: None };
    let given: *mut Search = &mut search;
    // SAFETY: the function gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(look), given.cast()) };
    search.found
}

/// Whether the object with the address `at` is the program: a library that is linked into it finds its own code there, and
/// one that was loaded before it does not.
///
/// # Examples
///
/// ```
/// use corecast_wire::objects::is_in_the_program;
///
/// assert!(is_in_the_program(is_in_the_program as *const std::ffi::c_void));
/// ```
pub fn is_in_the_program(at: *const c_void) -> bool {
    // SAFETY: a function without conditions.
    let entry = unsafe { libc::getauxval(libc::AT_ENTRY) } as usize;
    let program = find(std::ptr::without_provenance(entry));
    program.is_some_and(|(span, _)| span.contains(at))
}
