//! What one act costs by rules 1 to 5 (§2.4), whatever comes before it.

use super::graph::{Act, Found, Graph, Kind, Op, Touch};
use super::reading::{Copies, Crossings, Lying, Reading};
use super::seats::Seats;

/// A graph with costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Priced<'a> {
    pub(super) graph: &'a Graph,
    pub(super) seats: &'a Seats,
    pub(super) reading: &'a Reading,
}

impl Priced<'_> {
    /// The whole act in the best case, when `readers` ranks fetch at once what it waits for.
    pub(super) fn act(&self, act: &Act, readers: usize) -> f64 {
        let load = act
            .load
            .map_or(0.0, |touch| self.load(act, touch, readers, 1));
        load + self.store_after_load(act)
    }

    /// What the act stores: nothing for its own cache if it has loaded from there too, which counts
    /// once, and nothing for what many lines' time includes.
    pub(super) fn store_after_load(&self, act: &Act) -> f64 {
        let Some(store) = act.store else {
            return 0.0;
        };
        let own = |touch: Touch| touch.found == Found::Own;
        let counted = act.load.is_some_and(own) && own(store);
        let included = act.lines > 1 && own(store) && act.load.is_some();
        if counted || included {
            return 0.0;
        }
        self.store(act, store)
    }

    /// Fetches what the act reads: `together` ranks copy over the same link at the same time.
    pub(super) fn load(&self, act: &Act, touch: Touch, readers: usize, together: usize) -> f64 {
        let costs = self.seats.costs();
        let own = costs.own * act.lines as f64;
        match touch.found {
            // The flag's line has come; its data are in several.
            Found::Again if act.lines > 1 && touch.line != self.stored(act) => {
                let kind = self.graph.lines[touch.line].kind;
                let lines = act.lines as f64;
                match self.fetched(act) {
                    Some(_) if let Some(read) = self.seats.read(kind, lines) => read,
                    Some(other) => self.many(act, self.seats.class(other, act.rank), 1, together),
                    None => own,
                }
            }
            Found::Again => 0.0,
            Found::Own => own,
            Found::Untouched => self.first(act, touch),
            Found::With(other) => {
                let class = self.seats.class(other, act.rank);
                let kind = self.graph.lines[touch.line].kind;
                let contended = self.reading.contention && class > 0;
                match costs.contention.filter(|_| contended) {
                    _ if act.lines > 1 => self.many(act, class, readers, together),
                    // A flag has one reader by its nature, and so has what is added up.
                    Some(contention) if kind == Kind::Notice => contention.time(readers.max(1)),
                    Some(contention) if kind == Kind::Data && readers > 1 => {
                        contention.time(readers)
                    }
                    _ => self.seats.transfer(kind, other, act.rank),
                }
            }
        }
    }

    /// The line that the act writes.
    fn stored(&self, act: &Act) -> usize {
        act.store.map_or(usize::MAX, |store| store.line)
    }

    /// From whom the wait before fetched the line that the act copies from.
    fn fetched(&self, act: &Act) -> Option<usize> {
        let wait = &self.graph.acts[act.before?];
        match wait.load?.found {
            Found::With(other) if wait.op == Op::Wait => Some(other),
            _ => None,
        }
    }

    /// Several lines: Equations 4 and 5, and where readers hold each other up the intercept and slope of
    /// Equation 2 with the slope per line (§4.2.2).
    fn many(&self, act: &Act, class: usize, readers: usize, together: usize) -> f64 {
        let costs = self.seats.costs();
        let lines = costs.lines[class];
        match costs.contention.filter(|_| self.reading.contention) {
            Some(contention) if readers > 1 && class > 0 => {
                contention.time(readers) + lines.per_line * act.lines as f64
            }
            _ => {
                let polled = match self.reading.copies {
                    Copies::Alone if class > 0 => costs.transfer[class],
                    _ => 0.0,
                };
                lines.time(together, act.lines) - polled
            }
        }
    }

    /// Takes what the act writes.
    pub(super) fn store(&self, act: &Act, touch: Touch) -> f64 {
        let lines = self.stored_lines(act);
        match touch.found {
            Found::Again => 0.0,
            Found::Own => self.seats.costs().own * lines,
            Found::Untouched => self.first(act, touch),
            Found::With(other) => {
                let kind = self.graph.lines[touch.line].kind;
                let one = self.seats.transfer(kind, other, act.rank);
                self.seats.stored(one, lines)
            }
        }
    }

    /// Rule 1: a line that nobody has touched.
    fn first(&self, act: &Act, touch: Touch) -> f64 {
        let line = &self.graph.lines[touch.line];
        let one = match self.lying(line.kind) {
            Lying::Memory | Lying::Fetched => self.seats.first(line.kind, act.rank, line.home),
            Lying::Polled => self.seats.polled(line.kind, act.rank, line.home),
        };
        match line.kind {
            // A rank's own buffer.
            Kind::Data => one * self.stored_lines(act),
            _ => self.seats.stored(one, self.stored_lines(act)),
        }
    }

    /// How many of the lines that it copies an act waits for to store them: a store buffer hides further ones at best.
    fn stored_lines(&self, act: &Act) -> f64 {
        match self.reading.copies {
            Copies::PingPong => act.lines as f64,
            Copies::Alone => 1.0,
        }
    }

    fn lying(&self, kind: Kind) -> Lying {
        match kind {
            Kind::Flag => self.reading.flags,
            Kind::Notice => self.reading.notices,
            Kind::Tally => self.reading.tallies,
            Kind::Data => Lying::Memory,
        }
    }

    /// What an act that begins at `start` saves because whoever polls the line that it is the first to write has
    /// fetched it meanwhile.
    pub(super) fn fetched_early(&self, act: &Act, store: Option<Touch>, start: f64) -> f64 {
        let Some(touch) = store.filter(|touch| touch.found == Found::Untouched) else {
            return 0.0;
        };
        let line = &self.graph.lines[touch.line];
        if self.lying(line.kind) != Lying::Fetched || line.home == act.rank {
            return 0.0;
        }
        let memory = self.seats.first(line.kind, act.rank, line.home);
        let fetched = (memory - start).max(0.0);
        let taken = fetched + self.seats.transfer(line.kind, line.home, act.rank);
        (memory - taken).max(0.0)
    }

    /// What it costs to take a line from a rank that has added to it: to the next one, or to whoever
    /// polls it, at `home`.
    pub(super) fn taken_from(&self, adder: usize, next: usize, home: usize) -> f64 {
        match self.reading.crossings {
            Crossings::EachAddition => self.seats.transfer(Kind::Tally, adder, home),
            Crossings::Fewest => self.seats.transfer(Kind::Tally, adder, next),
        }
    }

    /// Whether an act is a wait.
    pub(super) fn waits(&self, act: usize) -> bool {
        self.graph.acts[act].op == Op::Wait
    }
}
