//! Layer 14: the functions that the loader calls before the program starts and at its end. The order of the other
//! files is drawn in `lib.rs`.

mod constructs;
mod copyprivate;
mod entry;
mod gnu;
mod init;
mod level;
mod llvm;
mod objects;
mod passed_on;
mod region;
mod runtime;
mod teams;
mod thread;
mod timed;
mod unload;
mod waits;

#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    if init::begin() {
        waits::begin();
        // SAFETY: a function of this library, which is never unloaded.
        unsafe { libc::atexit(at_end) };
    }
}

extern "C" fn at_end() {
    waits::finish();
    init::say_if_nothing_was_gained();
}
