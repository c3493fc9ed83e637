//! The cycle counter runs forward, at the rate that was measured.

use super::*;

#[test]
fn counter_runs_forward_and_is_calibrated() {
    let (clock, start) = (Instant::now(), cycles());
    std::thread::sleep(Duration::from_millis(20));
    let ns = cycles().wrapping_sub(start) as f64 / cycles_per_ns();
    let truth = clock.elapsed().as_nanos() as f64;
    // The two readings are taken at slightly different moments; a wrong rate is off by far more.
    assert!(
        ns > 0.5 * truth && ns < 1.5 * truth,
        "{COUNTER_NAME}: {ns} ns, clock: {truth} ns"
    );
}

#[test]
fn relax_acks() {
    relax();
}
