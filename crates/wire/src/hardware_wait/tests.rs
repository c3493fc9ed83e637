//! The instruction follows from what processors say, and its waits end.

use super::*;
use crate::arch;
use crate::sync::Ordering;
use std::thread;

#[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
mod emulated;

/// A processor whose highest leaves, words of leaf 7 and words of leaf 8000_0001h are these. As real ones do, it answers for
/// any other leaf with words of another one.
fn cpuid(highest: [u32; 2], leaf_7_ecx: u32, leaf_8000_0001_ecx: u32) -> Cpuid {
    Cpuid::read(move |leaf, subleaf| match (leaf, subleaf) {
        (0, 0) => [highest[0], u32::MAX],
        (7, 0) if highest[0] >= 7 => [0, leaf_7_ecx],
        (0x8000_0000, 0) => [highest[1], u32::MAX],
        (0x8000_0001, 0) if highest[1] > 0x8000_0000 => [0, leaf_8000_0001_ecx],
        _ => [u32::MAX, u32::MAX],
    })
}

#[test]
fn recorded_processors_have_what_their_manuals_say() {
    use WaitInstruction::{Mwaitx, Umwait};
    for (name, highest, leaf_7, leaf_8000_0001, instruction) in [
        (
            "Intel, Sapphire Rapids",
            [0x20, 0x8000_0008],
            0xfb41_7ffe,
            0x121,
            Some(Umwait),
        ),
        // The same with the bit that KVM hides from its guests by default.
        (
            "Intel, Sapphire Rapids, KVM guest",
            [0x20, 0x8000_0008],
            0xfb41_7fde,
            0x121,
            None,
        ),
        (
            "Intel, Cascade Lake, KVM guest",
            [0xd, 0x8000_0008],
            0x0000_080c,
            0x121,
            None,
        ),
        (
            "AMD, Zen 4",
            [0x10, 0x8000_0028],
            0x0040_5fde,
            0x75c2_37ff,
            Some(Mwaitx),
        ),
        (
            "AMD, Zen 4, KVM guest",
            [0x1c, 0x8000_0021],
            0x0040_5fc6,
            0x0040_03f3,
            None,
        ),
        (
            "AMD, Carrizo",
            [0xd, 0x8000_001e],
            0,
            0x2feb_bfff,
            Some(Mwaitx),
        ),
        // No processor has both.
        ("both", [7, 0x8000_0001], 1 << 5, 1 << 29, Some(Umwait)),
    ] {
        let words = cpuid(highest, leaf_7, leaf_8000_0001);
        assert_eq!(words.instruction(), instruction, "{name}: {words:x?}");
    }
}

#[test]
fn leaves_above_the_highest_one_say_nothing() {
    for highest in [
        [0, 0],
        [6, 0x8000_0000],
        // Without extended leaves a processor answers with the words of an ordinary one.
        [6, 0x16],
        [6, u32::MAX],
    ] {
        let words = cpuid(highest, u32::MAX, u32::MAX);
        assert_eq!(words, Cpuid::default(), "{highest:x?}");
    }
    let all = cpuid([7, 0x8000_0001], 1, 2);
    assert_eq!((all.leaf_7_ecx, all.leaf_8000_0001_ecx), (1, 2));
}

#[test]
fn recorded_words_of_aarch64_tell_who_keeps_deadlines() {
    use WaitInstruction::{Wfe, Wfet};
    for (name, hwcap, hwcap2, instruction) in [
        ("Neoverse N1", 0x1011_9fff, 0, Some(Wfe)),
        ("Cortex-A53", 0x8ff, 0, Some(Wfe)),
        ("without the event stream", 0xfb, 0, None),
        ("with FEAT_WFxT", 0xfb, 1 << 31, Some(Wfet)),
    ] {
        let found = Hwcap { hwcap, hwcap2 }.instruction();
        assert_eq!(found, instruction, "{name}");
        let keeps = found.is_some_and(WaitInstruction::keeps_deadlines);
        assert_eq!(keeps, found == Some(Wfet), "{name}");
    }
}

/// The kernel reports the same bits of the processor.
#[test]
#[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
fn the_processor_has_what_the_kernel_says() {
    use crate::arch::tests::kernel_reports;
    let instruction = match (kernel_reports("waitpkg"), kernel_reports("mwaitx")) {
        (true, _) => Some(WaitInstruction::Umwait),
        (false, true) => Some(WaitInstruction::Mwaitx),
        (false, false) => None,
    };
    assert_eq!(
        HardwareWait::here().map(HardwareWait::instruction),
        instruction
    );
}

/// What can be tested here: the pretended one, the processor's own, and `wfe`, which is in every AArch64 processor.
fn all() -> Vec<HardwareWait> {
    let mut all = vec![HardwareWait::pretended()];
    all.extend(HardwareWait::here());
    #[cfg(all(target_arch = "aarch64", not(corecast_generic_arch)))]
    all.push(HardwareWait(WaitInstruction::Wfe));
    all
}

fn in_a_millisecond() -> u64 {
    arch::cycles().wrapping_add((1e6 * arch::cycles_per_ns()) as u64)
}

#[test]
fn what_is_there_when_the_monitor_is_armed_is_found() {
    for hardware_wait in all() {
        let word = AtomicU64::new(5);
        // Acquire: the only thread.
        let look = || Some(word.load(Ordering::Acquire)).filter(|&word| word == 5);
        let found = hardware_wait.wait_for(Monitored::new(&word), in_a_millisecond(), look);
        assert_eq!(found, Some(5), "{hardware_wait:?}");
    }
}

#[test]
fn a_deadline_in_the_past_is_no_wait_for_ever() {
    for hardware_wait in all() {
        let word = AtomicU64::new(0);
        for back in [0, 1, 1000, 1 << 33] {
            let deadline = arch::cycles().wrapping_sub(back);
            let found = hardware_wait.wait_for(Monitored::new(&word), deadline, || None::<()>);
            assert_eq!(found, None);
            hardware_wait.wait_until(deadline);
        }
        hardware_wait.wait_until(in_a_millisecond());
    }
}

/// Two threads wait for each other's lines in turn.
fn pass_turns(hardware_wait: HardwareWait, turns: u64) {
    let words = [const { crate::Line(AtomicU64::new(0)) }; 2];
    let take = |own: usize| {
        for turn in 1..=turns {
            // Release: the other's look synchronises with it.
            words[1 - own].store(turn, Ordering::Release);
            // Acquire: synchronises with the store above.
            let look = || (words[own].load(Ordering::Acquire) >= turn).then_some(());
            let word = Monitored::new(&words[own]);
            while hardware_wait
                .wait_for(word, in_a_millisecond(), look)
                .is_none()
            {}
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| take(0));
        take(1);
    });
}

#[test]
fn two_threads_that_wait_for_each_others_lines_pass_all_turns() {
    for hardware_wait in all() {
        pass_turns(hardware_wait, 2000);
    }
}

#[test]
fn each_wait_is_counted_once() {
    let before = waits();
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(came);
        }
    });
    // Other tests count too.
    assert!(waits() >= before + 20);
}
