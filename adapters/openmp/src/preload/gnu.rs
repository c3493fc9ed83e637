//! Layer 12: the entry points of GNU OpenMP, which GCC calls, for starts of regions and barriers. Each is that of the
//! same name in libgomp's public interface. LLVM's runtime exports most of them too, and serves them in the same way.

#![allow(non_snake_case, reason = "the names are the runtime's")]
#![allow(unreachable_pub, reason = "reached by its name")]

use super::entry::{barrier, run_body, start_region, theirs, with_site};
use super::objects::Code;
use super::region::Region;
use super::runtime::{Data, Family, Runtime};
use crate::record::Kind;
use std::ffi::{c_long, c_uint};

/// The body that each thread of a region runs; it runs the compiler's body.
///
/// # Safety
///
/// Only the runtime calls it, with the region that `forks!` gave to it.
unsafe extern "C-unwind" fn body(region: Data) {
    // SAFETY: the caller's; a region outlives its threads.
    let region = unsafe { &*region.cast::<Region>() };
    let data = region.arguments().next().unwrap_or(std::ptr::null_mut());
    run_body(region, || {
        type Body = unsafe extern "C-unwind" fn(Data);
        // SAFETY: the compiler's body, of this type, with its data.
        unsafe { std::mem::transmute::<Code, Body>(region.code())(data) }
    });
}

macro_rules! forks {
    ($( $args:tt => $($name:ident),+; )*) => { $($( forks!(@one $name $args); )+)* };
    (@one $name:ident ($($arg:ident: $kind:ty),*)) => {
        /// Starts a region.
        ///
        /// # Safety
        ///
        /// The arguments are those that a compiler gives to the runtime's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(code: Code, data: Data, threads: c_uint $(, $arg: $kind)*) {
            start_region(Family::Gnu, code, &[data], |runtime, region| {
                let (code, data) = match region {
                    Some(region) => (body as Code, std::ptr::from_ref(region).cast_mut().cast()),
                    None => (code, data),
                };
                // SAFETY: what the compiler gave, or our body with its region.
                unsafe { theirs!(runtime, $name)(code, data, threads $(, $arg)*) }
            });
        }
    };
}

forks! {
    (flags: c_uint) => GOMP_parallel;
    (count: c_uint, flags: c_uint) => GOMP_parallel_sections;
    (start: c_long, end: c_long, step: c_long, flags: c_uint) => GOMP_parallel_loop_runtime,
        GOMP_parallel_loop_nonmonotonic_runtime, GOMP_parallel_loop_maybe_nonmonotonic_runtime;
    (start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint) => GOMP_parallel_loop_static,
        GOMP_parallel_loop_dynamic, GOMP_parallel_loop_guided, GOMP_parallel_loop_nonmonotonic_dynamic,
        GOMP_parallel_loop_nonmonotonic_guided;
}

with_site!(GOMP_barrier => meet, "rdi", "x0");

/// A barrier of all threads of the region.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
unsafe extern "C-unwind" fn meet(site: Code) {
    // SAFETY: what the compiler called.
    unsafe { meet_at(site, Kind::BARRIER) }
}

/// A barrier of all threads of the region, called at `site`.
///
/// # Safety
///
/// As for `GOMP_barrier`.
#[inline(always)]
pub(super) unsafe fn meet_at(site: Code, kind: Kind) {
    // SAFETY: the caller's.
    let theirs = |runtime: &Runtime| unsafe { theirs!(runtime, GOMP_barrier)() };
    barrier(Family::Gnu, site, site, || kind, theirs);
}
