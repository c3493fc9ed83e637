//! What each member does, one action after the other.

use super::CheckError;

/// One action of a member; it starts when the one before is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Write a message to this rank.
    Send(usize),
    /// Wait for a message of this rank, and take it.
    Receive(usize),
}

/// The actions of a whole team.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) actions: Vec<Vec<Action>>,
}

impl Script {
    pub(super) fn new(n: usize) -> Self {
        Self {
            actions: vec![Vec::new(); n],
        }
    }

    /// Everybody but the root receives, and then serves its children in order.
    pub(super) fn broadcast(&mut self, children: &[Vec<usize>]) {
        for (parent, rank) in served(children) {
            self.actions[rank].push(Action::Receive(parent));
        }
        for (parent, rank) in served(children) {
            self.actions[parent].push(Action::Send(rank));
        }
    }

    /// Everybody takes its children in order, and then, but for the root, sends.
    pub(super) fn reduce(&mut self, children: &[Vec<usize>]) {
        for (parent, rank) in served(children) {
            self.actions[parent].push(Action::Receive(rank));
        }
        for (parent, rank) in served(children) {
            self.actions[rank].push(Action::Send(parent));
        }
    }

    /// One round of one rank: it sends to all targets and then takes from all sources, in order.
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
