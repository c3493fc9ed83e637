//! The parser of requests of the key-value store, under libfuzzer.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| corecast_fuzz::resp(bytes));

#[cfg(not(fuzzing))]
fn main() {
    corecast_fuzz::replay_arguments(corecast_fuzz::resp);
}
