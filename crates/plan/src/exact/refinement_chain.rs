//! A refinement chain of ever finer partitions, whose groups hold similar members.

use super::ticks::{NEVER, Ticks};

/// Members in an order in which each partition of the refinement chain cuts it into runs.
pub(super) struct RefinementChain {
    /// The members, similar ones next to each other. A fixed root is first, and always alone.
    order: Vec<usize>,
    /// `height[i]` is the distance of the two groups that meet between `order[i]` and `order[i + 1]`.
    height: Vec<f64>,
    fixed_root: bool,
}

impl RefinementChain {
    /// Joins the two most similar groups until one is left (average linkage).
    ///
    /// # Cost
    ///
    /// O(n³).
    pub(super) fn new(ticks: &Ticks, root: Option<usize>) -> Self {
        let n = ticks.n();
        let members: Vec<usize> = (0..n).filter(|&v| Some(v) != root).collect();
        let mut groups: Vec<(Vec<usize>, Vec<f64>)> =
            members.iter().map(|&v| (vec![v], vec![])).collect();
        let far = |a: &[usize], b: &[usize]| {
            let pairs = a.iter().flat_map(|&i| b.iter().map(move |&j| (i, j)));
            pairs.map(|(i, j)| unlike(ticks, i, j)).sum::<f64>() / (a.len() * b.len()) as f64
        };
        let mut distance: Vec<Vec<f64>> = (0..groups.len())
            .map(|a| (0..a).map(|b| far(&groups[a].0, &groups[b].0)).collect())
            .collect();
        while groups.len() > 1 {
            let (mut best, mut pair) = (f64::INFINITY, (1, 0));
            for (a, row) in distance.iter().enumerate() {
                for (b, &d) in row.iter().enumerate() {
                    if d < best {
                        (best, pair) = (d, (a, b));
                    }
                }
            }
            let (a, b) = pair;
            let sizes = (groups[a].0.len() as f64, groups[b].0.len() as f64);
            let between = |d: &Vec<Vec<f64>>, x: usize, y: usize| d[x.max(y)][x.min(y)];
            for other in (0..groups.len()).filter(|&o| o != a && o != b) {
                let (to_a, to_b) = (between(&distance, a, other), between(&distance, b, other));
                let mean = (sizes.0 * to_a + sizes.1 * to_b) / (sizes.0 + sizes.1);
                distance[b.max(other)][b.min(other)] = mean;
            }
            let (taken, heights) = groups.remove(a);
            distance.remove(a);
            for row in &mut distance[a..] {
                row.remove(a);
            }
            groups[b].0.extend(taken);
            groups[b].1.push(best);
            groups[b].1.extend(heights);
        }
        let (mut order, mut height) = groups.pop().unwrap_or_default();
        if let Some(root) = root {
            order.insert(0, root);
            if n > 1 {
                height.insert(0, f64::INFINITY);
            }
        }
        Self {
            order,
            height,
            fixed_root: root.is_some(),
        }
    }

    /// Returns the partition into `count` groups, a fixed root not counted, or into fewer where there
    /// are not so many.
    pub(super) fn partition(&self, count: usize) -> Vec<Vec<usize>> {
        let mut cuts: Vec<usize> = (0..self.height.len()).collect();
        cuts.sort_by(|&a, &b| self.height[b].total_cmp(&self.height[a]).then(a.cmp(&b)));
        cuts.truncate(count - 1 + usize::from(self.fixed_root));
        cuts.sort_unstable();
        let mut parts = Vec::new();
        let mut from = 0;
        for cut in cuts {
            parts.push(self.order[from..=cut].to_vec());
            from = cut + 1;
        }
        parts.push(self.order[from..].to_vec());
        parts
    }
}

/// Returns a distance of two members: how differently they send and receive, and how expensive a
/// message between them is. Members of one NUMA node are near and have the same distances to all
/// others.
fn unlike(ticks: &Ticks, i: usize, j: usize) -> f64 {
    let cost = |a: usize, b: usize| {
        let whole = |t: i32| f64::from(t.min(NEVER));
        (whole(ticks.send(a, b)), whole(ticks.receive(a, b)))
    };
    let mut sum = 0.0;
    for x in (0..ticks.n()).filter(|&x| x != i && x != j) {
        for (a, b) in [(cost(i, x), cost(j, x)), (cost(x, i), cost(x, j))] {
            sum += (a.0 - b.0).abs() + (a.1 - b.1).abs();
        }
    }
    sum
}
