//! What drivers send each other, and what carries it.

use super::{Answer, Configuration, Message};

/// A command and who submitted it. Of each origin the log delivers the numbers 0, 1, 2, … in this order and each once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Submission<C> {
    /// One start of one member: a member that restarts takes another.
    pub origin: u64,
    /// Its commands count from 0.
    pub number: u64,
    /// The command.
    pub command: C,
}

/// What drivers send each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<C> {
    /// A message of the protocol.
    Protocol(Message<Submission<C>>),
    /// From the acceptor of member `root`, down its tree: the receiver passes it on to its children, see [`Routes`](super::Routes).
    Broadcast {
        /// The member whose acceptor has accepted.
        root: usize,
        /// The members that its tree leaves out, a bit each.
        absent: u64,
        /// What it tells all.
        message: Message<Submission<C>>,
    },
    /// To the leader: please propose.
    Submit(Submission<C>),
    /// From each to all, from time to time.
    Alive {
        /// The end of the configuration log that the sender knows.
        position: u64,
        /// The first index that it has not delivered.
        next: u64,
        /// The first index that it has kept.
        floor: u64,
    },
}

/// Sends packets. They may be lost, delayed, doubled and reordered.
pub trait Transport<C> {
    /// Sends a packet to another member; never waits.
    fn send(&mut self, to: usize, packet: Packet<C>);

    /// Whether a member that was last heard of at `since_ns` is known to be alive and to wait for a CPU: it is given more time
    /// before it is replaced. Who does not know says no.
    fn is_starved(&mut self, member: usize, since_ns: u64, now_ns: u64) -> bool {
        let _ = (member, since_ns, now_ns);
        false
    }
}

/// The memory that all members share and that outlives each of them. Each call is one step, under a lock.
pub trait SharedMemory<C> {
    /// The end of the configuration log.
    fn last(&mut self) -> (u64, Configuration<Submission<C>>);
    /// Position of the end of the configuration log.
    fn position(&mut self) -> u64;
    /// See [`ConfigurationLog::append`](super::ConfigurationLog::append).
    fn append(&mut self, position: u64, configuration: Configuration<Submission<C>>) -> bool;
    /// See [`Acceptor::step`](super::Acceptor::step), of the acceptor of member `of`.
    fn accept(
        &mut self,
        of: usize,
        message: &Message<Submission<C>>,
    ) -> Option<Answer<Submission<C>>>;
}
