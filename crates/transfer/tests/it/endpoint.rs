//! Loans by address and through bounce buffers: what is lent is read whole and in order, or not at all.

mod combined;
mod filled;
mod ranks;
mod symmetric;
mod taken_back;

use crate::counting::ALLOCATIONS;
use corecast_transfer::{
    self as bulk, BounceMemory, Endpoint, HasEndpoint, Memory, Process, Unfetched,
};
use corecast_wire::{Flag, Line, Parker, Segment, fence_kind};
use ranks::{Memories, Rank, contents, team};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

/// The number of descriptors of one direction that can stand at a time.
const DESCRIPTORS: usize = 8;

fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..len).map(|_| rng.u8(..)).collect()
}

/// Takes all pieces that are there now, and returns their lengths, and their bytes one after the other.
fn drain(endpoint: &mut Endpoint, link: usize) -> (Vec<usize>, Vec<u8>) {
    let (mut lengths, mut all) = (Vec::new(), Vec::new());
    while let Some(piece) = endpoint.borrow(link).unwrap() {
        lengths.push(piece.len());
        all.extend(contents(&piece));
    }
    (lengths, all)
}

/// One step of a program: rank `root` writes a part of its data, and lends a part to its `peers`.
struct Step {
    root: usize,
    write: std::ops::Range<usize>,
    written: Vec<u8>,
    lend: std::ops::Range<usize>,
    peers: Vec<usize>,
    tag: u32,
    lent: Vec<u8>,
}

fn program(rng: &mut fastrand::Rng, ranks: usize, len: usize, element_size: usize) -> Vec<Step> {
    let mut data: Vec<Vec<u8>> = (0..ranks).map(|_| vec![0; len]).collect();
    let part = |rng: &mut fastrand::Rng| {
        let (a, b) = (
            rng.usize(..=len / element_size),
            rng.usize(..=len / element_size),
        );
        a.min(b) * element_size..a.max(b) * element_size
    };
    let steps = rng.usize(10..60);
    let step = |tag| {
        let root = rng.usize(..ranks);
        let (write, lend) = (part(rng), part(rng));
        let written = bytes(rng.u64(..), write.len());
        data[root][write.clone()].copy_from_slice(&written);
        let mut peers: Vec<usize> = (0..ranks).filter(|&peer| peer != root).collect();
        rng.shuffle(&mut peers);
        peers.truncate(rng.usize(1..ranks));
        let lent = data[root][lend.clone()].to_vec();
        Step {
            root,
            write,
            written,
            lend,
            peers,
            tag: tag as u32,
            lent,
        }
    };
    (0..steps).map(step).collect()
}

fn run(
    rank: usize,
    ends: &mut Rank,
    data: &mut [u8],
    element_size: usize,
    steps: &[Step],
    seed: u64,
) {
    let context = format!("seed {seed}, rank {rank}");
    let mut rng = fastrand::Rng::with_seed(seed ^ rank as u64);
    let mut links = Vec::with_capacity(8);
    let before = ALLOCATIONS.get();
    bulk::scope(ends, data, element_size, |ends, window| {
        for step in steps {
            if rng.u32(..16) == 0 {
                thread::yield_now();
            }
            if step.root == rank {
                ends.view_mut(window, step.write.clone())
                    .copy_from_slice(&step.written);
                links.clear();
                links.extend(step.peers.iter().map(|&peer| ends.link_to[peer]));
                ends.lend(window, &links, step.tag, step.lend.clone());
            } else if step.peers.contains(&rank) {
                ends.expect(step.root, step.tag, &step.lent, &context);
            }
        }
        ends.flush();
    });
    assert_eq!(ALLOCATIONS.get(), before, "{context}: nothing allocates");
}

