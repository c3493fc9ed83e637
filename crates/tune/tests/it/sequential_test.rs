//! Sequential tests on synthetic races, whose winners are known: how often they are wrong, and how soon they know.

use corecast_tune::sequential_test::{Ended, Left, Rules, SequentialTest};
use fastrand::Rng;

/// Noise of a sample, as a factor.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// Uniform noise of up to five percent in both directions.
    Even,
    /// A Pareto tail of infinite variance on top of a small spread, as if other processes ran now and then.
    Heavy,
}

impl Noise {
    fn factor(self, rng: &mut Rng) -> f64 {
        let even = 1.0 + 0.05 * (2.0 * rng.f64() - 1.0);
        match self {
            Noise::Even => even,
            Noise::Heavy => even * (0.9 + 0.1 / (1.0 - rng.f64()).powf(1.0 / 1.5)),
        }
    }
}

/// Runs a race of contenders that take `times` each; all of them drift together by up to a factor of two, and jump.
fn race(times: &[f64], noise: Noise, rules: Rules, rng: &mut Rng) -> SequentialTest {
    let mut test = SequentialTest::new(times.len(), rules);
    let mut out = vec![false; times.len()];
    let mut drift: f64 = 1.0;
    loop {
        if test.over() && (test.replicates() >= rules.replicates || !test.next_replicate()) {
            return test;
        }
        drift = (drift * (1.0 + 0.2 * (rng.f64() - 0.5))).clamp(0.7, 1.4);
        let jump = if rng.u8(..16) == 0 { 2.0 } else { 1.0 };
        let sample = |at: usize, rng: &mut Rng| times[at] * drift * jump * noise.factor(rng);
        let samples: Vec<Option<f64>> = (0..times.len())
            .map(|at| (!out[at]).then(|| sample(at, rng)))
            .collect();
        for at in test.round(&samples) {
            out[at] = true;
        }
    }
}

const RACES: usize = 400;

#[test]
fn the_best_is_sent_home_no_more_often_than_stated() {
    let mut rng = Rng::with_seed(1);
    for noise in [Noise::Even, Noise::Heavy] {
        for times in [
            // There is a clear winner, a winner by one percent, and no winner.
            &[100.0, 130.0, 150.0, 200.0, 400.0][..],
            &[100.0, 101.0, 102.0, 103.0, 104.0],
            &[100.0, 100.0, 100.0, 100.0, 100.0],
            &[100.0, 100.0],
        ] {
            let rules = Rules {
                replicate_rounds: 34,
                ..Rules::default()
            };
            let wrong = (0..RACES)
                .filter(|_| race(times, noise, rules, &mut rng).left(0).is_some())
                .count();
            // Five percent are 20 of 400 races; two standard deviations are allowed on top.
            let most = RACES as f64 * rules.error;
            assert!(
                wrong as f64 <= most + 2.0 * most.sqrt(),
                "{times:?} {noise:?}: {wrong}"
            );
        }
    }
}

#[test]
fn who_is_chosen_is_not_slower_than_what_counts_as_alike() {
    let mut rng = Rng::with_seed(2);
    let times = [103.0, 100.0, 106.0, 120.0];
    for noise in [Noise::Even, Noise::Heavy] {
        let rules = Rules {
            replicate_rounds: 50,
            ..Rules::default()
        };
        let wrong = (0..RACES)
            .filter(|_| {
                let test = race(&times, noise, rules, &mut rng);
                test.clone().favouring(vec![2, 3]).winner() != Some(1)
            })
            .count();
        let most = 2.0 * RACES as f64 * rules.error;
        assert!(
            wrong as f64 <= most + 2.0 * most.sqrt(),
            "{noise:?}: {wrong}"
        );
    }
}

#[test]
fn clear_losers_leave_early_and_take_few_samples() {
    let mut rng = Rng::with_seed(3);
    let times = [100.0, 200.0, 300.0, 400.0, 500.0];
    let test = race(&times, Noise::Even, Rules::default(), &mut rng);
    assert_eq!((test.ended(), test.winner()), (Ended::Decided, Some(0)));
    // Nine lost rounds refute that a coin is fair, at five percent for four others.
    assert_eq!(test.rounds(), 12);
    for loser in 1..5 {
        assert_eq!(test.left(loser), Some(&Left::Slower { round: 9, than: 0 }));
    }
    // A difference that the place in memory may explain eliminates nobody in the first replicate.
    let test = race(&[100.0, 115.0], Noise::Even, Rules::default(), &mut rng);
    assert_eq!(test.clone().favouring(vec![1]).winner(), Some(0));
    assert!(test.rounds() >= 28, "{}", test.rounds());
    // Of two contenders that are near and three that are not, the three leave early.
    let times = [100.0, 101.0, 200.0, 200.0, 200.0];
    let rules = Rules {
        replicate_rounds: 17,
        ..Rules::default()
    };
    let test = race(&times, Noise::Heavy, rules, &mut rng);
    let samples: Vec<usize> = (0..5).map(|at| test.samples(at).len()).collect();
    assert!(samples[2..].iter().all(|&n| n <= 20), "{samples:?}");
    assert!(samples[0] >= samples[2], "{samples:?}");
}

