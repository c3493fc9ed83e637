//! Loans by kernel copy: endpoints of two ranks, and a kernel that the model provides.
//!
//! In place of the bytes of the lender's window, the borrower's kernel reads words of the model, which are
//! numbered from the beginning of the window.

use crate::check::check;
use corecast_transfer::{
    self as bulk, BounceMemory, Endpoint, HasEndpoint, Memory, Process, Unfetched,
};
use corecast_wire::mutant::Mutant;
use corecast_wire::{FenceKind, Line, LineRef, Parker, Segment};
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use std::sync::Arc;

struct Rank(Endpoint);

impl HasEndpoint for Rank {
    fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.0
    }
}

/// Two ranks of two processes. The second reads the first one's memory, in which `word` returns the words by
/// their number from `base` on.
fn pair(base: u64, word: impl Fn(u64) -> Option<u64> + 'static) -> (Rank, Rank) {
    let kind = FenceKind::SharedSymmetric;
    let memories = [(); 2].map(|()| Segment::new(0, None).unwrap());
    let bounce_buffers = [0, 1].map(|rank| BounceMemory::new(&memories[rank], 2 * 64).unwrap());
    let parkers: [LineRef<Line<Parker>>; 2] = [(); 2].map(|()| Segment::one(None).unwrap());
    let (mut zero, mut one) = (Rank(Endpoint::new(kind)), Rank(Endpoint::new(kind)));
    bulk::join(
        (&mut zero.0, 1, (&parkers[0], &memories[0])),
        (&mut one.0, 4, (&parkers[1], &memories[1])),
        Memory::BounceBuffers([&bounce_buffers[0], &bounce_buffers[1]]),
    )
    .unwrap();
    zero.0.open(Some((&bounce_buffers[0], 64)));
    one.0.open(Some((&bounce_buffers[1], 64)));
    zero.0.lend_by_kernel_from(1);
    let process = Process::modelled(move |address| word((address - base) / 8));
    one.0.reads(0, Arc::new(process));
    (zero, one)
}

/// The buffer of the lender's window. Its bytes are those of the words that are lent first.
fn buffer() -> Vec<u8> {
    [1u64, 2].into_iter().flat_map(u64::to_ne_bytes).collect()
}

fn base(buffer: &[u8]) -> u64 {
    buffer.as_ptr().addr() as u64
}

/// Stands for a word of a page that was unmapped.
const GONE: u64 = u64::MAX;

/// Waits for the next loan, and returns its tag and length.
fn wait(endpoint: &mut Endpoint) -> (u32, usize) {
    loop {
        match endpoint.peek(0) {
            Some(said) => return said,
            None => thread::yield_now(),
        }
    }
}

fn two_words(endpoint: &mut Endpoint) -> Result<[u64; 2], Unfetched> {
    let mut bytes = [0; 16];
    endpoint.fetch(0, 0, &mut bytes, 0)?;
    Ok([0, 8].map(|at| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap())))
}

/// The lender leaves its window and writes the data, or unmaps them, while the borrower may be about to read,
/// or reading. What the borrower accepts is what was lent, and it is never told that the kernel refuses. The
/// lender does not wait.
#[test]
fn a_kernel_copied_loan_is_read_whole_or_not_believed() {
    let faults = [
        Mutant::DescriptorRelaxed,
        Mutant::AcceptRelaxed,
        Mutant::NoStrike,
        Mutant::StrikeUnfenced,
        Mutant::NoLook,
        Mutant::LookUnfenced,
    ];
    for (what, last) in [("writes", 9), ("frees", GONE)] {
        let name = format!("revoked kernel copy, then the lender {what}");
        check(&name, None, &faults, move || revocation(last));
    }
}

fn revocation(last: u64) {
    let bytes = buffer();
    // Relaxed: the protocol must order them.
    let words = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let (mut zero, mut one) = {
        let words = words.clone();
        pair(base(&bytes), move |at| {
            let word = words[at as usize].load(Ordering::Relaxed);
            (word != GONE).then_some(word)
        })
    };
    let other = thread::spawn(move || {
        if !one.0.is_direct(0) {
            return;
        }
        match two_words(&mut one.0) {
            Ok(read) => {
                assert_eq!(read, [1, 2]);
                one.0.give_back(0);
            }
            Err(why) => {
                assert_eq!(why, Unfetched::Revoked);
                assert_eq!(one.0.peek(0), None, "it does not come back");
            }
        }
    });
    words[0].store(1, Ordering::Relaxed);
    words[1].store(2, Ordering::Relaxed);
    bulk::scope_to_read(&mut zero, &bytes, 8, |zero, window| {
        zero.0.lend(window, &[0], 1, 0..16);
    });
    words[0].store(8, Ordering::Relaxed);
    words[1].store(last, Ordering::Relaxed);
    other.join().unwrap();
}