/// Random programs have the results of a model, on threads of one process, of several, and of both kinds.
#[test]
fn programs_agree_with_a_model() {
    let shapes: [&[usize]; 7] = [
        &[0, 0],
        &[0, 1],
        &[0, 0, 0],
        &[0, 1, 2],
        &[0, 0, 0, 0],
        &[0, 0, 1, 1],
        &[0, 1, 2, 3],
    ];
    for seed in 0..140 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let shape = shapes[seed as usize % shapes.len()];
        let element_size = rng.usize(1..=40);
        let len = element_size * rng.usize(1..=100);
        let chunk = 64 * rng.usize(1..=8);
        let steps = program(&mut rng, shape.len(), len, element_size);
        let mut ranks = team(shape, shape.len() + rng.usize(..6), chunk);
        if shape.iter().all(|&process| process == 0) && rng.u32(..3) > 0 {
            for ends in &mut ranks {
                let eager_buffer = BounceMemory::new(&ends.memory, chunk * 4).unwrap();
                ends.endpoint.copy_short_loans(&eager_buffer, chunk);
            }
        }
        let piece_bytes = rng.usize(1..=2 * chunk);
        for ends in &mut ranks {
            ends.endpoint.combine_in_pieces_of(piece_bytes);
        }
        let is_symmetric = rng.bool();
        thread::scope(|scope| {
            for (rank, ends) in ranks.iter_mut().enumerate() {
                let steps = &steps;
                let mut symmetric = is_symmetric.then(|| ends.symmetric.alloc(len).unwrap());
                scope.spawn(move || match &mut symmetric {
                    Some(data) => run(rank, ends, data, element_size, steps, seed),
                    None => run(rank, ends, &mut vec![0; len], element_size, steps, seed),
                });
            }
        });
    }
}

/// A lender, and two borrowers that keep nothing of it alive but their links.
#[test]
fn short_loans_are_copied_while_there_is_a_free_chunk() {
    const CHUNK: usize = 128;
    let memory = |bytes| Segment::new(bytes + 2 * bulk::link_bytes(), None).unwrap();
    let (ours, theirs) = (memory(2 * CHUNK), [memory(0), memory(0)]);
    let parker = Segment::one::<Line<Parker>>(None).unwrap();
    let mut lender = OneEndpoint(Endpoint::new(fence_kind()));
    let mut borrowers = [0, 1].map(|_| Endpoint::new(fence_kind()));
    for (number, borrower) in borrowers.iter_mut().enumerate() {
        let token = 4 * number as u32;
        let ends = (
            (&mut lender.0, token, (&parker, &ours)),
            (borrower, token + 2, (&parker, &theirs[number])),
        );
        bulk::join(ends.0, ends.1, Memory::Address).unwrap();
    }
    let eager_buffer = BounceMemory::new(&ours, 2 * CHUNK).unwrap();
    drop(ours);
    lender.0.open(None);
    lender.0.copy_short_loans(&eager_buffer, CHUNK);
    drop(eager_buffer);
    let mut data = bytes(1, 1000);
    let before = data.clone();
    bulk::scope(&mut lender, &mut data, 1, |lender, window| {
        let endpoint = &mut lender.0;
        endpoint.lend(window, &[0, 1], 1, 0..CHUNK);
        endpoint.lend(window, &[0], 2, 5..6);
        // Both loans are copies, so the buffer is free at once.
        assert_eq!(endpoint.unsettled(), None);
        endpoint.view_mut(window, 0..1000).unwrap().fill(7);
        // No chunk is free, and this one is longer than a chunk.
        endpoint.lend(window, &[1], 3, 0..10);
        assert!(endpoint.view_mut(window, 0..1).is_none());
        assert_eq!(
            drain(&mut borrowers[0], 0).1,
            [&before[..CHUNK], &before[5..6]].concat()
        );
        endpoint.lend(window, &[0], 4, 0..CHUNK + 1);
        assert_eq!(drain(&mut borrowers[0], 0).1, [7; CHUNK + 1]);
        // The second chunk has come back, the first has another reader.
        endpoint.lend(window, &[0], 5, 0..10);
        endpoint.view_mut(window, 10..20).unwrap().fill(8);
        assert_eq!(
            drain(&mut borrowers[1], 0).1,
            [&before[..CHUNK], &[7; 10]].concat()
        );
        endpoint.lend(window, &[0, 1], 6, 10..20);
        assert_eq!(endpoint.unsettled(), None);
    });
    // The copies stay when their lender is dropped.
    data.fill(9);
    drop(lender);
    assert_eq!(drain(&mut borrowers[0], 0).1, [[7; 10], [8; 10]].concat());
    assert_eq!(drain(&mut borrowers[1], 0).1, [8; 10]);
}

