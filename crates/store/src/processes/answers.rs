//! What the last writes of replicas were answered. A replica that lags so far that it goes on from a snapshot of another one does
//! not apply what is in it, which may be a write that its own clients wait for: its answer is in the snapshot as well.

use crate::bytes::{ByteReader, ByteWriter};
use crate::commands::Lookups;
use crate::keyspace::Response;

/// Longer answers are not kept: a replica that lacks one does not know what became of its write.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Of each start of a replica the number of its last write, and what that was answered.
#[derive(Debug, Default)]
pub(super) struct Answers(Vec<(u64, u64, Response)>);

impl Answers {
    /// Notes the answer to a write. A start waits for each of its own before it submits the next one, so that one is enough.
    pub(super) fn note(&mut self, start: u64, number: u64, answer: Response) {
        self.take(start, number);
        let bytes = match &answer {
            Response::Replies { bytes, ends, .. } => bytes.len() + size_of_val(&ends[..]),
            _ => 0,
        };
        if bytes <= ANSWER_BYTES_MAX {
            self.0.push((start, number, answer));
        }
    }

    /// The answer to this write, if it is the last one of its start. What was kept of that is forgotten.
    pub(super) fn take(&mut self, start: u64, number: u64) -> Option<Response> {
        let at = self.0.iter().position(|it| it.0 == start)?;
        let (_, found, answer) = self.0.swap_remove(at);
        (found == number).then_some(answer)
    }

    /// Forgets what nobody waits for any more.
    pub(super) fn keep(&mut self, runs: impl Fn(u64) -> bool) {
        self.0.retain(|it| runs(it.0));
    }

    pub(super) fn encode(&self, to: &mut ByteWriter) {
        to.word(self.0.len() as u64);
        for (start, number, answer) in &self.0 {
            to.word(*start);
            to.word(*number);
            let nothing = (&[][..], &[][..]);
            let (tag, (bytes, ends)) = match answer {
                Response::Nothing => (0, nothing),
                Response::WatchedChanged => (1, nothing),
                Response::Replies { bytes, ends, .. } => (2, (&bytes[..], &ends[..])),
                Response::TooLong | Response::Read { .. } | Response::Facts(_) => (3, nothing),
            };
            to.word(tag);
            to.bytes(bytes);
            to.word(ends.len() as u64);
            ends.iter().for_each(|&end| to.word(end as u64));
        }
    }

    pub(super) fn decode(from: &mut ByteReader<'_>) -> Option<Self> {
        let next = |from: &mut ByteReader<'_>| {
            let (start, number, tag) = (from.word()?, from.word()?, from.word()?);
            let bytes = from.bytes()?.to_vec();
            let ends = from.list(|from| usize::try_from(from.word()?).ok())?;
            let answer = match tag {
                0 => Response::Nothing,
                1 => Response::WatchedChanged,
                // Who asked counts it no more.
                2 => Response::Replies {
                    bytes,
                    ends,
                    lookups: Lookups::default(),
                },
                _ => Response::TooLong,
            };
            Some((start, number, answer))
        };
        from.list(next).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replies(length: usize, ends: usize) -> Response {
        Response::Replies {
            bytes: (0..length).map(|at| at as u8).collect(),
            ends: (0..ends).map(|at| 3 * at).collect(),
            lookups: Lookups::default(),
        }
    }

    #[test]
    fn the_last_answer_of_each_start_goes_with_a_snapshot() {
        let mut answers = Answers::default();
        answers.note(1, 3, replies(5, 1));
        answers.note(2, 9, replies(100, 40));
        answers.note(1, 8, Response::WatchedChanged);
        answers.note(3, 1, replies(ANSWER_BYTES_MAX, 1));
        answers.note(4, 0, Response::Nothing);
        answers.note(5, 7, Response::TooLong);
        answers.note(6, 0, replies(0, 0));
        answers.keep(|start| start != 6);
        let mut to = ByteWriter::default();
        answers.encode(&mut to);
        to.word(77);
        let mut from = ByteReader(&to.0);
        let mut read = Answers::decode(&mut from).unwrap();
        assert_eq!(from.word(), Some(77));
        let said = |answer: Option<Response>| answer.map(|it| format!("{it:?}"));
        let expected = |answer: Response| Some(format!("{answer:?}"));
        assert_eq!(said(read.take(2, 9)), expected(replies(100, 40)));
        assert_eq!(said(read.take(1, 8)), expected(Response::WatchedChanged));
        assert_eq!(said(read.take(4, 0)), expected(Response::Nothing));
        assert_eq!(said(read.take(5, 6)), None);
        assert_eq!((said(read.take(3, 1)), said(read.take(6, 0))), (None, None));
        for end in 0..to.0.len() - 8 {
            assert!(
                Answers::decode(&mut ByteReader(&to.0[..end])).is_none(),
                "{end}"
            );
        }
    }
}
