//! Pinning on the real machine. Where the system refuses it, the tests check that the error says
//! so.

use std::thread;

use corecast_machine::{
    CpuList, PIN_LIMIT, PinError, PinState, confine_current, current_mask, current_pu, discover,
    pin_current, pin_state, process_mask, still_pinned,
};

/// Runs `work` on a thread of its own, as masks belong to threads.
fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

#[test]
fn pins_to_every_usable_pu_and_back() {
    on_a_thread(|| {
        let before = current_mask().unwrap();
        for pu in discover().usable.iter() {
            match pin_current(pu) {
                Ok(pinning) => {
                    assert_eq!(pinning.pus().as_slice(), [pu]);
                    assert_eq!(pinning.previous(), &before);
                    if pinning.confirmed() {
                        assert_eq!(current_pu(), Some(pu));
                        assert!(still_pinned(pu));
                    }
                    pinning.restore().unwrap();
                    assert_eq!(current_mask().unwrap(), before);
                }
                Err(error) => assert!(error.to_string().contains(&pu.to_string()), "{error}"),
            }
        }
    });
}

#[test]
fn a_guard_restores_unless_kept() {
    on_a_thread(|| {
        let before = current_mask().unwrap();
        let pu = before.last().unwrap();
        let Ok(pinning) = pin_current(pu) else { return };
        let guard = pinning.guard();
        assert_eq!(guard.pinning().pus().as_slice(), [pu]);
        assert_eq!(current_mask().unwrap().as_slice(), [pu]);
        drop(guard);
        assert_eq!(current_mask().unwrap(), before);
        pin_current(pu).unwrap().guard().keep();
        assert_eq!(current_mask().unwrap().as_slice(), [pu]);
    });
}

#[test]
fn a_change_from_outside_is_noticed() {
    let mask = process_mask();
    let (Some(first), true) = (mask.first(), mask.len() > 1) else {
        return;
    };
    on_a_thread(|| {
        let Ok(_pinning) = pin_current(first) else {
            return;
        };
        assert!(still_pinned(first));
        let thread = rustix::thread::gettid();
        let elsewhere = mask.last().unwrap();
        // Another library widens this thread's mask behind its back.
        on_a_thread(move || {
            let mut set = rustix::thread::CpuSet::new();
            set.set(first as usize);
            set.set(elsewhere as usize);
            rustix::thread::sched_setaffinity(Some(thread), &set).unwrap();
        });
        assert!(!still_pinned(first));
        assert_eq!(
            pin_state(first),
            PinState::Lost {
                mask: CpuList::from([first, elsewhere])
            }
        );
    });
}

#[test]
fn impossible_requests_are_refused_and_change_nothing() {
    on_a_thread(|| {
        let before = current_mask().unwrap();
        let absent = (0..PIN_LIMIT)
            .rev()
            .find(|&pu| !discover().present.contains(pu))
            .unwrap();
        let error = pin_current(absent).unwrap_err();
        assert!(matches!(error, PinError::NotAllowed { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(&format!("PU {absent}")), "{message}");
        assert!(message.contains(&before.to_string()), "{message}");

        let error = pin_current(PIN_LIMIT).unwrap_err();
        assert!(
            matches!(
                error,
                PinError::OutOfRange {
                    os_index: PIN_LIMIT
                }
            ),
            "{error:?}"
        );
        assert!(matches!(
            pin_current(u32::MAX),
            Err(PinError::OutOfRange { .. })
        ));
        assert!(matches!(
            confine_current(&CpuList::new()),
            Err(PinError::Empty)
        ));
        assert_eq!(current_mask().unwrap(), before);
        assert!(before.len() == 1 || !still_pinned(before.first().unwrap()));
    });
}

#[test]
fn a_set_that_is_allowed_in_part_is_reported() {
    on_a_thread(|| {
        let usable = discover().usable;
        let absent = (0..PIN_LIMIT)
            .rev()
            .find(|&pu| !discover().present.contains(pu))
            .unwrap();
        let mut wanted = CpuList::from([usable.first().unwrap()]);
        wanted.insert(absent);
        match confine_current(&wanted) {
            Err(PinError::NoEffect { found, .. }) => assert!(found.is_subset(&usable)),
            Err(PinError::Refused { .. }) => {}
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_pinned_thread_still_discovers_the_whole_machine() {
    let whole = discover().usable;
    on_a_thread(|| {
        let Some(pu) = whole.first() else { return };
        let _pinning = pin_current(pu);
        assert_eq!(discover().usable, whole);
    });
}

#[test]
fn errors_say_the_way_out() {
    let wanted = CpuList::from([3]);
    let reason = std::io::Error::from_raw_os_error(1);
    let refused = PinError::Refused {
        wanted: wanted.clone(),
        reason,
    }
    .to_string();
    assert!(
        refused.contains("PU 3") && refused.contains("run unpinned"),
        "{refused}"
    );
    let found = CpuList::from([0, 1]);
    let no_effect = PinError::NoEffect { wanted, found }.to_string();
    assert!(
        no_effect.contains("PU 3") && no_effect.contains("0-1"),
        "{no_effect}"
    );
}
