//! The instructions of x86-64 on a CPU that does not have them: each ends in a signal, whose handler reads what they were given
//! and goes on behind them, as if the wait had ended for no reason.
//!
//! There is no signal where a hypervisor hides an instruction in CPUID and does nothing in its place (KVM guest on an AMD EPYC,
//! November 2026: 3.5 µs for each `monitorx` and each `mwaitx`), or where a CPU without WAITPKG takes `umwait` for a fence,
//! whose code it has with another prefix. Then only what follows is checked: that registers are as they were.

use super::*;
use crate::sync::Mutex;
use std::sync::MutexGuard;

/// The code of each instruction.
const CODES: [(&str, &[u8]); 5] = [
    ("umonitor", &[0xf3, 0x0f, 0xae, 0xf0]),
    ("umwait", &[0xf2, 0x0f, 0xae, 0xf1]),
    ("tpause", &[0x66, 0x0f, 0xae, 0xf1]),
    ("monitorx", &[0x0f, 0x01, 0xfa]),
    ("mwaitx", &[0x0f, 0x01, 0xfb]),
];

/// What the last instruction of each kind was given: RAX, RBX, RCX and RDX, and how often it came.
static GIVEN: [[AtomicU64; 5]; CODES.len()] =
    [const { [const { AtomicU64::new(0) }; 5] }; CODES.len()];

/// Tests take turns, as there is one handler.
static TURN: Mutex<()> = Mutex::new(());

extern "C" fn emulate(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a context to handlers that were installed with SA_SIGINFO.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let at = registers[libc::REG_RIP as usize] as *const u8;
    let known = CODES.iter().position(|(_, code)| {
        // SAFETY: the CPU has just read this instruction, and code goes on behind it.
        unsafe { std::slice::from_raw_parts(at, code.len()) == *code }
    });
    let Some(known) = known else {
        // SAFETY: the call ends the process, and may be called in a handler.
        unsafe { libc::abort() };
    };
    let names = [libc::REG_RAX, libc::REG_RBX, libc::REG_RCX, libc::REG_RDX];
    for (given, name) in GIVEN[known].iter().zip(names) {
        // Relaxed: the tests that read it run on the same thread, or have joined it.
        given.store(registers[name as usize] as u64, Ordering::Relaxed);
    }
    // Relaxed: as above.
    GIVEN[known][4].fetch_add(1, Ordering::Relaxed);
    registers[libc::REG_RIP as usize] += CODES[known].1.len() as i64;
}

/// Emulates `instruction`; `None` on a CPU that has it. It is the caller's turn while it has the guard.
fn emulated(instruction: WaitInstruction) -> Option<(HardwareWait, MutexGuard<'static, ()>)> {
    if HardwareWait::here().is_some_and(|found| found.instruction() == instruction) {
        return None;
    }
    let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // SAFETY: zeros are a valid action; the handler touches its own statics and the context that it was given.
    let installed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = emulate as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGILL, &raw const action, std::ptr::null_mut())
    };
    assert_eq!(installed, 0);
    for word in GIVEN.iter().flatten() {
        // Relaxed: as above.
        word.store(0, Ordering::Relaxed);
    }
    Some((HardwareWait(instruction), turn))
}

/// RAX, RBX, RCX and RDX of the last such instruction, if it came as a signal.
fn given(name: &str) -> Option<[u64; 4]> {
    let at = CODES.iter().position(|code| code.0 == name).unwrap();
    // Relaxed: as above.
    let [rax, rbx, rcx, rdx, count] = GIVEN[at].each_ref().map(|it| it.load(Ordering::Relaxed));
    (count > 0).then_some([rax, rbx, rcx, rdx])
}

/// The number in EDX:EAX, of which the upper halves do not count.
fn in_edx_eax([rax, _, _, rdx]: [u64; 4]) -> u64 {
    rdx << 32 | rax & 0xffff_ffff
}

#[test]
fn mwaitx_gets_the_line_and_the_time_that_is_left() {
    let Some((mwaitx, _turn)) = emulated(WaitInstruction::Mwaitx) else {
        return println!("SKIPPED: this CPU has mwaitx");
    };
    let word = AtomicU64::new(0);
    let before = arch::cycles();
    let deadline = before + 3_000_000;
    let found = mwaitx.wait_for(Monitored::new(&word), deadline, || None::<()>);
    assert_eq!(found, None);
    let Some([rax, _, rcx, rdx]) = given("monitorx") else {
        return println!("SKIPPED: there is no signal for monitorx");
    };
    assert_eq!(rax, std::ptr::from_ref(&word) as u64);
    assert_eq!((rcx as u32, rdx as u32), (0, 0));
    let [rax, rbx, rcx, _] = given("mwaitx").unwrap();
    assert_eq!((rax as u32, rcx as u32), (0xF0, 2), "C0, with a timer");
    assert!(rbx > 0 && rbx <= deadline - before, "{rbx}");
    // A deadline that has passed is the shortest time, one that is far away the longest.
    mwaitx.wait_until(before);
    assert_eq!(given("mwaitx").unwrap()[1], 1);
    mwaitx.wait_until(u64::MAX / 2);
    assert_eq!(given("mwaitx").unwrap()[1], u32::MAX.into());
}

#[test]
fn umwait_and_tpause_get_the_line_and_the_deadline() {
    let Some((umwait, _turn)) = emulated(WaitInstruction::Umwait) else {
        return println!("SKIPPED: this CPU has umwait");
    };
    let word = AtomicU64::new(0);
    let deadline = 0x1234_5678_9abc_def0;
    let found = umwait.wait_for(Monitored::new(&word), deadline, || None::<()>);
    assert_eq!(found, None);
    umwait.wait_until(deadline);
    if let Some([rax, ..]) = given("umonitor") {
        assert_eq!(rax, std::ptr::from_ref(&word) as u64);
    }
    for name in ["umwait", "tpause"] {
        match given(name) {
            Some(words) => assert_eq!((in_edx_eax(words), words[2] as u32), (deadline, 1)),
            None => println!("SKIPPED: there is no signal for {name}"),
        }
    }
}

#[test]
fn no_wait_follows_where_the_look_finds_something() {
    for instruction in [WaitInstruction::Mwaitx, WaitInstruction::Umwait] {
        let Some((hardware_wait, _turn)) = emulated(instruction) else {
            continue;
        };
        let word = AtomicU64::new(0);
        let found = hardware_wait.wait_for(Monitored::new(&word), u64::MAX / 2, || Some(7));
        assert_eq!(found, Some(7));
        assert_eq!((given("mwaitx"), given("umwait")), (None, None));
    }
}

/// Waits that end for no reason, amid code that has its own use for all registers.
#[test]
fn threads_pass_all_turns_by_emulated_instructions() {
    for instruction in [WaitInstruction::Mwaitx, WaitInstruction::Umwait] {
        if let Some((hardware_wait, _turn)) = emulated(instruction) {
            pass_turns(hardware_wait, 50);
        }
    }
}
