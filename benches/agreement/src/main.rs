//! Races a replicated `HashMap` against a private one for each thread, node-replication, dashmap and a lock: 65,536 keys of 8
//! bytes, values of 16, keys at random, several shares of sets.
//!
//! ```text
//! cargo run --release -p agreement [-- --threads 4 --sets 0,20,100 --seconds 10 --json]
//! ```

mod maps;

use clap::Parser;
use corecast_agree::Reads;
use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::engine::Ledger;
use corecast_bench::{Comparison, Engine, Entrant, Flaw, Member, Role, Settings, race, table};
use maps::{Access, Corecast, KEYS, Locked, NodeReplication, Private, Shared, dashmap};
use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Races a replicated map against others.
#[derive(Parser)]
#[command(name = "agreement")]
struct Arguments {
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// The threads, dealt to the PUs in turn.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// The replicas; one for each PU unless given.
    #[arg(long)]
    replicas: Option<usize>,
    /// Sets in a hundred operations, one comparison for each.
    #[arg(long, value_delimiter = ',', default_value = "0,20,100")]
    sets: Vec<u8>,
    /// Time for each comparison, about.
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    seconds: u64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("agreement: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let pus = cpu_placement::allowed_pus();
    let placements = cpu_placement::pinned(arguments.threads.max(1), &pus);
    let replicas = arguments.replicas.unwrap_or(pus.len());
    let replicas = replicas.clamp(1, placements.len());
    let settings = Settings {
        // Each map is warm in the caches again after the first few milliseconds of a batch.
        batch: Duration::from_millis(100),
        budget: Duration::from_secs(arguments.seconds),
        ..Settings::default()
    };
    let mut reports = Vec::new();
    for &sets in &arguments.sets {
        let comparison = compare(&placements, replicas, sets, &settings)?;
        if !arguments.json {
            println!("{}", table::render(&comparison, table::Extent::All));
        }
        reports.push(comparison.report());
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&reports)?);
    }
    Ok(())
}

fn compare(
    placements: &[CpuPlacement],
    replicas: usize,
    sets: u8,
    settings: &Settings,
) -> Result<Comparison, Box<dyn Error>> {
    let threads = placements.len();
    let entrants = [
        entrant(Private, threads, sets),
        entrant(Corecast::new(replicas, Reads::Watermark), threads, sets),
        entrant(Corecast::new(replicas, Reads::Stable), threads, sets),
        entrant(Corecast::new(replicas, Reads::Raced), threads, sets),
        entrant(NodeReplication::new(replicas), threads, sets),
        entrant(dashmap(), threads, sets),
        entrant(Locked::new(), threads, sets),
    ];
    let title = format!("{sets} sets in 100 operations, {threads} threads");
    Ok(race::run(&title, placements, settings, &entrants, |_| {})?)
}

fn entrant<'a, M: Shared + 'a>(map: M, threads: usize, sets: u8) -> Entrant<'a> {
    Entrant::threads(Mixed { map, threads, sets })
}

/// Gets and sets of a map at random.
struct Mixed<M> {
    map: M,
    threads: usize,
    /// In a hundred operations.
    sets: u8,
}

impl<M: Shared> Engine for Mixed<M> {
    fn name(&self) -> &str {
        self.map.name()
    }

    fn setting(&self) -> String {
        self.map.setting()
    }

    fn role(&self) -> Role {
        M::ROLE
    }

    fn ranks(&self) -> usize {
        self.threads
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(Thread {
            access: self.map.access(rank),
            random: fastrand::Rng::with_seed(rank as u64 + 1),
            sets_below: u64::from(self.sets) * (u64::from(u32::MAX) + 1) / 100,
            is_shared: M::IS_SHARED,
        })
    }
}

struct Thread<A> {
    access: A,
    random: fastrand::Rng,
    /// Of 2^32 random numbers, those below it are sets.
    sets_below: u64,
    is_shared: bool,
}

impl<A: Access> Member for Thread<A> {
    fn run(&mut self, operations: u64) {
        for _ in 0..operations {
            let random = self.random.u64(..);
            let key = random % KEYS;
            if random >> 32 < self.sets_below {
                self.access.set(key, [key, random]);
            } else {
                let found = std::hint::black_box(self.access.get(key));
                debug_assert_eq!(found.map(|value| value[0]), Some(key));
            }
        }
    }

    /// Each thread sets keys of its own, and finds them and those of others.
    fn verify(&mut self, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let ranks = ledger.ranks() as u64;
        let mut flaw = Ok(());
        for round in 1..=ledger.rounds() {
            let key = |rank: u64| (round * ranks + rank) % KEYS;
            let own = key(rank as u64);
            self.access.set(own, [own, round]);
            // Relaxed to say and to look: the map under test must order what it holds.
            ledger.counter(rank).store(round, Ordering::Relaxed);
            for other in 0..ranks {
                while ledger.counter(other as usize).load(Ordering::Relaxed) < round {
                    std::thread::yield_now();
                }
                let key = key(other);
                let found = self.access.get(key);
                let is_due = self.is_shared || other == rank as u64;
                if is_due && found != Some([key, round]) && flaw.is_ok() {
                    let why = format!("rank {rank} finds {found:?} at {key} instead of {round}");
                    flaw = Err(Flaw::WrongResult(why));
                }
            }
        }
        flaw
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::Status;

    #[test]
    fn all_maps_do_what_they_are_asked_for() {
        let placements = cpu_placement::free(2);
        for sets in [0, 20] {
            let comparison = compare(&placements, 2, sets, &Settings::quick()).unwrap();
            for entry in &comparison.entries {
                assert_eq!(entry.status, Status::Timed, "{}", entry.name);
            }
        }
    }
}
