//! Finding each other, and the memory that processes then share, under libfuzzer.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| corecast_fuzz::rendezvous(bytes));

#[cfg(not(fuzzing))]
fn main() {
    corecast_fuzz::replay_arguments(corecast_fuzz::rendezvous);
}
