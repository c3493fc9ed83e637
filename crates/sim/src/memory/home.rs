//! The protocol of homes, as on TILEPro64: each line lives in the cache of its home core, which gets every
//! store and tells all who have a copy. Copies are shared or not there.
//!
//! ```text
//!   load    core ──► home ──► core                        from memory if the home's cache lost it
//!   store   core ──► home ──► each sharer ──► home ──► core    the core goes on meanwhile
//! ```
//!
//! A store does not bring the line to who stores; a copy that is there is updated. What is stored into a line
//! that the home's cache does not have makes it read the rest from memory, unless all of it is written. A line
//! that leaves its home's cache for want of room goes to memory if it was stored to.

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
            // Nobody owns a line but its home: nothing to fetch.
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
            // The home tells one after the other.
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
            // What the home has in its first cache is older now.
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
