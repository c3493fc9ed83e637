//! Layer 13: the entry points of both runtimes for constructs that end with a barrier: `for`, `sections`, and `single`
//! with `copyprivate`. Ends without an entry point of their own call the runtime's barrier, see `gnu.rs` and `llvm.rs`.

#![allow(non_snake_case, reason = "the names are the runtime's")]
#![allow(unreachable_pub, reason = "reached by its name")]

use super::entry::{in_level, theirs, with_site};
use super::objects::Code;
use super::runtime::Family::{Gnu, Llvm};
use super::runtime::{CopyPrivate, Data};
use super::thread::thread;
use super::{gnu, llvm};
use crate::record::Kind;
use std::ffi::c_int;

macro_rules! ends {
    ($($name:ident => $on:ident, $nowait:ident, $kind:ident;)*) => {$(
        with_site!($name => $on, "rdi", "x0");

        /// Ends a shared construct: calls the runtime's end without a barrier, and then runs a barrier. All threads
        /// of a region do so, whatever the state of their barriers is.
        ///
        /// # Safety
        ///
        /// The arguments are those that a compiler gives to the runtime's function.
        unsafe extern "C-unwind" fn $on(site: Code) {
            in_level(Gnu, site, |runtime, region| {
                if region.is_none() {
                    // SAFETY: what the compiler called.
                    return unsafe { theirs!(runtime, $name)() };
                }
                // SAFETY: as for a construct with `nowait`, and then as at its end.
                unsafe {
                    theirs!(runtime, $nowait)();
                    gnu::meet_at(site, Kind::$kind);
                }
            });
        }
    )*};
}

ends! {
    GOMP_loop_end => end_loop, GOMP_loop_end_nowait, For;
    GOMP_sections_end => end_sections, GOMP_sections_end_nowait, Sections;
}

with_site!(GOMP_single_copy_start => start_single_copy, "rdi", "x0");

/// Begins `single` with `copyprivate`. Returns null to the one thread that runs it, and the data that it gives to all
/// others.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
unsafe extern "C-unwind" fn start_single_copy(site: Code) -> Data {
    in_level(Gnu, site, |runtime, region| {
        let Some(region) = region else {
            // SAFETY: what the compiler called.
            return unsafe { theirs!(runtime, GOMP_single_copy_start)() };
        };
        let receipt = &thread().receipt;
        region.copied.give_way(receipt);
        // SAFETY: as for `single` without `copyprivate`.
        if unsafe { theirs!(runtime, GOMP_single_start)() } {
            region.copied.begin();
            return std::ptr::null_mut();
        }
        // SAFETY: the thread that runs the construct meets the others at its end.
        unsafe { gnu::meet_at(site, Kind::Single) };
        region.copied.take(receipt)
    })
}

with_site!(GOMP_single_copy_end => end_single_copy, "rsi", "x1");

/// Ends `single` with `copyprivate`, for the thread that ran it.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
unsafe extern "C-unwind" fn end_single_copy(data: Data, site: Code) {
    in_level(Gnu, site, |runtime, region| {
        let Some(region) = region else {
            // SAFETY: what the compiler called.
            return unsafe { theirs!(runtime, GOMP_single_copy_end)(data) };
        };
        region.copied.give(data, &thread().receipt);
        // SAFETY: the others meet this thread before they take what is given.
        unsafe { gnu::meet_at(site, Kind::Single) };
    });
}

/// Ends `single` with `copyprivate`: the thread that ran it gives, all others copy.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __kmpc_copyprivate(
    place: Data,
    number: c_int,
    bytes: usize,
    data: Data,
    copy: CopyPrivate,
    gives: c_int,
) {
    // The compiler's copy function lies near the construct, so its address serves as the site.
    let site = copy as Code;
    in_level(Llvm, llvm::caller(place, site), |runtime, region| {
        let Some(region) = region else {
            let theirs = theirs!(runtime, __kmpc_copyprivate);
            // SAFETY: what the compiler gave.
            return unsafe { theirs(place, number, bytes, data, copy, gives) };
        };
        let receipt = &thread().receipt;
        if gives != 0 {
            region.copied.give(data, receipt);
        }
        // SAFETY: what the compiler gave.
        unsafe {
            llvm::meet(place, number, site);
            if gives == 0 {
                copy(data, region.copied.take(receipt));
            }
            llvm::meet(place, number, site);
        }
    });
}
