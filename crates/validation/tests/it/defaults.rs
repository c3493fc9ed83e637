//! Short operations of teams for which nothing was measured are near the best algorithm on simulated machines.

use corecast_sim::drive::Collective;
use corecast_validation::simulated_team::{OF_PAIRS, OF_PARTS, SimulatedTeam};

/// The most that a choice may take of the least time, the mean over machines. Trees, and messages of each rank to each, take
/// 1.3 to 3.3 times the least time of those allreductions, reduce-scatters and gathers.
const MEAN_MAX: f64 = 1.15;

#[test]
fn short_operations_are_near_the_best() {
    let teams: Vec<SimulatedTeam> = OF_PARTS
        .into_iter()
        .chain(OF_PAIRS)
        .filter_map(|name| SimulatedTeam::new(name, 8))
        .collect();
    assert_eq!(teams.len(), 11);
    for (operation, bytes) in [
        (Collective::Allreduce, 8),
        (Collective::Allreduce, 512),
        (Collective::Allreduce, 4096),
        (Collective::ReduceScatter, 64),
        (Collective::Gather, 64),
        (Collective::Allgather, 64),
        (Collective::Reduce, 8),
        (Collective::Scatter, 64),
        (Collective::Scan, 64),
    ] {
        let cases = || teams.iter().map(|team| team.case(operation, bytes));
        let mean = |sum: f64| (sum / teams.len() as f64).exp();
        let unmeasured = mean(cases().map(|case| case.unmeasured.1.ln()).sum());
        let measured = mean(cases().map(|case| case.measured.1.ln()).sum());
        assert!(
            unmeasured <= MEAN_MAX && measured <= MEAN_MAX,
            "{operation} of {bytes}: {unmeasured}, {measured} by each machine's n½"
        );
    }
}

#[test]
fn few_machines_have_many_cores() {
    assert!(SimulatedTeam::new("shanghai-4x4", 17).is_none());
    assert!(SimulatedTeam::new("no-machine", 2).is_none());
    let sandy_bridge = SimulatedTeam::new("xeon-e5-2660", 2).unwrap();
    assert_eq!(sandy_bridge.half_bytes(), 553);
}
