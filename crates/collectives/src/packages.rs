//! The ranks of each package.

/// The ranks of each package, in order; `packages` has the package of each rank.
pub(crate) fn members(packages: &[u32]) -> Vec<Vec<usize>> {
    let mut all: Vec<(u32, Vec<usize>)> = Vec::new();
    for (rank, &package) in packages.iter().enumerate() {
        match all.iter_mut().find(|(other, _)| *other == package) {
            Some((_, members)) => members.push(rank),
            None => all.push((package, vec![rank])),
        }
    }
    all.into_iter().map(|(_, members)| members).collect()
}