/// Two loans of the same words, which are written again as soon as the first loan was returned. The words are
/// cells, so loom fails a model in which a write overlaps a read. `HandBackRelaxed` is no fault here, because
/// the fence before the borrower's check also orders the return.
#[test]
fn kernel_copied_loans_are_read_before_they_are_written_again() {
    let faults = [
        Mutant::DescriptorRelaxed,
        Mutant::AcceptRelaxed,
        Mutant::RegainRelaxed,
    ];
    check("kernel copies", Some(3), &faults, || {
        let bytes = buffer();
        let words = Arc::new([UnsafeCell::new(0), UnsafeCell::new(0)]);
        let (mut zero, mut one) = {
            let words = words.clone();
            // SAFETY: loom checks that no access overlaps another: that is the test.
            let word = move |at: u64| Some(words[at as usize].with(|cell| unsafe { *cell }));
            pair(base(&bytes), word)
        };
        let write = |values: [u64; 2]| {
            for (word, value) in words.iter().zip(values) {
                // SAFETY: as above.
                word.with_mut(|cell| unsafe { *cell = value });
            }
        };
        let other = thread::spawn(move || {
            for tag in [1, 2] {
                let said = wait(&mut one.0);
                assert_eq!((said, one.0.is_direct(0)), ((tag, 16), true));
                assert_eq!(
                    two_words(&mut one.0),
                    Ok([1, 2].map(|word| u64::from(tag) * word))
                );
                one.0.give_back(0);
            }
        });
        bulk::scope_to_read(&mut zero, &bytes, 8, |zero, window| {
            for tag in [1, 2] {
                write([1, 2].map(|word| u64::from(tag) * word));
                zero.0.lend(window, &[0], tag, 0..16);
                while zero.0.unsettled().is_some() {
                    thread::yield_now();
                }
            }
        });
        write([8, 9]);
        other.join().unwrap();
    });
}

/// Takes the next piece, which must be there, and returns its tag and its words.
fn take(endpoint: &mut Endpoint) -> (u32, Vec<u64>) {
    if endpoint.is_direct(0) {
        let read = two_words(endpoint).unwrap();
        let (tag, _) = endpoint.peek(0).unwrap();
        endpoint.give_back(0);
        return (tag, read.to_vec());
    }
    let piece = endpoint
        .borrow(0)
        .unwrap()
        .expect("a piece of the bounce buffer");
    let mut bytes = vec![0; piece.len()];
    piece.copy(0, &mut bytes, piece.len());
    let (words, _) = bytes.as_chunks();
    (
        piece.tag(),
        words.iter().map(|&word| u64::from_ne_bytes(word)).collect(),
    )
}

/// The kernel refuses the second word of the first of two loans, and nothing after that. The lender sends the
/// rest, and all of the second loan, by its bounce buffer, so each word comes once.
#[test]
fn after_a_refusal_each_word_comes_once() {
    let faults = [
        Mutant::HandBackRelaxed,
        Mutant::RegainRelaxed,
        Mutant::ExposedAgain,
    ];
    check("refused kernel copy", Some(3), &faults, || {
        let bytes = buffer();
        let refuses = std::sync::atomic::AtomicBool::new(true);
        let (mut zero, mut one) = pair(base(&bytes), move |at| {
            let refused = at == 1 && refuses.swap(false, std::sync::atomic::Ordering::Relaxed);
            (!refused).then_some(at + 1)
        });
        let other = thread::spawn(move || {
            wait(&mut one.0);
            let mut word = [0; 8];
            assert_eq!(one.0.fetch(0, 0, &mut word, 0), Ok(()));
            assert_eq!(word, 1u64.to_ne_bytes());
            assert_eq!(one.0.fetch(0, 8, &mut word, 0), Err(Unfetched::Refused));
            one.0.refuse(0, 8);
            one
        });
        bulk::scope_to_read(&mut zero, &bytes, 8, |zero, window| {
            zero.0.lend(window, &[0], 1, 0..16);
            zero.0.lend(window, &[0], 2, 0..16);
            let mut one = other.join().unwrap();
            for (tag, words) in [(1, 1..2), (2, 0..2)] {
                zero.0.advance();
                assert_eq!(take(&mut one.0), (tag, words.map(|at| at + 1).collect()));
            }
            zero.0.advance();
            assert_eq!(one.0.peek(0), None, "that was all");
        });
    });
}
