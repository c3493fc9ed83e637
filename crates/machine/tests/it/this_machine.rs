//! The machine that the tests run on, against independent sources.

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

use corecast_machine::{Options, Scope, discover, discover_at, process_mask};

use crate::fixture::check_invariants;

#[test]
fn agrees_with_the_standard_library() {
    let found = discover();
    check_invariants(&found, Scope::Usable);
    let std = available_parallelism().unwrap().get();
    let ours = found.usable_parallelism();
    // The standard library rounds a quota down where we round up.
    let whole = found
        .quota
        .as_ref()
        .is_none_or(|quota| quota.cpus.fract() == 0.0);
    if whole {
        assert_eq!(ours, std, "{found:#?}");
    } else {
        assert!((std..=std + 1).contains(&ours), "std {std}: {found:#?}");
    }
}

#[test]
fn agrees_with_cpuinfo() {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap();
    let field = |line: &str| {
        line.split_once(':')
            .map(|(key, _)| key.trim() == "processor")
    };
    let processors = text
        .lines()
        .filter(|line| field(line) == Some(true))
        .count();
    let found = discover_at(
        Path::new("/"),
        &Options {
            scope: Scope::Online,
            mask: None,
        },
    );
    check_invariants(&found, Scope::Online);
    assert_eq!(found.machine.pus.len(), processors);
}

#[test]
fn the_mask_is_the_upper_bound() {
    let found = discover();
    assert!(found.usable.is_subset(process_mask()));
    assert_eq!(found.usable, found.online.intersection(process_mask()));
}

#[test]
fn discovery_repeats_itself() {
    let (first, second) = (discover(), discover());
    assert_eq!(first.machine, second.machine);
    assert_eq!(first.machine.fingerprint(), second.machine.fingerprint());
}

#[test]
fn other_threads_can_be_asked_for_their_pinning() {
    use corecast_machine::{PinState, ThreadId, pin_current, pin_state_of};
    let Some(pu) = process_mask().first() else {
        return;
    };
    let (tell, hear) = std::sync::mpsc::channel();
    let (leave, stay) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let pinned = pin_current(pu).is_ok();
        tell.send((pinned, ThreadId::current())).unwrap();
        let _ = stay.recv();
    });
    let (pinned, id) = hear.recv().unwrap();
    let state = pin_state_of(id, pu);
    // Sandboxes may hide the mask, or ignore the request.
    assert!(
        !pinned || !matches!(state, PinState::Lost { .. }),
        "{state:?}"
    );
    assert!(pin_state_of(id, pu + 1) != PinState::Held);
    drop(leave);
    thread.join().unwrap();
    // The kernel may know a thread for some time after it has ended.
    while pin_state_of(id, pu) != PinState::Unknown {
        std::thread::yield_now();
    }
}
