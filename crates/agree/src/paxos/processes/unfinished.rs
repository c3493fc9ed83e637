//! Commands of any length as pieces that fit a slot.
//!
//! The log delivers the pieces of an origin in their order and each once, so they are put together again where they are
//! delivered. A member that ends in the middle of a command leaves pieces whose rest never comes; and a piece of it may still be
//! under way. What becomes of them has to be the same at all members. **Invariant:** it depends on the log alone: once a piece
//! of a later start of the same member was delivered, those of former starts are dropped and ignored.

use std::collections::BTreeMap;

use super::Piece;
use crate::paxos::Submission;
use crate::paxos::group::wires::word;

/// The first byte of the last piece of a command; that of others is 0.
const LAST: u8 = 1;

/// The pieces of a command, of which an empty one has one as well.
pub(super) fn pieces(command: &[u8]) -> impl Iterator<Item = Piece> {
    let each = Piece::BYTES_MAX - 1;
    let count = command.len().div_ceil(each).max(1);
    (0..count).map(move |number| {
        let part = &command[number * each..command.len().min((number + 1) * each)];
        let mark = if number + 1 == count { LAST } else { 0 };
        Piece::new(&[&[mark], part].concat())
    })
}

/// What was delivered of commands that are not whole, by member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unfinished(BTreeMap<u64, (u64, Vec<u8>)>);

impl Unfinished {
    /// Takes a piece that was delivered, and returns the command that it ends, if it ends one.
    pub(super) fn take(&mut self, submission: &Submission<Piece>) -> Option<Vec<u8>> {
        let (start, member) = (submission.origin >> 8, submission.origin & 0xff);
        let (latest, bytes) = self.0.entry(member).or_default();
        if start < *latest && !seeded!(FormerStartsHeard) {
            return None;
        }
        if start > *latest {
            *latest = start;
            if !seeded!(FormerPiecesKept) {
                bytes.clear();
            }
        }
        let (mark, part) = submission.command.bytes().split_first()?;
        bytes.extend_from_slice(part);
        (*mark == LAST).then(|| std::mem::take(bytes))
    }

    /// As bytes, for a snapshot.
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.0.len() as u64).to_ne_bytes());
        for (member, (latest, part)) in &self.0 {
            for word in [*member, *latest, part.len() as u64] {
                bytes.extend(word.to_ne_bytes());
            }
            bytes.extend_from_slice(part);
        }
    }

    /// What was encoded, and the bytes behind it.
    pub(super) fn decode(mut bytes: &[u8]) -> Option<(Self, &[u8])> {
        let rest = &mut bytes;
        let mut all = BTreeMap::new();
        for _ in 0..word(rest)? {
            let (member, latest, len) = (word(rest)?, word(rest)?, word(rest)?);
            let (part, after) = rest.split_at_checked(usize::try_from(len).ok()?)?;
            all.insert(member, (latest, part.to_vec()));
            *rest = after;
        }
        Some((Self(all), bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{self, Fault};

    /// Delivers the pieces of commands of two members, which end and start again anywhere, in one order; pieces of former starts
    /// come late. Returns what is wrong.
    fn random_starts(seed: u64) -> Result<(), String> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut log: Vec<Submission<Piece>> = Vec::new();
        let mut commands = Vec::new();
        let mut late: Vec<Submission<Piece>> = Vec::new();
        for start in 1..20 {
            let member = random.u64(..2);
            let origin = start << 8 | member;
            let (mut number, begin) = (0, log.len());
            for _ in 0..random.u32(1..4) {
                let len = random.usize(..3 * Piece::BYTES_MAX);
                let command: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(len).collect();
                for command in pieces(&command) {
                    let submission = Submission {
                        origin,
                        number,
                        command,
                    };
                    number += 1;
                    log.push(submission);
                }
                commands.push((origin, command));
            }
            // It ends amid its last command, the rest of which comes at any time later or never.
            let cut = random.usize(..(log.len() - begin).min(4));
            late.extend(log.drain(log.len() - cut..));
            if random.bool() && !late.is_empty() {
                log.push(late.remove(0));
            }
        }
        let mut unfinished = Unfinished::default();
        for (at, submission) in log.iter().enumerate() {
            if let Some(command) = unfinished.take(submission)
                && !commands.contains(&(submission.origin, command))
            {
                return Err(format!("entry {at} makes a command that nobody submitted"));
            }
            let mut bytes = Vec::new();
            unfinished.encode(&mut bytes);
            bytes.push(7);
            assert_eq!(
                Unfinished::decode(&bytes),
                Some((unfinished.clone(), &[7][..]))
            );
        }
        Ok(())
    }

    #[test]
    fn commands_are_whole_whoever_ends_in_the_middle() {
        for seed in 0..300 {
            random_starts(seed).unwrap_or_else(|error| panic!("{seed}: {error}"));
        }
        for seeded in [Fault::FormerPiecesKept, Fault::FormerStartsHeard] {
            let found =
                (0..300).any(|seed| fault::with(Some(seeded), || random_starts(seed)).is_err());
            assert!(found, "{seeded:?} is not noticed");
        }
    }

    #[test]
    fn pieces_of_any_length_fit_and_make_the_command_again() {
        let each = Piece::BYTES_MAX - 1;
        for len in [0, 1, each - 1, each, each + 1, 2 * each, 5 * each + 3] {
            let command: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let all: Vec<_> = pieces(&command).collect();
            assert_eq!(all.len(), len.div_ceil(each).max(1));
            let mut unfinished = Unfinished::default();
            let mut whole = None;
            for (number, command) in (0..).zip(all) {
                assert!(whole.is_none());
                whole = unfinished.take(&Submission {
                    origin: 1 << 8,
                    number,
                    command,
                });
            }
            assert_eq!(whole, Some(command));
        }
    }
}
