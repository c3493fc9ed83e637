//! What Clang calls: the entry points of LLVM OpenMP.
//!
//! A region's body takes its arguments one by one, and so does the function that starts it, which in C has an
//! ellipsis. On x86-64 an ellipsis of pointers is passed as so many pointers, so functions of 64 take fewer as well.

#![allow(non_snake_case, reason = "the names are the run-time's")]
#![allow(unreachable_pub, reason = "reached by its name")]

use crate::gnu::{tasks, theirs};
use crate::here::{self, call_off, elsewhere, meet, real};
use crate::region::{ARGUMENTS_MAX, Region};
use crate::runtime::{CopyPrivate, Runtime, Word, known};
use crate::{give_up, is_on};
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

type Argument = *mut c_void;

/// Arguments that go in registers, whoever calls.
const FEW: usize = 3;

/// A body of few.
type MicroOfFew = unsafe extern "C-unwind" fn(*mut c_int, *mut c_int, Argument, Argument, Argument);

macro_rules! all {
    ($x:ident $y:ident $z:ident; $($name:ident)*) => {
        /// A body, which takes as many as it has.
        type Micro = unsafe extern "C-unwind" fn(*mut c_int, *mut c_int $(, all!(@type $name))*);

        /// A body called with what there is.
        ///
        /// # Safety
        ///
        /// `code` is a body of the compiler's, `given` are its arguments.
        unsafe fn call(code: *const c_void, thread: *mut c_int, within: *mut c_int, given: &[Argument]) {
            let mut all = given.iter().copied();
            if given.len() <= FEW {
                let mut next = || all.next().unwrap_or(std::ptr::null_mut());
                let few = [next(), next(), next()];
                // SAFETY: as below.
                return unsafe {
                    std::mem::transmute::<*const c_void, MicroOfFew>(code)(thread, within, few[0], few[1], few[2])
                };
            }
            $( let $name = all.next().unwrap_or(std::ptr::null_mut()); )*
            // SAFETY: the caller's; a body does not look at more arguments than it has.
            unsafe {
                std::mem::transmute::<*const c_void, Micro>(code)(thread, within $(, $name)*)
            }
        }

        /// Starts a region.
        ///
        /// # Safety
        ///
        /// As compilers call it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn __kmpc_fork_call(
            place: *mut c_void, count: c_int, code: *const c_void $(, $name: Argument)*
        ) {
            // What was not given is not read: it would be somebody else's.
            let given = usize::try_from(count).unwrap_or(usize::MAX);
            if given <= FEW {
                // SAFETY: what the compiler gave.
                return unsafe { fork(place, code, &[$x, $y, $z][..given]) };
            }
            if given > ARGUMENTS_MAX {
                give_up("a region shares more than 64 variables, which cannot be passed on");
            }
            let mut kept = [std::ptr::null_mut(); ARGUMENTS_MAX];
            let mut number = 0;
            $( if number < given { kept[number] = $name; number += 1; } )*
            // SAFETY: what the compiler gave.
            unsafe { fork(place, code, &kept[..number]) }
        }

        /// Starts a region as if nobody looked.
        ///
        /// # Safety
        ///
        /// As for `__kmpc_fork_call`.
        unsafe fn pass_on(runtime: &Runtime, place: *mut c_void, code: *const c_void, given: &[Argument]) {
            let mut all = given.iter().copied();
            $( let $name = all.next().unwrap_or(std::ptr::null_mut()); )*
            let start = theirs!(runtime.real, kmpc_fork_call);
            // SAFETY: what the compiler gave; nobody looks at more arguments than their number.
            unsafe { start(place, given.len() as c_int, code $(, $name)*) }
        }

        /// Starts a league of teams: initial threads, outside of the region.
        ///
        /// # Safety
        ///
        /// As compilers call it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn __kmpc_fork_teams(
            place: *mut c_void, count: c_int, code: *const c_void $(, $name: Argument)*
        ) {
            let real = &known(code).runtime.real;
            // SAFETY: what the compiler gave.
            elsewhere(|| unsafe { theirs!(real, kmpc_fork_teams)(place, count, code $(, $name)*) });
        }
    };
    (@type $name:ident) => { Argument };
}