struct OneEndpoint(Endpoint);

impl HasEndpoint for OneEndpoint {
    fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.0
    }
}

/// Loans of a megabyte, of which many pieces are under way at a time, arrive whole.
#[test]
fn long_loans_arrive_whole() {
    for shape in [&[0, 0, 0][..], &[0, 1, 2]] {
        let mut ranks = team(shape, 6, 4096);
        let data = bytes(1, 1_000_003);
        thread::scope(|scope| {
            for (rank, ends) in ranks.iter_mut().enumerate() {
                let data = &data;
                scope.spawn(move || {
                    bulk::scope_to_read(ends, data, 1, |ends, window| {
                        let context = format!("{shape:?}, rank {rank}");
                        if rank == 0 {
                            let links = [ends.link_to[1], ends.link_to[2]];
                            ends.lend(window, &links, 3, 0..data.len());
                        } else {
                            ends.expect(0, 3, data, &context);
                        }
                        ends.flush();
                    });
                });
            }
        });
    }
}

/// A chunk with two readers is used again when both have returned it.
#[test]
fn a_chunk_is_used_again_after_its_last_reader() {
    let mut ranks = team(&[0, 1, 2], 5, 128);
    let data = bytes(2, 128 * 20);
    let [zero, one, two] = &mut ranks[..] else {
        unreachable!("three ranks")
    };
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0, 1], 7, 0..data.len());
        let (lengths, mut first) = drain(&mut one.endpoint, 0);
        // Three chunks are left beyond one for each link. They allow one more chunk, which counts twice,
        // as it has two readers.
        assert_eq!(lengths, [128, 128]);
        for _ in 0..10 {
            zero.endpoint.advance();
            first.extend(drain(&mut one.endpoint, 0).1);
        }
        // Rank 2, which returns nothing, holds all chunks but the one that is kept for rank 1.
        assert_eq!(first.len(), 4 * 128);
        let mut second = Vec::new();
        while second.len() < data.len() {
            second.extend(drain(&mut two.endpoint, 0).1);
            first.extend(drain(&mut one.endpoint, 0).1);
            zero.endpoint.advance();
        }
        assert!(first == data && second == data);
        assert!(!zero.endpoint.is_staging() && zero.endpoint.unsettled().is_none());
    });
}

/// A peer that returns nothing keeps neither the chunks nor the turns of another one.
#[test]
fn nobody_starves_behind_a_slow_peer() {
    for chunks in 3..10 {
        let mut ranks = team(&[0, 1, 2, 3], chunks, 64);
        let data = bytes(3, 64 * 40);
        let (zero, others) = ranks.split_first_mut().unwrap();
        bulk::scope_to_read(zero, &data, 1, |zero, window| {
            zero.endpoint.lend(window, &[0], 1, 0..data.len());
            zero.endpoint.lend(window, &[0, 1], 2, 0..data.len());
            zero.endpoint.lend(window, &[2], 3, 0..data.len());
            let mut third = Vec::new();
            while third.len() < data.len() {
                let (lengths, piece) = drain(&mut others[2].endpoint, 0);
                assert!(!lengths.is_empty(), "{chunks} chunks: it starves");
                third.extend(piece);
                zero.endpoint.advance();
            }
            assert!(third == data);
            assert!(
                drain(&mut others[1].endpoint, 0).0.is_empty(),
                "out of order"
            );
        });
    }
}

