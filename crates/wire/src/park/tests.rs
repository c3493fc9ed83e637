//! Sleepers are woken, by each kind of fence, and by nothing that they do not wait for.

use super::*;
use crate::fence::{fence_kind, shared_fence_kind};
use std::time::Instant;

const KINDS: [fn() -> FenceKind; 4] = [
    fence_kind,
    shared_fence_kind,
    || FenceKind::Symmetric,
    || FenceKind::SharedSymmetric,
];

/// Runs a sleeper for `token` that looks for `news`, and gives the parker and the news to
/// `wake`. Returns whether the sleep ended by it.
fn sleeper(kind: FenceKind, token: u32, wake: impl Fn(&Parker, &AtomicU32)) -> bool {
    const LIMIT: Duration = Duration::from_secs(20);
    let (parker, news) = (Parker::default(), AtomicU32::new(0));
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let begin = Instant::now();
            while news.load(Ordering::Acquire) == 0 {
                if begin.elapsed() > LIMIT {
                    return false;
                }
                parker.park(token, kind, Some(LIMIT), || {
                    (news.load(Ordering::Acquire) != 0).then_some(())
                });
            }
            begin.elapsed() < LIMIT
        });
        // Relaxed: only to wait for the sleeper.
        while parker.word.load(Ordering::Relaxed) != token {
            std::thread::yield_now();
        }
        // Long enough that it nearly always sleeps by now; what is asserted holds anyway.
        std::thread::sleep(Duration::from_millis(5));
        wake(&parker, &news);
        sleeper.join().unwrap()
    })
}

#[test]
fn its_own_token_and_any_wake() {
    for kind in KINDS.map(|kind| kind()) {
        for (sleeps_for, token) in [(7, 7), (ANY, 7), (ANY, 1)] {
            assert!(
                sleeper(kind, sleeps_for, |parker, news| {
                    news.store(1, Ordering::Release);
                    parker.wake_for(token, kind);
                }),
                "{kind:?}, {sleeps_for}, {token}"
            );
        }
    }
}

#[test]
fn another_token_does_not_touch_the_word() {
    let parker = Parker::default();
    for word in [1, 2, 0xDEAD_BEEF] {
        parker.word.store(word, Ordering::Relaxed);
        parker.wake_for(9, FenceKind::SharedSymmetric);
        assert_eq!(parker.word.load(Ordering::Relaxed), word);
    }
}

#[test]
fn news_for_all_wake_whatever_the_word_says() {
    for kind in [shared_fence_kind(), FenceKind::SharedSymmetric] {
        for odd in [AWAKE, 5, 0xDEAD_BEEF, ANY] {
            assert!(
                sleeper(kind, 3, |parker, news| {
                    parker.word.store(odd, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(2));
                    news.store(1, Ordering::Release);
                    parker.wake_any(kind);
                }),
                "{kind:?}, {odd:#x}"
            );
        }
    }
}

#[test]
fn news_for_all_wake_the_sleepers_of_one_process() {
    for kind in [fence_kind(), FenceKind::Symmetric] {
        for token in [3, ANY] {
            assert!(
                sleeper(kind, token, |parker, news| {
                    news.store(1, Ordering::Release);
                    parker.wake_any(kind);
                }),
                "{kind:?}, {token:#x}"
            );
        }
    }
}
