//! The order in which a rank with the token reads and passes it on, and seeded faults that leave out a condition.
//!
//! Counts of notifications and loans stay the same wherever the token is passed on, so the whole sequence is compared.

use crate::{gather, scatter};
use corecast_wire::Fabric;
use std::cell::Cell;
use std::convert::Infallible;
use std::ops::Range;

thread_local! {
    /// The condition that a seeded fault leaves out; 0 for none.
    static LEFT_OUT: Cell<u8> = const { Cell::new(0) };
}

/// Whether a seeded fault leaves out a condition.
pub(super) fn is_left_out(condition: u8) -> bool {
    LEFT_OUT.get() == condition
}

/// What a rank does on its fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Wait(usize),
    Notify(usize),
    Fetch(usize),
    Lend(usize),
    Flush,
}

/// One rank's fabric, which writes down what is called. Nobody is at the other end: what is fetched is there.
struct Recorder {
    rank: usize,
    size: usize,
    acts: Vec<Act>,
}

impl Fabric for Recorder {
    type Error = Infallible;
    type Window<'w> = &'w mut [u8];

    corecast_wire::windows_lent_as_copies!();
    corecast_wire::no_shared_lines!();

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn notify(&mut self, peer: usize) -> Result<(), Infallible> {
        self.acts.push(Act::Notify(peer));
        Ok(())
    }

    fn wait(&mut self, peer: usize) -> Result<(), Infallible> {
        self.acts.push(Act::Wait(peer));
        Ok(())
    }

    fn lend(
        &mut self,
        _: &Self::Window<'_>,
        _: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Infallible> {
        self.acts.push(Act::Lend(range.len()));
        Ok(())
    }

    fn borrow(
        &mut self,
        _: usize,
        len: usize,
        _: impl FnMut(usize, &[u8]),
    ) -> Result<(), Infallible> {
        self.acts.push(Act::Fetch(len));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        self.acts.push(Act::Flush);
        Ok(())
    }

    fn send(&mut self, _: usize, _: &[u8]) -> Result<(), Infallible> {
        unreachable!()
    }

    fn receive(&mut self, _: usize, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!()
    }

    fn message_bytes_max(&self) -> usize {
        unreachable!()
    }

    fn wrong_length(&self, _: usize, _: usize, _: usize) -> Infallible {
        unreachable!()
    }
}

/// Most bytes that may be read without the token.
const TOKEN: usize = 1000;

/// What rank 2 of 4 does, which has the token after rank 1 and before rank 3, with a part of `len` bytes from root 0.
fn acts(gathers: bool, near: bool, len: usize) -> Vec<Act> {
    let (rank, size, root) = (2, 4, 0);
    let mut fabric = Recorder {
        rank,
        size,
        acts: Vec::new(),
    };
    let part = |rank: usize| rank * len..(rank + 1) * len;
    let (mut all, mut own) = (vec![0; size * len], vec![0; len]);
    let shape = (8, TOKEN);
    let Ok(()) = match gathers {
        false => {
            let window = &&mut all[..];
            scatter::token_ring(&mut fabric, root, window, part, &mut own, near, shape)
        }
        true => {
            let give = (&&mut own[..], len);
            gather::token_ring(&mut fabric, root, give, &mut all, part, near, shape)
        }
    };
    fabric.acts
}

/// The cases, and what they differ in from what must be done.
fn differences() -> Vec<String> {
    use Act::{Fetch, Flush, Lend, Notify, Wait};
    let (wait, notify) = (Wait(1), Notify(3));
    let long = 2 * TOKEN;
    let scatters = [
        (true, long, vec![wait, notify, Fetch(TOKEN), Fetch(TOKEN)]),
        (true, TOKEN, vec![wait, notify, Fetch(TOKEN)]),
        (false, 8, vec![wait, notify, Fetch(8)]),
        (false, TOKEN, vec![wait, notify, Fetch(TOKEN)]),
        (false, TOKEN + 8, vec![wait, Fetch(8), notify, Fetch(TOKEN)]),
        (false, long, vec![wait, Fetch(TOKEN), notify, Fetch(TOKEN)]),
    ];
    // A loan was read when it was flushed, and not when it was lent.
    let gathers = [
        (
            true,
            long,
            vec![wait, notify, Lend(TOKEN), Lend(TOKEN), Flush],
        ),
        (true, TOKEN, vec![wait, notify, Lend(TOKEN), Flush]),
        (false, 8, vec![wait, notify, Lend(8), Flush]),
        (false, TOKEN, vec![wait, notify, Lend(TOKEN), Flush]),
        (
            false,
            long,
            vec![wait, Lend(TOKEN), Flush, notify, Lend(TOKEN), Flush],
        ),
    ];
    let cases = [(false, scatters.to_vec()), (true, gathers.to_vec())];
    let mut found = Vec::new();
    for (is_gather, cases) in cases {
        for (near, len, expected) in cases {
            let acts = acts(is_gather, near, len);
            if acts != expected {
                let what = if is_gather { "gather" } else { "scatter" };
                found.push(format!("{what}, near {near}, {len} bytes: {acts:?}"));
            }
        }
    }
    found
}

#[test]
fn the_token_is_passed_on_when_a_condition_holds() {
    assert_eq!(differences(), [""; 0]);
}

#[test]
fn a_condition_that_is_left_out_is_found_in_both_collectives() {
    for condition in 1..=3 {
        LEFT_OUT.set(condition);
        let found = differences();
        LEFT_OUT.set(0);
        for what in ["scatter", "gather"] {
            let is_found = found.iter().any(|one| one.starts_with(what));
            assert!(is_found, "condition {condition} in {what}: {found:?}");
        }
    }
}

#[test]
fn the_ends_of_the_ring_neither_wait_nor_notify() {
    let of = |rank| {
        let mut fabric = Recorder {
            rank,
            size: 4,
            acts: Vec::new(),
        };
        let window = &&mut [0; 32][..];
        let part = |rank: usize| 8 * rank..8 * rank + 8;
        let Ok(()) =
            scatter::token_ring(&mut fabric, 0, window, part, &mut [0; 8], false, (8, TOKEN));
        fabric.acts
    };
    assert_eq!(of(1), [Act::Notify(2), Act::Fetch(8)]);
    assert_eq!(of(3), [Act::Wait(2), Act::Fetch(8)]);
}
