//! `INFO`: the server in numbers, by the names that Redis has for them.

use std::fmt::Write;

use corecast_wire::sync::Ordering;

use super::session::REDIS_VERSION;
use super::shared::Shared;
use super::surroundings::Surroundings;
use crate::arguments::Args;
use crate::counts::Counter;
use crate::keyspace::Facts;
use crate::resp::Reply;

const SECTIONS: [&str; 9] = [
    "Server",
    "Clients",
    "Memory",
    "Persistence",
    "Stats",
    "Replication",
    "CPU",
    "Cluster",
    "Keyspace",
];

pub(super) fn run(args: Args<'_>, around: &mut Surroundings<'_>, reply: &mut Reply<'_>) {
    let all = |word: &[u8]| {
        ["all", "default", "everything"]
            .iter()
            .any(|it| word.eq_ignore_ascii_case(it.as_bytes()))
    };
    let named = |section: &str| {
        args.from(1)
            .any(|it| it.eq_ignore_ascii_case(section.as_bytes()))
    };
    let wanted = |section: &&str| args.len() == 1 || args.from(1).any(all) || named(section);
    let facts = around.facts();
    let replica = around.store.replica();
    let process = replica.map(|it| Process {
        number: it.number(),
        roles: it.roles(),
        writer: it.writer(),
        agreements: it.agreements(),
    });
    let sections = SECTIONS.into_iter().filter(wanted);
    let texts = sections.map(|it| format!("# {it}\r\n{}", section(it, around, &facts, process)));
    reply.verbatim(&texts.collect::<Vec<_>>().join("\r\n"));
}

/// A replica that is a process.
#[derive(Clone, Copy)]
struct Process {
    number: usize,
    /// Those that lead and accept.
    roles: (usize, usize),
    /// The one that writes the log.
    writer: Option<usize>,
    agreements: u64,
}

fn section(
    name: &str,
    around: &Surroundings<'_>,
    facts: &Facts,
    process: Option<Process>,
) -> String {
    let shared = around.shared;
    // Relaxed: numbers for people.
    let load = |it: &corecast_wire::sync::AtomicU64| it.load(Ordering::Relaxed).to_string();
    let lines: Vec<(&str, String)> = match name {
        "Server" => vec![
            ("redis_version", REDIS_VERSION.to_owned()),
            ("corecast_version", env!("CARGO_PKG_VERSION").to_owned()),
            ("redis_mode", "standalone".to_owned()),
            ("os", "Linux".to_owned()),
            ("arch_bits", "64".to_owned()),
            ("multiplexing_api", "epoll".to_owned()),
            ("process_id", std::process::id().to_string()),
            ("run_id", shared.run_id.clone()),
            ("tcp_port", shared.address.port().to_string()),
            (
                "uptime_in_seconds",
                shared.started.elapsed().as_secs().to_string(),
            ),
            (
                "uptime_in_days",
                (shared.started.elapsed().as_secs() / 86_400).to_string(),
            ),
            // There is none, which Redis tells so.
            ("config_file", String::new()),
            ("replicas", shared.options.replicas.to_string()),
        ],
        "Clients" => vec![
            ("connected_clients", shared.clients().len().to_string()),
            ("maxclients", load(&shared.clients_max)),
            // No command blocks, but those of a pause wait.
            ("blocked_clients", load(&shared.paused)),
            ("tracking_clients", "0".to_owned()),
        ],
        "Memory" => memory(),
        "Persistence" => persistence(shared),
        "Stats" => stats(shared, facts),
        // All replicas are one server to clients.
        "Replication" => {
            let mut lines = vec![
                ("role", "master".to_owned()),
                ("connected_slaves", "0".to_owned()),
                ("master_replid", shared.run_id.clone()),
                // The order has one entry for many commands.
                ("master_repl_offset", around.store.seen().to_string()),
            ];
            if let Some(it) = process {
                let numbers = [
                    ("replica", it.number),
                    ("leader", it.roles.0),
                    ("acceptor", it.roles.1),
                ];
                let numbers = numbers
                    .into_iter()
                    .chain(it.writer.map(|it| ("log_writer", it)));
                lines.extend(numbers.map(|(name, number)| (name, number.to_string())));
                lines.push(("agreements", it.agreements.to_string()));
            }
            lines
        }
        "CPU" => cpu_seconds(),
        // Clients that serve both kinds ask for it before anything else.
        "Cluster" => vec![("cluster_enabled", "0".to_owned())],
        _ => return keyspace(facts),
    };
    lines.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = write!(text, "{name}:{value}\r\n");
        text
    })
}

fn stats(shared: &Shared, facts: &Facts) -> Vec<(&'static str, String)> {
    // Relaxed: numbers for people.
    let load = |it: &corecast_wire::sync::AtomicU64| it.load(Ordering::Relaxed);
    let (counts, before) = (shared.counts(), shared.counts_before());
    let count = |it: Counter| counts[it as usize].saturating_sub(before.counts[it as usize]);
    let connections = load(&shared.connections).saturating_sub(before.connections);
    let numbers = [
        ("total_connections_received", connections),
        ("total_commands_processed", count(Counter::Commands)),
        ("instantaneous_ops_per_sec", load(&shared.commands_rate)),
        ("total_net_input_bytes", count(Counter::InputBytes)),
        ("total_net_output_bytes", count(Counter::OutputBytes)),
        ("rejected_connections", load(&shared.refused)),
        ("expired_keys", facts.expired.saturating_sub(before.expired)),
        ("evicted_keys", 0),
        ("evicted_clients", load(&shared.cut_off)),
        ("keyspace_hits", count(Counter::Hits)),
        ("keyspace_misses", count(Counter::Misses)),
    ];
    let shown = numbers.map(|(name, number)| (name, number.to_string()));
    shown.into()
}

