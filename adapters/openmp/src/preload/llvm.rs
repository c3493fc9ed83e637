//! Layer 12: the entry points of LLVM OpenMP, which Clang calls, for starts of regions and barriers.
//!
//! A region's body takes its arguments one by one, and so does the function that starts it, which in C has an
//! ellipsis. On x86-64, and on AArch64 under Linux, pointers behind an ellipsis are passed like named ones, so a
//! function of 64 pointers can be called with fewer.

#![allow(non_snake_case, reason = "the names are the runtime's")]
#![allow(unreachable_pub, reason = "reached by its name")]

use super::entry::{barrier, exports, outside_with, run_body, start_region, theirs, with_site};
use super::init::{IS_ON, is_on};
use super::objects::Code;
use super::region::{ARGUMENTS_MAX, Region};
use super::runtime::{Data, Family, Runtime, give_up, known};
use super::thread::thread;
use crate::record::Kind;
use std::ffi::c_int;

/// Arguments of a region that are passed in registers, both to the body and to the function that starts the region.
const FEW: usize = 3;

macro_rules! all {
    ($x:ident $y:ident $z:ident; $($name:ident)*) => {
        /// Calls a body with its arguments.
        ///
        /// # Safety
        ///
        /// `code` is a body of the compiler's, `given` are its arguments.
        unsafe fn call(
            code: Code, thread: *mut c_int, within: *mut c_int, mut given: impl ExactSizeIterator<Item = Data>
        ) {
            type Few = unsafe extern "C-unwind" fn(*mut c_int, *mut c_int, Data, Data, Data);
            type All = unsafe extern "C-unwind" fn(*mut c_int, *mut c_int $(, all!(@type $name))*);
            let is_few = given.len() <= FEW;
            let mut next = || given.next().unwrap_or(std::ptr::null_mut());
            if is_few {
                let ($x, $y, $z) = (next(), next(), next());
                // SAFETY: as below.
                return unsafe { std::mem::transmute::<Code, Few>(code)(thread, within, $x, $y, $z) };
            }
            $( let $name = next(); )*
            // SAFETY: the caller's; a body does not look at more arguments than it has.
            unsafe { std::mem::transmute::<Code, All>(code)(thread, within $(, $name)*) }
        }

        /// Starts a region of at most [`ARGUMENTS_MAX`] arguments.
        ///
        /// # Safety
        ///
        /// Only `__kmpc_fork_call` goes on to it.
        unsafe extern "C-unwind" fn fork_call(place: Data, count: c_int, code: Code $(, $name: Data)*) {
            // Only `count` arguments were given; what lies behind them is not read.
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

        /// Starts a region as the compiler called it.
        ///
        /// # Safety
        ///
        /// As for `__kmpc_fork_call`.
        unsafe fn pass_on(runtime: &Runtime, place: Data, code: Code, given: &[Data]) {
            let mut all = given.iter().copied();
            $( let $name = all.next().unwrap_or(std::ptr::null_mut()); )*
            let start = theirs!(runtime, __kmpc_fork_call);
            // SAFETY: what the compiler gave; nobody looks at more arguments than their number.
            unsafe { start(place, given.len() as c_int, code $(, $name)*) }
        }

        // A league of teams runs on initial threads, outside of the region.
        exports! {
            outside_with(Family::Llvm, code): (place: Data, count: c_int, code: Code $(, $name: Data)*) -> () => __kmpc_fork_teams;
        }
    };
    (@type $name:ident) => { Data };
}

all! {
    a0 a1 a2;
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22 a23 a24 a25
    a26 a27 a28 a29 a30 a31 a32 a33 a34 a35 a36 a37 a38 a39 a40 a41 a42 a43 a44 a45 a46 a47 a48 a49
    a50 a51 a52 a53 a54 a55 a56 a57 a58 a59 a60 a61 a62 a63
}

/// Starts a region with any number of arguments. The call goes to the runtime unchanged if it has more arguments than
/// can be passed on, if nothing is to be replaced, or if the runtime itself starts the region, in which case `place`
/// is null: the threads of such a region run the tasks of `target nowait` and detached tasks, and must not be late.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn __kmpc_fork_call(place: Data, count: c_int, code: Code) {
    // If the call goes to the runtime, all registers that hold an argument are saved while its function is looked up.
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
        theirs = sym their_fork_call,
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
        theirs = sym their_fork_call,
    );
}

