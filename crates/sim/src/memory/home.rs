//! The protocol of homes, as on TILEPro64: each line lives in the cache of its home core, which gets every store and
//! invalidates the copies of other cores. Copies are only shared there.
//!
//! ```text
//!   load    core ──► home ──► core                        from memory if the home's cache lost it
//!   store   core ──► home ──► each sharer ──► home ──► core    the core goes on meanwhile
//! ```
//!
//! A store does not bring the line to the core that stores; a copy that it has is updated. A store into a line that
//! the home's cache does not have makes it read the line from memory, unless the whole line is written. A line that
//! is evicted from its home's cache goes to memory if it was stored to.

use super::counts::LineSource;
use super::line::CopyState;
use super::request::{Access, Arrival, LineRequest, ServerOf};
use super::system::Memory;
use crate::VirtualTime;
use crate::machine::Payload;
use smallvec::SmallVec;

impl Memory {
    pub(super) fn at_home(&mut self, now: VirtualTime, request: &mut LineRequest) -> Arrival {
        let LineRequest {
            core, line, what, ..
        } = *request;
        let home = self.line(line).home;
        let (here, there) = (self.core_spot(home), self.core_spot(core));
        let mut at = match core == home {
            true => now,
            false => self.serve(ServerOf::Cache(home), now),
        };
        let fill = match core == home {
            true => 0,
            false => self.ticks.fill,
        };
        if self.line(line).copy(home).is_none() {
            let whole = matches!(what, Access::Fresh | Access::Push);
            if !whole {
                at = self.read_memory(line, here, at);
                self.count(LineSource::Memory, None, home);
            }
            self.fill(home, line, CopyState::Shared, at);
        }
        if what == Access::Load {
            self.lines[line as usize].busy = at;
            request.word = self.line(line).word;
            if core != home {
                self.count(LineSource::HomeCache, Some(home), core);
                self.fill(core, line, CopyState::Shared, at);
            }
            return Arrival::Done(self.send(here, there, Payload::Data, at) + fill);
        }
        if what == Access::Own {
            // Only the home owns a line, so there is nothing to fetch.
            return Arrival::Done(self.send(here, there, Payload::Control, at) + fill);
        }
        let losers: SmallVec<[u32; 8]> = self
            .line(line)
            .copies
            .iter()
            .map(|copy| copy.core)
            .collect();
        let (mut told, mut tells) = (at, at);
        for loser in losers
            .into_iter()
            .filter(|&loser| loser != home && loser != core)
        {
            // The home invalidates one copy after the other.
            tells += self.ticks.invalidate;
            let reached = self.send(here, self.core_spot(loser), Payload::Control, tells);
            let served = self.serve(ServerOf::Loser(loser), reached);
            self.invalidate(loser, line, served);
            told = told.max(self.send(self.core_spot(loser), here, Payload::Control, served));
        }
        self.write(request);
        if what == Access::Push {
            self.count(LineSource::Pushed, Some(core), home);
        } else if core != home && !self.untimed {
            self.counts.stores_home += 1;
        }
        if core != home {
            // The copy in the home's first cache is older now.
            self.leave_first(home, line);
            self.wake(line, home, at);
        }
        if what == Access::Add {
            told += self.ticks.atomic;
        }
        self.lines[line as usize].busy = told;
        self.check(line);
        Arrival::Done(self.send(here, there, Payload::Control, told) + fill)
    }
}