/// Elements are not split, although their length does not divide that of a chunk.
#[test]
fn pieces_are_made_of_whole_elements() {
    for element_size in [1, 3, 24, 63, 64, 65, 127, 128] {
        let mut ranks = team(&[0, 1], 3, 128);
        let data = bytes(4, element_size * 50);
        let [zero, one] = &mut ranks[..] else {
            unreachable!("two ranks")
        };
        bulk::scope_to_read(zero, &data, element_size, |zero, window| {
            zero.endpoint.lend(window, &[0], 7, 0..data.len());
            let mut got = Vec::new();
            while got.len() < data.len() {
                let (lengths, piece) = drain(&mut one.endpoint, 0);
                let whole = lengths
                    .iter()
                    .all(|length| length.is_multiple_of(element_size));
                assert!(whole && !lengths.is_empty(), "{element_size}: {lengths:?}");
                got.extend(piece);
                zero.endpoint.advance();
            }
            assert!(got == data, "elements of {element_size} bytes");
        });
    }
}

/// Elements that are longer than a chunk come in parts, none of which has bytes of two elements.
#[test]
fn long_elements_come_in_parts() {
    for element_size in [129, 256, 300, 1000] {
        let mut ranks = team(&[0, 1], 3, 128);
        let data = bytes(4, element_size * 5);
        let [zero, one] = &mut ranks[..] else {
            unreachable!("two ranks")
        };
        bulk::scope_to_read(zero, &data, element_size, |zero, window| {
            zero.endpoint.lend(window, &[0], 7, 0..data.len());
            let mut got = Vec::new();
            while got.len() < data.len() {
                let (lengths, piece) = drain(&mut one.endpoint, 0);
                assert!(!lengths.is_empty());
                for length in lengths {
                    assert!(
                        got.len() % element_size + length <= element_size,
                        "{element_size}: {length}"
                    );
                    got.resize(got.len() + length, 0);
                }
                let from = got.len() - piece.len();
                got[from..].copy_from_slice(&piece);
                assert!(got == data[..got.len()], "elements of {element_size} bytes");
                zero.endpoint.advance();
            }
        });
    }
}

/// Addresses that a borrower follows lie in memory where no view can write.
#[test]
fn no_view_lies_over_addresses() {
    let (mut a, mut b) = (Endpoint::new(fence_kind()), Endpoint::new(fence_kind()));
    let parker = Segment::one::<Line<Parker>>(None).unwrap();
    let kept = Segment::new(bulk::link_bytes(), None).unwrap();
    bulk::join(
        (&mut a, 1, (&parker, &kept)),
        (&mut b, 4, (&parker, &kept)),
        Memory::Address,
    )
    .unwrap();
    for error in [kept.at::<Flag>(0, 1).err(), kept.part(0, 4096, None).err()] {
        let said = error.unwrap().to_string();
        assert!(said.contains("addresses of lent data"), "{said}");
    }
    let viewed = Segment::new(2 * bulk::link_bytes(), None).unwrap();
    viewed.at::<Flag>(0, 1).unwrap();
    let parts = viewed.part(0, 2 * bulk::link_bytes(), None).unwrap();
    for memory in [viewed, parts] {
        let refused = catch_unwind(AssertUnwindSafe(|| {
            bulk::join(
                (&mut a, 1, (&parker, &memory)),
                (&mut b, 4, (&parker, &memory)),
                Memory::Address,
            )
        }));
        let why = refused.unwrap_err();
        let why = why.downcast_ref::<&str>().unwrap();
        assert_eq!(*why, "addresses in memory that others write");
    }
}

#[test]
#[should_panic(expected = "2 chunks for 3 links")]
fn each_link_needs_a_chunk() {
    team(&[0, 1, 2, 3], 2, 128);
}

