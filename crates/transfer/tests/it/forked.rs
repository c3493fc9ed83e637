//! Copies of endpoints in forked processes: what the parent lends stands, whatever happens to the copy.

use crate::by_itself::by_itself;
use corecast_transfer::{self as bulk, BounceMemory, Endpoint, HasEndpoint, Memory, Process};
use corecast_wire::{Line, Parker, Segment, fence_kind};
use std::sync::Arc;

/// Seconds after which a child that hangs is killed.
const WATCHDOG: u32 = 300;

struct Rank(Endpoint);

impl HasEndpoint for Rank {
    fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.0
    }
}

/// Forks. Returns 0 in the child, which a watchdog ends, and the child's number in the parent.
fn fork() -> libc::pid_t {
    // SAFETY: this process has no other thread that holds a lock: its test runs by itself.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    if child == 0 {
        // SAFETY: takes an integer; the default action of the signal ends the child.
        unsafe { libc::alarm(WATCHDOG) };
    }
    child
}

/// Waits for the child and returns its status.
fn ended(child: libc::pid_t) -> i32 {
    let mut status = -1;
    // SAFETY: our child, and a place for its status.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child);
    status
}

/// Ends the child, in which it is called.
fn end() -> ! {
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(0) }
}

/// The copy of a scope ends while a thread of the parent reads.
#[test]
fn a_copy_of_a_scope_waits_for_no_reader() {
    by_itself(|| {
        let memory = [(); 2].map(|()| Segment::new(bulk::link_bytes(), None).unwrap());
        let parker = Segment::one::<Line<Parker>>(None).unwrap();
        let [mut lender, mut borrower] = [(); 2].map(|()| Rank(Endpoint::new(fence_kind())));
        let ends = [0, 1].map(|rank: usize| (&parker, &memory[rank]));
        let ends = ((&mut lender.0, 4, ends[0]), (&mut borrower.0, 6, ends[1]));
        bulk::join(ends.0, ends.1, Memory::Address).unwrap();
        let mut data = vec![7; 10_000];
        let mut child = -1;
        let mut piece = None;
        bulk::scope(&mut lender, &mut data, 1, |lender, window| {
            lender.0.lend(window, &[0], 3, 0..10_000);
            piece = borrower.0.borrow(0).unwrap();
            child = fork();
            if child != 0 {
                let ended = ended(child);
                // The end of the scope waits for this piece.
                let piece = piece.take().expect("it was lent");
                let sum: u64 = piece
                    .bytes()
                    .unwrap()
                    .iter()
                    .map(|&byte| u64::from(byte))
                    .sum();
                drop(piece);
                assert_eq!((ended, sum), (0, 70_000));
            }
        });
        // The copy of the piece is not returned either.
        std::mem::forget(piece);
        if child == 0 {
            drop(lender);
            end();
        }
    });
}

/// The copy of a scope ends, and strikes out nothing that the borrower has yet to read by kernel copy.
#[test]
fn a_copy_of_a_scope_takes_nothing_back() {
    by_itself(|| {
        let word = Box::new(3_u64);
        let address = (&raw const *word).addr() as u64;
        let Ok(process) = Process::open(std::process::id(), (address, 3)) else {
            println!("the kernel lets nobody read this process");
            return;
        };
        const BOUNCE: usize = 4096;
        let bytes = bulk::link_bytes() + BOUNCE + 4096;
        let memory = [(); 2].map(|()| Segment::shared(bytes).unwrap().0);
        let parker = Segment::one::<Line<Parker>>(None).unwrap();
        let [mut lender, mut borrower] = [(); 2].map(|()| Rank(Endpoint::new(fence_kind())));
        let bounce = [0, 1].map(|rank: usize| BounceMemory::new(&memory[rank], BOUNCE).unwrap());
        let ends = [0, 1].map(|rank: usize| (&parker, &memory[rank]));
        let ends = ((&mut lender.0, 4, ends[0]), (&mut borrower.0, 6, ends[1]));
        bulk::join(
            ends.0,
            ends.1,
            Memory::BounceBuffers([&bounce[0], &bounce[1]]),
        )
        .unwrap();
        lender.0.open(Some((&bounce[0], 1024)));
        borrower.0.open(Some((&bounce[1], 1024)));
        borrower.0.reads(0, Arc::new(process));
        lender.0.lend_by_kernel_from(1);
        let mut data = vec![7; 10_000];
        let mut child = -1;
        bulk::scope(&mut lender, &mut data, 1, |lender, window| {
            lender.0.lend(window, &[0], 3, 0..10_000);
            assert!(borrower.0.is_direct(0));
            child = fork();
            if child != 0 {
                assert_eq!(ended(child), 0);
                let mut read = vec![0; 10_000];
                assert_eq!(borrower.0.fetch(0, 0, &mut read, 0), Ok(()));
                assert_eq!(read, [7; 10_000]);
                borrower.0.give_back(0);
                assert_eq!(lender.0.unsettled(), None);
            }
        });
        if child == 0 {
            end();
        }
    });
}
