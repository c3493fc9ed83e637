//! Layer 5: the program's buffers as slices of bytes, in place where elements are dense, else packed by the library.

use crate::process;
use crate::types::Type;
use corecast_network::{Handle, Library};
use std::borrow::Cow;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// Elements of one type in the program's memory.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a> {
    pub(crate) library: &'a Library,
    /// The communicator of the call.
    pub(crate) comm: Handle,
    pub(crate) datatype: Handle,
    pub(crate) found: Type,
}

/// Elements of a buffer that are given or taken.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) start: *mut c_void,
    pub(crate) count: usize,
    pub(crate) elements: Elements<'static>,
}

impl Block {
    pub(crate) fn bytes(&self) -> usize {
        self.elements.bytes(self.count)
    }

    /// The same number of elements, so many blocks further.
    pub(crate) fn after(&self, blocks: usize) -> Self {
        let at = (self.count * blocks) as isize;
        Self {
            start: self.elements.place(self.start, at),
            ..*self
        }
    }

    pub(crate) fn times(&self, blocks: usize) -> Self {
        Self {
            count: self.count * blocks,
            ..*self
        }
    }

    /// As many of the first elements as so many bytes have.
    pub(crate) fn within(&self, bytes: usize) -> Self {
        let most = bytes.checked_div(self.elements.found.size);
        Self {
            count: most.map_or(self.count, |most| most.min(self.count)),
            ..*self
        }
    }

    /// # Safety
    ///
    /// The program gave it to be read.
    pub(crate) unsafe fn read(&self) -> Cow<'static, [u8]> {
        // SAFETY: the caller's promise.
        unsafe { self.elements.read(self.start, self.count) }
    }

    /// # Safety
    ///
    /// The program gave it to be written.
    pub(crate) unsafe fn room(&self) -> Bytes<'static> {
        // SAFETY: the caller's promise.
        unsafe { self.elements.room(self.start, self.count) }
    }

    /// # Safety
    ///
    /// As [`room`](Self::room), which has made `bytes`.
    pub(crate) unsafe fn write(&self, bytes: &Bytes<'_>) -> Result<(), Refused> {
        // SAFETY: the caller's promise.
        unsafe { self.elements.write(self.start, self.count, bytes) }
    }
}

/// The code with which the library has refused to unpack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) c_int);

/// Bytes that were read or are to be written.
pub(crate) enum Bytes<'a> {
    InPlace(&'a mut [u8]),
    Packed(Vec<u8>),
}

impl Bytes<'_> {
    #[inline]
    pub(crate) fn as_mut(&mut self) -> &mut [u8] {
        match self {
            Self::InPlace(bytes) => bytes,
            Self::Packed(bytes) => bytes,
        }
    }
}

/// Where no bytes are, aligned for all elements. Programs may give any address for them.
const NOTHING: NonNull<u8> = NonNull::<u128>::dangling().cast();

/// `len` bytes of the program's.
///
/// # Safety
///
/// They may be written for as long as `'a`, by nobody else, or `len` is 0.
#[inline]
pub(crate) unsafe fn slice_mut<'a>(start: *mut c_void, len: usize) -> &'a mut [u8] {
    let start = match len {
        0 => NOTHING.as_ptr(),
        _ => start.cast(),
    };
    // SAFETY: the caller's promise; no bytes may be anywhere.
    unsafe { std::slice::from_raw_parts_mut(start, len) }
}

/// `len` bytes of the program's.
///
/// # Safety
///
/// They may be read for as long as `'a`, and nobody writes them, or `len` is 0.
#[inline]
pub(crate) unsafe fn slice<'a>(start: *const c_void, len: usize) -> &'a [u8] {
    let start = match len {
        0 => NOTHING.as_ptr(),
        _ => start.cast(),
    };
    // SAFETY: the caller's promise; no bytes may be anywhere.
    unsafe { std::slice::from_raw_parts(start, len) }
}

impl<'a> Elements<'a> {
    /// The bytes of `count` elements.
    #[inline]
    pub(crate) fn bytes(&self, count: usize) -> usize {
        self.found.size * count
    }

    /// Where the element number `at` begins.
    #[inline]
    pub(crate) fn place(&self, start: *mut c_void, at: isize) -> *mut c_void {
        start.wrapping_byte_offset(at.wrapping_mul(self.found.extent))
    }

