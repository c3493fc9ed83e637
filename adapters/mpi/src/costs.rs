//! Layer 2: what messages between hosts cost, as `mpirun … corecast probe` has measured it. One process of a group reads it for
//! all.

use bytemuck::{Pod, Zeroable};
use corecast::MachineFile;
use corecast::debug::{Level, say};
use corecast::model::cluster::{Cluster, Network};
use corecast::store::Store;
use std::path::Path;
use std::sync::OnceLock;

/// The variable that names a machine file with a measured network.
const FILE: &str = "CORECAST_MPI_NETWORK";

/// The costs of a message between hosts, as they are sent to others.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Costs {
    /// L, o, g, G
    terms: [f64; 4],
    /// 1 if they were measured, or given in a file.
    known: u64,
}

/// What this process has found.
struct Found {
    costs: Costs,
    /// Where they are from, for people.
    source: String,
}

impl Costs {
    /// Those that are assumed.
    pub(crate) const ASSUMED: Self = Self::of(&Network::ASSUMED, 0);

    const fn of(network: &Network, known: u64) -> Self {
        Self {
            terms: [
                network.latency_ns,
                network.overhead_ns,
                network.gap_ns,
                network.byte_ns,
            ],
            known,
        }
    }

    /// The costs that this process knows: of the file that the environment names, else the newest measurement of a network
    /// that has this host, else those assumed.
    pub(crate) fn here() -> Self {
        here().costs
    }

    /// The network, if its costs are known. What is none, whoever has sent it, is assumed to be unknown.
    pub(crate) fn known(self) -> Option<Network> {
        let [latency_ns, overhead_ns, gap_ns, byte_ns] = self.terms;
        let network = Network {
            latency_ns,
            overhead_ns,
            gap_ns,
            byte_ns,
        };
        (self.known == 1 && network.check().is_ok()).then_some(network)
    }

    /// The costs for people, with where they are from if this process has found them.
    pub(crate) fn line(self) -> String {
        let (network, source) = match self.known() {
            None => (Network::ASSUMED, "assumed costs"),
            Some(network) if here().costs == self => (network, &here().source[..]),
            Some(network) => (network, "the first process's costs"),
        };
        let half = network.half_bytes();
        format!(
            "by {source}: L {:.1}, o {:.1} µs, G {:.3} ns, n½ {half} bytes",
            network.latency_ns / 1e3,
            network.overhead_ns / 1e3,
            network.byte_ns
        )
    }
}

fn here() -> &'static Found {
    static HERE: OnceLock<Found> = OnceLock::new();
    HERE.get_or_init(|| {
        let named = std::env::var(FILE).ok().filter(|name| !name.is_empty());
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        find(named.as_deref(), &Store::standard(), host.trim())
    })
}

/// The file that was named, or what the folder has of a host.
fn find(named: Option<&str>, store: &Store, host: &str) -> Found {
    let of = |source: String, cluster: &Cluster| Found {
        costs: Costs::of(&cluster.network, 1),
        source,
    };
    let assumed = || Found {
        costs: Costs::ASSUMED,
        source: String::new(),
    };
    let Some(name) = named else {
        let found = store.network_of(host);
        return found.map_or_else(assumed, |(path, cluster)| {
            of(path.display().to_string(), &cluster)
        });
    };
    match read(Path::new(name)) {
        Ok(cluster) => of(name.to_owned(), &cluster),
        Err(why) => {
            say(Level::Warn, || {
                format!(
                    "MPI: {FILE}={name} is ignored: {why}; `mpirun … corecast probe --output {name}` makes such a file"
                )
            });
            assumed()
        }
    }
}

fn read(path: &Path) -> Result<Cluster, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let file = MachineFile::from_json(&text).map_err(|error| error.to_string())?;
    let cluster = file.cluster().cloned();
    cluster.ok_or_else(|| "it has no section `cluster`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, latency_ns: f64) -> MachineFile {
        let host = |host: &str| {
            let file = corecast::model::synthetic("core:2").unwrap();
            (format!("{name}{host}"), file, vec![0])
        };
        let network = Network {
            latency_ns,
            ..Network::ASSUMED
        };
        MachineFile::of_hosts(name, vec![host("1"), host("2")], network).unwrap()
    }

    #[test]
    fn a_named_file_comes_first_and_then_what_is_known_of_the_host() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        assert_eq!(find(None, &store, "a1").costs.known(), None);
        store.save_machine(&file("a", 9.0)).unwrap();
        let known = find(None, &store, "a2").costs.known().unwrap();
        assert_eq!(known.latency_ns, 9.0);
        assert_eq!(find(None, &store, "b1").costs, Costs::ASSUMED);

        let path = folder.path().join("named.json");
        let name = path.to_str();
        assert_eq!(find(name, &store, "a1").costs, Costs::ASSUMED);
        std::fs::write(&path, file("b", 7.0).to_json()).unwrap();
        let named = find(name, &store, "a1");
        assert_eq!(named.costs.known().unwrap().latency_ns, 7.0);
        assert!(named.source.contains("named.json"));
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(find(name, &store, "a1").costs, Costs::ASSUMED);
    }

    #[test]
    fn what_is_no_cost_is_not_believed() {
        let mut costs = Costs::of(&Network::ASSUMED, 1);
        assert_eq!(costs.known(), Some(Network::ASSUMED));
        costs.terms[1] = f64::NAN;
        assert_eq!(costs.known(), None);
    }
}
