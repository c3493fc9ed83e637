//! Layer 3: what is known of data types.

use crate::slots::{SLOTS, slot};
use corecast::operator::Element;
use corecast_network::{Handle, Library};
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What the elements of a predefined type are, as far as it matters for operations on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Whole numbers.
    Integer(Element),
    /// `float`, `double`.
    Float(Element),
    /// `MPI_BYTE`
    Byte,
    /// Wider floats.
    WideFloat,
    Complex,
    Logical,
    /// A value and its place.
    Pair,
    /// Nothing that is combined by predefined operations.
    Other,
}

/// A data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    /// Bytes of data in an element.
    pub(crate) size: usize,
    /// Bytes from an element to the next one, which may lie before it; the size of a dense type.
    pub(crate) extent: isize,
    /// Whether the bytes of elements lie one after another, in the order in which they are sent.
    pub(crate) is_dense: bool,
    /// Whether elements one after another fill the memory, in whatever order.
    pub(crate) is_full: bool,
    /// `None` for types of the program's own.
    pub(crate) class: Option<Class>,
}

impl Type {
    /// Bytes from an element to the next one, where that lies behind it.
    #[inline]
    pub(crate) fn stride(&self) -> Option<usize> {
        usize::try_from(self.extent).ok().filter(|it| *it > 0)
    }
}

/// Combiners that say how a type was made, as this library numbers them.
struct Combiners {
    named: c_int,
    dup: c_int,
    contiguous: c_int,
}

/// Predefined types that were met before, by handle. They are never freed, so their entries stay for ever.
static NAMED: [(AtomicUsize, AtomicU64); SLOTS] =
    [const { (AtomicUsize::new(0), AtomicU64::new(0)) }; SLOTS];
static ADDING: Mutex<()> = Mutex::new(());
static COMBINERS: OnceLock<Option<Combiners>> = OnceLock::new();

/// The type of a handle; `None` if it is none that has elements of a fixed length, so that the library can say what is wrong.
#[inline]
pub(crate) fn of(library: &Library, raw: Handle) -> Option<Type> {
    let handle = library.handle(raw);
    let mut at = slot(handle);
    loop {
        // Acquire: with the release in `remember`, so that the packed type is whole.
        match NAMED[at].0.load(Ordering::Acquire) {
            0 => return look(library, handle),
            known if known == handle => return Some(unpack(NAMED[at].1.load(Ordering::Relaxed))),
            _ => at = (at + 1) % SLOTS,
        }
    }
}

/// Whether a handle is that of a predefined type, and always will be.
pub(crate) fn is_predefined(library: &Library, raw: Handle) -> bool {
    of(library, raw).is_some_and(|found| found.class.is_some())
}

/// Before `MPI_Type_set_name`: what a predefined type is, is told by the name that it has from the start.
pub(crate) fn before_name(library: &Library, raw: Handle) {
    if library.is_running() {
        of(library, raw);
    }
}

/// Asks the library, and remembers what is predefined.
#[cold]
fn look(library: &Library, handle: Handle) -> Option<Type> {
    // The library would call the error handler of MPI_COMM_WORLD, whatever the communicator is.
    if handle == library.no_type() {
        return None;
    }
    let combiners = COMBINERS.get_or_init(|| combiners(library)).as_ref()?;
    let found = ask(library, combiners, handle, 8)?;
    if found.class.is_some() {
        remember(handle, found);
    }
    Some(found)
}

fn remember(handle: Handle, found: Type) {
    let _adding = ADDING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(packed) = pack(found) else { return };
    let mut at = slot(handle);
    for _ in 0..SLOTS / 2 {
        // Relaxed: only this function writes, under the lock.
        match NAMED[at].0.load(Ordering::Relaxed) {
            0 => {
                NAMED[at].1.store(packed, Ordering::Relaxed);
                // Release: with the acquire in `of`.
                NAMED[at].0.store(handle, Ordering::Release);
                return;
            }
            known if known == handle => return,
            _ => at = (at + 1) % SLOTS,
        }
    }
}

/// A predefined type in one word; `None` for one that is too long for it.
fn pack(found: Type) -> Option<u64> {
    let (class, element) = match found.class? {
        Class::Integer(element) => (0, element as u64),
        Class::Float(element) => (1, element as u64),
        Class::Byte => (2, 0),
        Class::WideFloat => (3, 0),
        Class::Complex => (4, 0),
        Class::Logical => (5, 0),
        Class::Pair => (6, 0),
        Class::Other => (7, 0),
    };
    let (size, extent) = (
        u16::try_from(found.size).ok()?,
        u16::try_from(found.extent).ok()?,
    );
    let flags = u64::from(found.is_dense) | u64::from(found.is_full) << 1;
    Some(u64::from(size) | u64::from(extent) << 16 | flags << 32 | class << 40 | element << 48)
}

