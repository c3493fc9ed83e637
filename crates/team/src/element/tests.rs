//! Elements that arrive in pieces are put together.

use super::*;

#[test]
fn an_element_is_given_when_it_is_whole() {
    let mut element = Element::default();
    let mut given = Vec::new();
    for (piece, taken) in [(&[1, 2][..], true), (&[3, 4, 5], false), (&[6], true)] {
        let copy = |room: &mut [u8]| room.copy_from_slice(piece);
        let took = element.join(3, piece.len(), copy, |whole| given = whole.to_vec());
        assert_eq!(took, taken);
    }
    assert_eq!(given, [1, 2, 6]);
    assert!(element.is_empty());
    element.join(3, 1, |room| room.fill(9), |_| unreachable!("not whole"));
    assert!(!element.is_empty());
}
