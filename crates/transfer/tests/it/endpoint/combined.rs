//! Loans that are combined, which go by kernel copy from a length of their own on.

use super::*;

#[test]
fn what_is_combined_is_read_where_it_lies_from_a_length_of_its_own_on() {
    let Some(process) = this_process() else {
        return;
    };
    // From which length on loans go by kernel copy, and which do so: copied, then combined, of 200 and 1,000 bytes.
    for (copied, combined, direct) in [
        (100, usize::MAX, [true, true, false, false]),
        (usize::MAX, 100, [false, false, true, true]),
        (100, 500, [true, true, false, true]),
    ] {
        let mut ranks = team(&[0, 1], 16, 128);
        let data = bytes(9, 1000);
        let [zero, one] = &mut ranks[..] else {
            unreachable!("two ranks")
        };
        one.endpoint.reads(0, Arc::clone(&process));
        zero.endpoint.lend_by_kernel_from(copied);
        zero.endpoint.combine_by_kernel_from(combined);
        bulk::scope_to_read(zero, &data, 1, |zero, window| {
            let mut found = Vec::new();
            for combines in [false, true] {
                for len in [200, 1000] {
                    match combines {
                        true => zero.endpoint.lend_to_combine(window, &[0], 1, 0..len),
                        false => zero.endpoint.lend(window, &[0], 1, 0..len),
                    }
                    found.push(one.endpoint.is_direct(0));
                    one.expect(0, 1, &data[..len], "combined");
                    zero.endpoint.advance();
                }
            }
            assert_eq!(found, direct, "{copied} and {combined}");
        });
    }
}

/// What is combined goes in small pieces if a link has no room for it as a whole.
#[test]
fn long_data_that_are_combined_go_in_small_pieces() {
    const CHUNK: usize = 512;
    let room = DESCRIPTORS * CHUNK;
    for (element_size, piece_bytes, len, combines, expected) in [
        (1, 128, room, true, CHUNK),
        (1, 128, room + 1, true, 128),
        (1, 128, room + 1, false, CHUNK),
        (24, 128, room + 24, true, 120),
        (1, 4 * CHUNK, room + 1, true, CHUNK),
    ] {
        let mut ranks = team(&[0, 1], DESCRIPTORS, CHUNK);
        let data = bytes(10, len / element_size * element_size);
        let [zero, one] = &mut ranks[..] else {
            unreachable!("two ranks")
        };
        zero.endpoint.combine_in_pieces_of(piece_bytes);
        bulk::scope_to_read(zero, &data, element_size, |zero, window| {
            match combines {
                true => zero
                    .endpoint
                    .lend_to_combine(window, &[0], 1, 0..data.len()),
                false => zero.endpoint.lend(window, &[0], 1, 0..data.len()),
            }
            let mut all = Vec::new();
            while all.len() < data.len() {
                let piece = one.endpoint.borrow(0).unwrap().expect("a piece is there");
                let left = data.len() - all.len();
                assert_eq!(piece.len(), expected.min(left), "{len} bytes");
                all.extend(contents(&piece));
                drop(piece);
                zero.endpoint.advance();
            }
            assert!(all == data);
        });
    }
}