#[inline]
fn unpack(packed: u64) -> Type {
    let element = || Element::ALL[(packed >> 48) as usize];
    let class = match (packed >> 40) & 0xff {
        0 => Class::Integer(element()),
        1 => Class::Float(element()),
        2 => Class::Byte,
        3 => Class::WideFloat,
        4 => Class::Complex,
        5 => Class::Logical,
        6 => Class::Pair,
        _ => Class::Other,
    };
    Type {
        size: (packed & 0xffff) as usize,
        extent: ((packed >> 16) & 0xffff) as isize,
        is_dense: (packed >> 32) & 1 != 0,
        is_full: (packed >> 32) & 2 != 0,
        class: Some(class),
    }
}

/// How this library numbers the ways in which types are made, found by making some.
fn combiners(library: &Library) -> Option<Combiners> {
    let functions = library.functions();
    let (mut dup, mut contiguous) = (0, 0);
    // SAFETY: a predefined type, and places for handles.
    let made = unsafe {
        (functions.type_dup)(library.byte(), &mut dup)
            | (functions.type_contiguous)(2, library.byte(), &mut contiguous)
    };
    if made != 0 {
        return None;
    }
    let found = Combiners {
        named: envelope(library, library.byte())?[3],
        dup: envelope(library, dup)?[3],
        contiguous: envelope(library, contiguous)?[3],
    };
    // SAFETY: types that were made above, and are used no more.
    unsafe {
        (functions.type_free)(&mut dup);
        (functions.type_free)(&mut contiguous);
    }
    Some(found)
}

/// How many integers, addresses and types a type was made of, and by which combiner.
fn envelope(library: &Library, handle: Handle) -> Option<[c_int; 4]> {
    let mut found = [0; 4];
    let [integers, addresses, types, combiner] = &mut found;
    // SAFETY: places for numbers. A handle that is no type is an error of the call.
    let ended = unsafe {
        (library.functions().type_envelope)(handle, integers, addresses, types, combiner)
    };
    (ended == 0).then_some(found)
}

/// Asks the library about a type; `depth` limits how far types of types are followed.
fn ask(library: &Library, combiners: &Combiners, handle: Handle, depth: u32) -> Option<Type> {
    let functions = library.functions();
    let (mut size, mut lower, mut extent) = (0, 0, 0);
    let (mut true_lower, mut true_extent) = (0, 0);
    // SAFETY: places for numbers; as above.
    let ended = unsafe {
        (functions.type_size)(handle, &mut size)
            | (functions.type_extent)(handle, &mut lower, &mut extent)
            | (functions.type_true_extent)(handle, &mut true_lower, &mut true_extent)
    };
    let size = usize::try_from(size).ok().filter(|_| ended == 0)?;
    let is_full = lower == 0 && true_lower == 0 && extent == true_extent;
    let is_full = is_full && usize::try_from(extent) == Ok(size);
    let [integers, addresses, types, combiner] = envelope(library, handle)?;
    if combiner == combiners.named {
        let class = class(library, handle, size)?;
        return Some(Type {
            size,
            extent,
            is_dense: is_full,
            is_full,
            class: Some(class),
        });
    }
    let mut is_dense = false;
    let simple = combiner == combiners.dup || combiner == combiners.contiguous;
    if is_full && simple && depth > 0 && integers <= 1 && addresses == 0 && types == 1 {
        let (mut integer, mut address, mut inner) = (0, 0, 0);
        // SAFETY: as many places as the envelope has asked for.
        let ended = unsafe {
            (functions.type_contents)(
                handle,
                integers,
                0,
                1,
                &mut integer,
                &mut address,
                &mut inner,
            )
        };
        if ended == 0 {
            let found = ask(library, combiners, library.handle(inner), depth - 1);
            is_dense = found.is_some_and(|found| found.is_dense);
            if found.is_none_or(|found| found.class.is_none()) {
                // SAFETY: `MPI_Type_get_contents` has given a handle of its own, which is to be freed unless it is predefined.
                unsafe { (functions.type_free)(&mut inner) };
            }
        }
    }
    Some(Type {
        size,
        extent,
        is_dense,
        is_full,
        class: None,
    })
}

