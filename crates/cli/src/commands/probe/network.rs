//! `corecast probe` under `mpirun`: measures what messages between hosts cost, and saves a machine file of all hosts.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use corecast::costs;
use corecast::store::Store;
use corecast_draw::table;
use corecast_machine::{discover, network_card_nodes};
use corecast_model::MachineFile;
use corecast_model::cluster::{Cluster, Interval, Network, NetworkMeasurement};
use corecast_model::words::count;
use corecast_network::{Job, Launched};
use corecast_probe::network::{Session, serve};
use corecast_probe::now_utc;

use super::args::ProbeArgs;
use crate::options::Global;
use crate::{failure, interrupt, output, progress};

/// The longest measurement without `--time-limit`.
const LIMIT: Duration = Duration::from_secs(10);

/// Measures on rank 0, and has all other ranks answer it without a word.
pub(super) fn run(global: &Global, args: &ProbeArgs, launched: Launched) -> Result<ExitCode> {
    let job = || -> Result<Job> {
        args.check_network(global)?;
        Ok(Job::begin(launched)?)
    };
    let job = match (job(), launched.rank) {
        (Ok(job), _) => job,
        (Err(error), 0) => return Err(error),
        // Rank 0 says why.
        (Err(_), _) => return Ok(failure::unusable()),
    };
    if job.rank() > 0 {
        serve(&job, tell);
        return Ok(ExitCode::SUCCESS);
    }
    conduct(global, args, &job)
}

/// The text about this process's host: the NUMA nodes that own its network cards, and its machine file.
fn tell() -> String {
    let here = discover();
    let (file, _) = costs::here(&Store::standard(), &here);
    let pus = &file.machine().pus;
    let owned = network_card_nodes(Path::new("/"));
    let node = |os_index: &u32| {
        let pu = pus.iter().find(|pu| pu.numa_os_index == *os_index)?;
        Some(pu.numa_node.to_string())
    };
    let cards: Vec<String> = owned.iter().filter_map(node).collect();
    format!("{}\n{}", cards.join(","), file.to_json())
}

/// Reads what [`tell`] has made. Where no card is known, the first NUMA node has it.
fn told(text: &str) -> Result<(MachineFile, Vec<u32>)> {
    let (cards, json) = text.split_once('\n').unwrap_or_default();
    let cards: Vec<u32> = cards
        .split(',')
        .filter_map(|card| card.parse().ok())
        .collect();
    let cards = if cards.is_empty() { vec![0] } else { cards };
    Ok((MachineFile::from_json(json)?, cards))
}

/// Rank 0: measures, saves and shows.
fn conduct(global: &Global, args: &ProbeArgs, job: &Job) -> Result<ExitCode> {
    let session = Session::new(job, tell);
    // One rank alone, as a check makes the file and removes it. The end of the session ends the others.
    if let Some(path) = &args.output {
        output::check_writable(path)?;
    }
    let mut hosts = Vec::new();
    for host in session.hosts() {
        let refused = || format!("the machine of host {:?}", host.name);
        let (file, cards) = told(&host.text).with_context(refused)?;
        hosts.push((host.name.clone(), file, cards));
    }
    let library = job.library().dialect().name();
    if session.is_one_host() {
        failure::warn(&format!(
            "all processes are on host {:?}: what is measured is {library} between two of them, as if they were on two hosts; \
             start them on several hosts for a network",
            hosts[0].0
        ));
    }
    let bar = progress::bar("measuring");
    let limit = args.time_limit.map_or(LIMIT, Duration::from_secs);
    let times = session.measure(limit, |done| {
        bar.at(done, "messages between hosts");
        !interrupt::happened()
    });
    bar.finish();
    let (network, measured) = times.costs(library, &now_utc(), session.pairs());
    let is_one_host = session.is_one_host();
    drop(session);

    let names: Vec<&str> = hosts.iter().map(|(name, ..)| &name[..]).collect();
    let name = names.join(" ");
    let file = MachineFile::of_hosts(&name, hosts, network)?;
    let listed = file
        .cluster()
        .map_or_else(Vec::new, |cluster| cluster.hosts.clone());
    let mut cluster = Cluster::new(listed, network);
    cluster.measured = Some(measured.clone());
    let file = file.with_cluster(cluster)?;
    let saved = match &args.output {
        Some(path) => {
            output::save(path, &file.to_json())?;
            format!("saved in {path}")
        }
        // It would stand for hosts like this one.
        None if is_one_host => "not saved: there is one host, name a file with --output".to_owned(),
        None => output::kept("", Store::standard().save_machine(&file)),
    };
    if global.json {
        output::print(&file.to_json())?;
    } else if args.output.as_deref() != Some("-") {
        output::print(&text(&name, &network, &measured, &saved))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The terms, and the times by size beside what the terms say.
fn text(name: &str, network: &Network, measured: &NetworkMeasurement, saved: &str) -> String {
    let pairs = count(measured.pairs, "pair");
    let mut out = format!(
        "messages of {} between hosts {name}, {pairs} measured\n\n",
        measured.library
    );
    let mut terms = table(["LogGP", "", "ns", "95 %"], 2..4);
    for (term, what, value) in [
        ("L", "on its way", measured.latency_ns),
        ("o", "of the sender", measured.send_overhead_ns),
        ("o", "of the receiver", measured.receive_overhead_ns),
        ("g", "of the card", measured.gap_ns),
        ("G", "for each byte", measured.byte_ns),
    ] {
        terms.add_row([
            term.to_owned(),
            what.to_owned(),
            digits(value.median),
            range(value),
        ]);
    }
    let header = ["bytes", "one way, ns", "95 %", "by LogGP", "in a row, ns"];
    let mut sizes = table(header, 0..5);
    for size in &measured.sizes {
        sizes.add_row([
            size.bytes.to_string(),
            digits(size.one_way.median),
            range(size.one_way),
            digits(network.message_ns(size.bytes)),
            digits(size.in_a_row.median),
        ]);
    }
    let _ = writeln!(out, "{terms}\n\n{sizes}\n");
    if let Some(bytes) = measured.rendezvous_bytes {
        let _ = writeln!(
            out,
            "messages of more than {bytes} bytes take a step more: they ask before they go"
        );
    }
    let _ = writeln!(out, "{saved}");
    out
}

fn digits(ns: f64) -> String {
    match ns < 100.0 {
        true => format!("{ns:.3}"),
        false => format!("{ns:.0}"),
    }
}

fn range(value: Interval) -> String {
    format!("{} to {}", digits(value.low), digits(value.high))
}
