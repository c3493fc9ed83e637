//! Store buffers: a core continues while its stores wait for their lines.
//!
//! In order (TSO), a store is written after all stores before it. There are two ways to be faster than one store after
//! another. *Pipelined* stores set out as soon as the store before was put in order at its home, where all other copies
//! are invalid from then on. Otherwise the younger stores fetch their lines in advance, and fetch them again if another
//! core takes them away before their turn. Out of order, each store is written when its line comes, and only a fence
//! waits for all. A core sees its own stores at once.

use super::world::{Buffered, Purpose, StoreProgress, World};
use crate::memory::{Access, LineRequest};

impl World {
    /// Puts a store into the buffer of `core`, which has room.
    pub(super) fn buffer(&mut self, core: u32, line: u32, what: Access, word: u64) {
        let entry = &mut self.cores[core as usize];
        entry.stored += 1;
        let number = entry.stored;
        entry.stores.push_back(Buffered {
            number,
            line,
            word,
            what,
            progress: StoreProgress::Waits,
        });
        self.drain(core);
    }

    /// What `core` has last stored to `line`, if that is not yet written.
    pub(super) fn forwarded(&self, core: u32, line: u32) -> Option<u64> {
        let stores = self.cores[core as usize].stores.iter().rev();
        let mut same = stores.filter(|s| s.line == line && s.progress != StoreProgress::Written);
        same.next().map(|store| store.word)
    }

    /// Requests the lines of the oldest stores.
    fn drain(&mut self, core: u32) {
        let sizes = &self.memory.machine.sizes;
        let (ordered, at_once) = (sizes.ordered, sizes.draining);
        let mut place = 0;
        // Whether all stores before that at `place` are written.
        let mut first = true;
        while let Some(store) = self.cores[core as usize].stores.get(place).copied() {
            let leads = ordered && first;
            let writes = leads || !ordered;
            if place >= at_once && !leads {
                break;
            }
            let act = match store.progress {
                StoreProgress::Waits => true,
                StoreProgress::Ready => writes,
                StoreProgress::Asked | StoreProgress::Written => false,
            };
            // The line may already be on its way for an earlier store.
            let mut before = self.cores[core as usize].stores.iter().take(place);
            if !act || (!leads && before.any(|other| other.line == store.line)) {
                first &= store.progress == StoreProgress::Written;
                place += 1;
                continue;
            }
            let mut request = LineRequest {
                core,
                line: store.line,
                what: if writes { store.what } else { Access::Own },
                agent: crate::memory::Agent::Home,
                word: store.word,
            };
            let hit = match store.what {
                Access::Push => None,
                _ => self.memory.hit(&mut request),
            };
            let stores = &mut self.cores[core as usize].stores;
            match (hit, writes) {
                (Some(_), true) => {
                    stores.remove(place);
                    // The next one is the oldest now.
                    (place, first) = (0, true);
                }
                (Some(_), false) => {
                    stores[place].progress = StoreProgress::Ready;
                    (place, first) = (place + 1, false);
                }
                (None, _) => {
                    stores[place].progress = StoreProgress::Asked;
                    self.issue(request, Purpose::Store(store.number));
                    (place, first) = (place + 1, false);
                }
            }
        }
    }

    /// Notes that a store was put in order at its home; on a core with pipelined stores the next store sets out.
    pub(super) fn written(&mut self, core: u32, number: u64, what: Access) {
        let sizes = &self.memory.machine.sizes;
        if what == Access::Own || !sizes.ordered || !sizes.pipelined {
            return;
        }
        let mut stores = self.cores[core as usize].stores.iter_mut();
        if let Some(store) = stores.find(|store| store.number == number) {
            store.progress = StoreProgress::Written;
            self.drain(core);
        }
    }

    /// Notes that the line of a store has come. A store that was written leaves the buffer; one whose line was
    /// fetched in advance is ready.
    pub(super) fn drained(&mut self, core: u32, number: u64, what: Access) {
        let stores = &mut self.cores[core as usize].stores;
        let Some(place) = stores.iter().position(|store| store.number == number) else {
            return;
        };
        match what {
            Access::Own => stores[place].progress = StoreProgress::Ready,
            _ => drop(stores.remove(place)),
        }
        self.drain(core);
    }
}
