//! Scripts: the actions of each member, one after the other.

use super::error::CheckError;

/// One action of a member; it starts when the one before is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Write a message to this rank.
    Send(usize),
    /// Wait for a message of this rank, and take it.
    Receive(usize),
    /// Write this shared line, which others poll.
    Write(usize),
    /// Wait until this shared line is written, and fetch it.
    Fetch(usize),
    /// Wait until nobody adds to this shared line, and add to it.
    Add(usize),
    /// Wait until all have added to this shared line, and fetch it.
    Collect(usize),
}

/// A line that several members share with their parent.
#[derive(Clone, Debug)]
pub(super) struct SharedLine {
    pub(super) parent: usize,
    pub(super) members: Vec<usize>,
}

/// The actions of a whole team.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) actions: Vec<Vec<Action>>,
    pub(super) lines: Vec<SharedLine>,
}

impl Script {
    pub(super) fn new(n: usize) -> Self {
        Self {
            actions: vec![Vec::new(); n],
            lines: Vec::new(),
        }
    }

    /// Appends a fan-out: everybody but the root waits for its message or its line, and then serves
    /// its groups in order.
    pub(super) fn fan_out(&mut self, groups: &[Vec<Vec<usize>>]) {
        let mut serve = vec![Vec::new(); groups.len()];
        for (parent, group) in grouped(groups) {
            if let &[rank] = group {
                self.actions[rank].push(Action::Receive(parent));
                serve[parent].push(Action::Send(rank));
                continue;
            }
            let line = self.share(parent, group);
            for &rank in group {
                self.actions[rank].push(Action::Fetch(line));
            }
            serve[parent].push(Action::Write(line));
        }
        for (actions, serve) in self.actions.iter_mut().zip(serve) {
            actions.extend(serve);
        }
    }

    /// Appends a fan-in: everybody takes its groups in order, and then, but for the root, sends or
    /// adds to its line.
    pub(super) fn fan_in(&mut self, groups: &[Vec<Vec<usize>>]) {
        let mut tell = vec![None; groups.len()];
        for (parent, group) in grouped(groups) {
            if let &[rank] = group {
                self.actions[parent].push(Action::Receive(rank));
                tell[rank] = Some(Action::Send(parent));
                continue;
            }
            let line = self.share(parent, group);
            for &rank in group {
                tell[rank] = Some(Action::Add(line));
            }
            self.actions[parent].push(Action::Collect(line));
        }
        for (actions, tell) in self.actions.iter_mut().zip(tell) {
            actions.extend(tell);
        }
    }

    /// Adds a line that a parent shares with one of its groups, and returns its index.
    fn share(&mut self, parent: usize, group: &[usize]) -> usize {
        self.lines.push(SharedLine {
            parent,
            members: group.to_vec(),
        });
        self.lines.len() - 1
    }

    /// Appends a broadcast: everybody but the root receives, and then serves its children in order.
    pub(super) fn broadcast(&mut self, children: &[Vec<usize>]) {
        for (parent, rank) in served(children) {
            self.actions[rank].push(Action::Receive(parent));
        }
        for (parent, rank) in served(children) {
            self.actions[parent].push(Action::Send(rank));
        }
    }

    /// Appends a reduction: everybody takes its children in order, and then, but for the root, sends.
    pub(super) fn reduce(&mut self, children: &[Vec<usize>]) {
        for (parent, rank) in served(children) {
            self.actions[parent].push(Action::Receive(rank));
        }
        for (parent, rank) in served(children) {
            self.actions[rank].push(Action::Send(parent));
        }
    }

    /// Appends one round of one rank: it sends to all targets and then takes from all sources, in
    /// order.
    pub(super) fn round(
        &mut self,
        rank: usize,
        targets: &[usize],
        sources: &[usize],
    ) -> Result<(), CheckError> {
        let last = self.actions.len() - 1;
        let mut peers = targets.iter().chain(sources);
        if let Some(&rank) = peers.find(|&&peer| peer > last || peer == rank) {
            return Err(CheckError::Outside { rank, last });
        }
        let actions = &mut self.actions[rank];
        actions.extend(targets.iter().map(|&target| Action::Send(target)));
        actions.extend(sources.iter().map(|&source| Action::Receive(source)));
        Ok(())
    }
}

/// All pairs of parent and child, list by list.
fn served(children: &[Vec<usize>]) -> impl Iterator<Item = (usize, usize)> {
    let lists = children.iter().enumerate();
    lists.flat_map(|(parent, list)| list.iter().map(move |&rank| (parent, rank)))
}

/// All pairs of parent and group, list by list.
fn grouped(groups: &[Vec<Vec<usize>>]) -> impl Iterator<Item = (usize, &[usize])> {
    let lists = groups.iter().enumerate();
    lists.flat_map(|(parent, list)| list.iter().map(move |group| (parent, group.as_slice())))
}
