//! Loans in a process that may not call `membarrier` any more, after ranks that rely on it were joined.

use crate::by_itself::by_itself;
use crate::sandbox::deny_membarrier;
use corecast_transfer::{self as bulk, Endpoint, HasEndpoint, Memory};
use corecast_wire::{Line, Parker, Segment, fence_kind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Rank(Endpoint);

impl HasEndpoint for Rank {
    fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.0
    }
}

/// A lender whose scope ends while a borrower reads, and before another one begins to.
#[test]
fn loans_are_revoked_without_membarrier() {
    by_itself(|| {
        let memory = [(); 3].map(|()| Segment::new(2 * bulk::link_bytes(), None).unwrap());
        let parker = Segment::one::<Line<Parker>>(None).unwrap();
        let [mut lender, mut reads, mut comes_late] =
            [(); 3].map(|()| Rank(Endpoint::new(fence_kind())));
        for (number, borrower) in [&mut reads, &mut comes_late].into_iter().enumerate() {
            let token = 8 * number as u32;
            let ends = [(&parker, &memory[0]), (&parker, &memory[1 + number])];
            bulk::join(
                (&mut lender.0, token + 4, ends[0]),
                (&mut borrower.0, token + 6, ends[1]),
                Memory::Address,
            )
            .unwrap();
        }
        if !deny_membarrier() {
            println!("this system has no filters of system calls");
        }
        let (begun, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let mut data = vec![7; 10_000];
        thread::scope(|scope| {
            bulk::scope(&mut lender, &mut data, 1, |lender, window| {
                lender.0.lend(window, &[0, 1], 3, 0..10_000);
                scope.spawn(|| {
                    let piece = reads.0.borrow(0).unwrap().unwrap();
                    begun.store(true, Ordering::Release);
                    // The lender waits for this reader.
                    for _ in 0..100 {
                        assert!(piece.bytes().unwrap().iter().all(|&byte| byte == 7));
                        thread::yield_now();
                    }
                    ended.store(true, Ordering::Release);
                });
                while !begun.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
            assert!(ended.load(Ordering::Acquire));
            data.fill(8);
            assert!(comes_late.0.borrow(0).unwrap().is_none());
        });
    });
}
