//! Looks that an event loop takes before it sleeps.
//!
//! Who is asked for much is asked again while it answers, or right after. If it sleeps in between, whoever asks has to wake it, which
//! takes longer than a request. So it looks for as long as a sleep would take, where such looks have mostly found something.

use std::io;
use std::time::{Duration, Instant};

/// About what a thread takes to sleep and to be woken on another processor. Longer looks gain nothing, and shorter ones find less.
const LOOKS: Duration = Duration::from_micros(15);

/// The most that successes count.
const SCORE_MAX: i32 = 16;

/// A failure outweighs so many successes.
const FAILURE: i32 = 4;

/// Whether an event loop looks before it sleeps.
#[derive(Debug)]
pub(super) struct Soon {
    may: bool,
    /// Whether something has come in this turn: an idle event loop does not look.
    has_come: bool,
    /// Above 0 it looks; below, so many turns pass until it tries again.
    score: i32,
}

impl Soon {
    /// One that does not if it `may` not: others need the processor.
    pub(super) fn new(may: bool) -> Self {
        Self {
            may,
            has_come: false,
            score: 1,
        }
    }

    /// Looks for a moment, if that has been worth it; returns whether something has come.
    ///
    /// # Errors
    ///
    /// Those of `look`.
    pub(super) fn look(&mut self, mut look: impl FnMut() -> io::Result<bool>) -> io::Result<bool> {
        if !self.may || !self.has_come {
            return Ok(false);
        }
        if self.score <= 0 {
            self.score += 1;
            return Ok(false);
        }
        let begun = Instant::now();
        let mut found = look()?;
        while !found && begun.elapsed() < LOOKS {
            found = look()?;
        }
        let change = if found { 1 } else { -FAILURE };
        self.score = (self.score + change).min(SCORE_MAX);
        Ok(found)
    }

    /// Says whether something has come in this turn.
    pub(super) fn note(&mut self, has_come: bool) {
        self.has_come = has_come;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of a thousand turns look, if something comes soon in so many of a hundred.
    fn looks(soon_in_100: u32) -> u32 {
        let (mut soon, mut looks) = (Soon::new(true), 0);
        for turn in 0..1000 {
            soon.note(true);
            let found = soon.look(|| {
                looks += u32::from(turn % 100 < soon_in_100);
                Ok(turn % 100 < soon_in_100)
            });
            assert!(turn % 100 < soon_in_100 || !found.unwrap());
        }
        looks
    }

    #[test]
    fn it_looks_where_that_is_worth_it() {
        assert_eq!(looks(100), 1000);
        assert!(looks(95) > 850);
        assert_eq!(looks(0), 0);
        // Whoever has no company, or nothing to do, does not.
        for (may, has_come) in [(false, true), (true, false)] {
            let mut soon = Soon::new(may);
            soon.note(has_come);
            assert!(!soon.look(|| panic!("it looks")).unwrap());
        }
    }

    #[test]
    fn what_fails_is_tried_again_now_and_then() {
        let (mut soon, mut tried) = (Soon::new(true), 0);
        for _ in 0..100 {
            soon.note(true);
            let mut looked = false;
            let _ = soon.look(|| {
                looked = true;
                Ok(false)
            });
            tried += u32::from(looked);
        }
        assert!((10..40).contains(&tried), "{tried}");
    }
}
