//! Programs on several hosts, which are namespaces of this machine: what a host has (network, processes, shared memory, files in
//! `/tmp`, name) another does not see. Launchers start their processes there as they do by ssh elsewhere.
//!
//! It takes root, `ip` and `unshare`; elsewhere the tests say that they are skipped.

use super::{LIBRARIES, Mpi, adapter, outcome, said};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// Hosts that are up. They go when this is dropped, and also if this process is killed: their first process reads what only
/// this one could write.
struct Hosts {
    network: Child,
    folder: tempfile::TempDir,
    count: usize,
}

impl Hosts {
    /// Makes them. `boots` is `own` where they tell different starts of the kernel, as hosts do, or `same`, so that only memory
    /// itself shows that it is not shared. `links` is `shaped` where they are as slow as Ethernet's, or `fast`. `None` where that
    /// cannot be, which is said.
    fn new(count: usize, boots: &str, links: &str) -> Option<Self> {
        let skipped = |why: &str| -> Option<Self> {
            eprintln!("SKIPPED: programs on several hosts: {why}");
            None
        };
        if !rustix::process::geteuid().is_root() {
            return skipped("only root makes network namespaces");
        }
        for tool in ["ip", "unshare", "nsenter"] {
            if Command::new(tool).arg("-V").output().is_err() {
                let required = std::env::var_os("CORECAST_REQUIRE_PEERS").is_some();
                assert!(!required, "there is no {tool}");
                return skipped(&format!("there is no {tool}"));
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let own = [
            "--net",
            "--uts",
            "--ipc",
            "--mount",
            "--pid",
            "--fork",
            "--mount-proc",
        ];
        // A container may have root and not be allowed to.
        let tried = Command::new("unshare")
            .args(own)
            .arg("true")
            .output()
            .unwrap();
        if !tried.status.success() {
            return skipped(&String::from_utf8_lossy(&tried.stderr));
        }
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let test = std::env::current_exe().unwrap();
        let mut network = Command::new("unshare")
            .args(own)
            .arg(script("network.sh"))
            .arg(folder.path())
            .args([&count.to_string(), boots, links])
            .args([target, test.parent().unwrap(), &script("")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(network.stdout.take().unwrap());
        lines.read_line(&mut line).unwrap();
        let shaped = line.trim_end().strip_prefix("ready ");
        match (links, shaped.expect("the hosts come up")) {
            ("fast", _) | (_, "netem") => {}
            (_, "tbf") => eprintln!(
                "hosts: this kernel has no netem, so links are shaped by tbf, without a delay"
            ),
            _ => eprintln!(
                "SKIPPED: shaped links between hosts: this kernel has neither netem nor tbf, or there is no tc"
            ),
        }
        Some(Self {
            network,
            folder,
            count,
        })
    }

    /// Runs a program as `each` processes on each host.
    fn run(
        &self,
        mpi: Mpi,
        each: usize,
        variables: &[(&str, &str)],
        program: &Path,
        arguments: &[&str],
    ) -> Output {
        let namespaces = self.network.id();
        let agent = script("agent.sh");
        let list: Vec<String> = (1..=self.count)
            .map(|host| format!("host-{host}:{each}"))
            .collect();
        // Inside, a limit that is over would stop nsenter as well.
        let mut command = Command::new("timeout");
        command
            .args(["--signal=KILL", "660", "nsenter"])
            .args(["--target", &namespaces.to_string()])
            .args(["--net", "--uts", "--ipc", "--mount"])
            .arg(format!("--pid=/proc/{namespaces}/ns/pid_for_children"))
            .env("CORECAST_TEST_HOSTS", self.folder.path());
        let launcher = mpi.launcher(&mut command, self.count * each, variables);
        match mpi.name {
            "openmpi" => launcher
                .args(["--host", &list.join(",")])
                .env("OMPI_MCA_plm_rsh_agent", agent)
                .env("OMPI_MCA_plm_rsh_no_tree_spawn", "1")
                .env("OMPI_MCA_btl_tcp_if_include", NETWORK)
                .env("OMPI_MCA_oob_tcp_if_include", NETWORK)
                .env("OMPI_MCA_hwloc_base_binding_policy", "none"),
            _ => launcher
                .args([
                    "-hosts",
                    &list.join(","),
                    "-launcher",
                    "ssh",
                    "-launcher-exec",
                ])
                .arg(agent),
        };
        outcome(launcher.arg(program).args(arguments))
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        drop(self.network.stdin.take());
        let ended = self.network.wait();
        if !std::thread::panicking() {
            assert!(ended.unwrap().success(), "the hosts do not end");
            assert!(!self.folder.path().exists());
        }
    }
}

/// The addresses of hosts, as `network.sh` has them.
const NETWORK: &str = "10.77.0.0/24";

fn script(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    folder.join(name)
}

/// The libraries of the system, which its hosts have as well.
fn packaged() -> impl Iterator<Item = Mpi> {
    LIBRARIES.into_iter().filter(|mpi| mpi.name != "abi")
}

/// What the library itself needs between hosts.
struct Needs {
    /// What is loaded before a program; empty for nothing.
    preload: String,
    variables: &'static [(&'static str, &'static str)],
}

impl Needs {
    /// `None` where the compiler is missing, which is said.
    fn of(mpi: Mpi) -> Option<Self> {
        if mpi.name == "openmpi" {
            return Some(Self {
                preload: String::new(),
                variables: &[],
            });
        }
        let library = mpi.compile("mpicc", "disconnect.c", &["-shared", "-fPIC"])?;
        Some(Self {
            preload: library.to_str().unwrap().to_owned(),
            // Others crash between hosts where a reduction is in place.
            variables: &[("MPIR_CVAR_DEVICE_COLLECTIVES", "none")],
        })
    }
}

/// Hosts, processes on each of them, whether the hosts tell different starts of the kernel, and the links between them.
const SHAPES: [(usize, usize, &str, &str); 4] = [
    (2, 2, "own", "fast"),
    (2, 2, "own", "shaped"),
    (4, 2, "own", "fast"),
    (3, 1, "same", "fast"),
];

/// Runs a program on hosts with a library, and under the adapter if that is asked for. `None` where it cannot be compiled.
fn ran(
    hosts: &Hosts,
    mpi: Mpi,
    each: usize,
    under: bool,
    (file, arguments): (&str, &[&str]),
) -> Option<String> {
    let program = mpi.compile("mpicc", file, &["-lpthread"])?;
    let needs = Needs::of(mpi)?;
    let mut preload = needs.preload;
    let mut variables = needs.variables.to_vec();
    if under {
        preload = [adapter().to_str().unwrap(), &preload].join(":");
        variables.push(("CORECAST_DEBUG", "INFO"));
        // All on teams and messages, whatever is faster.
        variables.push(("CORECAST_MPI_RACE", "0"));
    }
    variables.push(("LD_PRELOAD", &preload));
    Some(said(&hosts.run(mpi, each, &variables, &program, arguments)))
}

#[test]
fn hosts_are_hosts_to_the_libraries() {
    // A library may believe in any of them: the kernel's start, names, or memory.
    for boots in ["own", "same"] {
        let Some(hosts) = Hosts::new(2, boots, "fast") else {
            return;
        };
        for mpi in packaged() {
            let Some(text) = ran(&hosts, mpi, 2, false, ("groups.c", &[])) else {
                continue;
            };
            for rank in 0..4 {
                let host = rank / 2 + 1;
                let line = format!("rank {rank} of 4 on host-{host}, 2 share\n");
                assert!(text.contains(&line), "{mpi:?}, {boots}: {line}{text}");
            }
        }
    }
}

#[test]
fn every_collective_does_what_the_standard_says_on_several_hosts() {
    for (count, each, boots, links) in SHAPES {
        let Some(hosts) = Hosts::new(count, boots, links) else {
            return;
        };
        for mpi in packaged() {
            // MPICH's ranks poll, and there are more of them than cores.
            let rounds = if mpi.name == "mpich" { "15" } else { "40" };
            let program: (&str, &[&str]) = ("everything.c", &["7", rounds]);
            let Some(text) = ran(&hosts, mpi, each, true, program) else {
                continue;
            };
            let ranks = count * each;
            assert!(text.contains("all right"), "{mpi:?}, {ranks} ranks: {text}");
            let line = format!("are taken over: {count} hosts, binomial trees between them,");
            assert!(text.contains(&line), "{mpi:?}: {text}");
            let line = format!("corecast: MPI: collectives of {ranks} ranks ");
            assert!(text.contains(&line), "{mpi:?}: {text}");
        }
    }
}
