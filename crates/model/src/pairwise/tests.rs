use super::*;

fn rows(n: usize, f: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    (0..n).map(|i| (0..n).map(|j| f(i, j)).collect()).collect()
}

fn check(send: Vec<Vec<f64>>, receive: Vec<Vec<f64>>, numa: Vec<u32>, message: &str) {
    let error = CostModel::new(Unit::Cycles, send, receive, numa)
        .unwrap_err()
        .to_string();
    assert!(error.contains(message), "{error:?} lacks {message:?}");
    assert!(!error.contains('\n'));
}

#[test]
fn bad_costs_are_quoted() {
    let ok = || rows(3, |i, j| (i * 3 + j) as f64);
    let with = |i: usize, j: usize, v: f64| {
        let mut m = ok();
        m[i][j] = v;
        m
    };
    check(vec![], vec![], vec![], "no threads");
    check(
        ok(),
        rows(2, |_, _| 0.0),
        vec![0; 3],
        "receive has 2 entries, expected 3",
    );
    check(ok(), ok(), vec![0; 4], "numa has 4 entries");
    check(with(1, 2, f64::NAN), ok(), vec![0; 3], "send[1][2] is NaN");
    check(ok(), with(2, 0, -1.5), vec![0; 3], "receive[2][0] is -1.5");
    check(
        ok(),
        with(0, 1, f64::INFINITY),
        vec![0; 3],
        "receive[0][1] is inf",
    );
    check(
        ok(),
        with(0, 1, 2e15),
        vec![0; 3],
        "receive[0][1] is 2000000000000000",
    );
    let mut ragged = ok();
    ragged[1].pop();
    check(ragged, ok(), vec![0; 3], "send[1] has 2 entries");
}

#[test]
fn the_diagonal_is_ignored() {
    let m = rows(2, |i, j| if i == j { f64::NAN } else { 1.0 });
    let costs = CostModel::new(Unit::Cycles, m.clone(), m, vec![0, 0]).unwrap();
    assert_eq!((costs.send(0, 0), costs.receive(1, 1)), (0.0, 0.0));
}

#[test]
fn one_thread_is_a_team() {
    let one = CostModel::new(Unit::Cycles, vec![vec![7.0]], vec![vec![7.0]], vec![3]).unwrap();
    assert_eq!((one.n(), one.numa(0), one.send_mean(0)), (1, 3, 0.0));
}

#[test]
fn subset_keeps_direction_and_order() {
    let whole = CostModel::new(
        Unit::Cycles,
        rows(4, |i, j| (10 * i + j) as f64),
        rows(4, |i, j| (100 * i + j) as f64),
        vec![0, 0, 1, 1],
    )
    .unwrap();
    let part = whole.subset(&[3, 1]).unwrap();
    assert_eq!((part.send(0, 1), part.receive(1, 0)), (31.0, 103.0));
    assert_eq!(part.numa_nodes(), [1, 0]);
    assert!(matches!(whole.subset(&[]), Err(CostError::Empty)));
    assert!(matches!(
        whole.subset(&[4]),
        Err(CostError::OutOfRange {
            position: 4,
            last: 3
        })
    ));
    assert!(matches!(
        whole.subset(&[1, 1]),
        Err(CostError::Duplicate { position: 1 })
    ));
}

#[test]
fn mirroring_swaps_roles_and_twice_is_nothing() {
    let m = CostModel::new(
        Unit::Cycles,
        rows(3, |i, j| (10 * i + j) as f64),
        rows(3, |i, j| (100 * i + j) as f64),
        vec![0, 0, 1],
    )
    .unwrap();
    let back = m.mirrored();
    assert_eq!(
        (back.send(0, 2), back.receive(0, 2)),
        (m.receive(2, 0), m.send(2, 0))
    );
    assert_eq!(back.mirrored(), m.subset(&[0, 1, 2]).unwrap());
}
