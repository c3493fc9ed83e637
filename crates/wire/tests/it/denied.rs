//! Sleepers in a process that may not call `membarrier` any more, after threads that rely on it were started; a thread
//! that may not give its list of robust futexes back.

use crate::by_itself::by_itself;
use crate::sandbox::{deny, deny_membarrier};
use crate::waits::ends;
use corecast_wire::queue::{self, Options};
use corecast_wire::robust_list::{EndMark, RobustList};
use corecast_wire::{
    FenceKind, Line, Parker, Segment, WaitConfig, Words, fence_kind, shared_fence_kind,
};
use std::thread;
use std::time::Duration;

#[test]
fn threads_that_sleep_are_woken_without_membarrier() {
    by_itself(|| {
        let options = Options {
            wait_config: WaitConfig::PARK,
            slots: 2,
            ..Options::default()
        };
        let (mut here, mut there) = queue::pair(&options).unwrap();
        let echo = thread::spawn(move || {
            let mut word = [0; 8];
            while there.receive(&mut word).is_ok() {
                there.send(&word).unwrap();
            }
        });
        // Both threads have slept before.
        let mut round = move |number: u64| {
            here.send(&number.to_ne_bytes()).unwrap();
            let mut word = [0; 8];
            here.receive(&mut word).unwrap();
            assert_eq!(u64::from_ne_bytes(word), number);
        };
        (0..100).for_each(&mut round);
        if !deny_membarrier() {
            println!("this system has no filters of system calls");
        }
        ends("an echo", move || (100..1000).for_each(&mut round));
        echo.join().unwrap();
    });
}

/// A thread that sleeps without a limit looks again nevertheless, as its waker may not have seen it.
#[test]
fn a_sleep_has_an_end_without_membarrier() {
    by_itself(|| {
        let kinds = [fence_kind(), shared_fence_kind()];
        if !deny_membarrier() {
            println!("this system has no filters of system calls");
            return;
        }
        for kind in kinds.into_iter().filter(|kind| kind.is_asymmetric()) {
            ends(&format!("a sleep under {kind:?}"), move || {
                let parker = Segment::one::<Line<Parker>>(None).unwrap();
                for limit in [None, Some(Duration::from_secs(3600))] {
                    assert_eq!(parker.park(1, kind, limit, || None::<()>), None);
                }
            });
        }
        let kind = FenceKind::Symmetric;
        let parker = Segment::one::<Line<Parker>>(None).unwrap();
        assert_eq!(parker.park(1, kind, None, || Some(3)), Some(3));
    });
}

/// A list that cannot be given back is left to the kernel, without marks.
#[test]
fn marks_are_given_up_without_set_robust_list() {
    by_itself(|| {
        let line = Segment::one::<Words>(None).unwrap();
        let marks = [0, 2].map(|node| EndMark::new(line.clone(), node));
        let theirs = marks.clone();
        let thread = thread::spawn(move || {
            let mut list = RobustList::of_this_thread().unwrap();
            for (number, mark) in (0..).zip(theirs) {
                list.add(number, mark);
            }
            if !deny(libc::SYS_set_robust_list) {
                println!("this system has no filters of system calls");
            }
            drop(list);
        });
        thread.join().unwrap();
        assert!(
            marks
                .iter()
                .all(|mark| mark.is_known() && !mark.has_ended())
        );
    });
}
