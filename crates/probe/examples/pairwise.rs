//! Prints what messages cost between the hardware threads of this machine.
//!
//! `cargo run --release -p corecast-probe --example pairwise [ump|fastforward] [FILE.json]`
//!
//! With a file name, the machine file is written there as well.

use std::error::Error;
use std::io::IsTerminal;

use corecast_probe::{Basis, Config, Costs, Measurement, Outcome, measure_or_builtin};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let found = corecast_machine::discover();
    let mut config = Config::whole(&found.machine);
    if let Some(name) = arguments.next() {
        config.backend = name.parse()?;
    }
    let show = std::io::stderr().is_terminal();
    let outcome = measure_or_builtin(&config, &found.machine, |p| {
        if show {
            eprint!("\r{} of {} pairs, {:.1?} left  ", p.done, p.total, p.eta);
        }
    })?;
    if show {
        eprintln!();
    }
    let file = match outcome {
        Outcome::Measured(measurement) => {
            print(&measurement);
            measurement.to_machine_file(Basis::Batch)?
        }
        Outcome::BuiltIn { why, file } => {
            println!("built-in costs: {why}");
            *file
        }
    };
    if let Some(path) = arguments.next() {
        std::fs::write(&path, file.to_json())?;
        println!("written to {path}");
    }
    Ok(())
}

fn print(m: &Measurement) {
    println!(
        "{}: {} threads, {} queues of {} slots, batches of {}, {} samples a pair, {} left out, {:.2?}",
        m.machine.cpu.as_deref().unwrap_or(&m.machine.name),
        m.threads.len(),
        m.backend,
        m.slots,
        m.batch,
        m.samples,
        m.discarded,
        m.elapsed
    );
    for (title, costs) in [
        ("send, per message of a batch", &m.send),
        ("receive, per message of a batch", &m.receive),
        ("send, write buffer drained", &m.send_drained),
        ("receive, a message alone", &m.receive_alone),
        ("one way", &m.one_way),
        ("one", &m.one),
        ("long", &m.long),
        ("crossed", &m.crossed),
        ("taken", &m.taken),
        ("one way less send", &m.receive_on(Basis::OneWay)),
    ] {
        matrix(title, &m.threads, costs);
    }
    for note in &m.notes {
        println!("note: {note}");
    }
}

fn matrix(title: &str, threads: &[u32], costs: &Costs) {
    println!("\n{title} (ns; row: sender, column: receiver)");
    print!("{:>4}", "");
    for thread in threads {
        print!("{thread:>14}");
    }
    println!();
    for (i, thread) in threads.iter().enumerate() {
        print!("{thread:>4}");
        for j in 0..threads.len() {
            if i == j {
                print!("{:>14}", "-");
            } else {
                let (ns, half) = (costs.ns.get(i, j), costs.half_width_ns.get(i, j));
                print!("{:>14}", format!("{ns:.1} ± {half:.1}"));
            }
        }
        println!();
    }
}