    /// The bytes of `count` elements, to be read.
    ///
    /// # Safety
    ///
    /// There are `count` elements of the type from `start` on, and nobody writes them.
    #[inline]
    pub(crate) unsafe fn read(&self, start: *const c_void, count: usize) -> Cow<'a, [u8]> {
        match self.found.is_dense {
            // SAFETY: the caller's promise.
            true => unsafe { slice(start, self.bytes(count)) }.into(),
            // SAFETY: the caller's promise.
            false => unsafe { self.pack(start, count) }.into(),
        }
    }

    /// Room for `count` elements, to be written; then give it to [`write`](Self::write). What it has before is undefined.
    ///
    /// # Safety
    ///
    /// There is room for `count` elements of the type from `start` on, which nobody else uses.
    #[inline]
    pub(crate) unsafe fn room(&self, start: *mut c_void, count: usize) -> Bytes<'a> {
        match self.found.is_dense {
            // SAFETY: the caller's promise.
            true => Bytes::InPlace(unsafe { slice_mut(start, self.bytes(count)) }),
            false => Bytes::Packed(vec![0; self.bytes(count)]),
        }
    }

    /// Writes what is not in its place yet.
    ///
    /// # Safety
    ///
    /// As [`room`](Self::room), which has made `bytes` of the same place.
    #[inline]
    pub(crate) unsafe fn write(
        &self,
        start: *mut c_void,
        count: usize,
        bytes: &Bytes<'_>,
    ) -> Result<(), Refused> {
        match bytes {
            Bytes::InPlace(_) => Ok(()),
            // SAFETY: the caller's promise.
            Bytes::Packed(bytes) => unsafe { self.unpack(bytes, start, count) },
        }
    }

    /// The communicator for packing. It returns errors, since this is called within a team, where an error handler of the
    /// program's may not run.
    fn packer(&self) -> Handle {
        process::quiet().unwrap_or(self.comm)
    }

    /// As many elements as fit the library's number of bytes at a time.
    fn pieces(&self, count: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let most = ((1 << 30) / self.found.size.max(1)).max(1);
        (0..count)
            .step_by(most)
            .map(move |at| (at, most.min(count - at)))
    }

    /// # Safety
    ///
    /// As [`read`](Self::read).
    #[cold]
    pub(crate) unsafe fn pack(&self, start: *const c_void, count: usize) -> Vec<u8> {
        let (mut all, functions) = (vec![0; self.bytes(count)], self.library.functions());
        let packer = self.packer();
        for (at, many) in self.pieces(count) {
            let bytes = self.bytes(many);
            let from = self.placed(start.cast_mut(), at);
            let from = from.unwrap_or_else(|Refused(code)| {
                panic!("the library makes no type of the program's: it says {code}")
            });
            let (mut most, mut position): (c_int, c_int) = (0, 0);
            // SAFETY: a place for a number.
            unsafe { (functions.pack_size)(many as c_int, from.datatype, packer, &mut most) };
            // The library may ask for more room than the data have.
            let mut packed = vec![0_u8; bytes.max(most as usize)];
            // SAFETY: the caller's promise, and room for what the library has asked for.
            let code = unsafe {
                (functions.pack)(
                    from.start,
                    many as c_int,
                    from.datatype,
                    packed.as_mut_ptr().cast(),
                    packed.len() as c_int,
                    &mut position,
                    packer,
                )
            };
            assert_eq!(
                (code, position as usize),
                (0, bytes),
                "the library packs the data and no more"
            );
            let begin = self.bytes(at);
            all[begin..begin + bytes].copy_from_slice(&packed[..bytes]);
        }
        all
    }

    /// # Safety
    ///
    /// As [`room`](Self::room).
    #[cold]
    pub(crate) unsafe fn unpack(
        &self,
        bytes: &[u8],
        start: *mut c_void,
        count: usize,
    ) -> Result<(), Refused> {
        for (at, many) in self.pieces(count) {
            let into = self.placed(start, at)?;
            let from = &bytes[self.bytes(at)..][..self.bytes(many)];
            let mut position: c_int = 0;
            // SAFETY: the caller's promise, and as many bytes as the elements have.
            let code = unsafe {
                (self.library.functions().unpack)(
                    from.as_ptr().cast(),
                    from.len() as c_int,
                    &mut position,
                    into.start,
                    many as c_int,
                    into.datatype,
                    self.packer(),
                )
            };
            if code != 0 {
                return Err(Refused(code));
            }
        }
        Ok(())
    }

    /// The elements from number `at` on, for functions that pack.
    fn placed(&self, start: *mut c_void, at: usize) -> Result<Placed<'a>, Refused> {
        let (library, start) = (self.library, self.place(start, at as isize));
        if !start.is_null() {
            return Ok(Placed {
                start,
                datatype: self.datatype,
                moved: None,
            });
        }
        let moved = Moved::new(library, self.datatype)?;
        Ok(Placed {
            start: std::ptr::without_provenance_mut(MOVED_BY as usize),
            datatype: moved.datatype,
            moved: Some(moved),
        })
    }
}

/// Elements from `start` on, as functions that pack take them.
struct Placed<'a> {
    start: *mut c_void,
    datatype: Handle,
    #[expect(dead_code, reason = "kept until the call has ended")]
    moved: Option<Moved<'a>>,
}

/// How far types of absolute addresses are moved, so that they count from there instead of from null.
const MOVED_BY: isize = 4096;

/// A type of absolute addresses, as they lie from [`MOVED_BY`] on. Such types have `MPI_BOTTOM` for a buffer, which is null, and MPICH
/// packs nothing from there.
struct Moved<'a> {
    library: &'a Library,
    datatype: Handle,
}

impl<'a> Moved<'a> {
    fn new(library: &'a Library, datatype: Handle) -> Result<Self, Refused> {
        let functions = library.functions();
        let mut made: Handle = 0;
        // SAFETY: a type, one number and one address of it, and a place for a handle.
        match unsafe { (functions.type_hindexed)(1, &1, &-MOVED_BY, datatype, &mut made) } {
            0 => {}
            code => return Err(Refused(code)),
        }
        let mut moved = Self {
            library,
            datatype: made,
        };
        // SAFETY: the type that was just made.
        match unsafe { (functions.type_commit)(&mut moved.datatype) } {
            0 => Ok(moved),
            code => Err(Refused(code)),
        }
    }
}

impl Drop for Moved<'_> {
    fn drop(&mut self) {
        // SAFETY: a type that `new` has made, which nobody uses any more.
        unsafe { (self.library.functions().type_free)(&mut self.datatype) };
    }
}
