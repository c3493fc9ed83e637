//! The lengths from which memory is lent are read from text.

use super::*;

#[test]
fn a_wish_is_a_number_of_bytes() {
    for shares in [false, true] {
        assert_eq!(threshold(Some("0"), shares), None);
        assert_eq!(threshold(Some("5000"), shares), Some(5000));
        let own = shares.then_some(OVERSUBSCRIBED_FROM);
        assert_eq!(threshold(None, shares), own);
        assert_eq!(threshold(Some("many"), shares), own);
    }
}
