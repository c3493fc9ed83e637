//! Loads that miss: which cache or memory answers, and the states of the copies afterwards.
//!
//! ```text
//!   answered by          MESI               MESIF              MOESI
//!   modified             both shared,       both, reader       owner keeps it,
//!                        written back       forwards           nothing written
//!   exclusive            both shared        reader forwards    owner stays owner, shared
//!   forward, owned       –                  reader forwards    owner stays owner
//!   shared cache, memory shared; exclusive if nobody else has it (MESIF: forward if others have)
//! ```

use super::counts::LineSource;
use super::line::{Copy, CopyState};
use super::request::{AgentAt, LineRequest, ServerOf};
use super::system::{Memory, asks_all};
use crate::VirtualTime;
use crate::machine::{Payload, Protocol};

/// The cache or memory that answers a load.
enum Supplier {
    Core(u32, CopyState),
    Shared(u32),
    Memory,
}

impl Memory {
    /// Reads a line for a core; returns the arrival of the line.
    pub(super) fn read(
        &mut self,
        request: &mut LineRequest,
        agent: AgentAt,
        at: VirtualTime,
    ) -> VirtualTime {
        let LineRequest { core, line, .. } = *request;
        let supplier = self.supplier(core, line, agent);
        let near = self.is_near(core, line);
        let (done, answered) = self.fetch(&supplier, line, core, agent, at);
        let heard = self.ask_others(&supplier, core, agent, at);
        self.change_for_reader(&supplier, core, line, answered);
        let entry = &mut self.lines[line as usize];
        // While a line comes from memory or a shared cache, the next core can read it.
        entry.busy = match supplier {
            Supplier::Core(..) => answered,
            _ => at,
        };
        request.word = entry.word;
        let done = done.max(heard);
        self.comes(core, line, done + self.ticks.fill, near);
        done
    }

    fn supplier(&self, core: u32, line: u32, agent: AgentAt) -> Supplier {
        let entry = self.line(line);
        let answerer = entry.answerer(core);
        let inside = |copy: &Copy| agent.group.is_none() || self.group_of(copy.core) == agent.group;
        let newer = answerer.filter(|copy| copy.state.writable() || copy.state.dirty());
        if let Some(copy) = newer.filter(inside) {
            return Supplier::Core(copy.core, copy.state);
        }
        let near = agent.group.filter(|_| {
            entry
                .groups
                .iter()
                .any(|copy| Some(copy.group) == agent.group)
        });
        if let Some(group) = near {
            return Supplier::Shared(group);
        }
        let cached = entry
            .groups
            .iter()
            .find(|copy| copy.dirty)
            .or(entry.groups.last());
        if let Some(copy) = cached
            && (copy.dirty || self.machine.protocol == Protocol::Mesif)
        {
            return Supplier::Shared(copy.group);
        }
        match answerer.filter(inside) {
            Some(copy) => Supplier::Core(copy.core, copy.state),
            None => Supplier::Memory,
        }
    }

    /// Sends the line to a core; returns its arrival, and when the supplier is done.
    fn fetch(
        &mut self,
        supplier: &Supplier,
        line: u32,
        core: u32,
        agent: AgentAt,
        at: VirtualTime,
    ) -> (VirtualTime, VirtualTime) {
        let spot = self.core_spot(core);
        match *supplier {
            Supplier::Core(from, state) => {
                let at = self.reach_core(agent, from, at);
                let at = self.serve(ServerOf::Cache(from), at.max(self.since(from, line)));
                self.count(LineSource::of(state), Some(from), core);
                (self.send(self.core_spot(from), spot, Payload::Data, at), at)
            }
            Supplier::Shared(group) => {
                let from = self.machine.groups[group as usize];
                let at = match agent.group {
                    Some(_) => at,
                    None => {
                        let at = self.send(agent.spot, from, Payload::Control, at);
                        self.serve(ServerOf::Shared(group), at)
                    }
                };
                self.count(LineSource::SharedCache, self.member_of(group), core);
                let at = at.max(self.group_since(group, line));
                (self.send(from, spot, Payload::Data, at), at)
            }
            Supplier::Memory => {
                self.count(LineSource::Memory, None, core);
                (self.read_memory(line, spot, at), at)
            }
        }
    }

