//! Measures this machine in depth and prints every figure as it comes: `cargo run --release -p corecast-probe
//! --example deep`.

use corecast_probe::deep::{DeepConfig, deep};

fn main() -> Result<(), corecast_probe::ProbeError> {
    let machine = corecast_machine::discover().machine;
    let config = DeepConfig::new(machine.pus.iter().map(|pu| pu.os_index).collect());
    let found = deep(&config, &machine, None, |progress, _| {
        eprint!(
            "\r{} of {}, {:.0?} left  ",
            progress.done, progress.total, progress.eta
        );
    })?;
    eprintln!();
    for l in &found.latencies {
        let (access, state) = (format!("{:?}", l.access), l.state.name());
        println!(
            "{access:<5} {state:<9} {:<6} {:<14} {:8.2} ±{:.2}",
            l.level.to_string(),
            l.near.to_string(),
            l.ns.value,
            l.ns.half_width
        );
    }
    for curve in &found.curves {
        println!("{:?} {} {}", curve.kind, curve.state.name(), curve.near);
        for point in &curve.points {
            println!(
                "  {:>4} {:8.1} ±{:.1}",
                point.x, point.ns.value, point.ns.half_width
            );
        }
        println!("  {:?}", curve.fit);
    }
    println!("{:#?}", found.readers);
    for q in &found.quantities {
        println!(
            "{:<40} {:10.2} ±{:.2} {}",
            q.name, q.figure.value, q.figure.half_width, q.unit
        );
    }
    println!(
        "{:?} {:?} {:.1} s\n{:?}",
        found.clock, found.parameters, found.seconds, found.notes
    );
    Ok(())
}