/// More loans than chunks wait in order; the endpoint says when it takes no more.
#[test]
fn loans_wait_in_order() {
    for shape in [[0, 0], [0, 1]] {
        let mut ranks = team(&shape, 2, 64);
        let data = bytes(5, 4096);
        let [zero, one] = &mut ranks[..] else {
            unreachable!("two ranks")
        };
        bulk::scope_to_read(zero, &data, 1, |zero, window| {
            let mut made = 0;
            for tag in 0..100u32 {
                while made < tag + 20 && zero.endpoint.has_room(0) {
                    let start = made as usize * 16;
                    zero.endpoint.lend(window, &[0], made, start..start + 16);
                    made += 1;
                }
                assert!(made - tag <= 2 + DESCRIPTORS as u32, "{made} loans stand");
                let start = tag as usize * 16;
                let piece = one.endpoint.borrow(0).unwrap().expect("it is there");
                assert_eq!((piece.tag(), piece.left()), (tag, 16));
                assert_eq!(contents(&piece), &data[start..start + 16]);
                drop(piece);
                zero.endpoint.advance();
            }
            assert!(drain(&mut one.endpoint, 0).0.len() as u32 <= made - 100);
        });
        let refused = catch_unwind(AssertUnwindSafe(|| {
            bulk::scope_to_read(zero, &data, 1, |zero, window| {
                for tag in 0..100 {
                    zero.endpoint.lend(window, &[0], tag, 0..16);
                }
            });
        }));
        let why = refused.unwrap_err();
        let why = why.downcast_ref::<String>().unwrap();
        assert_eq!(why, "link 0 takes no more loans");
    }
}

/// Loans without bytes, and a loan that names a link twice, which gets it twice.
#[test]
fn empty_and_doubled_loans() {
    for shape in [[0, 0], [0, 1]] {
        let mut ranks = team(&shape, 4, 64);
        let [zero, one] = &mut ranks[..] else {
            unreachable!("two ranks")
        };
        bulk::scope_to_read(zero, &[1, 2, 3], 1, |zero, window| {
            zero.endpoint.lend(window, &[0, 0], 1, 1..1);
            zero.endpoint.lend(window, &[0, 0], 1, 0..2);
            let (lengths, all) = drain(&mut one.endpoint, 0);
            let (mut lengths, mut all) = (lengths, all);
            zero.endpoint.advance();
            let (more, rest) = drain(&mut one.endpoint, 0);
            lengths.extend(more);
            all.extend(rest);
            assert_eq!((lengths, all), (vec![0, 0, 2, 2], vec![1, 2, 1, 2]));
            zero.flush();
        });
    }
}

/// What is lent is the borrower's to read until it is returned; the rest stays the lender's.
#[test]
fn what_is_lent_is_not_owned() {
    let mut ranks = team(&[0, 0], 2, 64);
    let [zero, one] = &mut ranks[..] else {
        unreachable!("two ranks")
    };
    let mut data = bytes(6, 100);
    bulk::scope(zero, &mut data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 1, 20..40);
        for (range, free) in [(0..20, true), (40..100, true), (30..30, false)] {
            assert_eq!(zero.endpoint.view_mut(window, range).is_some(), free);
        }
        for range in [0..21, 39..41, 0..100, 25..26] {
            assert!(zero.endpoint.view_mut(window, range).is_none());
        }
        let piece = one.endpoint.borrow(0).unwrap().unwrap();
        assert!(
            zero.endpoint.view_mut(window, 39..40).is_none(),
            "it is being read"
        );
        drop(piece);
        assert!(zero.endpoint.view_mut(window, 0..100).is_some());
    });
}

#[test]
#[should_panic(expected = "opened for reading")]
fn a_buffer_that_is_only_read_is_not_owned() {
    let mut ranks = team(&[0, 0], 2, 64);
    bulk::scope_to_read(&mut ranks[0], &[0; 8], 1, |zero, window| {
        zero.endpoint.view_mut(window, 0..1);
    });
}

#[test]
#[should_panic(expected = "belongs to another endpoint")]
fn a_window_belongs_to_its_endpoint() {
    let mut ranks = team(&[0, 0], 2, 64);
    let [zero, one] = &mut ranks[..] else {
        unreachable!("two ranks")
    };
    bulk::scope_to_read(zero, &[0; 8], 1, |_, window| {
        one.endpoint.lend(window, &[0], 1, 0..8);
    });
}

