//! A barrier of rounds in which each rank writes one line, and reads those of m others (CLa §3.3).
//!
//! ```text
//! 9 ranks, m = 2     round 0: 0 writes a line that 1 and 2 read, and reads those of 8 and 7
//!                    round 1: 0 writes another one for 3 and 6, and reads those of 6 and 3
//! ```
//!
//! Each round has a line of its own (*single-use lines*), so a rank that still polls the line of
//! one round does not delay the write of the next. A notification to each of the m ranks, as in
//! [`dissemination`](super::dissemination), would write m lines instead of one.

use crate::groups::Groups;
use corecast_plan::Rounds;
use corecast_wire::Fabric;

/// One rank's part of rounds over shared lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineSteps(Vec<LineStep>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct LineStep {
    publish: Option<usize>,
    reads: Box<[usize]>,
}

impl LineSteps {
    /// The parts of all ranks. Adds a line for each rank and round with targets to `groups`.
    pub fn all(rounds: &Rounds, groups: &mut Groups) -> Vec<Self> {
        let n = rounds.len();
        let mut all = vec![Self::default(); n];
        for round in 0..rounds.count() {
            let lines: Vec<_> = (0..n)
                .map(|rank| match rounds.targets(round, rank) {
                    [] => None,
                    targets => Some(groups.ring(rank, targets.to_vec())),
                })
                .collect();
            for (rank, steps) in all.iter_mut().enumerate() {
                let read = |&source: &usize| {
                    let mut targets = rounds.targets(round, source).iter();
                    let place = targets.position(|&target| target == rank)?;
                    Some(lines[source].as_ref()?.others[place])
                };
                let sources = rounds.sources(round, rank).iter();
                let step = LineStep {
                    publish: lines[rank].as_ref().map(|numbers| numbers.one),
                    reads: sources.filter_map(read).collect(),
                };
                if step.publish.is_some() || !step.reads.is_empty() {
                    steps.0.push(step);
                }
            }
        }
        all
    }
}

/// The m with the least cost for n ranks: ⌈log_{m+1} n⌉ rounds of one write and m reads, where a
/// read costs as much as a write. Of several such m the smallest, whose lines have the fewest
/// readers.
///
/// # Source
///
/// CLa Equation 27 with R_I = R_R, as a team's plans carry no costs.
pub fn best_m(n: usize) -> usize {
    let cost = |m: usize| {
        let (mut reach, mut rounds) = (1, 0);
        while reach < n {
            reach *= m + 1;
            rounds += 1;
        }
        rounds * (m + 1)
    };
    // With a larger m, a smaller one and more rounds are always cheaper.
    (1..=n.clamp(2, 9) - 1)
        .min_by_key(|&m| cost(m))
        .unwrap_or(1)
}

/// Returns when all ranks have come.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// ⌈log_{m+1} n⌉ rounds, in each of which every rank writes one line and reads up to m.
///
/// # Source
///
/// CLa §3.3.1, Equations 27 and 28, Figure 10.
#[inline(always)]
pub fn m_way<F: Fabric>(fabric: &mut F, steps: &LineSteps) -> Result<(), F::Error> {
    for step in &steps.0 {
        if let Some(line) = step.publish {
            fabric.publish(line, &[])?;
        }
        for &line in &step.reads {
            fabric.read(line, &mut [])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_m_is_that_of_equation_27() {
        let expected = [
            (1, 1),
            (2, 1),
            (3, 2),
            (4, 1),
            (5, 4),
            (9, 2),
            (16, 1),
            (27, 2),
        ];
        for (n, m) in expected {
            assert_eq!(best_m(n), m, "{n} ranks");
        }
    }

    #[test]
    fn a_line_for_each_rank_and_round() {
        let mut groups = Groups::new(9);
        let steps = LineSteps::all(&Rounds::dissemination(9, 3), &mut groups);
        assert_eq!(groups.rings().len(), 2 * 9);
        assert!(groups.rings().iter().all(|line| line.others.len() == 2));
        assert_eq!(steps[0].0.len(), 2);
        // The line that rank 1 reads first is that of rank 0, the second that of rank 8.
        assert_eq!(groups.rings()[0].others, [1, 2]);
        assert_eq!(steps[1].0[0].reads.len(), 2);
    }
}
