//! From which length on the kernel copies: asked for in a text, raced, or by the rule.

use super::*;

#[test]
fn what_is_asked_for_comes_before_what_was_raced_and_that_before_the_rule() {
    for turns in [None, Some(256 << 10)] {
        let raced = [
            None,
            Some(KernelCopies::Never),
            Some(KernelCopies::From(70_000)),
        ];
        for (raced, otherwise) in raced.into_iter().zip([turns, None, Some(70_000)]) {
            assert_eq!(threshold(Some("0"), raced, turns), None);
            assert_eq!(threshold(Some("5000"), raced, turns), Some(5000));
            assert_eq!(threshold(Some("many"), raced, turns), otherwise);
            assert_eq!(threshold(None, raced, turns), otherwise);
        }
    }
}
