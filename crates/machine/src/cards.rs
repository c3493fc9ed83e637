//! Where the network cards are.

use std::collections::BTreeSet;
use std::path::Path;

/// The numbers by which the kernel knows the NUMA nodes that own this machine's network cards, in order: those of interfaces
/// that are up, and of InfiniBand's. None are known where cards are those of a virtual machine or in no node.
///
/// # Cost
///
/// Two small files for each interface.
///
/// # Examples
///
/// ```
/// let nodes = corecast_machine::network_card_nodes(std::path::Path::new("/"));
/// assert!(nodes.is_sorted());
/// ```
#[must_use]
pub fn network_card_nodes(root: &Path) -> Vec<u32> {
    let text = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let mut nodes = BTreeSet::new();
    for class in ["sys/class/net", "sys/class/infiniband"] {
        let Ok(entries) = std::fs::read_dir(root.join(class)) else {
            continue;
        };
        for entry in entries.flatten() {
            let at = entry.path();
            // What is no card has no device behind it.
            let node = text(&at.join("device/numa_node")).trim().parse::<u32>();
            let is_down = text(&at.join("operstate")).trim() == "down";
            if let (Ok(node), false) = (node, is_down) {
                nodes.insert(node);
            }
        }
    }
    nodes.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn cards_that_are_up_are_in_their_nodes() {
        let root = tempfile::tempdir().unwrap();
        let interface = |class: &str, name: &str, node: &str, state: &str| {
            let at = root.path().join("sys/class").join(class).join(name);
            fs::create_dir_all(at.join("device")).unwrap();
            fs::write(at.join("device/numa_node"), node).unwrap();
            fs::write(at.join("operstate"), state).unwrap();
        };
        assert!(network_card_nodes(root.path()).is_empty());
        interface("net", "eth0", "2\n", "up\n");
        interface("net", "eth1", "1\n", "down\n");
        interface("net", "eth2", "-1\n", "up\n");
        interface("infiniband", "mlx5_0", "0\n", "");
        fs::create_dir_all(root.path().join("sys/class/net/lo")).unwrap();
        assert_eq!(network_card_nodes(root.path()), [0, 2]);
    }
}
