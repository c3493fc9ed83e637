//! The common part of barriers with a round between packages: a dissemination in each package.

use super::m_way::best_m;
use corecast_plan::Rounds;

/// An m-way dissemination in each package with its own best m, all packages at the same time, and then a round in
/// which each rank notifies the ranks that `last` has for it.
pub(super) fn rounds(n: usize, packages: &[Vec<usize>], last: Vec<Vec<usize>>) -> Rounds {
    let mut targets: Vec<Vec<Vec<usize>>> = Vec::new();
    for members in packages {
        let inside = Rounds::dissemination(members.len(), best_m(members.len()) + 1);
        for round in 0..inside.count() {
            if targets.len() == round {
                targets.push(vec![Vec::new(); n]);
            }
            for (place, &rank) in members.iter().enumerate() {
                let told = inside.targets(round, place).iter();
                targets[round][rank] = told.map(|&place| members[place]).collect();
            }
        }
    }
    if last.iter().any(|told| !told.is_empty()) {
        targets.push(last);
    }
    match Rounds::new(n, targets) {
        Ok(rounds) => rounds,
        Err(error) => panic!("packages that tell each other are a barrier: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{package_root_rounds, pair_wise_rounds};

    /// `Rounds::new` checks that rounds are a barrier.
    #[test]
    fn any_packages_make_a_barrier() {
        for n in 1..=13usize {
            for count in 1..=4u32 {
                for shape in 0..3u32 {
                    let package = |rank: usize| match shape {
                        0 => rank as u32 % count,
                        1 => rank as u32 * count / n as u32,
                        _ => (rank as u32).saturating_sub(n as u32 - count.min(n as u32)),
                    };
                    let packages: Vec<u32> = (0..n).map(package).collect();
                    assert_eq!(pair_wise_rounds(&packages).len(), n);
                    assert_eq!(package_root_rounds(&packages).len(), n);
                }
            }
        }
        // Packages of 3 and 2 ranks: only the last round crosses between them, and each rank reads one line in it.
        for rounds in [
            pair_wise_rounds(&[0, 0, 0, 1, 1]),
            package_root_rounds(&[0, 0, 0, 1, 1]),
        ] {
            let crossing = |round: usize| {
                let told = |rank: usize| rounds.targets(round, rank).iter();
                let across =
                    |rank: usize| told(rank).filter(move |&&other| (rank < 3) != (other < 3));
                (0..5).map(|rank| across(rank).count()).sum::<usize>()
            };
            let last = rounds.count() - 1;
            assert_eq!((0..last).map(crossing).sum::<usize>(), 0);
            assert_eq!(crossing(last), 5);
        }
    }
}
