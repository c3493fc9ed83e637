//! The choice of threads for a team of k: packed, or round-robin over NUMA nodes (Smelt §5.2).

/// The team cannot be made: it has no members, or more than there are threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a team of {asked} is not possible: choose 1 to {available} threads")]
pub struct PlacementError {
    /// Members asked for.
    pub asked: usize,
    /// Threads that are available.
    pub available: usize,
}

/// The first k threads when one NUMA node is filled after the other.
///
/// `numa[i]` is the NUMA node of thread position i, as
/// [`CostModel::numa_nodes`](corecast_model::CostModel::numa_nodes) has it. Nodes come in the order
/// of their lowest positions, threads of a node in the order of theirs. Entry r of the result is
/// the thread position of rank r.
///
/// # Errors
///
/// A team of none, or of more threads than there are.
///
/// # Examples
///
/// ```
/// use corecast_plan::placement::{packed, round_robin};
///
/// let numa = [0, 0, 1, 1, 0];
/// assert_eq!(packed(&numa, 4)?, [0, 1, 4, 2]);
/// assert_eq!(round_robin(&numa, 4)?, [0, 2, 1, 3]);
/// # Ok::<(), corecast_plan::placement::PlacementError>(())
/// ```
pub fn packed(numa: &[u32], k: usize) -> Result<Vec<usize>, PlacementError> {
    check(numa, k)?;
    Ok(by_node(numa).into_iter().flatten().take(k).collect())
}

/// The first k threads when NUMA nodes give one thread each in turn; nodes that have none left are
/// passed over. See [`packed`] for orders.
///
/// # Errors
///
/// A team of none, or of more threads than there are.
pub fn round_robin(numa: &[u32], k: usize) -> Result<Vec<usize>, PlacementError> {
    check(numa, k)?;
    let nodes = by_node(numa);
    let longest = nodes.iter().map(Vec::len).max().unwrap_or(0);
    let turn = |at: usize| nodes.iter().filter_map(move |node| node.get(at)).copied();
    Ok((0..longest).flat_map(turn).take(k).collect())
}

fn check(numa: &[u32], k: usize) -> Result<(), PlacementError> {
    if (1..=numa.len()).contains(&k) {
        Ok(())
    } else {
        Err(PlacementError {
            asked: k,
            available: numa.len(),
        })
    }
}

/// Thread positions by NUMA node, nodes by first appearance.
fn by_node(numa: &[u32]) -> Vec<Vec<usize>> {
    let mut names = Vec::new();
    let mut nodes: Vec<Vec<usize>> = Vec::new();
    for (position, node) in numa.iter().enumerate() {
        match names.iter().position(|name| name == node) {
            Some(at) => nodes[at].push(position),
            None => {
                names.push(*node);
                nodes.push(vec![position]);
            }
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_count_is_placed_and_grows_by_one() {
        let numa: Vec<u32> = (0..48).map(|i| [7, 3, 5, 3][i / 12]).collect();
        for place in [packed, round_robin] {
            let whole = place(&numa, 48).unwrap();
            assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), 48);
            for k in 1..=48 {
                assert_eq!(place(&numa, k).unwrap(), whole[..k]);
            }
        }
    }

    #[test]
    fn packed_uses_the_fewest_nodes_and_round_robin_the_most() {
        let numa: Vec<u32> = (0..32).map(|i| i % 4).collect();
        let nodes = |team: Vec<usize>| team.iter().map(|&t| numa[t]).collect::<BTreeSet<_>>().len();
        for k in 1..=32_usize {
            assert_eq!(nodes(packed(&numa, k).unwrap()), k.div_ceil(8));
            assert_eq!(nodes(round_robin(&numa, k).unwrap()), k.min(4));
        }
    }

    #[test]
    fn impossible_teams_are_refused() {
        for place in [packed, round_robin] {
            for k in [0, 3] {
                let error = place(&[0, 0], k).unwrap_err().to_string();
                assert!(error.contains(&format!("team of {k}")) && error.contains("1 to 2"));
            }
            assert!(place(&[], 1).is_err());
        }
    }
}