/// A scope that ends by a panic takes back the loans that no rank reads, and waits for a rank that reads.
#[test]
fn a_panic_takes_loans_back() {
    for round in 0..200 {
        let mut ranks = team(&[0, 0], 2, 64);
        let [zero, one] = &mut ranks[..] else {
            unreachable!("two ranks")
        };
        let mut data = [1u8; 5000];
        const READS: u32 = 1;
        const SAW_NOTHING: u32 = 2;
        let (state, done) = (AtomicU32::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let Some(piece) = one.endpoint.borrow(0).unwrap() else {
                    state.store(SAW_NOTHING, Ordering::Release);
                    return;
                };
                state.store(READS, Ordering::Release);
                for _ in 0..round {
                    thread::yield_now();
                }
                assert_eq!(contents(&piece), [1; 2500]);
                done.store(true, Ordering::Release);
                drop(piece);
                // The second loan was taken back, or comes whole.
                if let Some(piece) = one.endpoint.borrow(0).unwrap() {
                    assert_eq!(contents(&piece), [1; 2500]);
                }
            });
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                bulk::scope(zero, &mut data, 1, |zero, window| {
                    zero.endpoint.lend(window, &[0], 1, 0..2500);
                    zero.endpoint.lend(window, &[0], 2, 2500..5000);
                    // In the other half of the rounds both ranks race for the first loan.
                    while round % 2 == 0 && state.load(Ordering::Acquire) == 0 {
                        thread::yield_now();
                    }
                    std::panic::resume_unwind(Box::new(()));
                });
            }));
            assert!(panicked.is_err());
            data.fill(2);
            let began = state.load(Ordering::Acquire) == READS;
            assert!(!began || done.load(Ordering::Acquire), "not waited for");
        });
        assert!(ranks[1].endpoint.borrow(0).unwrap().is_none());
    }
}

/// This process, as if it were another one; `None` where the kernel refuses to read it.
fn this_process() -> Option<Arc<Process>> {
    let word = Box::new(5_u64);
    let address = (&raw const *word).addr() as u64;
    let process = Process::open(std::process::id(), (address, 5)).ok()?;
    Some(Arc::new(process))
}

/// Kernel copies come in the order of the loans. A reader that the kernel refuses in the middle gets the
/// rest, and all later loans, through the bounce buffer.
#[test]
fn a_refused_reader_gets_the_rest_through_the_bounce_buffer() {
    let Some(process) = this_process() else {
        return;
    };
    for done in [0, 77, 5000] {
        let mut ranks = team(&[0, 1], 3, 128);
        let data = bytes(9, 5000);
        let [zero, one] = &mut ranks[..] else {
            unreachable!("two ranks")
        };
        one.endpoint.reads(0, Arc::clone(&process));
        zero.endpoint.lend_by_kernel_from(1000);
        bulk::scope_to_read(zero, &data, 1, |zero, window| {
            zero.endpoint.lend(window, &[0], 1, 0..100);
            zero.endpoint.lend(window, &[0], 2, 0..5000);
            zero.endpoint.lend(window, &[0], 3, 100..200);
            assert_eq!(drain(&mut one.endpoint, 0).1, data[..100]);
            assert!(!one.endpoint.is_direct(0), "not before its turn");
            zero.endpoint.advance();
            assert!(one.endpoint.is_direct(0) && one.endpoint.peek(0) == Some((2, 5000)));
            let mut into = [0; 5000];
            assert_eq!(one.endpoint.fetch(0, 0, &mut into, 0), Ok(()));
            assert!(into == data[..]);
            for at in [1, 5001, usize::MAX] {
                let outside = one.endpoint.fetch(0, at, &mut into, 0);
                assert_eq!(outside, Err(Unfetched::Outside));
            }
            assert!(
                one.endpoint.borrow(0).is_err(),
                "no bytes of the bounce buffer"
            );
            zero.endpoint.advance();
            assert_eq!(zero.endpoint.holder(window, &(4999..5000)), Some(0));
            one.endpoint.give_back(0);
            zero.endpoint.advance();
            assert_eq!(drain(&mut one.endpoint, 0).1, data[100..200]);

            zero.endpoint.lend(window, &[0], 4, 0..5000);
            zero.endpoint.lend(window, &[0], 5, 7..9);
            zero.endpoint.lend(window, &[0], 6, 0..2000);
            assert!(one.endpoint.is_direct(0));
            assert_eq!(one.endpoint.fetch(0, 0, &mut into[..done], 0), Ok(()));
            one.endpoint.refuse(0, done);
            let (mut rest, all) = (Vec::new(), 5000 - done + 2 + 2000);
            while rest.len() < all {
                zero.endpoint.advance();
                assert!(!one.endpoint.is_direct(0));
                rest.extend(drain(&mut one.endpoint, 0).1);
            }
            assert!(rest == [&data[done..], &data[7..9], &data[..2000]].concat());
            zero.endpoint.lend(window, &[0], 7, 0..5000);
            assert!(!one.endpoint.is_direct(0) && one.endpoint.peek(0).is_some());
        });
    }
}

