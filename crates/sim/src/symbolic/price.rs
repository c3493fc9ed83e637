//! The cost of one act by rules 1 to 5 (§2.4), independent of the acts before it.

use super::graph::{Act, FoundAt, Graph, Op, Touch};
use super::placement::Placement;
use super::rules::{CopyTime, CostRules, Crossings, Lying};
use corecast_wire::cache_lines::LineKind;

/// A graph with costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Priced<'a> {
    pub(super) graph: &'a Graph,
    pub(super) placement: &'a Placement,
    pub(super) rules: &'a CostRules,
}

impl Priced<'_> {
    /// The cost of a whole act in the best case, when `readers` ranks fetch at once what it waits for.
    pub(super) fn act(&self, act: &Act, readers: usize) -> f64 {
        let load = act
            .load
            .map_or(0.0, |touch| self.load(act, touch, readers, 1));
        load + self.store_after_load(act)
    }

    /// The cost of what the act stores. It is 0 in the rank's own cache if the act has loaded from there too, which
    /// counts once, or if the time of a copy of several lines includes it.
    pub(super) fn store_after_load(&self, act: &Act) -> f64 {
        let Some(store) = act.store else {
            return 0.0;
        };
        let own = |touch: Touch| touch.found == FoundAt::Own;
        let counted = act.load.is_some_and(own) && own(store);
        let included = act.lines > 1 && own(store) && act.load.is_some();
        if counted || included {
            return 0.0;
        }
        self.store(act, store)
    }

    /// The cost of what the act loads, when `readers` ranks fetch it and `together` ranks copy over the same link at
    /// the same time.
    pub(super) fn load(&self, act: &Act, touch: Touch, readers: usize, together: usize) -> f64 {
        let costs = self.placement.costs();
        let own = costs.own * act.lines as f64;
        match touch.found {
            // The line of the flag has come; the data are in several lines.
            FoundAt::Again if act.lines > 1 && touch.line != self.stored(act) => {
                let kind = self.graph.lines[touch.line].kind;
                let lines = act.lines as f64;
                match self.fetched(act) {
                    Some(_) if let Some(read) = self.placement.read(kind, lines) => read,
                    Some(other) => {
                        self.many(act, self.placement.class(other, act.rank), 1, together)
                    }
                    None => own,
                }
            }
            FoundAt::Again => 0.0,
            FoundAt::Own => own,
            FoundAt::Untouched => self.first(act, touch),
            FoundAt::With(other) => {
                let class = self.placement.class(other, act.rank);
                let kind = self.graph.lines[touch.line].kind;
                let contended = self.rules.contention && class > 0;
                match costs.contention.filter(|_| contended) {
                    _ if act.lines > 1 => self.many(act, class, readers, together),
                    // Flags and arrival counters have one reader each, and no contention.
                    Some(contention) if kind == LineKind::BroadcastRing => {
                        contention.time(readers.max(1))
                    }
                    Some(contention) if kind == LineKind::Data && readers > 1 => {
                        contention.time(readers)
                    }
                    _ => self.placement.transfer(kind, other, act.rank),
                }
            }
        }
    }

    /// The line that the act writes.
    fn stored(&self, act: &Act) -> usize {
        act.store.map_or(usize::MAX, |store| store.line)
    }

    /// The rank from which the wait before fetched the line that the act copies from.
    fn fetched(&self, act: &Act) -> Option<usize> {
        let wait = &self.graph.acts[act.before?];
        match wait.load?.found {
            FoundAt::With(other) if wait.op == Op::Wait => Some(other),
            _ => None,
        }
    }

    /// The cost of several lines: Equations 4 and 5, and where readers hold each other up, the intercept and slope of
    /// Equation 2 with the slope per line (§4.2.2).
    fn many(&self, act: &Act, class: usize, readers: usize, together: usize) -> f64 {
        let costs = self.placement.costs();
        let lines = costs.lines[class];
        match costs.contention.filter(|_| self.rules.contention) {
            Some(contention) if readers > 1 && class > 0 => {
                contention.time(readers) + lines.per_line * act.lines as f64
            }
            _ => {
                let polled = match self.rules.copies {
                    CopyTime::Alone if class > 0 => costs.transfer[class],
                    _ => 0.0,
                };
                lines.time(together, act.lines) - polled
            }
        }
    }

    /// The cost of taking the line that the act writes.
    pub(super) fn store(&self, act: &Act, touch: Touch) -> f64 {
        let lines = self.stored_lines(act);
        match touch.found {
            FoundAt::Again => 0.0,
            FoundAt::Own => self.placement.costs().own * lines,
            FoundAt::Untouched => self.first(act, touch),
            FoundAt::With(other) => {
                let kind = self.graph.lines[touch.line].kind;
                let one = self.placement.transfer(kind, other, act.rank);
                self.placement.stored(one, lines)
            }
        }
    }

    /// Rule 1: the cost of a line that no rank has touched.
    fn first(&self, act: &Act, touch: Touch) -> f64 {
        let line = &self.graph.lines[touch.line];
        let one = match self.lying(line.kind) {
            Lying::Memory | Lying::Fetched => self.placement.first(line.kind, act.rank, line.home),
            Lying::Polled => self.placement.polled(line.kind, act.rank, line.home),
        };
        match line.kind {
            // A rank's own buffer.
            LineKind::Data => one * self.stored_lines(act),
            _ => self.placement.stored(one, self.stored_lines(act)),
        }
    }

    /// For how many of the lines that it stores an act waits: at best, a store buffer hides all but the first.
    fn stored_lines(&self, act: &Act) -> f64 {
        match self.rules.copies {
            CopyTime::PingPong => act.lines as f64,
            CopyTime::Alone => 1.0,
        }
    }

    fn lying(&self, kind: LineKind) -> Lying {
        match kind {
            LineKind::Flag => self.rules.flags,
            LineKind::BroadcastRing => self.rules.rings,
            LineKind::ArrivalCounter => self.rules.counters,
            LineKind::Data => Lying::Memory,
        }
    }

    /// What an act that begins at `start` and is the first to write a line saves, because the rank that polls the
    /// line has fetched it meanwhile.
    pub(super) fn fetched_early(&self, act: &Act, store: Option<Touch>, start: f64) -> f64 {
        let Some(touch) = store.filter(|touch| touch.found == FoundAt::Untouched) else {
            return 0.0;
        };
        let line = &self.graph.lines[touch.line];
        if self.lying(line.kind) != Lying::Fetched || line.home == act.rank {
            return 0.0;
        }
        let memory = self.placement.first(line.kind, act.rank, line.home);
        let fetched = (memory - start).max(0.0);
        let taken = fetched + self.placement.transfer(line.kind, line.home, act.rank);
        (memory - taken).max(0.0)
    }

    /// The cost of taking a line from a rank that has added to it, to the `next` rank. With
    /// [`Crossings::EachAddition`] it is that of a transfer to `home`, which polls the line.
    pub(super) fn taken_from(&self, adder: usize, next: usize, home: usize) -> f64 {
        match self.rules.crossings {
            Crossings::EachAddition => {
                self.placement
                    .transfer(LineKind::ArrivalCounter, adder, home)
            }
            Crossings::Fewest => self
                .placement
                .transfer(LineKind::ArrivalCounter, adder, next),
        }
    }

    /// Whether an act is a wait.
    pub(super) fn waits(&self, act: usize) -> bool {
        self.graph.acts[act].op == Op::Wait
    }
}
