//! Who is silent, and is replaced.
//!
//! Silence is not death: a member is silent as well while it is stopped, hangs, computes, or gets no CPU. Agreement does not depend on which
//! it is. But a change of the leader or the acceptor takes several messages among members that all want a CPU; where there are too
//! few of these, members that replace each other do little else.

use super::super::transport::{SharedMemory, Transport};
use super::{Driver, Input};

/// A member that is known to wait for a CPU is waited for so many times as long: whoever replaces it waits for one as well. Not
/// without end, since another member may have a core that is less busy.
const STARVED: u64 = 8;

impl<C: Clone> Driver<C> {
    /// Wants to lead if the leader is silent. The acceptor comes last.
    pub(super) fn replace_leader<I>(&mut self, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        let (position, configuration) = self.member.configuration();
        let (leader, acceptor) = (configuration.leader, configuration.acceptor);
        if self.member.leads() || self.member.is_changing() {
            return;
        }
        let distance = (self.me + self.size - leader) % self.size;
        let places = distance + if self.me == acceptor { self.size } else { 0 };
        let silence = self.options.leader_ns + self.options.heartbeat_ns * places as u64;
        // A leader that has forgotten that it is does not wait for itself.
        let is_first = leader == self.me && position == 0;
        let is_forgotten =
            leader == self.me && now_ns - self.heard_ns[self.me] > self.options.heartbeat_ns;
        let is_gone = leader != self.me
            && (self.is_lost(leader)
                || self.is_silent(leader, self.heard_ns[leader], silence, now_ns, io));
        if is_first || is_forgotten || is_gone {
            self.heard_ns[leader] = now_ns;
            self.unanswered_ns = now_ns;
            self.proposed.clear();
            self.run(Input::Lead, io);
        }
    }

    pub(super) fn replace_acceptor<I>(&mut self, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        let waits = self.member.awaits_promise()
            || self.member.leads() && self.member.next() < self.member.end();
        let answered = self.member.next();
        if !waits || answered != self.answered {
            (self.unanswered_ns, self.resent_ns, self.answered) = (now_ns, now_ns, answered);
        }
        let configuration = self.member.configuration().1;
        let (acceptor, members) = (configuration.acceptor, configuration.members);
        // A leader that is its own acceptor hands that over as soon as there is another member.
        let alone = self.member.leads()
            && acceptor == self.me
            && self.candidate(acceptor, now_ns).is_some();
        let acceptor_ns = self.options.acceptor_ns;
        let replaces = alone
            || self.member.leads()
                && (self.is_lost(acceptor)
                    || self.is_silent(acceptor, self.unanswered_ns, acceptor_ns, now_ns, io));
        if !replaces {
            if waits && now_ns - self.resent_ns > self.options.resend_ns {
                self.resent_ns = now_ns;
                self.run(Input::Resend, io);
            }
            return;
        }
        self.unanswered_ns = now_ns;
        let acceptor = self.candidate(acceptor, now_ns).unwrap_or(self.me);
        self.run(Input::Reconfigure { acceptor, members }, io);
    }

    /// Whether a member has been silent for as long as this, or [`STARVED`] times as long while it waits for a CPU.
    fn is_silent<I>(
        &self,
        member: usize,
        since_ns: u64,
        longest_ns: u64,
        now_ns: u64,
        io: &mut I,
    ) -> bool
    where
        I: Transport<C> + SharedMemory<C>,
    {
        let silence = now_ns - since_ns;
        // Who is asked from half the time on can tell what the member does in the other half.
        if silence <= longest_ns / 2 {
            return false;
        }
        let is_starved = io.is_starved(member, since_ns, now_ns) && !seeded!(StarvedReplaced);
        if is_starved && seeded!(StarvedAwaited) {
            return false;
        }
        let times = if is_starved { STARVED } else { 1 };
        silence > longest_ns.saturating_mul(times)
    }

    /// The members that were not heard of lately, a bit each.
    pub(super) fn silent(&self, now_ns: u64) -> u64 {
        let heard = self.heard_ns.iter().enumerate();
        let silent = heard.filter(|(member, heard_ns)| {
            *member != self.me && now_ns - **heard_ns >= self.options.leader_ns
        });
        silent.fold(0, |bits, (member, _)| {
            bits | u64::from(!seeded!(SilentKept)) << member
        })
    }

    /// Another member than this one and the acceptor that was heard of lately.
    fn candidate(&self, acceptor: usize, now_ns: u64) -> Option<usize> {
        let after = (1..self.size).map(|step| (acceptor + step) % self.size);
        let mut others = after.filter(|member| *member != self.me && *member != acceptor);
        others.find(|member| {
            let silence = now_ns - self.heard_ns[*member];
            silence < self.options.leader_ns && !self.is_lost(*member)
        })
    }
}
