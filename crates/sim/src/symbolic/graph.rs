//! CLa's graph: what each rank does to which lines, and what that depends on (§2.4, Figs. 5, 9, 10, 13
//! and 17).
//!
//! The paper's vertices are called *acts* here. Edges:
//!
//! | edge | joins | here |
//! | --- | --- | --- |
//! | E1 | the acts of one rank, in their order | [`Act::before`] |
//! | E2 | a write, and a wait of another rank for it | [`Act::after`] |
//! | E3 | writes of several ranks that one wait is for, in no order | [`Graph::crowds`] |
//! | E4 | a wait, and a write of the same line in another stage that it can steal | [`Graph::e4`] |

use super::steps::FabricStep;
use corecast_wire::cache_lines::LineKind;
use std::fmt;

/// An operation of a rank on a line: one of CLa's primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `cl_copy`: loads lines and stores them elsewhere.
    Copy,
    /// `cl_wait`: polls a line until it has a value.
    Wait,
    /// `cl_write`: stores a value.
    Write,
    /// `cl_add`: adds a value, read from a line if there is one.
    Add,
}

/// A line, or several that are always used together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphLine {
    /// Its name in drawings and errors.
    pub name: String,
    /// What it is used for.
    pub kind: LineKind,
    /// The rank that polls it first; of data, the rank that owns them.
    pub home: usize,
}

/// Where a line was before an act touched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundAt {
    /// No rank had touched it.
    Untouched,
    /// The act before, of the same rank, touched it, and no other rank did since: it counts once (rule 3).
    Again,
    /// In this rank's own cache (rule 2).
    Own,
    /// In the cache of this other rank (rule 4).
    With(usize),
}

/// An access of an act to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The line's number in [`Graph::lines`].
    pub line: usize,
    /// Where the line was before.
    pub found: FoundAt,
}

/// One operation of one rank on one line, or from one to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// The rank.
    pub rank: usize,
    /// The operation.
    pub op: Op,
    /// The access that reads.
    pub load: Option<Touch>,
    /// The access that writes.
    pub store: Option<Touch>,
    /// How many lines it copies, at least 1.
    pub lines: usize,
    /// Edge E1: the act before, of the same rank.
    pub before: Option<usize>,
    /// Edges E2: the acts of other ranks that it waits for.
    pub after: Vec<usize>,
}

/// All acts of one run, in an order in which they can have happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    pub(super) ranks: usize,
    pub(super) acts: Vec<Act>,
    pub(super) lines: Vec<GraphLine>,
    pub(super) crowds: Vec<Vec<usize>>,
    pub(super) e4: Vec<(usize, usize)>,
    pub(super) steps: Vec<FabricStep>,
}

impl Graph {
    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// All acts, in an order in which they can happen.
    #[must_use]
    pub fn acts(&self) -> &[Act] {
        &self.acts
    }

    /// All lines that were touched.
    #[must_use]
    pub fn lines(&self) -> &[GraphLine] {
        &self.lines
    }

    /// Edges E3: sets of acts on one line that one wait is for; no act is in two.
    #[must_use]
    pub fn crowds(&self) -> &[Vec<usize>] {
        &self.crowds
    }

    /// Edges E4: a wait, and a write of another stage to the line that it polls.
    #[must_use]
    pub fn e4(&self) -> &[(usize, usize)] {
        &self.e4
    }

    /// The steps of ranks on a fabric; an algorithm in primitives has none.
    pub(crate) fn steps(&self) -> &[FabricStep] {
        &self.steps
    }

    /// How many edges E1, E2, E3 and E4 there are; a crowd of k has k − 1 in a chain, as Fig. 5 draws it.
    #[must_use]
    pub fn edge_counts(&self) -> [usize; 4] {
        let e1 = self.acts.iter().filter(|act| act.before.is_some()).count();
        let e2 = self.acts.iter().map(|act| act.after.len()).sum();
        let e3 = self.crowds.iter().map(|crowd| crowd.len() - 1).sum();
        [e1, e2, e3, self.e4.len()]
    }

    /// The crowd of each act that is in one.
    pub(super) fn crowd_of(&self) -> Vec<Option<usize>> {
        let mut of = vec![None; self.acts.len()];
        for (index, crowd) in self.crowds.iter().enumerate() {
            crowd.iter().for_each(|&act| of[act] = Some(index));
        }
        of
    }

    /// The acts that wait for each act or read what it stored.
    pub(super) fn readers(&self) -> Vec<Vec<usize>> {
        let mut readers = vec![Vec::new(); self.acts.len()];
        for (reader, act) in self.acts.iter().enumerate() {
            act.after.iter().for_each(|&of| readers[of].push(reader));
        }
        readers
    }

    /// For each act, how many ranks copy the same data together: those that waited for writes which the owner made
    /// one after another.
    pub(super) fn copiers(&self) -> Vec<usize> {
        let key = |act: &Act| {
            let touch = act.load?;
            let theirs = matches!(touch.found, FoundAt::With(_));
            let data = self.lines[touch.line].kind == LineKind::Data;
            if act.op != Op::Copy || !theirs || !data {
                return None;
            }
            let wait = &self.acts[act.before?];
            let mut first = *wait.after.first()?;
            let before = |of: usize| {
                let before = self.acts[of].before?;
                (self.acts[before].op == Op::Write).then_some(before)
            };
            while let Some(earlier) = before(first) {
                first = earlier;
            }
            Some((touch.line, first))
        };
        let keys: Vec<_> = self.acts.iter().map(key).collect();
        let mut counts = std::collections::HashMap::new();
        for key in keys.iter().flatten() {
            *counts.entry(*key).or_insert(0) += 1;
        }
        let count = |key: &Option<_>| key.map_or(1, |key| counts[&key]);
        keys.iter().map(count).collect()
    }

    /// What an act does, in words.
    #[must_use]
    pub fn label(&self, act: usize) -> String {
        let act = &self.acts[act];
        let name = |touch: &Touch| self.lines[touch.line].name.as_str();
        let times = match act.lines {
            1 => String::new(),
            lines => format!(" × {lines}"),
        };
        let (load, store) = (act.load.as_ref().map(name), act.store.as_ref().map(name));
        match (load, store) {
            (Some(load), Some(store)) => format!("{} {load} → {store}{times}", act.op),
            (one, other) => format!("{} {}{times}", act.op, one.or(other).unwrap_or_default()),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copy => "copy",
            Self::Wait => "wait",
            Self::Write => "write",
            Self::Add => "add",
        })
    }
}
