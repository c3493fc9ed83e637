//! Stores and additions that miss: all other copies are invalidated (read for ownership).
//!
//! The line comes from the cache or memory that would answer a load; a core that has a copy does not fetch it. The
//! request is done when the line and the answers of all invalidated caches have arrived.

use super::counts::LineSource;
use super::line::CopyState;
use super::request::{Access, AgentAt, LineRequest, ServerOf};
use super::system::{Memory, asks_all};
use crate::VirtualTime;
use crate::machine::{Payload, Protocol};
use smallvec::SmallVec;

impl Memory {
    /// Gives a core the only copy of the line, and writes it; returns the time at which that is done.
    pub(super) fn take(
        &mut self,
        request: &mut LineRequest,
        agent: AgentAt,
        at: VirtualTime,
    ) -> VirtualTime {
        let LineRequest {
            core, line, what, ..
        } = *request;
        let to = self.core_spot(core);
        let entry = self.line(line);
        let has = entry.copy(core).is_some();
        let needs_data = !has && what != Access::Fresh;
        let answerer = entry.answerer(core);
        let losers: SmallVec<[u32; 8]> = entry.copies.iter().map(|copy| copy.core).collect();
        let own_group = self.group_of(core);
        let far_groups: Vec<(u32, bool)> = entry
            .groups
            .iter()
            .filter(|copy| Some(copy.group) != own_group)
            .map(|copy| (copy.group, copy.dirty))
            .collect();
        let near_cache = self.is_near(core, line);
        // The first of these gives the line: another core's copy that is exclusive or newer than memory; the own
        // shared cache; another core's copy that answers readers; another shared cache that is newer than memory or
        // forwards; memory.
        let from_core = answerer
            .filter(|copy| copy.state.writable() || copy.state.dirty() || !near_cache)
            .filter(|_| needs_data)
            .map(|copy| (copy.core, copy.state));
        let mut source = match (needs_data, what) {
            (true, _) => None,
            (_, Access::Fresh) if !has => Some(LineSource::NotRead),
            _ => Some(LineSource::Upgrade),
        };
        let mut done = at;
        for loser in losers.into_iter().filter(|&loser| loser != core) {
            let reached = self.reach_core(agent, loser, at);
            let gives = from_core.filter(|&(from, _)| from == loser);
            let which = match gives {
                Some(_) => ServerOf::Cache(loser),
                None => ServerOf::Loser(loser),
            };
            let ready = gives.map_or(0, |_| self.since(loser, line));
            let served = self.serve(which, reached.max(ready));
            let load = match gives {
                Some((from, state)) => {
                    source = Some(LineSource::of(state));
                    self.count(LineSource::of(state), Some(from), core);
                    Payload::Data
                }
                None => Payload::Control,
            };
            done = done.max(match self.network.is_bus() && load == Payload::Control {
                true => served,
                false => self.send(self.core_spot(loser), to, load, served),
            });
            self.invalidate(loser, line, served);
        }
        for (group, dirty) in far_groups {
            let spot = self.machine.groups[group as usize];
            let reached = self.send(agent.spot, spot, Payload::Control, at);
            let served = self.serve(ServerOf::Shared(group), reached);
            let gives = source.is_none()
                && !near_cache
                && (dirty || self.machine.protocol == Protocol::Mesif);
            let load = match gives {
                true => {
                    source = Some(LineSource::SharedCache);
                    self.count(LineSource::SharedCache, self.member_of(group), core);
                    Payload::Data
                }
                false => Payload::Control,
            };
            done = done.max(self.send(spot, to, load, served));
            self.drop_from_group(group, line);
            if !self.untimed {
                self.counts.invalidations += 1;
            }
        }
        match (source, own_group.filter(|_| near_cache)) {
            (None, Some(group)) => {
                self.count(LineSource::SharedCache, Some(core), core);
                let from = self.machine.groups[group as usize];
                let ready = match agent.group {
                    Some(_) => at,
                    // The home tells the core's own shared cache to give it.
                    None => {
                        let told = self.send(agent.spot, from, Payload::Control, at);
                        self.serve(ServerOf::Shared(group), told)
                    }
                };
                let ready = ready.max(self.group_since(group, line));
                done = done.max(self.send(from, to, Payload::Data, ready));
            }
            (None, None) => {
                self.count(LineSource::Memory, None, core);
                done = done.max(self.read_memory(line, to, at));
            }
            (Some(source @ (LineSource::Upgrade | LineSource::NotRead)), _) => {
                self.count(source, None, core);
                // The permission to write comes back.
                let leave = match self.network.is_bus() {
                    true => at,
                    false => self.send(agent.spot, to, Payload::Control, at),
                };
                done = done.max(leave);
            }
            _ => {}
        }
        if asks_all(&self.machine) && agent.group.is_none() {
            let spared = from_core.map(|(from, _)| from);
            done = done.max(self.probe_all(core, spared, agent, at));
        }
        self.fill(core, line, CopyState::Exclusive, at);
        self.write(request);
        if what == Access::Add {
            done += self.ticks.atomic;
        }
        // The next owner can ask for the line when this core has it.
        let has = match self.untimed {
            true => at,
            false => done + self.ticks.fill,
        };
        self.comes(core, line, has, near_cache);
        self.lines[line as usize].busy = has;
        done
    }

    /// Removes a core's copy, because another core writes the line.
    pub(super) fn invalidate(&mut self, core: u32, line: u32, at: VirtualTime) {
        self.drop_copy(core, line);
        self.wake(line, core, at);
        if !self.untimed {
            self.counts.invalidations += 1;
            self.counts.cores[core as usize].invalidated += 1;
        }
    }
}
