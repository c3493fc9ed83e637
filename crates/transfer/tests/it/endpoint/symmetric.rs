//! Loans out of symmetric memory, which are read where they lie.

use super::*;
use corecast_transfer::{
    AllocError, HeapName, MappedHeap, SharedMapping, SharedRegion, SharedRegions, SymmetricBytes,
    SymmetricHeap,
};
use std::os::fd::AsRawFd;

fn filled(rank: &Rank, seed: u64, len: usize) -> SymmetricBytes {
    let mut data = rank.symmetric.alloc(len).unwrap();
    data.copy_from_slice(&bytes(seed, len));
    data
}

/// Such loans come in the order of all loans, and hold their window until they were returned.
#[test]
fn what_lies_in_symmetric_memory_is_read_in_place() {
    let mut ranks = team(&[0, 1], 3, 128);
    let [zero, one] = &mut ranks[..] else {
        unreachable!("two ranks")
    };
    let other = bytes(8, 100);
    let data = filled(zero, 9, 5000);
    bulk::scope_to_read(zero, &other, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 1, 0..100);
        assert!(!one.endpoint.is_direct(0));
        assert_eq!(drain(&mut one.endpoint, 0).1, other);
        zero.endpoint.advance();
    });
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 2, 13..5000);
        zero.endpoint.lend(window, &[0], 3, 7..8);
        assert!(one.endpoint.is_direct(0));
        assert_eq!(one.endpoint.peek(0), Some((2, 4987)));
        assert!(one.endpoint.borrow(0).is_err(), "no bytes of the buffer");
        let mut into = [0; 4987];
        assert_eq!(one.endpoint.fetch(0, 0, &mut into[..1000], 0), Ok(()));
        assert_eq!(one.endpoint.fetch(0, 1000, &mut into[1000..], 0), Ok(()));
        assert!(into == data[13..]);
        for at in [1, 4988, usize::MAX] {
            let outside = one.endpoint.fetch(0, at, &mut into, 0);
            assert_eq!(outside, Err(Unfetched::Outside));
        }
        zero.endpoint.advance();
        assert_eq!(zero.endpoint.holder(window, &(4999..5000)), Some(0));
        one.endpoint.give_back(0);
        zero.endpoint.advance();
        assert_eq!(one.endpoint.peek(0), Some((3, 1)), "the next in turn");
        assert_eq!(one.endpoint.fetch(0, 0, &mut into[..1], 0), Ok(()));
        one.endpoint.give_back(0);
        assert_eq!((into[0], zero.endpoint.unsettled()), (data[7], None));
    });
}

/// A heap is lent to those that have mapped it, and through the bounce buffer to others.
#[test]
fn what_lies_in_a_heap_is_read_in_place_by_those_that_map_it() {
    let mut ranks = team(&[0, 1, 2], 4, 128);
    let [zero, one, two] = &mut ranks[..] else {
        unreachable!("three ranks")
    };
    let heap = SymmetricHeap::new(1 << 20).unwrap();
    let mut data = heap.alloc(5000, 1).unwrap();
    data.copy_from_slice(&bytes(9, 5000));
    zero.endpoint.lends_heap(&heap);
    let mapped = MappedHeap::open(std::process::id(), heap.name()).unwrap();
    one.endpoint.maps_heap(0, &mapped);
    drop(mapped);
    let mut into = [0; 4987];
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0, 1], 2, 13..5000);
        assert!(one.endpoint.is_direct(0) && one.endpoint.is_symmetric(0));
        assert_eq!(one.endpoint.fetch(0, 0, &mut into, 0), Ok(()));
        let outside = one.endpoint.fetch(0, 1, &mut into, 0);
        assert_eq!(outside, Err(Unfetched::Outside));
        one.endpoint.give_back(0);
        assert!(into == data[13..]);
        assert!(!two.endpoint.is_direct(0), "it has not mapped the heap");
        let mut found = Vec::new();
        while found.len() < 4987 {
            zero.endpoint.advance();
            found.extend(drain(&mut two.endpoint, 0).1);
        }
        assert!(found == data[13..]);
    });
    // What a process names that has no heap, or one that was not mapped, is refused.
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 3, 0..5000);
        assert!(one.endpoint.is_direct(0));
    });
    data.fill(0);
    let taken_back = one.endpoint.fetch(0, 0, &mut into[..10], 0);
    assert_eq!(taken_back, Err(Unfetched::Revoked));
}

/// A region over addresses of a heap, which stands.
fn region(addresses: &[u8], id: u16) -> Arc<SharedRegion> {
    let first = addresses.as_ptr().addr();
    let mapping = SharedMapping::find(first..first + addresses.len()).unwrap();
    // SAFETY: the heap stands for as long as its buffer.
    Arc::new(unsafe { mapping.region(id) }.unwrap())
}

