use super::*;

#[test]
fn dissemination_is_as_defined() {
    for n in 1..=70 {
        for radix in 2..=9 {
            let rounds = Rounds::dissemination(n, radix);
            let mut reach = 1;
            for k in 0..rounds.count() {
                for r in 0..n {
                    let expected: Vec<usize> = (1..radix)
                        .map(|m| m * reach)
                        .filter(|&d| d < n)
                        .map(|d| (r + d) % n)
                        .collect();
                    assert_eq!(rounds.targets(k, r), expected);
                    let sources: Vec<usize> = (1..radix)
                        .map(|m| m * reach)
                        .filter(|&d| d < n)
                        .map(|d| (r + n - d) % n)
                        .collect();
                    assert_eq!(rounds.sources(k, r), sources);
                }
                reach *= radix;
            }
            assert!(
                reach >= n && (n == 1 || reach / radix < n),
                "⌈log n⌉ rounds"
            );
        }
    }
}

#[test]
fn a_round_too_few_is_no_barrier() {
    for n in 2..=20 {
        let full = Rounds::dissemination(n, 2);
        for missing in 0..full.count() {
            let mut targets = full.targets.clone();
            targets.remove(missing);
            assert!(matches!(
                Rounds::new(n, targets),
                Err(RoundsError::NotABarrier { .. })
            ));
        }
    }
}

#[test]
fn bad_schedules_are_refused() {
    let check = |n, targets, part: &str| {
        let error = Rounds::new(n, targets).unwrap_err().to_string();
        assert!(error.contains(part), "{error:?} lacks {part:?}");
    };
    check(0, vec![], "no members");
    check(2, vec![], "rank 0 can leave before rank 1");
    check(2, vec![vec![vec![1]]], "round 0 has lists for 1 ranks");
    check(2, vec![vec![vec![2], vec![0]]], "rank 0 notifies 2");
    check(2, vec![vec![vec![0], vec![0]]], "rank 0 notifies 0");
    check(2, vec![vec![vec![1, 1], vec![0]]], "notifies 1 twice");
    // Rank 1 hears of 0 and notifies 2 in the same round, which is too late to pass on 0's
    // arrival.
    check(
        3,
        vec![vec![vec![1], vec![2], vec![0]]],
        "rank 0 can leave before rank 1",
    );
}

#[test]
fn uniform_costs_are_rounds_times_messages() {
    let machine = corecast_model::synthetic("core:16 send=10 receive=30").unwrap();
    // CLa Equation (27): r · (R_I + m · R_R), with m sends in place of one shared flag.
    let latency = |radix| Rounds::dissemination(16, radix).latency(machine.costs());
    assert_eq!(latency(2), 4.0 * 40.0);
    assert_eq!(latency(4), 2.0 * 3.0 * 40.0);
    assert_eq!(latency(16), 15.0 * 40.0);
    assert_eq!(
        Rounds::dissemination(1, 2).latency(corecast_model::synthetic("core:1").unwrap().costs()),
        0.0
    );
}