#[test]
fn ties_end_and_go_to_who_is_favoured() {
    let mut rng = Rng::with_seed(4);
    let rules = Rules {
        replicate_rounds: 100,
        ..Rules::default()
    };
    let mut rounds = Vec::new();
    let (mut favoured, mut decided) = (0, 0);
    for _ in 0..50 {
        let test = race(&[100.0, 100.2, 99.9], Noise::Even, rules, &mut rng);
        decided += u32::from(test.ended() == Ended::Decided);
        rounds.push(test.rounds());
        let favourites =
            (0..3).filter(|&one| test.clone().favouring(vec![one]).winner() == Some(one));
        favoured += favourites.count();
    }
    assert!(decided >= 40, "{decided} of 50");
    assert!(favoured >= 120, "{favoured} of 150");
    rounds.sort_unstable();
    // Half of the ties end long before the maximum of rounds.
    assert!(rounds[25] < 550, "{rounds:?}");
}

#[test]
fn a_favourite_that_is_slower_than_alike_loses() {
    let mut rng = Rng::with_seed(5);
    let test = race(&[110.0, 100.0], Noise::Even, Rules::default(), &mut rng);
    assert_eq!(test.clone().favouring(vec![0]).winner(), Some(1));
}

#[test]
fn who_fails_is_out_and_one_alone_has_won() {
    let mut test = SequentialTest::new(2, Rules::default());
    test.round(&[Some(1.0), None]);
    test.fail(1, "it hung".to_owned());
    assert_eq!(test.ended(), Ended::Decided);
    // A contender that is left alone is still measured.
    assert!(!test.over());
    (0..11).for_each(|_| drop(test.round(&[Some(1.0), None])));
    assert!(test.over());
    assert_eq!(test.clone().favouring(vec![1]).winner(), Some(0));
    assert_eq!(test.left(1), Some(&Left::Failed("it hung".to_owned())));
    test.fail(0, "as well".to_owned());
    assert_eq!(test.clone().favouring(vec![0, 1]).winner(), None);
    assert!(test.over());
}

#[test]
fn medians_that_go_round_in_a_circle_leave_somebody() {
    // Each contender is faster than the next one in two rounds of three, in a cycle.
    let mut test = SequentialTest::new(3, Rules::default());
    let rounds = [[1.0, 2.0, 3.0], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0]];
    for round in rounds.iter().cycle().take(600) {
        let racing = test.racing();
        let sample = |at: usize| racing.contains(&at).then_some(round[at]);
        test.round(&[sample(0), sample(1), sample(2)]);
    }
    assert!(test.winner().is_some());
}

#[test]
fn an_incumbent_stays_until_it_was_shown_to_be_slower() {
    let after = |time: f64, replicates: usize, rounds: u32| {
        let rules = Rules {
            worse: 1.0,
            ..Rules::default()
        };
        let mut test = SequentialTest::new(3, rules)
            .favouring(vec![0, 2])
            .incumbent(Some(0));
        for replicate in 0..replicates {
            if replicate > 0 {
                test.next_replicate();
            }
            for _ in 0..rounds {
                test.round(&[Some(time), Some(100.0), Some(time)]);
            }
        }
        test
    };
    for (time, replicates, rounds, stays) in [
        // Two rounds beside each other show nothing, and a few of them only what is clear.
        (300.0, 1, 2, true),
        (170.0, 1, 4, true),
        (180.0, 1, 4, false),
        (170.0, 1, 8, true),
        (180.0, 1, 8, false),
        (120.0, 2, 8, true),
        (140.0, 2, 8, false),
        (108.0, 3, 8, true),
        (120.0, 3, 8, false),
        (108.0, 5, 8, true),
        (108.0, 6, 8, false),
    ] {
        let test = after(time, replicates, rounds);
        let winner = test.winner();
        assert_eq!(
            winner,
            Some(usize::from(!stays)),
            "{time}, {replicates} of {rounds}"
        );
    }
    // Other favourites, such as the winner at another size, have no such advantage.
    assert_eq!(after(140.0, 2, 8).incumbent(None).winner(), Some(1));
}

#[test]
fn a_favourite_stays_that_was_faster_in_one_replicate() {
    // The favourite was slower in two replicates of three, as if its buffers lay badly.
    let mut test = SequentialTest::new(2, Rules::default());
    for favourite in [110.0, 95.0, 110.0] {
        while !test.over() {
            test.round(&[Some(favourite), Some(100.0)]);
        }
        test.next_replicate();
    }
    assert_eq!(test.ratio_by_replicate(0, 1), [1.1, 0.95, 1.1]);
    assert_eq!(test.winner(), Some(1));
    assert_eq!(test.clone().favouring(vec![0]).winner(), Some(0));
}

#[test]
fn only_replicates_confirm_who_wins_with_long_data() {
    let run = |replicates: &[f64]| {
        let rules = Rules::default().of_long_data();
        let mut test = SequentialTest::new(2, rules).favouring(vec![0]);
        for &first in replicates {
            while !test.over() {
                test.round(&[Some(first), Some(100.0)]);
            }
            if !test.next_replicate() {
                break;
            }
        }
        test
    };
    // Rounds that are faster in few replicates confirm nothing: the place of the buffers may explain them.
    let test = run(&[90.0; 3]);
    assert_eq!(test.left(1), None);
    assert!(!test.enough() && !test.confirmed());
    // The replicates contradict each other.
    let mixed = [94.0, 106.0, 94.0, 106.0, 94.0, 106.0, 94.0, 106.0];
    let test = run(&mixed);
    assert!(test.winner() == Some(0) && !test.enough() && !test.confirmed());
    // Eight replicates in which it was at most three percent slower confirm it.
    let test = run(&[102.0, 102.9, 95.0, 102.9, 97.0, 102.0, 99.0, 99.0]);
    assert!(test.confirmed(), "{:?}", test.ratio_by_replicate(0, 1));
    assert_eq!(test.replicates(), 8);
}
