//! The PUs that the program was started with, before its run-time binds threads.

use std::sync::OnceLock;

static AT_START: OnceLock<libc::cpu_set_t> = OnceLock::new();

/// Keeps the calling thread's mask. Refusals are none of the program's business.
pub(crate) fn keep() {
    // SAFETY: plain data, for which zeros are valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is as long as is said.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) } == 0 {
        let _ = AT_START.set(set);
    }
}

/// Lets the calling thread run wherever the program could, and on `more`: some run-times bind its first thread
/// before anything else of the program runs.
pub(crate) fn widen(more: &[usize]) {
    let Some(mut set) = AT_START.get().copied() else {
        return;
    };
    for &pu in more.iter().filter(|&&pu| pu < libc::CPU_SETSIZE as usize) {
        // SAFETY: within the set.
        unsafe { libc::CPU_SET(pu, &mut set) };
    }
    // SAFETY: the set is as long as is said. Where it is refused, less is known of the machine.
    unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) };
}
