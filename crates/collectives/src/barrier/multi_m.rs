//! A barrier of rounds that each have an m of their own, over lines as in [`m_way`](super::m_way) (CLa §3.3.1).
//!
//! After r rounds with one m a rank knows of (m + 1)^r ranks, where n would do. With an m for each round the number
//! is the product of all m_i + 1, which can be closer to n: 6 ranks take 2 · 3, with three lines to read each,
//! instead of 2 · 2 · 2 with three or 3 · 3 with four.

use corecast_plan::Rounds;

/// The factors m_i + 1 by which each round multiplies the number of ranks that a rank knows of. Their product is n
/// or more; of all such factors these have the least sum, and then the least product.
///
/// # Cost
///
/// Time polynomial in log n, once for a team.
pub fn factors(n: usize) -> Vec<usize> {
    /// Larger factors are never better: 2 and 3 have the product 6 with the sum 5.
    const FACTOR_MAX: usize = 5;
    fn best(n: usize, known: &mut std::collections::HashMap<usize, Vec<usize>>) -> Vec<usize> {
        if n <= 1 {
            return Vec::new();
        }
        if let Some(found) = known.get(&n) {
            return found.clone();
        }
        let with = |factor: usize, known: &mut _| {
            let mut rest = best(n.div_ceil(factor), known);
            rest.insert(0, factor);
            rest
        };
        let choices = (2..=FACTOR_MAX.min(n)).map(|factor| with(factor, known));
        let weight = |factors: &Vec<usize>| {
            let (sum, product): (usize, usize) = (factors.iter().sum(), factors.iter().product());
            (sum, product)
        };
        let found = choices.min_by_key(weight).unwrap_or_default();
        known.insert(n, found.clone());
        found
    }
    best(n, &mut std::collections::HashMap::new())
}

/// The rounds of this barrier: in round i each rank tells the ranks that are 1 to m_i times the product of all
/// earlier factors further on, as long as that is less than n.
///
/// # Panics
///
/// If `n` is 0.
///
/// # Source
///
/// CLa §3.3.1, multi-m dissemination.
pub fn multi_m_rounds(n: usize) -> Rounds {
    let mut reach = 1;
    let round = |factor: usize| {
        let distances = (1..factor).map(|m| m * reach).filter(|&d| d < n);
        let distances: Vec<usize> = distances.collect();
        reach *= factor;
        (0..n)
            .map(|rank| distances.iter().map(|d| (rank + d) % n).collect())
            .collect()
    };
    let targets = factors(n).into_iter().map(round).collect();
    match Rounds::new(n, targets) {
        Ok(rounds) => rounds,
        Err(error) => panic!("a dissemination is a barrier: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_come_close_to_n() {
        let expected: [(usize, &[usize]); 7] = [
            (1, &[]),
            (2, &[2]),
            (3, &[3]),
            (4, &[2, 2]),
            (6, &[2, 3]),
            (9, &[3, 3]),
            (12, &[2, 2, 3]),
        ];
        for (n, factors_of_n) in expected {
            assert_eq!(factors(n), factors_of_n, "{n} ranks");
        }
        for n in 1..=100 {
            assert!(factors(n).iter().product::<usize>() >= n);
            let one_m = (2..=9).map(|radix: usize| {
                let rounds = (0..).find(|&r| radix.pow(r) >= n).unwrap();
                radix * rounds as usize
            });
            assert!(factors(n).iter().sum::<usize>() <= one_m.min().unwrap());
            assert_eq!(multi_m_rounds(n).len(), n);
        }
    }
}