fn persistence(shared: &Shared) -> Vec<(&'static str, String)> {
    let flag = |it: bool| u8::from(it).to_string();
    let status = |it: bool| if it { "ok" } else { "err" }.to_owned();
    let Some(durability) = &shared.durability else {
        return vec![
            ("loading", flag(false)),
            ("rdb_bgsave_in_progress", flag(false)),
            ("rdb_last_save_time", shared.started_at.to_string()),
            ("rdb_last_bgsave_status", status(true)),
            ("aof_enabled", flag(false)),
            ("aof_rewrite_in_progress", flag(false)),
            ("aof_last_write_status", status(true)),
        ];
    };
    let saves = durability.saves();
    vec![
        ("loading", flag(false)),
        ("rdb_bgsave_in_progress", flag(saves.is_saving)),
        ("rdb_last_save_time", saves.saved_at.to_string()),
        ("rdb_last_bgsave_status", status(saves.is_ok)),
        ("aof_enabled", flag(true)),
        ("aof_rewrite_in_progress", flag(saves.is_saving)),
        (
            "aof_last_write_status",
            status(durability.failed().is_none()),
        ),
        ("aof_base_size", saves.snapshot_bytes.to_string()),
        (
            "aof_current_size",
            (saves.log_bytes.saturating_sub(saves.saved_log_bytes) + saves.snapshot_bytes)
                .to_string(),
        ),
    ]
}

fn keyspace(facts: &Facts) -> String {
    let mut text = String::new();
    for (number, (keys, expires)) in facts.keys.iter().enumerate() {
        if *keys > 0 {
            let _ = write!(
                text,
                "db{number}:keys={keys},expires={expires},avg_ttl=0\r\n"
            );
        }
    }
    text
}

/// The times that the kernel and this process, and the processes that it has waited for, took; none where the kernel does not say.
fn cpu_seconds() -> Vec<(&'static str, String)> {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second word is a name in brackets, and may hold anything; the fourteenth and those after it are the times.
    let words = text.rsplit_once(')').map_or("", |(_, words)| words);
    let ticks = words.split_ascii_whitespace().skip(11);
    let ticks = ticks.map_while(|it| it.parse::<u64>().ok());
    let names = [
        "used_cpu_user",
        "used_cpu_sys",
        "used_cpu_user_children",
        "used_cpu_sys_children",
    ];
    let rate = rustix::param::clock_ticks_per_second() as f64;
    let seconds = ticks.map(|it| format!("{:.6}", it as f64 / rate));
    names.into_iter().zip(seconds).collect()
}

/// Memory as the kernel tells it. What is in use is what it has given: the allocator is not asked.
fn memory() -> Vec<(&'static str, String)> {
    let own = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let all = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let resident = kernel_bytes(&own, "VmRSS");
    let peak = kernel_bytes(&own, "VmHWM").max(resident);
    let total = kernel_bytes(&all, "MemTotal");
    vec![
        ("used_memory", resident.to_string()),
        ("used_memory_human", human(resident)),
        ("used_memory_rss", resident.to_string()),
        ("used_memory_rss_human", human(resident)),
        ("used_memory_peak", peak.to_string()),
        ("used_memory_peak_human", human(peak)),
        ("total_system_memory", total.to_string()),
        ("total_system_memory_human", human(total)),
        ("maxmemory", "0".to_owned()),
        ("maxmemory_human", human(0)),
        ("maxmemory_policy", "noeviction".to_owned()),
        ("mem_fragmentation_ratio", "1.00".to_owned()),
    ]
}

/// The bytes that a file of the kernel tells under a name in kB, or 0 where it does not.
fn kernel_bytes(text: &str, name: &str) -> u64 {
    let lines = text.lines().filter_map(|it| it.split_once(':'));
    let found = lines.into_iter().find(|it| it.0 == name);
    let number = found.and_then(|it| it.1.split_ascii_whitespace().next()?.parse().ok());
    number.map_or(0, |kilobytes: u64| kilobytes << 10)
}

/// Bytes as Redis shows them to people.
fn human(bytes: u64) -> String {
    let units = [(40, 'T'), (30, 'G'), (20, 'M'), (10, 'K')];
    match units.iter().find(|it| bytes >> it.0 > 0) {
        Some((bits, unit)) => format!("{:.2}{unit}", bytes as f64 / (1_u64 << bits) as f64),
        None => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_in_the_units_of_redis() {
        let text = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(kernel_bytes(text, "VmRSS"), 1 << 20);
        assert_eq!(kernel_bytes(text, "MemTotal"), 0);
        let shown = [0, 1023, 1536, 5 << 20, 3 << 30, 1 << 40].map(human);
        assert_eq!(shown, ["0B", "1023B", "1.50K", "5.00M", "3.00G", "1.00T"]);
    }
}
