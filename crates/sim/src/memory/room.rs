//! Copies enter and leave caches, which have a limited number of lines.

use super::line::{Copy, CopyState, GroupCopy};
use super::lru::NOWHERE;
use super::system::Memory;
use crate::VirtualTime;
use crate::machine::Protocol;

impl Memory {
    pub(super) fn set_state(&mut self, core: u32, line: u32, state: CopyState) {
        let entry = &mut self.lines[line as usize];
        if let Ok(place) = entry.place(core) {
            entry.copies[place].state = state;
        }
    }

    /// Gives a core a copy in this state, and evicts lines for which there is no room.
    pub(super) fn fill(&mut self, core: u32, line: u32, state: CopyState, at: VirtualTime) {
        let entry = &mut self.lines[line as usize];
        match entry.place(core) {
            Ok(place) => {
                entry.copies[place].state = state;
            }
            Err(place) => entry.copies.insert(
                place,
                Copy {
                    core,
                    state,
                    place: NOWHERE,
                    since: 0,
                },
            ),
        }
        if let Some(group) = self.group_of(core)
            && self.machine.sizes.inclusive
        {
            self.fill_group(group, line, false, at);
        }
        self.touch(core, line);
        self.make_room(core, line, at);
    }

    /// Notes when a requested copy arrives at its core, and at the shared cache if that had no copy `before`.
    pub(super) fn comes(&mut self, core: u32, line: u32, at: VirtualTime, before: bool) {
        if self.untimed {
            return;
        }
        let group = self.group_of(core);
        let entry = &mut self.lines[line as usize];
        if let Ok(place) = entry.place(core) {
            entry.copies[place].since = at;
        }
        let mut near = entry.groups.iter_mut();
        if let Some(copy) = near.find(|copy| Some(copy.group) == group && !before) {
            copy.since = at.saturating_sub(self.ticks.fill);
        }
    }

    /// Whether the shared cache of a core's group has a copy.
    pub(super) fn is_near(&self, core: u32, line: u32) -> bool {
        let group = self.group_of(core);
        let mut copies = self.line(line).groups.iter();
        copies.any(|copy| Some(copy.group) == group)
    }

    /// The time at which a core's copy arrives.
    pub(super) fn since(&self, core: u32, line: u32) -> VirtualTime {
        self.line(line).copy(core).map_or(0, |copy| copy.since)
    }

    /// The time at which a shared cache's copy arrives.
    pub(super) fn group_since(&self, group: u32, line: u32) -> VirtualTime {
        let mut copies = self.line(line).groups.iter();
        copies
            .find(|copy| copy.group == group)
            .map_or(0, |copy| copy.since)
    }

    /// Notes that a core has used its copy.
    pub(super) fn touch(&mut self, core: u32, line: u32) {
        let entry = &mut self.lines[line as usize];
        let Ok(place) = entry.place(core) else {
            return;
        };
        let copy = &mut entry.copies[place];
        copy.place = self.private[core as usize].touch(line, copy.place);
    }

    /// Removes a core's copy from its first cache; it stays in the second.
    pub(super) fn leave_first(&mut self, core: u32, line: u32) {
        if let Some(copy) = self.line(line).copy(core) {
            let place = copy.place;
            self.private[core as usize].leave_small(place);
        }
    }

    /// Evicts lines of the second cache, but not `kept`, until the others fit.
    fn make_room(&mut self, core: u32, kept: u32, at: VirtualTime) {
        while self.private[core as usize].is_over() {
            let line = self.private[core as usize].oldest();
            match self.line(line).copy(core) {
                Some(&copy) if line != kept => self.evict(copy, line, at),
                _ => return,
            }
        }
    }

    fn evict(&mut self, copy: Copy, line: u32, at: VirtualTime) {
        self.drop_copy(copy.core, line);
        // A core that polls the line loads it again.
        self.wake(line, copy.core, at);
        if !self.untimed {
            self.counts.cores[copy.core as usize].evicted += 1;
        }
        let entry = &mut self.lines[line as usize];
        if entry.home == copy.core && std::mem::take(&mut entry.newer) {
            self.write_back(line, at);
        }
        match self.group_of(copy.core) {
            Some(group) if !self.machine.sizes.inclusive => {
                self.fill_group(group, line, copy.state.dirty(), at);
            }
            _ if copy.state.dirty() => self.clean(copy.core, line, at),
            _ => {}
        }
    }

    /// Removes a core's copy.
    pub(super) fn drop_copy(&mut self, core: u32, line: u32) {
        let entry = &mut self.lines[line as usize];
        let Ok(place) = entry.place(core) else {
            return;
        };
        let copy = entry.copies.remove(place);
        self.private[core as usize].remove(copy.place);
    }

    /// Gives a shared cache a copy.
    pub(super) fn fill_group(&mut self, group: u32, line: u32, dirty: bool, at: VirtualTime) {
        let entry = &mut self.lines[line as usize];
        let lru = &mut self.group_lines[group as usize];
        match entry.groups.iter_mut().find(|copy| copy.group == group) {
            Some(copy) => {
                copy.dirty |= dirty;
                copy.place = lru.touch(line, copy.place);
            }
            None => entry.groups.push(GroupCopy {
                group,
                dirty,
                place: lru.touch(line, NOWHERE),
                since: 0,
            }),
        }
        while self.group_lines[group as usize].is_over() {
            let old = self.group_lines[group as usize].oldest();
            let mut copies = self.line(old).groups.iter();
            match copies.find(|copy| copy.group == group) {
                Some(&copy) if old != line => self.evict_from_group(copy, old, at),
                _ => return,
            }
        }
    }

    fn evict_from_group(&mut self, copy: GroupCopy, line: u32, at: VirtualTime) {
        let mut dirty = copy.dirty;
        if self.machine.sizes.inclusive {
            let entry = self.line(line);
            let inside = |core: u32| self.group_of(core) == Some(copy.group);
            let losers = entry.copies.iter().filter(|copy| inside(copy.core));
            for loser in losers.copied().collect::<Vec<_>>() {
                dirty |= loser.state.dirty();
                self.drop_copy(loser.core, line);
                self.wake(line, loser.core, at);
            }
        }
        self.drop_from_group(copy.group, line);
        if dirty {
            self.write_back(line, at);
        }
    }

    pub(super) fn drop_from_group(&mut self, group: u32, line: u32) {
        let entry = &mut self.lines[line as usize];
        if let Some(place) = entry.groups.iter().position(|copy| copy.group == group) {
            let copy = entry.groups.swap_remove(place);
            self.group_lines[group as usize].remove(copy.place);
        }
    }

    /// Drops a core's copy, and writes it back if memory is older.
    pub(crate) fn give_up(&mut self, now: VirtualTime, core: u32, line: u32) {
        self.now = now;
        if let Some(copy) = self.line(line).copy(core).copied() {
            let keeps = self.machine.protocol == Protocol::Home;
            if keeps && self.line(line).home == core {
                return;
            }
            self.drop_copy(core, line);
            if copy.state.dirty() {
                self.clean(core, line, now);
            }
        }
    }

    /// Writes a modified copy, which others may read from now on, to the shared cache of its group, or else to memory.
    pub(super) fn clean(&mut self, core: u32, line: u32, at: VirtualTime) {
        let group = self.group_of(core);
        let entry = &mut self.lines[line as usize];
        let cached = entry
            .groups
            .iter_mut()
            .find(|copy| Some(copy.group) == group);
        match cached {
            Some(copy) => copy.dirty = true,
            None => self.write_back(line, at),
        }
    }
}
