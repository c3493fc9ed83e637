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

/// Whether the kernel says that the processor has this.
#[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
pub(crate) fn kernel_reports(flag: &str) -> bool {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = info.lines().find(|line| line.starts_with("flags")).unwrap();
    flags.split_whitespace().any(|word| word == flag)
}
