//! What Clang calls: the entry points of LLVM OpenMP.
//!
//! A region's body takes its arguments one by one, and so does the function that starts it, which in C has an
//! ellipsis. On x86-64, and on AArch64 under Linux, an ellipsis of pointers is passed as so many pointers, so functions
//! of 64 take fewer as well.

#![allow(non_snake_case, reason = "the names are the run-time's")]
#![allow(unreachable_pub, reason = "reached by its name")]

use super::gnu::{tasks, theirs, with_site};
use super::here::{self, call_off, elsewhere, meet, real};
use super::region::{ARGUMENTS_MAX, Region};
use super::runtime::{CopyPrivate, Runtime, Site, Word, known};
use super::watch::Kind;
use super::{IS_ON, give_up, is_on};
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

        /// Starts a region of at most [`ARGUMENTS_MAX`] arguments.
        unsafe extern "C-unwind" fn fork_call(
            place: *mut c_void, count: c_int, code: *const c_void $(, $name: Argument)*
        ) {
            // What was not given is not read: it would be somebody else's.
            let given = usize::try_from(count).unwrap_or(0);
            if given <= FEW {
                // SAFETY: what the compiler gave.
                return unsafe { fork(place, code, &[$x, $y, $z][..given]) };
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

/// Starts a region, of any number of arguments. One that has more than can be passed on is left to the run-time as it
/// was called, and so are all where nothing is to be replaced, and the one that the run-time starts for itself, which
/// has no place: its threads run what `target nowait` and detached tasks give to them, and must not be late.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn __kmpc_fork_call(
    place: *mut c_void,
    count: c_int,
    code: *const c_void,
) {
    // Of many: all that holds an argument is kept over the question where the run-time's function is.
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!(
        "cmp byte ptr [rip + {on}], 0",
        "je 2f",
        "test rdi, rdi",
        "jz 2f",
        "cmp esi, {max}",
        "ja 2f",
        "jmp {ours}",
        "2:",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "sub rsp, 8", // aligns the stack
        "mov rdi, rdx",
        "call {theirs}",
        "add rsp, 8",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "mov r11, rax",
        "xor eax, eax", // arguments in vector registers
        "jmp r11",
        on = sym IS_ON,
        max = const ARGUMENTS_MAX,
        ours = sym fork_call,
        theirs = sym fork_of_many,
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!(
        "adrp x16, {on}",
        "ldrb w16, [x16, :lo12:{on}]",
        "cbz w16, 2f",
        "cbz x0, 2f",
        "cmp w1, {max}",
        "b.hi 2f",
        "b {ours}",
        "2:",
        "stp x29, x30, [sp, #-80]!",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "mov x0, x2",
        "bl {theirs}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x2, x3, [sp, #32]",
        "ldp x4, x5, [sp, #48]",
        "ldp x6, x7, [sp, #64]",
        "ldp x29, x30, [sp], #80",
        "br x16",
        on = sym IS_ON,
        max = const ARGUMENTS_MAX,
        ours = sym fork_call,
        theirs = sym fork_of_many,
    );
}

/// The run-time's function for a region of many arguments.
extern "C" fn fork_of_many(code: *const c_void) -> *const c_void {
    if !here::is_nowhere() {
        give_up("a region within another shares more than 64 variables, which cannot be passed on");
    }
    theirs!(known(code).runtime.real, kmpc_fork_call) as *const c_void
}

/// Starts a region if `does`, and runs its body here if not.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __kmpc_fork_call_if(
    place: *mut c_void,
    count: c_int,
    code: *const c_void,
    does: c_int,
    data: Argument,
) {
    if does != 0 && is_on() {
        let given = [data];
        // SAFETY: what the compiler gave: one argument, or none.
        return unsafe { fork(place, code, &given[..usize::from(!data.is_null())]) };
    }
    let real = &known(code).runtime.real;
    // SAFETY: what the compiler gave.
    elsewhere(|| unsafe { theirs!(real, kmpc_fork_call_if)(place, count, code, does, data) });
}

/// What each thread of a region runs instead of its body.
///
/// # Safety
///
/// For the run-time to call, with what `fork` has given to it.
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

with_site!(__kmpc_barrier => barrier, "rdx", "x2");

/// All threads of the region meet: at a barrier, and at the end of `for`, `sections` and `single`.
///
/// # Safety
///
/// As compilers call it.
unsafe extern "C-unwind" fn barrier(place: *mut c_void, thread: c_int, site: Site) {
    let theirs = || {
        // SAFETY: what the compiler gave.
        unsafe { theirs!(real(), kmpc_barrier)(place, thread) }
    };
    // SAFETY: the compiler's description of the place, as its public source has it.
    meet(site, unsafe { Kind::of_place(place) }, theirs);
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
    // The compiler's function that copies lies beside the place.
    let site = copy as Site;
    if gives != 0 {
        // Relaxed: barriers come between.
        region.copied.give(data);
    }
    // SAFETY: what the compiler gave.
    unsafe {
        barrier(place, thread, site);
        if gives == 0 {
            copy(data, region.copied.data.load(Ordering::Relaxed));
        }
        barrier(place, thread, site);
    }
}

tasks! {
    __kmpc_omp_task_alloc => kmpc_task_alloc(
        place: Word, thread: c_int, flags: c_int, a: Word, b: Word, code: Word) -> *mut c_void;
    __kmpc_omp_target_task_alloc => kmpc_target_task_alloc(
        place: Word, thread: c_int, flags: c_int, a: Word, b: Word, code: Word, device: Word) -> *mut c_void;
    __kmpc_cancel => kmpc_cancel(place: *mut c_void, thread: c_int, which: c_int) -> c_int;
}
