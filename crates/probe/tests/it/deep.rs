//! Measurements in depth on the machine at hand: ratios and orders that hold on every machine, and what an
//! interrupted measurement leaves.

use std::panic::catch_unwind;
use std::time::Duration;

use corecast_model::Machine;
use corecast_model::deep::{Access, Deep, Level, State};
use corecast_probe::ProbeError;
use corecast_probe::deep::{DeepConfig, Scope, deep, together};

/// The first two hardware threads that are no SMT siblings, if there are any.
fn config(machine: &Machine) -> Option<DeepConfig> {
    let first = machine.pus.first()?;
    let second = machine.pus.iter().find(|pu| pu.core != first.core)?;
    Some(DeepConfig::new(vec![first.os_index, second.os_index]))
}

/// Returns the result of a measurement; `None` where this machine does not let threads be pinned.
fn found(config: &DeepConfig, machine: &Machine, before: Option<Deep>) -> Option<Deep> {
    match deep(config, machine, before, |_, _| ()) {
        Ok(found) => Some(found),
        Err(error) if error.is_environment() => {
            println!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The median latency over all threads and places.
fn latency(found: &Deep, access: Access, own: bool, states: &[State], level: Level) -> f64 {
    let of = found.latencies.iter().filter(|one| {
        one.access == access
            && (one.by == one.of) == own
            && states.contains(&one.state)
            && one.level == level
    });
    let figures: Vec<_> = of.map(|one| one.ns).collect();
    together(&figures).expect("a measured latency").value
}

#[test]
fn latencies_are_in_the_order_of_distance() {
    let machine = corecast_machine::discover().machine;
    let Some(mut config) = config(&machine) else {
        return println!("SKIPPED: one core");
    };
    // A machine that is shared with others may be disturbed, so one of these time limits has to suffice.
    let holds = [20, 40, 80, 160].into_iter().any(|seconds| {
        config.time_limit = Duration::from_secs(seconds);
        let found = found(&config, &machine, None);
        catch_unwind(|| found.as_ref().is_none_or(is_in_order)).unwrap_or(false)
    });
    assert!(holds, "see above");
}

/// Panics where the latencies are not in the order of distance.
fn is_in_order(found: &Deep) -> bool {
    let first = Level::Cache(1);
    let cached = [State::Modified, State::Exclusive];
    let read = |own, level, states: &[State]| latency(found, Access::Read, own, states, level);
    let own = read(true, first, &cached);
    let other = read(false, first, &cached);
    assert!(own < other, "own line {own} ns, another core's {other} ns");
    if corecast_wire::microbench::FLUSHES {
        let memory = read(true, Level::Memory, &[State::Invalid]);
        assert!(2.0 * own < memory, "own line {own} ns, memory {memory} ns");
    }
    let written = latency(found, Access::Write, true, &cached, first);
    assert!(
        own < written,
        "a fence costs nothing: {own} ns, {written} ns"
    );
    assert!(found.left.is_empty(), "{:?}", found.left);
    assert!(found.parameters["R_L"].value < found.parameters["R_R"].value);

    let ns = |name: &str| {
        found
            .quantity(name)
            .unwrap_or_else(|| panic!("no {name}"))
            .figure
            .value
    };
    let asleep = ns("futex wake, until the sleeper runs");
    assert!(ns("pause") < ns("futex wake, the waker's part"));
    assert!(ns("futex wake, nobody sleeps") < asleep);
    assert!(ns("reading the counter") > 0.0);
    // Many lines take longer than one, but less than twice the time of one for each of them.
    for curve in &found.curves {
        let (one, last) = (curve.points.first().unwrap(), curve.points.last().unwrap());
        if curve.kind == corecast_model::deep::CurveKind::Lines {
            assert!(one.ns.value < last.ns.value, "{curve:?}");
            assert!(
                last.ns.value < f64::from(last.x) * 2.0 * one.ns.value,
                "{curve:?}"
            );
            assert!(curve.fit.is_some());
        }
    }
    found.check().unwrap();
    true
}

#[test]
fn an_interrupted_measurement_goes_on() {
    let machine = corecast_machine::discover().machine;
    let Some(mut config) = config(&machine) else {
        return println!("SKIPPED: one core");
    };
    config.scope = Scope::Coherence;
    // The first part is measured whatever the limit, unless the limit has passed before it.
    config.time_limit = Duration::from_millis(40);
    let Some(first) = found(&config, &machine, None) else {
        return;
    };
    assert!(!first.left.is_empty());
    let measured = first.latencies.clone();
    config.time_limit = Duration::from_secs(120);
    let Some(second) = found(&config, &machine, Some(first.clone())) else {
        return;
    };
    assert!(second.latencies.starts_with(&measured));
    assert!(second.latencies.len() > measured.len());
    // Parts outside of this scope are left for later.
    assert!(second.left.contains(&"waits".to_owned()));
    assert!(!second.left.iter().any(|name| name.starts_with("latency")));
    // A complete measurement is not continued but made anew.
    config.time_limit = Duration::from_millis(1);
    let mut whole = second;
    whole.left.clear();
    if let Some(third) = found(&config, &machine, Some(whole.clone())) {
        assert!(third.latencies.len() < whole.latencies.len());
    }
}

#[test]
fn waits_are_measured_alone_and_the_rest_is_kept() {
    let machine = corecast_machine::discover().machine;
    let Some(mut config) = config(&machine) else {
        return println!("SKIPPED: one core");
    };
    config.scope = Scope::Waits;
    let Some(mut first) = found(&config, &machine, None) else {
        return;
    };
    let ns = |found: &Deep, name| found.quantity(name).unwrap().figure.value;
    assert!(ns(&first, corecast_model::deep::YIELD) > 0.0);
    assert!(!first.left.contains(&"waits".to_owned()));
    assert!(first.left.contains(&"readers".to_owned()) && first.latencies.is_empty());
    // A second measurement replaces the waits, each of which is there once, and keeps all other
    // quantities.
    let count = first.quantities.len();
    let mut kept = first.quantities[0].clone();
    kept.name = "store buffer".to_owned();
    first.quantities[0].figure.samples = 0;
    first.quantities.push(kept.clone());
    let left = first.left.clone();
    let Some(second) = found(&config, &machine, Some(first)) else {
        return;
    };
    assert_eq!(second.quantities.len(), count + 1);
    assert!(second.quantities[0].figure.samples > 0);
    assert_eq!(second.quantity("store buffer"), Some(&kept));
    assert_eq!(second.left, left);
}

#[test]
fn threads_that_cannot_be_measured_are_refused() {
    let machine = corecast_machine::discover().machine;
    let one = machine.pus[0].os_index;
    let refused = |pus| deep(&DeepConfig::new(pus), &machine, None, |_, _| ()).unwrap_err();
    assert!(matches!(refused(vec![one]), ProbeError::OnePu { .. }));
    assert!(matches!(
        refused(vec![one, 65_000]),
        ProbeError::Unknown { .. }
    ));
    assert!(matches!(
        refused(vec![one, one]),
        ProbeError::Duplicate { .. }
    ));
}