/// What is open is lent in place, what is closed goes through the bounce buffer, and what is gone is refused.
#[test]
fn what_lies_in_a_region_is_read_in_place_while_it_is_open() {
    let mut ranks = team(&[0, 1], 2, 128);
    let [zero, one] = &mut ranks[..] else {
        unreachable!("two ranks")
    };
    let heap = SymmetricHeap::new(1 << 20).unwrap();
    let mut data = heap.alloc(9000, 1).unwrap();
    data.copy_from_slice(&bytes(9, 9000));
    // Neither begins at a page, and their numbers come in no order.
    let late = region(&data[5000..], 3);
    let early = region(&data[100..5000], 60_000);
    let teams: [Arc<SharedRegions>; 2] = Default::default();
    zero.endpoint.lends_regions(Arc::clone(&teams[0]));
    one.endpoint.lends_regions(Arc::clone(&teams[1]));
    teams[0].add(&late);
    teams[0].add(&early);
    teams[1].add(&early);
    teams[1].add(&late);
    let mut into = [0; 3000];
    let mut fetch = |one: &mut Rank, at| {
        let fetched = one.endpoint.fetch(0, at, &mut into, 0);
        fetched.map(|()| into.to_vec())
    };
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        let copied = |zero: &mut Rank, one: &mut Rank, range: std::ops::Range<usize>| {
            zero.endpoint.lend(window, &[0], 1, range.clone());
            assert!(!one.endpoint.is_direct(0), "{range:?}");
            let mut found = Vec::new();
            while found.len() < range.len() {
                zero.endpoint.advance();
                found.extend(drain(&mut one.endpoint, 0).1);
            }
            assert!(found == data[range]);
        };
        copied(zero, one, 200..4000);
        early.open();
        late.open();
        copied(zero, one, 99..4000);
        copied(zero, one, 4000..6000);
        for (region, first) in [(60_000, 100), (3, 5000), (3, 5500), (60_000, 1999)] {
            zero.endpoint.lend(window, &[0], 1, first..first + 3000);
            assert!(one.endpoint.is_direct(0) && one.endpoint.is_symmetric(0));
            assert!(one.endpoint.borrow(0).is_err(), "no bytes of the buffer");
            let found = fetch(one, 0).unwrap();
            assert!(found == data[first..first + 3000], "{region}");
            assert_eq!(fetch(one, 1), Err(Unfetched::Outside));
            one.endpoint.give_back(0);
            zero.endpoint.advance();
        }
        early.close();
        copied(zero, one, 100..5000);
        assert_eq!(zero.endpoint.unsettled(), None);
    });
    // Whoever borrows keeps what it reads; the addresses may be those of another region then.
    drop(early);
    assert_eq!((teams[0].len(), teams[1].len()), (1, 1));
    let next = region(&data[..5000], 60_000);
    teams[0].add(&next);
    next.open();
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 1, 150..3150);
        assert!(one.endpoint.is_direct(0));
        assert_eq!(fetch(one, 0), Err(Unfetched::Outside), "it has none");
        teams[1].add(&next);
        assert!(fetch(one, 0).unwrap() == data[150..3150]);
    });
    assert_eq!(fetch(one, 0), Err(Unfetched::Revoked), "taken back");
}

#[test]
fn another_file_is_no_heap() {
    let heap = SymmetricHeap::new(1 << 20).unwrap();
    let (own, name) = (std::process::id(), heap.name());
    assert!(MappedHeap::open(own, name).is_ok());
    let id = name.id ^ 1;
    assert!(MappedHeap::open(own, HeapName { id, ..name }).is_err());
    let (end, _kept) = std::io::pipe().unwrap();
    for file in [end.as_raw_fd() as u32, u32::MAX] {
        assert!(MappedHeap::open(own, HeapName { file, ..name }).is_err());
    }
}

/// Buffers of all lengths and alignments, each filled with its own number, against each other.
#[test]
fn buffers_of_a_heap_are_apart_zero_and_aligned() {
    let heap = SymmetricHeap::new(64 << 20).unwrap();
    let (mut rng, mut kept) = (fastrand::Rng::with_seed(3), Vec::new());
    for number in 1..=600_u32 {
        let (bytes, align) = (rng.usize(1..200_000), 1 << rng.u32(..22));
        match heap.alloc(bytes, align) {
            Ok(mut buffer) => {
                assert_eq!(buffer.as_ptr().addr() % align, 0);
                assert!(buffer.iter().all(|&byte| byte == 0));
                buffer.fill(number as u8);
                kept.push((number as u8, buffer));
            }
            Err(error) => assert!(matches!(error, AllocError::Full { .. }), "{error}"),
        }
        while kept.len() > 60 || (!kept.is_empty() && rng.u32(..3) == 0) {
            let (number, buffer) = kept.swap_remove(rng.usize(..kept.len()));
            assert!(buffer.iter().all(|&byte| byte == number));
        }
    }
    kept.clear();
    heap.alloc(64 << 20, 1).expect("all of it is free again");
    assert!(heap.alloc((64 << 20) + 1, 1).is_err());
    assert!(heap.alloc(usize::MAX, 1).is_err());
}

