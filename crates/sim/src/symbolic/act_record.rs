//! Records what ranks do to lines, and which caches have each line.
//!
//! Ranks take turns, so acts come in an order in which they can have happened. Where a line is found depends on the
//! ranks that have touched it before. The ranks of a crowd add in any order; the analysis decides in which.

use super::graph::{Act, FoundAt, Graph, GraphLine, Op, Touch};
use corecast_wire::cache_lines::LineKind;
use std::collections::{HashMap, HashSet};

/// The history of one line.
#[derive(Debug, Default)]
struct LineHistory {
    /// Acts that changed its value, in order.
    changes: Vec<usize>,
    /// Ranks whose copies are up to date.
    holders: Vec<usize>,
    /// The rank that stored last.
    writer: Option<usize>,
    /// Waits for this line: the act, and how many changes its rank had waited for before.
    waits: Vec<(usize, usize)>,
}

/// All that was recorded so far.
#[derive(Debug, Default)]
pub(super) struct ActRecord {
    acts: Vec<Act>,
    lines: Vec<GraphLine>,
    states: Vec<LineHistory>,
    by_name: HashMap<String, usize>,
    /// The last act of each rank.
    last: Vec<Option<usize>>,
    /// The crowds: changes by several ranks for which one wait was.
    crowds: Vec<Vec<usize>>,
    in_crowd: HashSet<usize>,
    /// How many changes of each line each rank has waited for.
    seen: HashMap<(usize, usize), usize>,
}

impl ActRecord {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            last: vec![None; ranks],
            ..Self::default()
        }
    }

    /// The line of that name, which is made if there is none.
    pub(super) fn line(&mut self, name: String, kind: LineKind, home: usize) -> usize {
        if let Some(&line) = self.by_name.get(&name) {
            return line;
        }
        let line = self.new_line(name.clone(), kind, home);
        self.by_name.insert(name, line);
        line
    }

    /// A new line, also if there is one of that name.
    pub(super) fn new_line(&mut self, name: String, kind: LineKind, home: usize) -> usize {
        self.lines.push(GraphLine { name, kind, home });
        self.states.push(LineHistory::default());
        self.lines.len() - 1
    }

    /// How often a line was written or added to.
    pub(super) fn value(&self, line: usize) -> usize {
        self.states[line].changes.len()
    }

    pub(super) fn name(&self, line: usize) -> &str {
        &self.lines[line].name
    }

    pub(super) fn write(&mut self, rank: usize, line: usize) {
        let store = Some(self.touch(rank, line, true));
        let act = self.push(rank, Op::Write, None, store, 1);
        self.states[line].changes.push(act);
    }

    pub(super) fn add(&mut self, rank: usize, line: usize, value: Option<usize>) {
        let load = value.map(|value| self.touch(rank, value, false));
        let store = Some(self.touch(rank, line, true));
        let act = self.push(rank, Op::Add, load, store, 1);
        self.states[line].changes.push(act);
    }

    pub(super) fn copy(&mut self, rank: usize, from: usize, to: usize, lines: usize) {
        let load = Some(self.touch(rank, from, false));
        let store = Some(self.touch(rank, to, true));
        self.push(rank, Op::Copy, load, store, lines.max(1));
    }

    /// Records a wait, when the line has the value for which the rank waited.
    pub(super) fn waited(&mut self, rank: usize, line: usize, value: usize) {
        let load = Some(self.touch(rank, line, false));
        let act = self.push(rank, Op::Wait, load, None, 1);
        let seen = self.seen.insert((rank, line), value).unwrap_or(0);
        let state = &mut self.states[line];
        state.waits.push((act, seen));
        let changes = &state.changes[seen.min(value)..value];
        let first = changes.first().map(|&act| self.acts[act].rank);
        let alone = changes
            .iter()
            .all(|&act| Some(self.acts[act].rank) == first);
        if alone {
            // Of several changes by one rank the last one brings them all.
            let of = changes.last().filter(|&&of| self.acts[of].rank != rank);
            self.acts[act].after.extend(of);
            return;
        }
        // At a counter barrier the rank's own addition comes before the wait anyway.
        let others = changes.iter().filter(|&&of| self.acts[of].rank != rank);
        let others: Vec<usize> = others.copied().collect();
        self.acts[act].after.extend(others);
        // Another wait may have been for some of them.
        let crowd = changes.iter().copied();
        let crowd: Vec<usize> = crowd.filter(|&act| self.in_crowd.insert(act)).collect();
        if !crowd.is_empty() {
            self.crowds.push(crowd);
        }
    }

    fn push(
        &mut self,
        rank: usize,
        op: Op,
        load: Option<Touch>,
        store: Option<Touch>,
        lines: usize,
    ) -> usize {
        let act = self.acts.len();
        self.acts.push(Act {
            rank,
            op,
            load,
            store,
            lines,
            before: self.last[rank].replace(act),
            after: Vec::new(),
        });
        act
    }

    fn touch(&mut self, rank: usize, line: usize, stores: bool) -> Touch {
        let touched_before = self.last[rank].is_some_and(|act| {
            let act = &self.acts[act];
            let mut touches = [act.load, act.store].into_iter().flatten();
            touches.any(|touch| touch.line == line)
        });
        let (state, of) = (&mut self.states[line], &self.lines[line]);
        let holds = state.holders.contains(&rank);
        let alone = holds && state.holders.len() == 1;
        let data_of = (of.kind == LineKind::Data).then_some(of.home);
        let mut others = state.holders.iter().filter(|&&other| other != rank);
        let other = state.writer.filter(|&writer| writer != rank);
        let found = match (stores, data_of) {
            _ if touched_before && holds && (alone || !stores) => FoundAt::Again,
            // No other rank takes a line of a private buffer (§2.5).
            (true, Some(owner)) if owner == rank => match touched_before {
                true => FoundAt::Again,
                false => FoundAt::Own,
            },
            (false, _) if holds => FoundAt::Own,
            (true, _) if alone => FoundAt::Own,
            _ => match other.or_else(|| others.next().copied()) {
                Some(other) => FoundAt::With(other),
                None => match data_of {
                    Some(owner) if owner == rank => FoundAt::Own,
                    Some(owner) => FoundAt::With(owner),
                    None => FoundAt::Untouched,
                },
            },
        };
        if stores {
            state.holders.clear();
            state.writer = Some(rank);
        }
        if !state.holders.contains(&rank) {
            state.holders.push(rank);
        }
        Touch { line, found }
    }

    pub(super) fn into_graph(self) -> Graph {
        let mut e4 = Vec::new();
        for state in &self.states {
            for &(wait, seen) in &state.waits {
                let by_others = |&&change: &&usize| self.acts[change].rank != self.acts[wait].rank;
                let changes = state.changes[seen..].iter().filter(by_others);
                let other_stages = changes.filter(|change| !self.acts[wait].after.contains(change));
                e4.extend(other_stages.map(|&change| (wait, change)));
            }
        }
        e4.sort_unstable();
        Graph {
            ranks: self.last.len(),
            acts: self.acts,
            lines: self.lines,
            crowds: self.crowds,
            e4,
            steps: Vec::new(),
        }
    }
}
