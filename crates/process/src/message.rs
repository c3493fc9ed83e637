//! The messages of a rendezvous: a process sends a HELLO, the server an ANSWER, and the process
//! confirms.
//!
//! ```text
//! HELLO    magic, version │ team size, process, number of ranks, wished ranks (ANY: any)
//! ANSWER   magic, version │ 0, number of ranks, ranks                        + the descriptor
//!                         │ what is wrong, two numbers about it
//! ```
//!
//! All numbers have 32 bits. The fields before the bar are the same in all versions.

/// Version of the protocol between processes. It changes whenever anything that processes share
/// changes its meaning.
pub const VERSION: u32 = corecast_wire::PROTOCOL_VERSION;

/// Largest number of ranks that one process can bring.
pub const RANKS_MAX: usize = 4096;

/// The word that requests any rank.
const ANY: u32 = u32::MAX;

const MAGIC: [u32; 2] = [u32::from_le_bytes(*b"Core"), u32::from_le_bytes(*b"cast")];

/// Longest message in bytes, and one more, so that a longer one is noticed.
pub(crate) const BYTES_MAX: usize = 4 * (6 + RANKS_MAX) + 1;

/// The ranks that a process brings to a team.
///
/// # Examples
///
/// ```
/// use corecast_process::Hello;
/// let hello = Hello::new(4, vec![Some(0), None]);
/// assert_eq!((hello.size, hello.ranks.len()), (4, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Number of ranks of the whole team.
    pub size: u32,
    /// One entry per rank that this process brings: the requested rank, or `None` for any.
    pub ranks: Vec<Option<u32>>,
    /// Number of the process.
    pub pid: u32,
}

impl Hello {
    /// The message of this process, which brings `ranks` to a team of `size` ranks.
    pub fn new(size: u32, ranks: Vec<Option<u32>>) -> Self {
        let pid = std::process::id();
        Self { size, ranks, pid }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let head = [self.size, self.pid, self.ranks.len() as u32];
        let ranks = self.ranks.iter().map(|rank| rank.unwrap_or(ANY));
        bytes(VERSION, head.into_iter().chain(ranks))
    }

    pub(crate) fn decode(message: &[u8]) -> Result<Self, Answer> {
        let (version, words) = words(message).ok_or(Answer::Malformed)?;
        if version != VERSION {
            return Err(Answer::OtherVersion { theirs: VERSION });
        }
        let [size, pid, count, ref ranks @ ..] = words[..] else {
            return Err(Answer::Malformed);
        };
        if count as usize != ranks.len() || ranks.is_empty() || ranks.len() > RANKS_MAX {
            return Err(Answer::Malformed);
        }
        let ranks = ranks.iter().map(|&rank| (rank != ANY).then_some(rank));
        let ranks = ranks.collect();
        Ok(Self { size, ranks, pid })
    }
}

/// The answer of the rendezvous server to a [`Hello`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Welcome { ranks: Vec<u32> },
    OtherVersion { theirs: u32 },
    OtherSize { theirs: u32 },
    RankTaken { rank: u32, by: u32 },
    Full { wanted: u32, left: u32 },
    OtherUser { theirs: u32, ours: u32 },
    Malformed,
}

impl Answer {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (what, words) = match *self {
            Self::Welcome { ref ranks } => {
                let count = ranks.len() as u32;
                let words = std::iter::once(count).chain(ranks.iter().copied());
                (0, words.collect())
            }
            Self::OtherVersion { theirs } => (1, vec![theirs, 0]),
            Self::OtherSize { theirs } => (2, vec![theirs, 0]),
            Self::RankTaken { rank, by } => (3, vec![rank, by]),
            Self::Full { wanted, left } => (4, vec![wanted, left]),
            Self::OtherUser { theirs, ours } => (5, vec![theirs, ours]),
            Self::Malformed => (6, vec![0, 0]),
        };
        bytes(VERSION, std::iter::once(what).chain(words))
    }

    pub(crate) fn decode(message: &[u8]) -> Option<Self> {
        let (version, words) = words(message)?;
        if version != VERSION {
            return Some(Self::OtherVersion { theirs: version });
        }
        Some(match words[..] {
            [0, count, ref ranks @ ..] if count as usize == ranks.len() => {
                let ranks = ranks.to_vec();
                Self::Welcome { ranks }
            }
            [1, theirs, _] => Self::OtherVersion { theirs },
            [2, theirs, _] => Self::OtherSize { theirs },
            [3, rank, by] => Self::RankTaken { rank, by },
            [4, wanted, left] => Self::Full { wanted, left },
            [5, theirs, ours] => Self::OtherUser { theirs, ours },
            [6, _, _] => Self::Malformed,
            _ => return None,
        })
    }
}

fn bytes(version: u32, words: impl Iterator<Item = u32>) -> Vec<u8> {
    let head = MAGIC.into_iter().chain([version]);
    head.chain(words).flat_map(u32::to_le_bytes).collect()
}

/// The version of a message and the words behind it; `None` if it is no message of Corecast.
fn words(message: &[u8]) -> Option<(u32, Vec<u32>)> {
    let (words, rest) = message.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    match words[..] {
        [a, b, version, ref words @ ..] if [a, b] == MAGIC && rest.is_empty() => {
            Some((version, words.to_vec()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard() {
        let hello = Hello::new(7, vec![Some(3), None, Some(0)]);
        assert_eq!(Hello::decode(&hello.encode()), Ok(hello));
        for answer in [
            Answer::Welcome { ranks: vec![4, 1] },
            Answer::OtherVersion { theirs: 9 },
            Answer::OtherSize { theirs: 5 },
            Answer::RankTaken { rank: 1, by: 2 },
            Answer::Full { wanted: 2, left: 1 },
            Answer::OtherUser { theirs: 1, ours: 2 },
            Answer::Malformed,
        ] {
            assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        }
    }

    #[test]
    fn a_process_brings_some_ranks_and_not_more_than_one_message_holds() {
        for (count, is_heard) in [
            (0, false),
            (1, true),
            (RANKS_MAX, true),
            (RANKS_MAX + 1, false),
        ] {
            let hello = Hello::new(7, vec![None; count]);
            assert_eq!(Hello::decode(&hello.encode()).is_ok(), is_heard, "{count}");
        }
    }

    #[test]
    fn another_version_is_recognised_whatever_follows() {
        let message = bytes(VERSION + 1, [1, 2, 3, 4, 5].into_iter());
        let theirs = VERSION + 1;
        let refusal = Answer::OtherVersion { theirs: VERSION };
        assert_eq!(Hello::decode(&message), Err(refusal));
        assert_eq!(
            Answer::decode(&message),
            Some(Answer::OtherVersion { theirs })
        );
    }

    #[test]
    fn any_bytes_are_borne() {
        let mut random = fastrand::Rng::with_seed(5);
        let good = Hello::new(2, vec![None, Some(1)]).encode();
        for _ in 0..20_000 {
            let mut message = good.clone();
            message.truncate(random.usize(..=good.len()));
            if let Some(byte) = random.choice(&mut message[..]) {
                *byte = random.u8(..);
            }
            if let Ok(hello) = Hello::decode(&message) {
                assert!(hello.ranks.len() == 2);
            }
            let _ = Answer::decode(&message);
        }
    }
}