/// The way of a reader that the kernel has refused before.
#[test]
fn a_refused_reader_still_reads_symmetric_memory() {
    let Some(process) = this_process() else {
        return;
    };
    let mut ranks = team(&[0, 1], 3, 128);
    let [zero, one] = &mut ranks[..] else {
        unreachable!("two ranks")
    };
    one.endpoint.reads(0, process);
    zero.endpoint.lend_by_kernel_from(1);
    let (plain, data) = (bytes(8, 100), filled(zero, 9, 5000));
    bulk::scope_to_read(zero, &plain, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 1, 0..100);
        one.endpoint.refuse(0, 40);
        zero.endpoint.advance();
        assert_eq!(drain(&mut one.endpoint, 0).1, plain[40..]);
        assert_eq!(zero.endpoint.unsettled(), None);
    });
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 2, 0..5000);
        assert!(one.endpoint.is_direct(0));
        let mut into = [0; 5000];
        assert_eq!(one.endpoint.fetch(0, 0, &mut into, 0), Ok(()));
        one.endpoint.give_back(0);
        assert!(into == data[..]);
        assert_eq!(zero.endpoint.unsettled(), None, "nothing more of it comes");
        assert_eq!(one.endpoint.peek(0), None);
    });
}

#[test]
fn what_was_taken_back_is_not_believed() {
    let mut ranks = team(&[0, 1], 3, 128);
    let [zero, one] = &mut ranks[..] else {
        unreachable!("two ranks")
    };
    let mut data = filled(zero, 9, 5000);
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 1, 0..5000);
        assert!(one.endpoint.is_direct(0));
    });
    data.fill(0);
    let taken_back = one.endpoint.fetch(0, 0, &mut [0; 10], 0);
    assert_eq!(taken_back, Err(Unfetched::Revoked));
    assert_eq!(one.endpoint.peek(0), None);
}

/// A corrupt process names any bytes: they are in its symmetric memory, or refused.
#[test]
fn odd_descriptors_name_bytes_of_symmetric_memory_or_nothing() {
    let (mut refused, mut taken) = (0, 0);
    for seed in 0..1000u64 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let memories = Memories::new(2, 4, 128);
        let mut ours = memories.process(1, &[0, 1]);
        let (_, rank) = &mut ours[0];
        let all = rank.symmetric_bytes;
        let near = [
            0,
            1,
            all - 1,
            all,
            all + 1,
            u64::MAX,
            u64::MAX - 63,
            1 << 63,
        ];
        let word = |rng: &mut fastrand::Rng| match rng.u32(..3) {
            0 => rng.u64(..),
            1 => near[rng.usize(..near.len())],
            _ => rng.u64(..all),
        };
        let (start, len) = (word(&mut rng), word(&mut rng));
        let left = if rng.u32(..4) == 0 {
            word(&mut rng)
        } else {
            len
        };
        let way = [2, 5, 6, u32::MAX][rng.usize(..4)];
        let words = [1, start, len, left, 5 | u64::from(way) << 32, 0, 0, 0];
        let line: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        memories.files[1]
            .write_all_at(&line, 128 + 4 * 128)
            .unwrap();
        assert!(rank.endpoint.is_direct(0));
        let at = rng.usize(..300);
        let mut into = vec![1; rng.usize(..3000)];
        // No process fills what lies in another one's memory.
        let inside = way != 5
            && len == left
            && (at + into.len()) as u64 <= len
            && start
                .checked_add((at + into.len()) as u64)
                .is_some_and(|end| end <= all);
        match rank.endpoint.fetch(0, at, &mut into, 0) {
            Ok(()) => {
                assert!(inside, "seed {seed}");
                assert!(into.iter().all(|&byte| byte == 0), "seed {seed}");
                taken += 1;
            }
            Err(error) => {
                assert_eq!(error, Unfetched::Outside);
                assert!(!inside, "seed {seed}");
                refused += 1;
            }
        }
    }
    assert!(refused > 100 && taken > 100, "{refused}, {taken}");
}

#[test]
fn buffers_are_zero_and_apart_and_give_their_pages_back() {
    let ranks = team(&[0, 1], 3, 128);
    let memory = &ranks[0].symmetric;
    let all = ranks[0].symmetric_bytes as usize;
    for round in 0..3 {
        let mut buffers = Vec::new();
        while let Ok(mut buffer) = memory.alloc(10_000) {
            assert!(buffer.iter().all(|&byte| byte == 0), "round {round}");
            buffer.fill(buffers.len() as u8 + 1);
            buffers.push(buffer);
        }
        assert!(buffers.len() > 2);
        for (number, buffer) in buffers.iter().enumerate() {
            assert_eq!(buffer.len(), 10_000);
            assert!(buffer.iter().all(|&byte| byte == number as u8 + 1));
        }
        buffers.remove(1);
        assert!(memory.alloc(10_000).is_ok(), "there is room again");
    }
    assert_eq!(memory.alloc(all).unwrap().len(), all);
    for wanted in [all + 1, usize::MAX] {
        let error = memory.alloc(wanted).unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, AllocError::Full { .. }), "{said}");
        assert!(
            said.contains(&format!("{wanted} bytes")) && said.contains(&format!("{all}")),
            "{said}"
        );
    }
    assert!(memory.alloc(0).unwrap().is_empty());
}