/// A scope that ends takes back loans by kernel copy, and their reader learns of it afterwards.
#[test]
fn what_was_taken_back_is_not_believed() {
    let Some(process) = this_process() else {
        return;
    };
    let mut ranks = team(&[0, 1], 3, 128);
    let data = bytes(9, 5000);
    let [zero, one] = &mut ranks[..] else {
        unreachable!("two ranks")
    };
    one.endpoint.reads(0, process);
    zero.endpoint.lend_by_kernel_from(1);
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 1, 0..5000);
        assert!(one.endpoint.is_direct(0));
    });
    let taken_back = one.endpoint.fetch(0, 0, &mut [0; 10], 0);
    assert_eq!(taken_back, Err(Unfetched::Revoked));
    assert_eq!(one.endpoint.peek(0), None);
}

/// Any bytes in the lines that another process writes are an error, or a piece of its bounce buffer.
#[test]
fn odd_descriptors_name_bytes_of_the_bounce_buffer_or_nothing() {
    let (mut refused, mut taken) = (0, 0);
    for seed in 0..3000u64 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let memories = Memories::new(2, 4, 128);
        let mut ours = memories.process(1, &[0, 1]);
        let (_, rank) = &mut ours[0];
        // The memory holds a parker, the bounce buffer, the descriptors to this rank, and its
        // acknowledgement line.
        let bounce_buffer = 128;
        let descriptors = bounce_buffer + 4 * 128;
        let near = [0, 64, 128, 448, 512, 513, u64::MAX, u64::MAX - 63, 1 << 63];
        for number in 1..=DESCRIPTORS as u64 {
            let mut word = || match rng.u32(..3) {
                0 => rng.u64(..),
                1 => near[rng.usize(..near.len())],
                _ => 64 * rng.u64(..9),
            };
            let words = [number, word(), word(), word(), word(), 0, 0, 0];
            let line: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
            let place = descriptors + (number - 1) * 64;
            memories.files[1].write_all_at(&line, place).unwrap();
        }
        loop {
            let peeked = rank.endpoint.peek(0);
            let outside = match rank.endpoint.borrow(0) {
                Ok(None) => break,
                Ok(Some(piece)) => {
                    assert_eq!(peeked, Some((piece.tag(), piece.left())));
                    let len = piece.len();
                    assert!(len <= 4 * 128 && len <= piece.left(), "seed {seed}");
                    assert!(
                        contents(&piece).iter().all(|&byte| byte == 0),
                        "seed {seed}"
                    );
                    taken += 1;
                    continue;
                }
                Err(outside) => outside,
            };
            assert!(outside.to_string().contains("not in its bounce buffer"));
            // A descriptor that was looked at stays what it was, whatever is written now.
            memories.files[1]
                .write_all_at(&[0; 512], descriptors)
                .unwrap();
            assert_eq!(rank.endpoint.borrow(0).unwrap_err(), outside);
            refused += 1;
            break;
        }
    }
    assert!(refused > 1000 && taken > 100, "{refused}, {taken}");
}

