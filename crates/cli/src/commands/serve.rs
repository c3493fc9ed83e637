//! `corecast serve`: the key-value store, for clients of Redis.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use corecast_machine::{CpuList, confine_current, discover};
use corecast_model::words::count;
use corecast_store::{AppendFsync, ProcessServer, Server, ServerOptions};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;

use super::serve_processes;
use crate::options::Global;
use crate::{failure, output};

/// Files that the server needs besides its connections.
const OWN_FILES: u64 = 64;

/// Arguments of `corecast serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
It speaks the Redis protocol, so redis-cli, redis-benchmark and the clients of all languages work with it: see \
docs/store.md for its commands and limits. What it holds is in memory only, unless --dir names a folder. SIGTERM, SIGINT and SIGHUP end it.

Without a password it serves clients of this machine only, whatever it listens on, unless --no-protected-mode says otherwise.")]
pub(crate) struct ServeArgs {
    /// The port to listen on; 0 has one chosen, which is printed
    #[arg(long, value_name = "PORT", default_value_t = 6379)]
    port: u16,

    /// The address to listen on; 0.0.0.0 and :: are all addresses of this machine
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,

    /// Copies of the store, each with a thread that serves connections [default: one for each NUMA node that may be used]
    #[arg(long, value_name = "N")]
    replicas: Option<usize>,

    /// Make each replica a process of its own. Any of them may be killed: what was answered is kept while one lives, or in --dir
    #[arg(long)]
    processes: bool,

    /// What clients have to give with AUTH. Others on this machine can see it in the list of processes
    #[arg(long, value_name = "TEXT", conflicts_with = "password_file")]
    password: Option<String>,

    /// A file whose first line is the password
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,

    /// Serve clients of other machines without a password
    #[arg(long)]
    no_protected_mode: bool,

    /// Most clients at a time
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_clients: usize,

    /// Cut off clients that have asked for nothing for so many seconds; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    timeout: u64,

    /// MiB of requests and replies to hold for all clients of a replica: above, that for which most is held is cut off
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    max_buffers: usize,

    /// Keep what is written in this folder, which is made if it is not there, and begin with what is in it
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// When what was written is made durable: always (before it is answered), everysec, or no (when the kernel likes)
    #[arg(long, value_name = "WHEN", requires = "dir", default_value = AppendFsync::default().name())]
    appendfsync: AppendFsync,
}

/// The output of `--json`, when clients can connect.
#[derive(Serialize)]
struct Serving {
    schema: u32,
    address: String,
    replicas: usize,
}

/// Runs the command.
pub(crate) fn run(global: &Global, args: &ServeArgs) -> Result<ExitCode> {
    ensure!(
        global.machine.is_none(),
        "serve runs on this machine: leave out -i"
    );
    let nodes = nodes();
    let replicas = args.replicas.unwrap_or(nodes.len().max(1));
    let options = ServerOptions {
        bind: args.bind,
        port: args.port,
        replicas,
        password: password(args)?,
        protected: !args.no_protected_mode,
        clients_max: with_files(args.max_clients),
        idle_max: Some(Duration::from_secs(args.timeout)).filter(|it| !it.is_zero()),
        buffers_bytes_max: args.max_buffers.saturating_mul(1 << 20),
        dir: args.dir.clone(),
        append_fsync: args.appendfsync,
    };
    let dir = args
        .dir
        .as_ref()
        .map_or_else(String::new, |it| format!(" --dir {}", it.display()));
    let context = || format!("--bind {} --port {}{dir}", args.bind, args.port);
    let tell = |address: String| match global.json {
        true => output::json(&Serving {
            schema: 1,
            address,
            replicas,
        }),
        false => output::print(&told(&address, replicas, nodes.len(), args)),
    };
    if args.processes {
        let server = ProcessServer::bind(options).with_context(context)?;
        for note in server.notes() {
            failure::warn(note);
        }
        tell(server.address().to_string())?;
        serve_processes::run(server)?;
        return Ok(ExitCode::SUCCESS);
    }
    let server = Server::bind(options).with_context(context)?;
    for note in server.notes() {
        failure::warn(note);
    }
    tell(server.address().to_string())?;
    server.run_on(|replica| stay(replica, &nodes))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `serve-replica`: one replica of `serve --processes`.
pub(crate) fn replica() -> Result<ExitCode> {
    serve_processes::replica(|number| stay(number, &nodes()))?;
    Ok(ExitCode::SUCCESS)
}

/// Has a replica and its thread stay on one node: what it writes first lies in its memory.
fn stay(replica: usize, nodes: &[CpuList]) {
    if nodes.len() > 1
        && let Ok(pinning) = confine_current(&nodes[replica % nodes.len()])
    {
        pinning.guard().keep();
    }
}

/// The line that says that clients can connect.
fn told(address: &str, replicas: usize, nodes: usize, args: &ServeArgs) -> String {
    let why = match args.replicas {
        Some(_) => "as asked for".to_owned(),
        None => format!("for {}", count(nodes.max(1), "NUMA node")),
    };
    let replicas = count(replicas, "replica");
    let each = if args.processes {
        ", each a process"
    } else {
        ""
    };
    format!("corecast: serving on {address}, {replicas} {why}{each}\n")
}

/// The PUs of each NUMA node that this process may run on.
fn nodes() -> Vec<CpuList> {
    let here = discover();
    let pus = here
        .numa_nodes
        .iter()
        .map(|node| node.pus.intersection(&here.usable));
    pus.filter(|pus| !pus.is_empty()).collect()
}

/// The password that was given, if any.
fn password(args: &ServeArgs) -> Result<Option<String>> {
    let Some(path) = &args.password_file else {
        return Ok(args.password.clone());
    };
    let shown = |path: &Path| format!("--password-file {}", path.display());
    let text = std::fs::read_to_string(path).with_context(|| shown(path))?;
    let line = text.lines().next().unwrap_or_default();
    ensure!(!line.is_empty(), "{}: its first line is empty", shown(path));
    Ok(Some(line.to_owned()))
}

/// Has the kernel allow as many files as clients need; fewer clients where it does not.
fn with_files(clients_max: usize) -> usize {
    let wanted = (clients_max as u64).saturating_add(OWN_FILES);
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return clients_max;
    }
    let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let limit = Rlimit {
        current: Some(raised),
        ..limit
    };
    let allowed = match setrlimit(Resource::Nofile, limit) {
        Ok(()) => raised,
        Err(_) => getrlimit(Resource::Nofile).current.unwrap_or(wanted),
    };
    if allowed >= wanted {
        return clients_max;
    }
    let possible = usize::try_from(allowed.saturating_sub(OWN_FILES)).unwrap_or(usize::MAX);
    failure::warn(&format!(
        "--max-clients {clients_max}: the limit of {allowed} open files allows {possible}; ulimit -n raises it"
    ));
    possible.max(1)
}
