//! Whether child lists are a tree: every rank once, from the root, without a cycle.

use super::error::CheckError;

/// # Errors
///
/// Lists for another team, a rank outside of it, the root as a child, a rank repeated, dropped or
/// below itself.
pub(super) fn check(n: usize, root: usize, children: &[Vec<usize>]) -> Result<(), CheckError> {
    if children.len() != n {
        let (found, expected) = (children.len(), n);
        return Err(CheckError::TeamSize { found, expected });
    }
    let last = n - 1;
    let mut named = children.iter().flatten().chain([&root]);
    if let Some(&rank) = named.find(|&&rank| rank > last) {
        return Err(CheckError::Outside { rank, last });
    }
    let mut parents = vec![Vec::new(); n];
    for (parent, list) in children.iter().enumerate() {
        list.iter().for_each(|&child| parents[child].push(parent));
    }
    if let Some(&parent) = parents[root].first() {
        return Err(CheckError::RootIsChild { parent, root });
    }
    for rank in (0..n).filter(|&rank| rank != root) {
        match parents[rank].len() {
            1 => {}
            0 => return Err(CheckError::Dropped { rank }),
            times => return Err(CheckError::Repeated { rank, times }),
        }
    }
    no_cycle(root, &parents)
}

/// Checks for cycles by climbing from every rank; ranks that are known to lead to the root are not
/// climbed again.
fn no_cycle(root: usize, parents: &[Vec<usize>]) -> Result<(), CheckError> {
    let mut climbed_from = vec![None; parents.len()];
    for start in 0..parents.len() {
        let mut rank = start;
        while rank != root && climbed_from[rank].is_none() {
            climbed_from[rank] = Some(start);
            rank = parents[rank][0];
        }
        if rank != root && climbed_from[rank] == Some(start) {
            return Err(CheckError::Cycle { rank });
        }
    }
    Ok(())
}