/// No count of returned descriptors, however odd, makes a lender lose track of its chunks.
#[test]
fn odd_counts_of_acks_corrupt_no_books() {
    for seed in 0..1000u64 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let memories = Memories::new(3, 6, 64);
        let process_of = [0, 1, 2];
        let mut ours = memories.process(0, &process_of);
        let (_, rank) = &mut ours[0];
        // The memory of rank 0 holds a parker, the bounce buffer, then for each link eight descriptors,
        // an acknowledgement line, and the line in which a borrower announces that it reads.
        let acks = |link: u64| 128 + 6 * 64 + link * (512 + 128 + 128) + 512;
        let data = bytes(seed, 64 * 30);
        bulk::scope_to_read(rank, &data, 1, |rank, window| {
            rank.endpoint.lend(window, &[0, 1], 1, 0..1);
            for other in [1, 2] {
                let (_, peer) = &mut memories.process(other, &process_of)[0];
                assert_eq!(drain(&mut peer.endpoint, 0).1, data[..1]);
                let mut count = [0; 8];
                let place = acks(other as u64 - 1);
                memories.files[0].read_exact_at(&mut count, place).unwrap();
                assert_eq!(u64::from_ne_bytes(count), 1, "it lies elsewhere");
            }
            for _ in 0..60 {
                let link = rng.usize(..2);
                let count = match rng.bool() {
                    true => rng.u64(..),
                    false => rng.u64(..40),
                };
                let place = acks(link as u64);
                memories.files[0]
                    .write_all_at(&count.to_ne_bytes(), place)
                    .unwrap();
                let links = [[0, 1], [1, 0]][rng.usize(..2)];
                let links = &links[..rng.usize(1..=2)];
                if links.iter().all(|&link| rank.endpoint.has_room(link)) {
                    let len = rng.usize(..data.len());
                    rank.endpoint.lend(window, links, 1, 0..len);
                }
                rank.endpoint.advance();
            }
        });
        assert!(!rank.endpoint.is_staging(), "a scope leaves nothing behind");
    }
}

/// Memory that could vanish under a reader, or that two endpoints would write.
#[test]
fn memory_of_short_loans_is_kept_by_the_peers_and_is_one_endpoints() {
    const CHUNK: usize = 128;
    let memory = || Segment::new(2 * CHUNK + bulk::link_bytes(), None).unwrap();
    let (ours, theirs, others) = (memory(), memory(), memory());
    let parker = Segment::one::<Line<Parker>>(None).unwrap();
    let [mut lender, mut borrower, mut third] = [(); 3].map(|()| Endpoint::new(fence_kind()));
    let ends = (
        (&mut lender, 4, (&parker, &ours)),
        (&mut borrower, 6, (&parker, &theirs)),
    );
    bulk::join(ends.0, ends.1, Memory::Address).unwrap();
    let panics = |what: &mut dyn FnMut(), why: &str| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(what)).unwrap_err();
        let literal = panic.downcast_ref::<&str>().map(|said| (*said).to_owned());
        let said = literal.or(panic.downcast_ref::<String>().cloned()).unwrap();
        assert!(said.contains(why), "{said}");
    };
    let elsewhere = BounceMemory::new(&others, CHUNK).unwrap();
    panics(
        &mut || lender.copy_short_loans(&elsewhere, CHUNK),
        "no peer keeps the memory",
    );
    let eager_buffer = BounceMemory::new(&ours, CHUNK).unwrap();
    lender.copy_short_loans(&eager_buffer, CHUNK);
    for buffer in [&eager_buffer, &eager_buffer.clone()] {
        let mut again = || lender.copy_short_loans(buffer, CHUNK);
        panics(&mut again, "another buffer's already");
        let mut both = || third.open(Some((buffer, CHUNK)));
        panics(&mut both, "another buffer's already");
    }
    let mut late = || {
        let ends = (
            (&mut lender, 8, (&parker, &others)),
            (&mut third, 10, (&parker, &theirs)),
        );
        bulk::join(ends.0, ends.1, Memory::Address).unwrap();
    };
    panics(&mut late, "before it has a buffer");
}
