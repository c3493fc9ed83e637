//! The race on made-up times: what wins, at what cost, and that ranks with different times agree.

use super::learner::{CLASSES, SHORTEST, class, longest};
use super::race::{Race, Won};

/// A reproducible disturbance: mostly little, now and then much.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let part = (self.0 >> 40) as f64 / (1 << 24) as f64;
        match self.0 >> 33 & 31 {
            0 => 20.0 * part,
            _ => 0.1 * part,
        }
    }
}

/// Runs a race of contenders that take `times`, on two ranks whose noise differs. Returns the winner and the number of calls.
fn race(times: &[f64], seed: u64) -> (Won, usize) {
    let contenders: Vec<u8> = (0..times.len() as u8).collect();
    let mut ranks = [Race::new(contenders.clone()), Race::new(contenders)];
    let mut noise = [Noise(seed), Noise(seed ^ 0x5555)];
    for calls in 1.. {
        let mut stage: Vec<Vec<u64>> = Vec::new();
        let turn = ranks[0].next();
        for (race, noise) in ranks.iter_mut().zip(&mut noise) {
            assert_eq!(race.next(), turn, "all ranks run the same algorithm");
            let time = times[usize::from(turn)] * (1.0 + noise.next());
            stage.extend(race.note(time as u64).map(|times| times.to_vec()));
        }
        if stage.is_empty() {
            continue;
        }
        let agreed: Vec<u64> = stage[0]
            .iter()
            .zip(&stage[1])
            .map(|(a, b)| *a.max(b))
            .collect();
        assert!(size_of_val(&agreed[..]) <= 128);
        let won = ranks.each_mut().map(|race| race.agreed(&agreed));
        assert_eq!(won[0], won[1], "all ranks draw the same conclusion");
        if let Some(won) = won[0] {
            return (won, calls);
        }
    }
    unreachable!()
}

#[test]
fn the_fastest_wins_and_ties_go_to_the_first() {
    let mut others = 0;
    for seed in 0..200 {
        for (times, winners) in [
            (&[1e3, 2e3][..], &[0][..]),
            (&[2e3, 1e3], &[1]),
            (&[1.3e3, 4e3, 1e3, 9e3, 1.2e3, 2e3], &[2]),
            // A twentieth, where noise is a tenth: the first may stay.
            (&[1.05e3, 1e3], &[0, 1]),
            (&[1e3, 1.05e3, 1.05e3], &[0]),
        ] {
            let (won, calls) = race(times, seed);
            others += usize::from(!winners.contains(&won.winner));
            assert!(calls <= Race::calls_most(times.len()), "{times:?}: {calls}");
        }
    }
    // All calls of a block may be disturbed.
    assert!(others <= 10, "{others} of 1000");
}

#[test]
fn of_equal_contenders_another_one_seldom_wins() {
    let others = (0..2000)
        .filter(|&seed| race(&[1e3, 1e3], seed).0.winner == 1)
        .count();
    // 9 in 256 are 70 of 2000.
    assert!(others < 140, "{others} of 2000");
}

#[test]
fn a_clear_race_is_short() {
    let (won, calls) = race(&[1e3, 5e3, 6e3, 7e3], 7);
    assert_eq!((won.winner, calls), (0, 16));
}

#[test]
fn each_length_is_in_the_class_that_ends_at_or_above_it() {
    for bytes in [
        0,
        1,
        SHORTEST,
        SHORTEST + 1,
        100,
        4096,
        4097,
        isize::MAX as usize,
    ] {
        let class = class(bytes);
        assert!(class < CLASSES && bytes <= longest(class));
        assert!(class == 0 || bytes > longest(class - 1), "{bytes}");
    }
}
