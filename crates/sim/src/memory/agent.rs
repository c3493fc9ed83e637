//! A request on its way to its agent, and what the agent does with it.

use super::counts::LineSource;
use super::request::{Access, Agent, AgentAt, Arrival, LineId, LineRequest, ServerOf};
use super::system::Memory;
use crate::VirtualTime;
use crate::machine::{Payload, Protocol};

impl Memory {
    /// Sends a request to its first agent, and returns its arrival there.
    pub(crate) fn begin(
        &mut self,
        now: VirtualTime,
        request: &mut LineRequest,
        at: VirtualTime,
    ) -> VirtualTime {
        self.now = now;
        let LineRequest { core, line, .. } = *request;
        if !self.untimed {
            self.counts.cores[core as usize].misses += 1;
        }
        let (from, at) = (self.core_spot(core), at + self.ticks.l2);
        let load = match request.what {
            Access::Push => Payload::Data,
            _ => Payload::Control,
        };
        let to = match self.group_of(core) {
            Some(group) => {
                request.agent = Agent::Group;
                self.machine.groups[group as usize]
            }
            None => {
                request.agent = Agent::Home;
                self.home_spot(line)
            }
        };
        if request.what == Access::Push {
            self.drop_copy(core, line);
        }
        self.send(from, to, load, at)
    }

    /// Serves a request that has arrived at its agent.
    pub(crate) fn arrive(&mut self, now: VirtualTime, request: &mut LineRequest) -> Arrival {
        self.now = now;
        let LineRequest { core, line, .. } = *request;
        let busy = self.line(line).busy;
        if busy > now && !self.untimed {
            return Arrival::Busy(busy);
        }
        if self.machine.protocol == Protocol::Home {
            return self.at_home(now, request);
        }
        if request.what != Access::Push
            && let Some(took) = self.hit(request)
        {
            // Another request of this core has fetched the line meanwhile.
            return Arrival::Done(now + took);
        }
        let (agent, at) = match (request.agent, self.group_of(core)) {
            (Agent::Group, Some(group)) => {
                let at = self.serve(ServerOf::Shared(group), now);
                let spot = self.machine.groups[group as usize];
                if !self.stays_inside(group, request) {
                    request.agent = Agent::Home;
                    let load = match request.what {
                        Access::Push => Payload::Data,
                        _ => Payload::Control,
                    };
                    return Arrival::Arrives(self.send(spot, self.home_spot(line), load, at));
                }
                (
                    AgentAt {
                        spot,
                        group: Some(group),
                    },
                    at,
                )
            }
            _ => {
                let at = match self.network.is_bus() {
                    true => now,
                    false => self.serve(ServerOf::Home(self.line(line).home), now),
                };
                let spot = self.home_spot(line);
                (AgentAt { spot, group: None }, at)
            }
        };
        let done = match request.what {
            Access::Load => self.read(request, agent, at),
            Access::Push => self.push(request, at),
            _ => self.take(request, agent, at),
        };
        self.check(line);
        Arrival::Done(done + self.ticks.fill)
    }

    /// Whether the shared cache of a group can serve the request without the line's home.
    pub(super) fn stays_inside(&self, group: u32, request: &LineRequest) -> bool {
        let entry = self.line(request.line);
        let inside = |core: u32| self.group_of(core) == Some(group);
        let mut others = entry.copies.iter().filter(|copy| copy.core != request.core);
        let cached = entry.groups.iter().any(|copy| copy.group == group);
        match request.what {
            Access::Push => false,
            Access::Load => cached || others.any(|copy| inside(copy.core) && copy.state.answers()),
            _ => {
                let all = entry.copies.iter().all(|copy| inside(copy.core));
                let alone = entry.groups.iter().all(|copy| copy.group == group);
                let some = cached || !entry.copies.is_empty();
                all && alone && some
            }
        }
    }

    /// Writes a line into the cache of its home core, which has the only copy then.
    pub(super) fn push(&mut self, request: &mut LineRequest, at: VirtualTime) -> VirtualTime {
        let line = request.line;
        let home = self.line(line).home;
        let cores = &self.machine.cores;
        let to = cores.iter().position(|core| core.home == home).unwrap_or(0) as u32;
        let agent = AgentAt {
            spot: self.home_spot(line),
            group: None,
        };
        let mut owner = LineRequest {
            core: to,
            what: Access::Fresh,
            ..*request
        };
        let reached = self.reach_core(agent, to, at);
        let served = self.serve(ServerOf::Cache(to), reached);
        let done = match self.hit(&mut owner) {
            Some(_) => served,
            None => self.take(&mut owner, agent, served),
        };
        self.wake(line, to, served);
        self.count(LineSource::Pushed, Some(request.core), to);
        self.send(
            self.core_spot(to),
            self.core_spot(request.core),
            Payload::Control,
            done,
        )
    }

    /// Reads or writes a line without virtual time and without counting it.
    pub(crate) fn at_once(&mut self, core: usize, line: LineId, word: Option<u64>) {
        let untimed = std::mem::replace(&mut self.untimed, true);
        let mut request = LineRequest {
            core: core as u32,
            line: line.0,
            what: word.map_or(Access::Load, |_| Access::Store),
            agent: Agent::Home,
            word: word.unwrap_or(0),
        };
        let now = self.now;
        if self.hit(&mut request).is_none() {
            self.begin(now, &mut request, now);
            while !matches!(self.arrive(now, &mut request), Arrival::Done(_)) {}
        }
        self.untimed = untimed;
    }
}