    /// Asks all caches, on a machine that broadcasts requests; returns the time of the last answer.
    fn ask_others(
        &mut self,
        supplier: &Supplier,
        core: u32,
        agent: AgentAt,
        at: VirtualTime,
    ) -> VirtualTime {
        if !asks_all(&self.machine) || agent.group.is_some() {
            return 0;
        }
        let spared = match *supplier {
            Supplier::Core(from, _) => Some(from),
            _ => None,
        };
        self.probe_all(core, spared, agent, at)
    }

    /// Asks all groups except those of `core` and `spared`, or all cores on a machine without groups.
    pub(super) fn probe_all(
        &mut self,
        core: u32,
        spared: Option<u32>,
        agent: AgentAt,
        at: VirtualTime,
    ) -> VirtualTime {
        let mut last = at;
        let to = self.core_spot(core);
        let groups = self.machine.groups.len() as u32;
        let (own, spared_group) = (self.group_of(core), spared.and_then(|c| self.group_of(c)));
        for group in (0..groups).filter(|&g| Some(g) != own && Some(g) != spared_group) {
            let spot = self.machine.groups[group as usize];
            let asked = self.send(agent.spot, spot, Payload::Control, at);
            let found = self.serve(ServerOf::Shared(group), asked);
            last = last.max(self.send(spot, to, Payload::Control, found));
        }
        let mut asked_count = u64::from(groups).saturating_sub(1);
        if groups == 0 {
            let bus = self.network.is_bus();
            for other in
                (0..self.machine.cores.len() as u32).filter(|&c| c != core && Some(c) != spared)
            {
                asked_count += 1;
                if bus {
                    last = last.max(self.serve(ServerOf::Cache(other), at));
                    continue;
                }
                let spot = self.core_spot(other);
                let asked = self.send(agent.spot, spot, Payload::Control, at);
                let found = self.serve(ServerOf::Cache(other), asked);
                last = last.max(self.send(spot, to, Payload::Control, found));
            }
        }
        if !self.untimed {
            self.counts.probes += asked_count;
        }
        last
    }

    fn change_for_reader(&mut self, supplier: &Supplier, core: u32, line: u32, at: VirtualTime) {
        let protocol = self.machine.protocol;
        if let Supplier::Core(from, state) = *supplier {
            let kept = match (protocol, state) {
                (Protocol::Moesi, CopyState::Modified | CopyState::Owned) => CopyState::Owned,
                _ => CopyState::Shared,
            };
            self.set_state(from, line, kept);
            if state.dirty() && kept == CopyState::Shared {
                self.clean(from, line, at);
            }
        }
        if let Supplier::Shared(group) = *supplier
            && self.group_of(core) != Some(group)
            && protocol != Protocol::Moesi
        {
            let mut copies = self.lines[line as usize].groups.iter_mut();
            let newer = copies.find(|copy| copy.group == group && copy.dirty);
            if let Some(copy) = newer {
                copy.dirty = false;
                self.write_back(line, at);
            }
        }
        let entry = &mut self.lines[line as usize];
        let alone = entry.copies.is_empty()
            && entry
                .groups
                .iter()
                .all(|copy| self.machine.cores[core as usize].group == Some(copy.group));
        if protocol == Protocol::Mesif {
            for copy in &mut entry.copies {
                copy.state = match copy.state {
                    CopyState::Forward | CopyState::Exclusive => CopyState::Shared,
                    other => other,
                };
            }
        }
        // Where a shared cache has answered, an exclusive copy becomes a shared one, too.
        for copy in &mut entry.copies {
            if copy.state == CopyState::Exclusive {
                copy.state = CopyState::Shared;
            }
        }
        let state = match protocol {
            _ if alone => CopyState::Exclusive,
            Protocol::Mesif => CopyState::Forward,
            _ => CopyState::Shared,
        };
        self.fill(core, line, state, at);
    }
}
