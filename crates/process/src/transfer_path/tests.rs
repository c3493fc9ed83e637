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
            let both = |copied| LendsFrom {
                copied,
                combined: copied,
            };
            assert_eq!(thresholds(Some("0"), raced, turns), both(None));
            assert_eq!(thresholds(Some("5000"), raced, turns), both(Some(5000)));
            // Ranks with a core each do not combine what the kernel copies.
            let otherwise = LendsFrom {
                copied: otherwise,
                combined: otherwise.filter(|_| turns.is_some()),
            };
            assert_eq!(thresholds(Some("many"), raced, turns), otherwise);
            // As if it had been raced.
            let told = thresholds(Some("copied:5000"), raced, turns);
            assert_eq!(
                told,
                thresholds(None, Some(KernelCopies::From(5000)), turns)
            );
            assert_eq!(thresholds(Some("copied:0"), raced, turns), both(None));
            assert_eq!(thresholds(None, raced, turns), otherwise);
        }
    }
}