/// The runtime's function for a region that is left to it.
extern "C" fn their_fork_call(code: Code) -> Code {
    if thread().region().is_some() {
        give_up("a region within another shares more than 64 variables, which cannot be passed on");
    }
    theirs!(known(code, Family::Llvm).runtime(), __kmpc_fork_call) as Code
}

/// Starts a region if `does` is not 0; otherwise the runtime runs its body on the calling thread.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __kmpc_fork_call_if(
    place: Data,
    count: c_int,
    code: Code,
    does: c_int,
    data: Data,
) {
    if does != 0 && is_on() {
        let given = [data];
        // SAFETY: what the compiler gave: one argument, or none.
        return unsafe { fork(place, code, &given[..usize::from(!data.is_null())]) };
    }
    outside_with(Family::Llvm, code, |runtime| {
        // SAFETY: what the compiler gave.
        unsafe { theirs!(runtime, __kmpc_fork_call_if)(place, count, code, does, data) }
    });
}

/// The body that each thread of a region runs; it runs the compiler's body.
///
/// # Safety
///
/// Only the runtime calls it, with the region that `fork` gave to it.
unsafe extern "C-unwind" fn body(thread: *mut c_int, within: *mut c_int, region: *const Region) {
    // SAFETY: `fork` gave the region, which outlives its threads.
    let region = unsafe { &*region };
    // SAFETY: the compiler's body with its arguments.
    run_body(region, || unsafe {
        call(region.code(), thread, within, region.arguments());
    });
}

/// # Safety
///
/// As for `__kmpc_fork_call`, with the arguments that were given to it.
#[inline(always)]
unsafe fn fork(place: Data, code: Code, given: &[Data]) {
    start_region(Family::Llvm, code, given, |runtime, region| match region {
        Some(region) => {
            let start = theirs!(runtime, __kmpc_fork_call);
            // SAFETY: as the compiler calls it, for a body with one argument.
            unsafe { start(place, 1, body as Code, std::ptr::from_ref(region)) }
        }
        // SAFETY: the caller's.
        None => unsafe { pass_on(runtime, place, code, given) },
    });
}

with_site!(__kmpc_barrier => meet, "rdx", "x2");

/// A barrier of all threads of the region: an explicit one, or the end of `for`, `sections` or `single`.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
pub(super) unsafe extern "C-unwind" fn meet(place: Data, number: c_int, site: Code) {
    let theirs = |runtime: &Runtime| {
        // SAFETY: what the compiler gave.
        unsafe { theirs!(runtime, __kmpc_barrier)(place, number) }
    };
    // SAFETY: the compiler's description of the place, as its public source has it.
    let kind = || unsafe { kind_of(place) };
    barrier(Family::Llvm, caller(place, site), site, kind, theirs);
}

/// An address in the object that calls: its description of the place, or `site` if it gives none. The address to
/// which a call returns may lie in another object, since compilers make a jump of a call at a function's end.
#[inline(always)]
pub(super) fn caller(place: Data, site: Code) -> Code {
    match place.is_null() {
        true => site,
        false => place,
    }
}

/// The kind of a barrier, by the flags of its place in the source.
///
/// # Safety
///
/// Null, or an `ident_t`, whose second word is its flags.
unsafe fn kind_of(place: Data) -> Kind {
    const SHARED: u32 = 0x1c0;
    if place.is_null() {
        return Kind::BARRIER;
    }
    // SAFETY: the caller's.
    let flags = unsafe { *place.cast::<u32>().add(1) };
    match flags & SHARED {
        0x40 => Kind::For,
        0xc0 => Kind::Sections,
        0x140 => Kind::Single,
        _ => Kind::BARRIER,
    }
}
