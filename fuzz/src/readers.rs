//! Readers: whatever they accept must be valid and survive being written and read again.

use std::fmt::Display;

use corecast_model::{MachineFile, Profile, synthetic};
use corecast_plan::{Operation, Pattern};

/// Most hardware threads of a machine that is made: larger ones are only slow.
const THREADS_MAX: u64 = 256;

/// A machine file in either format.
pub fn machine_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match MachineFile::from_json(text) {
        Ok(file) => sound(&file),
        Err(error) => one_line(&error),
    }
}

/// A profile.
pub fn profile(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match Profile::from_json(text) {
        Ok(profile) => {
            let again = Profile::from_json(&profile.to_json());
            assert_eq!(again.as_ref(), Ok(&profile));
            assert!(
                profile
                    .entries
                    .iter()
                    .all(|entry| entry.winning().is_some())
            );
        }
        Err(error) => one_line(&error),
    }
}

/// A synthetic machine, the name of a pattern or the name of an operation.
pub fn words(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match text.parse::<Pattern>() {
        Ok(pattern) => {
            assert_eq!(pattern.to_string().parse(), Ok(pattern));
            assert!(pattern.radix().is_none_or(|radix| radix >= 2));
        }
        Err(error) => one_line(&error),
    }
    match text.parse::<Operation>() {
        Ok(operation) => assert_eq!(operation.to_string(), text),
        Err(error) => one_line(&error),
    }
    if is_large(text) {
        return;
    }
    match synthetic(text) {
        Ok(file) => sound(&file),
        Err(error) => one_line(&error),
    }
}

/// Whether counts multiply to more threads than are worth making.
fn is_large(spec: &str) -> bool {
    let counts = spec
        .split_whitespace()
        .filter_map(|word| word.split_once(':'));
    let counts = counts.filter_map(|(_, count)| count.parse::<u64>().ok());
    counts.fold(1, u64::saturating_mul) > THREADS_MAX
}

/// A machine that was accepted is valid, and the same after a round trip.
fn sound(file: &MachineFile) {
    file.machine()
        .validate()
        .expect("an accepted machine is valid");
    let costs = file.costs();
    assert_eq!(file.threads().len(), costs.n());
    for matrix in [costs.send_matrix(), costs.receive_matrix()] {
        let all = (0.0..=corecast_model::CostModel::COST_MAX, 0.0);
        for (i, row) in matrix.rows().enumerate() {
            assert!(row.iter().all(|cost| all.0.contains(cost)));
            assert_eq!(row[i], all.1);
        }
    }
    for (rank, &thread) in file.threads().iter().enumerate() {
        assert_eq!(file.position(thread), Some(rank));
    }
    let again = MachineFile::from_json(&file.to_json());
    assert_eq!(again.as_ref(), Ok(file));
}

/// An error says something, on one line.
fn one_line(error: &impl Display) {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
}
