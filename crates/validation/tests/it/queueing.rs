//! Compares contention at one server with queueing theory: M/D/1 (Mencagli and others, §5 and Fig.
//! 3).

use corecast_validation::sections::queueing::{BASE, in_theory, loads, wait};

#[test]
fn latency_under_load_is_that_of_m_d_1() {
    for load in loads() {
        let (waited, busy) = wait(load);
        assert!(
            (busy / load.share() - 1.0).abs() < 0.05,
            "{load:?}: busy for {busy} of the time"
        );
        let (found, theory) = (BASE + waited, BASE + in_theory(load));
        println!("{load:?}: {found:.1}, in theory {theory:.1}");
        let error = (found / theory - 1.0).abs();
        assert!(error < 0.05, "{load:?}: {found} against {theory}");
        let (queue, expected) = (found - BASE, theory - BASE);
        assert!(
            (queue / expected - 1.0).abs() < 0.08,
            "{load:?}: they wait {queue}, not {expected}"
        );
    }
}
