//! The lines of an algorithm: what each is used for, and by which ranks.

use fnv::FnvHasher;
use std::hash::Hasher;

/// A line of a [`LineSet`], or the first of several that are used together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(usize);

impl LineId {
    /// Its place in [`LineSet::lines`].
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0
    }
}

/// What a line is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// One rank writes it, one polls it.
    Flag,
    /// One rank writes it, several poll it.
    BroadcastRing,
    /// Several ranks add to it, one polls it.
    ArrivalCounter,
    /// Data of one rank: in its cache when the operation begins, never polled (CLa §2.5).
    Data,
}

/// A line, or several that lie side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineUse {
    /// Its name in drawings and errors.
    pub name: String,
    /// What it is used for.
    pub kind: LineKind,
    /// The rank near which it lies: that which polls it first; of data, that which owns them.
    pub home: usize,
    /// How many lines.
    pub lines: usize,
    /// The ranks that change its value.
    pub writers: Box<[usize]>,
    /// The ranks that wait for its value.
    pub waiters: Box<[usize]>,
}

/// The lines of an algorithm for a number of ranks. A hardware team, a simulated machine and the symbolic model lay out
/// the same set, each in its own way.
///
/// # Examples
///
/// ```
/// use corecast_wire::cache_lines::{LineKind, LineSet};
///
/// let mut lines = LineSet::new(4);
/// let counter = lines.counter("come", &[1, 2, 3], 0);
/// let flag = lines.broadcast("go", 0, &[1, 2, 3]);
/// assert_eq!(lines.lines()[counter.index()].kind, LineKind::ArrivalCounter);
/// assert_eq!(lines.lines()[flag.index()].home, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineSet {
    ranks: usize,
    lines: Vec<LineUse>,
}

impl LineSet {
    /// No lines yet, for so many ranks.
    pub fn new(ranks: usize) -> Self {
        Self {
            ranks,
            lines: Vec::new(),
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// All lines, by their number.
    pub fn lines(&self) -> &[LineUse] {
        &self.lines
    }

    /// A number by which processes tell whether they mean the same lines: equal for equal sets in every process, and with all
    /// but certainty another one for sets that differ in their names, kinds, places or ranks.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::cache_lines::LineSet;
    ///
    /// let flag = |writer, waiter| {
    ///     let mut lines = LineSet::new(2);
    ///     lines.flag("flag", writer, waiter);
    ///     lines.digest()
    /// };
    /// assert_eq!(flag(0, 1), flag(0, 1));
    /// assert_ne!(flag(0, 1), flag(1, 0));
    /// ```
    pub fn digest(&self) -> u64 {
        // The standard library's hasher gives every process another value.
        let mut digest = FnvHasher::default();
        let number = |digest: &mut FnvHasher, number: usize| {
            digest.write(&(number as u64).to_le_bytes());
        };
        number(&mut digest, self.ranks);
        for uses in &self.lines {
            number(&mut digest, uses.name.len());
            digest.write(uses.name.as_bytes());
            let (writers, waiters) = (uses.writers.len(), uses.waiters.len());
            let fixed = [uses.kind as usize, uses.home, uses.lines, writers, waiters];
            let ranks = uses.writers.iter().chain(&uses.waiters).copied();
            let numbers = fixed.into_iter().chain(ranks);
            numbers.for_each(|one| number(&mut digest, one));
        }
        digest.finish()
    }

    /// A flag that one rank writes and another one waits for.
    ///
    /// # Panics
    ///
    /// If the two are the same or outside of the set's ranks.
    pub fn flag(&mut self, name: impl Into<String>, writer: usize, waiter: usize) -> LineId {
        self.synchronising(name.into(), LineKind::Flag, &[writer], &[waiter])
    }

    /// A flag that one rank writes and others wait for.
    ///
    /// # Panics
    ///
    /// If nobody waits, or the writer is the only one; if ranks are outside of the set's.
    pub fn broadcast(
        &mut self,
        name: impl Into<String>,
        writer: usize,
        waiters: &[usize],
    ) -> LineId {
        self.synchronising(name.into(), LineKind::BroadcastRing, &[writer], waiters)
    }

    /// A counter that some ranks add to and one waits for.
    ///
    /// # Panics
    ///
    /// If nobody adds but the one that waits; if ranks are outside of the set's.
    pub fn counter(&mut self, name: impl Into<String>, writers: &[usize], waiter: usize) -> LineId {
        self.synchronising(name.into(), LineKind::ArrivalCounter, writers, &[waiter])
    }

    /// Lines of data, whose value nobody waits for. They are in the cache of `home`; other ranks may read them, and write
    /// them where the algorithm keeps a line for each (*privatisation*, CLa §5.1).
    ///
    /// # Panics
    ///
    /// If `home` is outside of the set's ranks, or `lines` is 0.
    pub fn data(&mut self, name: impl Into<String>, home: usize, lines: usize) -> LineId {
        let (name, kind) = (name.into(), LineKind::Data);
        assert!(lines > 0, "\"{name}\" has no lines: give it at least one");
        self.push(LineUse {
            name,
            kind,
            home,
            lines,
            writers: Box::default(),
            waiters: Box::default(),
        })
    }

    fn synchronising(
        &mut self,
        name: String,
        kind: LineKind,
        writers: &[usize],
        waiters: &[usize],
    ) -> LineId {
        let alone = |waiter: &usize| writers.iter().all(|writer| writer == waiter);
        if let Some(rank) = waiters.iter().find(|waiter| alone(waiter)) {
            panic!("rank {rank} waits for \"{name}\", which no other rank changes");
        }
        let Some(&home) = waiters.first() else {
            panic!("nobody waits for \"{name}\": make it a line of data");
        };
        self.push(LineUse {
            name,
            kind,
            home,
            lines: 1,
            writers: writers.into(),
            waiters: waiters.into(),
        })
    }

    fn push(&mut self, line: LineUse) -> LineId {
        let named = [&line.writers[..], &line.waiters, &[line.home]].concat();
        if let Some(rank) = named.iter().find(|&&rank| rank >= self.ranks) {
            let (name, ranks) = (&line.name, self.ranks);
            panic!("\"{name}\" is for rank {rank}, but the set has {ranks} ranks");
        }
        self.lines.push(line);
        LineId(self.lines.len() - 1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(make: impl FnOnce(&mut LineSet) + std::panic::UnwindSafe, expected: &str) {
        let made = std::panic::catch_unwind(|| make(&mut LineSet::new(3)));
        let said = made.expect_err("it panics");
        let said = said.downcast_ref::<String>().expect("a text");
        assert!(said.contains(expected), "{said}");
    }

    #[test]
    fn lines_that_would_be_waited_for_in_vain_are_refused() {
        refused(|set| _ = set.flag("f", 1, 1), "rank 1 waits for \"f\"");
        refused(|set| _ = set.counter("c", &[2], 2), "no other rank changes");
        refused(|set| _ = set.counter("c", &[], 2), "no other rank changes");
        refused(
            |set| _ = set.broadcast("b", 0, &[]),
            "nobody waits for \"b\"",
        );
        refused(
            |set| _ = set.flag("f", 0, 3),
            "for rank 3, but the set has 3",
        );
        refused(|set| _ = set.data("d", 4, 1), "for rank 4");
        refused(|set| _ = set.data("d", 0, 0), "\"d\" has no lines");
        // A rank may add to the line that it waits for, if others add as well.
        let mut set = LineSet::new(3);
        assert_eq!(set.counter("c", &[0, 1, 2], 0).index(), 0);
    }
}