/// The class of a predefined type, by its name and length.
fn class(library: &Library, handle: Handle, size: usize) -> Option<Class> {
    // Longer than every dialect's longest name.
    let mut name = [0_u8; 512];
    let mut len = 0;
    // SAFETY: a place for a name and a number.
    let ended = unsafe {
        (library.functions().type_name)(handle, name.as_mut_ptr().cast::<c_char>(), &mut len)
    };
    let name = CStr::from_bytes_until_nul(&name)
        .ok()
        .filter(|_| ended == 0)?;
    Some(class_of(name.to_str().ok()?, size))
}

fn class_of(name: &str, size: usize) -> Class {
    let name = name.trim_start_matches("MPIX_").trim_start_matches("MPI_");
    let integer = |signed: bool| {
        let element = match (signed, size) {
            (true, 1) => Element::I8,
            (true, 2) => Element::I16,
            (true, 4) => Element::I32,
            (true, 8) => Element::I64,
            (true, 16) => Element::I128,
            (false, 1) => Element::U8,
            (false, 2) => Element::U16,
            (false, 4) => Element::U32,
            (false, 8) => Element::U64,
            _ => return Class::Other,
        };
        Class::Integer(element)
    };
    match name {
        "BYTE" => Class::Byte,
        "SIGNED_CHAR" | "SHORT" | "INT" | "LONG" | "LONG_LONG" | "LONG_LONG_INT" | "AINT"
        | "COUNT" | "OFFSET" | "INTEGER" | "INTEGER1" | "INTEGER2" | "INTEGER4" | "INTEGER8"
        | "INTEGER16" | "INT8_T" | "INT16_T" | "INT32_T" | "INT64_T" => integer(true),
        "UNSIGNED_CHAR" | "UNSIGNED_SHORT" | "UNSIGNED" | "UNSIGNED_INT" | "UNSIGNED_LONG"
        | "UNSIGNED_LONG_LONG" | "UINT8_T" | "UINT16_T" | "UINT32_T" | "UINT64_T" => integer(false),
        "FLOAT" | "DOUBLE" | "REAL" | "REAL4" | "REAL8" | "DOUBLE_PRECISION" => match size {
            4 => Class::Float(Element::F32),
            8 => Class::Float(Element::F64),
            _ => Class::WideFloat,
        },
        "LONG_DOUBLE" | "REAL16" => Class::WideFloat,
        "C_BOOL" | "CXX_BOOL" | "LOGICAL" => Class::Logical,
        _ if name.contains("COMPLEX") => Class::Complex,
        "FLOAT_INT" | "DOUBLE_INT" | "LONG_INT" | "2INT" | "SHORT_INT" | "LONG_DOUBLE_INT"
        | "2REAL" | "2DOUBLE_PRECISION" | "2INTEGER" => Class::Pair,
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_types_are_known_by_name_and_length() {
        for (name, size, expected) in [
            ("MPI_INT", 4, Class::Integer(Element::I32)),
            ("MPI_INTEGER", 8, Class::Integer(Element::I64)),
            ("MPI_UNSIGNED_LONG", 8, Class::Integer(Element::U64)),
            ("MPI_DOUBLE_PRECISION", 8, Class::Float(Element::F64)),
            ("MPI_REAL", 4, Class::Float(Element::F32)),
            ("MPI_LONG_DOUBLE", 16, Class::WideFloat),
            ("MPI_CXX_DOUBLE_COMPLEX", 16, Class::Complex),
            ("MPI_2DOUBLE_PRECISION", 16, Class::Pair),
            ("MPI_DOUBLE_INT", 12, Class::Pair),
            ("MPI_CHAR", 1, Class::Other),
            ("MPI_LOGICAL", 4, Class::Logical),
        ] {
            assert_eq!(class_of(name, size), expected, "{name}");
        }
    }

    #[test]
    fn a_word_keeps_a_type() {
        for (size, extent, class) in [
            (8, 8, Class::Float(Element::F64)),
            (12, 16, Class::Pair),
            (4, 4, Class::Integer(Element::U32)),
            (1, 1, Class::Byte),
        ] {
            let dense = size == extent as usize;
            let found = Type {
                size,
                extent,
                is_dense: dense,
                is_full: dense,
                class: Some(class),
            };
            assert_eq!(unpack(pack(found).unwrap()), found);
        }
        let own = Type {
            size: 8,
            extent: 8,
            is_dense: true,
            is_full: true,
            class: None,
        };
        assert_eq!(pack(own), None);
    }
}
