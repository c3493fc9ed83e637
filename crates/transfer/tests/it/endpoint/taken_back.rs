//! Loans that are taken back, and those that stand beside them.

use super::*;

/// A scope that ends takes back its own loans, and none that were copied before it: their operation is over.
#[test]
fn copies_stand_when_a_later_loan_is_taken_back() {
    let mut ranks = team(&[0, 0], 2, 128);
    let [zero, one] = &mut ranks[..] else {
        unreachable!("two ranks")
    };
    let eager_buffer = BounceMemory::new(&zero.memory, 128 * 4).unwrap();
    zero.endpoint.copy_short_loans(&eager_buffer, 128);
    let data = bytes(3, 1000);
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 1, 0..100);
        zero.endpoint.lend(window, &[0], 2, 100..200);
    });
    bulk::scope_to_read(zero, &data, 1, |zero, window| {
        zero.endpoint.lend(window, &[0], 3, 0..1000);
        zero.endpoint.lend(window, &[0], 3, 0..10);
    });
    assert_eq!(
        drain(&mut one.endpoint, 0),
        (vec![100, 100], data[..200].to_vec())
    );
    assert_eq!(
        one.endpoint.peek(0),
        None,
        "the later loans were taken back"
    );
}
