//! A request on its way to its agent, and what the agent does with it.

use super::counts::Source;
use super::request::{Agent, At, LineId, Outcome, Request, What, Which};
use super::system::Memory;
use crate::Time;
use crate::machine::{Load, Protocol};

impl Memory {
    /// Where a request of `core` for `line` arrives first, if it leaves `at`.
    pub(crate) fn begin(&mut self, now: Time, request: &mut Request, at: Time) -> Time {
        self.now = now;
        let Request { core, line, .. } = *request;
        if !self.untimed {
            self.counts.cores[core as usize].misses += 1;
        }
        let (from, at) = (self.core_spot(core), at + self.ticks.l2);
        let load = match request.what {
            What::Push => Load::Data,
            _ => Load::Control,
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
        if request.what == What::Push {
            self.drop_copy(core, line);
        }
        self.send(from, to, load, at)
    }

    /// Serves a request that is with its agent now.
    pub(crate) fn arrive(&mut self, now: Time, request: &mut Request) -> Outcome {
        self.now = now;
        let Request { core, line, .. } = *request;
        let busy = self.line(line).busy;
        if busy > now && !self.untimed {
            return Outcome::Busy(busy);
        }
        if self.machine.protocol == Protocol::Home {
            return self.at_home(now, request);
        }
        if request.what != What::Push
            && let Some(took) = self.hit(request)
        {
            // Came by another request of this core meanwhile.
            return Outcome::Done(now + took);
        }
        let (agent, at) = match (request.agent, self.group_of(core)) {
            (Agent::Group, Some(group)) => {
                let at = self.serve(Which::Shared(group), now);
                let spot = self.machine.groups[group as usize];
                if !self.stays_inside(group, request) {
                    request.agent = Agent::Home;
                    let load = match request.what {
                        What::Push => Load::Data,
                        _ => Load::Control,
                    };
                    return Outcome::Arrives(self.send(spot, self.home_spot(line), load, at));
                }
                (
                    At {
                        spot,
                        group: Some(group),
                    },
                    at,
                )
            }
            _ => {
                let at = match self.network.is_bus() {
                    true => now,
                    false => self.serve(Which::Home(self.line(line).home), now),
                };
                let spot = self.home_spot(line);
                (At { spot, group: None }, at)
            }
        };
        let done = match request.what {
            What::Load => self.read(request, agent, at),
            What::Push => self.push(request, at),
            _ => self.take(request, agent, at),
        };
        self.check(line);
        Outcome::Done(done + self.ticks.fill)
    }

    /// Whether a group's shared cache can answer without the line's home.
    pub(super) fn stays_inside(&self, group: u32, request: &Request) -> bool {
        let entry = self.line(request.line);
        let inside = |core: u32| self.group_of(core) == Some(group);
        let mut others = entry.copies.iter().filter(|copy| copy.core != request.core);
        let cached = entry.groups.iter().any(|copy| copy.group == group);
        match request.what {
            What::Push => false,
            What::Load => cached || others.any(|copy| inside(copy.core) && copy.state.answers()),
            _ => {
                let all = entry.copies.iter().all(|copy| inside(copy.core));
                let alone = entry.groups.iter().all(|copy| copy.group == group);
                let some = cached || !entry.copies.is_empty();
                all && alone && some
            }
        }
    }

    /// A line that is written into its home's cache: that of the core which allocated it. The home alone
    /// has it then.
    pub(super) fn push(&mut self, request: &mut Request, at: Time) -> Time {
        let line = request.line;
        let home = self.line(line).home;
        let seats = &self.machine.cores;
        let to = seats.iter().position(|seat| seat.home == home).unwrap_or(0) as u32;
        let agent = At {
            spot: self.home_spot(line),
            group: None,
        };
        let mut owner = Request {
            core: to,
            what: What::Fresh,
            ..*request
        };
        let reached = self.reach_core(agent, to, at);
        let served = self.serve(Which::Cache(to), reached);
        let done = match self.hit(&mut owner) {
            Some(_) => served,
            None => self.take(&mut owner, agent, served),
        };
        self.wake(line, to, served);
        self.count(Source::Pushed, Some(request.core), to);
        self.send(
            self.core_spot(to),
            self.core_spot(request.core),
            Load::Control,
            done,
        )
    }

    /// Reads or writes, all at once and uncounted.
    pub(crate) fn at_once(&mut self, core: usize, line: LineId, word: Option<u64>) {
        let untimed = std::mem::replace(&mut self.untimed, true);
        let mut request = Request {
            core: core as u32,
            line: line.0,
            what: word.map_or(What::Load, |_| What::Store),
            agent: Agent::Home,
            word: word.unwrap_or(0),
        };
        let now = self.now;
        if self.hit(&mut request).is_none() {
            self.begin(now, &mut request, now);
            while !matches!(self.arrive(now, &mut request), Outcome::Done(_)) {}
        }
        self.untimed = untimed;
    }
}
