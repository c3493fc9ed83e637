//! Accesses that a core's own copy of a line satisfies, without a request.

use super::line::{Copy, CopyState};
use super::request::{Access, LineRequest};
use super::system::Memory;
use crate::VirtualTime;
use crate::machine::Protocol;

impl Memory {
    /// Does what a core can do with its own copy, and returns the time that takes; `None` if it needs a request.
    pub(crate) fn hit(&mut self, request: &mut LineRequest) -> Option<VirtualTime> {
        let LineRequest {
            core, line, what, ..
        } = *request;
        let ticks = self.ticks;
        let entry = &self.lines[line as usize];
        let place = entry.place(core).ok()?;
        let copy = entry.copies[place];
        let took = match what {
            Access::Load => {
                request.word = entry.word;
                match self.private[core as usize].is_small(copy.place) {
                    true => ticks.l1,
                    false => ticks.l2,
                }
            }
            Access::Push => return None,
            _ if !self.may_write(core, line, copy) => return None,
            Access::Own => 0,
            _ => {
                self.write(request);
                match what {
                    Access::Add => ticks.l1 + ticks.atomic,
                    _ => ticks.store,
                }
            }
        };
        self.touch(core, line);
        if !self.untimed {
            self.counts.cores[core as usize].hits += 1;
        }
        Some(took)
    }

    /// Whether a store to this copy needs no request.
    pub(super) fn may_write(&self, core: u32, line: u32, copy: Copy) -> bool {
        match self.machine.protocol {
            Protocol::Home => {
                let entry = self.line(line);
                entry.home == core && entry.copies.len() == 1
            }
            _ => copy.state.writable(),
        }
    }

    /// Writes the word of a line of which the core has the only copy, or which its home writes for it.
    pub(super) fn write(&mut self, request: &mut LineRequest) {
        let protocol = self.machine.protocol;
        let entry = &mut self.lines[request.line as usize];
        let before = entry.word;
        entry.word = match request.what {
            Access::Load | Access::Own => return,
            Access::Add => before.wrapping_add(request.word),
            Access::Store | Access::Fresh | Access::Push => request.word,
        };
        entry.newer = protocol == Protocol::Home;
        if protocol != Protocol::Home {
            for copy in &mut entry.copies {
                copy.state = CopyState::Modified;
            }
        }
        request.word = before;
    }
}
