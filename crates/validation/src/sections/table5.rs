//! Table 5 of Mencagli and others: ping-pongs over the rdy-ack interface on TILEPro64.

use crate::document::{Content, percent, table};
use crate::streams::StreamRuntime;
use crate::streams::port::{Port, PortPlace};
use corecast_sim::engine::{Cpu, RunOptions, Setup, run};
use corecast_sim::machine::known;

/// Simulated cycles of one way of a ping-pong between two tiles that are `hops` apart.
pub fn ping_pong(runtime: StreamRuntime, hops: usize) -> f64 {
    let tile = |hops: usize| if hops < 8 { hops } else { 7 + 8 * (hops - 7) };
    let (a, b) = (0, tile(hops));
    let mut machine = known::tilepro64();
    machine.hashed = runtime.spreads();
    let setup = move |setup: &mut Setup<'_>| {
        let mut port = |home, tag| {
            let place = PortPlace {
                home,
                ready: tag,
                ack: tag + 1,
            };
            Port::new(setup, runtime, place, 1, None)
        };
        [port(b, 0), port(a, 2)]
    };
    let rounds = 200;
    let body = move |cpu: &mut Cpu<'_>, ports: &[Port; 2]| {
        let [there, back] = ports;
        let (out, home, peer) = match cpu.rank() {
            0 => (there, back, b),
            _ => (back, there, a),
        };
        let send = |cpu: &mut Cpu<'_>, word| {
            out.await_room(cpu);
            let at = out.open(cpu);
            out.write(cpu, at, word);
            out.send(cpu, peer, at);
        };
        let receive = |cpu: &mut Cpu<'_>| {
            home.await_message(cpu);
            let at = home.accept(cpu);
            let word = cpu.load(at);
            home.release(cpu, peer, at);
            word
        };
        out.prime(cpu);
        for round in 0..rounds {
            if cpu.rank() == 0 {
                send(cpu, round);
                assert_eq!(receive(cpu), round);
            } else {
                assert_eq!(receive(cpu), round);
                send(cpu, round);
            }
        }
        cpu.now()
    };
    let outcome = run(&machine, &[a, b], &RunOptions::default(), setup, body).expect("it ends");
    outcome.results[0] / (2.0 * rounds as f64)
}

/// Table 5. Its rows RA_HF and RA are taken the other way round: the text says that RA-HF is 50 to 65 % faster
/// than RA, and that it is RA-HF that grows with the distance, which only the row called RA does.
const MEASURED: [(StreamRuntime, [f64; 3]); 3] = [
    (StreamRuntime::Signals, [42.13, 49.63, 55.64]),
    (StreamRuntime::Flags, [124.27, 150.31, 168.33]),
    (StreamRuntime::Plain, [363.55, 337.01, 331.06]),
];

/// The published cycles for each runtime and distance.
pub fn measured() -> impl Iterator<Item = (StreamRuntime, usize, f64)> {
    let row = |(runtime, cycles): (StreamRuntime, [f64; 3])| {
        let cells = [1, 8, 14].into_iter().zip(cycles);
        cells.map(move |(hops, cycles)| (runtime, hops, cycles))
    };
    MEASURED.into_iter().flat_map(row)
}

/// The section of docs/validation.md.
pub fn section() -> Content {
    let rows = measured().map(|(runtime, hops, measured)| {
        let found = ping_pong(runtime, hops);
        [
            runtime.to_string(),
            hops.to_string(),
            format!("{measured:.1}"),
            format!("{found:.1}"),
            percent(found, measured),
        ]
    });
    format!(
        "\
Cycles of a message between two tiles, there and back by halves (Mencagli and others, Table 5). The tile's parts are
fitted to Tables 2 and 4, and what a notification costs each end to the first row here. The rows RA and RA-HF of the
table are swapped: [simulator.md](simulator.md#tilepro64) says why. `crates/validation/tests/it/tilepro64.rs` holds 15 %.
The table shows ping-pongs of a word over the rdy-ack interface (`crates/validation/src/streams/port.rs`): RA-UDN has
notifications by the user network, RA-HF flags that are at home with their reader, RA flags whose homes are spread.

{}",
        table(["interface", "hops", "measured", "simulated", "error"], rows)
    )
    .into()
}