all! {
    a0 a1 a2;
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22 a23 a24 a25
    a26 a27 a28 a29 a30 a31 a32 a33 a34 a35 a36 a37 a38 a39 a40 a41 a42 a43 a44 a45 a46 a47 a48 a49
    a50 a51 a52 a53 a54 a55 a56 a57 a58 a59 a60 a61 a62 a63
}

/// What each thread of a region runs instead of its body.
unsafe extern "C-unwind" fn body(thread: *mut c_int, within: *mut c_int, region: *const Region) {
    // SAFETY: `fork` gave the region, which outlives its threads.
    let region = unsafe { &*region };
    // SAFETY: the compiler's body with its arguments.
    here::within(region, || unsafe {
        call(region.code(), thread, within, region.arguments())
    });
}

#[inline(always)]
unsafe fn fork(place: *mut c_void, code: *const c_void, given: &[Argument]) {
    if !is_on() {
        // SAFETY: the caller's.
        return unsafe { pass_on(known(code).runtime, place, code, given) };
    }
    here::start(
        code,
        std::ptr::null_mut(),
        given,
        |runtime, region| match region {
            Some(region) => {
                let (start, body) = (theirs!(runtime.real, kmpc_fork_call), body as *const c_void);
                // SAFETY: as the compiler calls it, for a body with one argument.
                unsafe { start(place, 1, body, std::ptr::from_ref(region)) }
            }
            // SAFETY: the caller's.
            None => unsafe { pass_on(runtime, place, code, given) },
        },
    );
}

thread_local! {
    /// Where this thread was before the regions of one thread that it is in.
    static SERIAL: RefCell<Vec<here::Place>> = const { RefCell::new(Vec::new()) };
}

/// Begins a region of one thread.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __kmpc_serialized_parallel(place: *mut c_void, thread: c_int) {
    let real = real();
    SERIAL.with_borrow_mut(|serial| serial.push(here::leave()));
    // SAFETY: what the compiler gave.
    unsafe { theirs!(real, kmpc_serialized)(place, thread) }
}

/// Ends a region of one thread.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __kmpc_end_serialized_parallel(place: *mut c_void, thread: c_int) {
    // SAFETY: what the compiler gave.
    unsafe { theirs!(real(), kmpc_end_serialized)(place, thread) }
    if let Some(place) = SERIAL.with_borrow_mut(Vec::pop) {
        here::come_back(place);
    }
}

/// All threads of the region meet: at a barrier, and at the end of `for`, `sections` and `single`.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __kmpc_barrier(place: *mut c_void, thread: c_int) {
    if !meet() {
        // SAFETY: what the compiler gave.
        unsafe { theirs!(real(), kmpc_barrier)(place, thread) }
    }
}

/// Ends `single` with `copyprivate`: the thread that ran it gives, all others copy.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __kmpc_copyprivate(
    place: *mut c_void,
    thread: c_int,
    bytes: usize,
    data: *mut c_void,
    copy: CopyPrivate,
    gives: c_int,
) {
    let Some(region) = here::region() else {
        // SAFETY: what the compiler gave.
        return unsafe {
            theirs!(real(), kmpc_copyprivate)(place, thread, bytes, data, copy, gives)
        };
    };
    if gives != 0 {
        // Relaxed: barriers come between.
        region.copied.0.store(data, Ordering::Relaxed);
    }
    // SAFETY: what the compiler gave.
    unsafe {
        __kmpc_barrier(place, thread);
        if gives == 0 {
            copy(data, region.copied.0.load(Ordering::Relaxed));
        }
        __kmpc_barrier(place, thread);
    }
}

tasks! {
    __kmpc_omp_task_alloc => kmpc_task_alloc(
        place: Word, thread: c_int, flags: c_int, a: Word, b: Word, code: Word) -> *mut c_void;
    __kmpc_omp_target_task_alloc => kmpc_target_task_alloc(
        place: Word, thread: c_int, flags: c_int, a: Word, b: Word, code: Word, device: Word) -> *mut c_void;
    __kmpc_cancel => kmpc_cancel(place: *mut c_void, thread: c_int, which: c_int) -> c_int;
}
