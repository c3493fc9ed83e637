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
