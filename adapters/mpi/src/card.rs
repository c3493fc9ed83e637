//! Layer 3: what a process tells others of itself, so that all of them can say whether they may share memory.
//!
//! Host names and the library's own opinion are no proof: containers have equal names on different hosts, and a library may
//! take each process for a host of its own. What counts is the start of the kernel, and its namespaces; the proof is that
//! the memory is mapped afterwards.

use crate::between::Between;
use bytemuck::{Pod, Zeroable};
use corecast::machine::CpuList;
use std::path::Path;
use std::sync::OnceLock;

/// PUs that an affinity mask can name here.
const PUS_MAX: usize = 1024;

/// A process, as it is sent to others. All processes of one host read it alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Card {
    /// Differs between versions that do not understand each other, and is never 0.
    version: u64,
    /// 1 if the process takes part, and 2 if several of its threads may call at a time.
    flags: u64,
    /// The network card that it is near, by a number of its host's, plus one; 0 for none.
    near: u64,
    /// The start of the kernel.
    boot: [u8; 16],
    /// Inodes of the namespaces in which it finds others: network and processes. Its user, and the host that it plays.
    place: [u64; 4],
    /// Its number, and when it started.
    process: [u64; 2],
    /// The number of the next team that it makes.
    next: u64,
    /// How it would go between hosts; what the first process of a group says is done.
    between: Between,
    /// PUs that it may run on.
    pus: [u64; PUS_MAX / 64],
}

/// See [`Card::process`].
pub(crate) type Process = [u64; 5];

const VERSION: u64 = 5;

/// The variable by which processes of one host play several ones: where its numbers differ, no memory is shared.
const HOST: &str = "CORECAST_MPI_HOST";

/// The variable that says which network card of its host a process is near, where the kernel does not say it.
const CARD: &str = "CORECAST_MPI_CARD";

impl Card {
    /// That of this process.
    pub(crate) fn of_this_process(willing: bool, multithreaded: bool, next: u64) -> Self {
        let own = corecast::machine::current_mask().unwrap_or_default();
        let mut pus = [0; PUS_MAX / 64];
        for pu in own.iter().map(|pu| pu as usize).filter(|&pu| pu < PUS_MAX) {
            pus[pu / 64] |= 1 << (pu % 64);
        }
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
        let mut nodes = nodes_with_cards().iter();
        let by_kernel = || Some(nodes.find(|(_, pus)| own.is_subset(pus))?.0);
        let near = number(CARD).map(|card: u64| card as u32).or_else(by_kernel);
        let played = number(HOST);
        let inode = |name: &str| {
            let found = rustix::fs::stat(format!("/proc/self/ns/{name}"));
            found.map_or(0, |found| found.st_ino)
        };
        Self {
            version: VERSION,
            flags: u64::from(willing) | u64::from(multithreaded) << 1,
            near: near.map_or(0, |card| u64::from(card) + 1),
            boot: boot(),
            place: [
                inode("net"),
                inode("pid"),
                rustix::process::geteuid().as_raw().into(),
                played.unwrap_or(0),
            ],
            process: [std::process::id().into(), started()],
            next,
            between: Between::here(),
            pus,
        }
    }

    /// Whether the process takes part in what the other one does, on whichever host.
    pub(crate) fn takes_part_with(&self, other: &Self) -> bool {
        self.flags & other.flags & 1 != 0 && self.version == other.version
    }

    /// The host: processes that may share memory have equal ones. `rank` is that of the process, which stands for itself if
    /// the kernel does not say which one it is.
    pub(crate) fn host(&self, rank: usize) -> ([u8; 16], [u64; 4], usize) {
        let unknown = self.boot == [0; 16];
        (self.boot, self.place, if unknown { rank + 1 } else { 0 })
    }

    /// The network card whose NUMA node has all PUs that it may run on, by the number of that node.
    pub(crate) fn near_card(&self) -> Option<u32> {
        self.near.checked_sub(1).map(|card| card as u32)
    }

    /// How the process would go between hosts.
    pub(crate) fn between(&self) -> Between {
        self.between
    }

    /// Whether several threads of the process may call at a time.
    pub(crate) fn is_multithreaded(&self) -> bool {
        self.flags & 2 != 0
    }

    /// What no other process has at any time, on this host or another one.
    pub(crate) fn process(&self) -> Process {
        let half =
            |at: usize| u64::from_ne_bytes(self.boot[at..at + 8].try_into().expect("8 bytes"));
        let [number, started] = self.process;
        [number, started, self.place[1], half(0), half(8)]
    }

    /// The name of the team that a group makes whose first rank has this card.
    pub(crate) fn team(&self) -> [u64; 3] {
        [self.process[0], self.process[1], self.next]
    }

    fn pus(&self) -> impl Iterator<Item = u32> + '_ {
        let is_set = |pu: &usize| self.pus[pu / 64] >> (pu % 64) & 1 != 0;
        (0..PUS_MAX).filter(is_set).map(|pu| pu as u32)
    }
}

/// A PU for each process: its own where it is bound to one, else the least taken one of those that it may run on.
pub(crate) fn pus(cards: &[Card]) -> Vec<u32> {
    let mut taken = vec![0_usize; PUS_MAX];
    let mut chosen = vec![0; cards.len()];
    let mut order: Vec<usize> = (0..cards.len()).collect();
    // Who has least to choose from comes first.
    order.sort_by_key(|&rank| cards[rank].pus().count());
    for rank in order {
        let least = cards[rank].pus().min_by_key(|&pu| (taken[pu as usize], pu));
        let pu = least.unwrap_or(0);
        taken[pu as usize] += 1;
        chosen[rank] = pu;
    }
    chosen
}

/// The NUMA nodes that own network cards, and their PUs.
fn nodes_with_cards() -> &'static [(u32, CpuList)] {
    static FOUND: OnceLock<Vec<(u32, CpuList)>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let nodes = corecast::machine::network_card_nodes(Path::new("/")).into_iter();
        let pus = |node| {
            let path = format!("/sys/devices/system/node/node{node}/cpulist");
            let pus = std::fs::read_to_string(path).ok()?.trim().parse().ok()?;
            Some((node, pus))
        };
        nodes.filter_map(pus).collect()
    })
}

/// The kernel's number of its start; zeros if it does not say.
fn boot() -> [u8; 16] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    let mut boot = [0; 16];
    for (byte, pair) in boot.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    boot
}

/// When this process started, in ticks since the start of the kernel.
fn started() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may have blanks and brackets.
    let after = text.rsplit(") ").next().unwrap_or_default();
    after
        .split(' ')
        .nth(19)
        .and_then(|word| word.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(pus: &[usize]) -> Card {
        let mut card = Card::of_this_process(true, false, 7);
        card.pus = [0; PUS_MAX / 64];
        for pu in pus {
            card.pus[pu / 64] |= 1 << (pu % 64);
        }
        card
    }

    #[test]
    fn a_host_is_one_kernel_and_its_namespaces() {
        let own = card(&[0]);
        assert!(own.boot != [0; 16] && own.process[1] != 0 && own.takes_part_with(&own));
        let change = |change: &dyn Fn(&mut Card)| {
            let mut other = own;
            change(&mut other);
            own.host(0) == other.host(1)
        };
        assert!(!change(&|other| other.boot[3] ^= 1));
        assert!(!change(&|other| other.place[0] += 1));
        assert!(!change(&|other| other.place[2] += 1));
        assert!(!change(&|other| other.place[3] += 1));
        assert!(change(&|other| other.next += 1));
        let mut unknown = own;
        unknown.boot = [0; 16];
        assert_ne!(unknown.host(0), unknown.host(1));
        let takes_part = |change: &dyn Fn(&mut Card)| {
            let mut other = own;
            change(&mut other);
            own.takes_part_with(&other) || other.takes_part_with(&own)
        };
        assert!(!takes_part(&|other| other.version += 1));
        assert!(!takes_part(&|other| other.flags = 0));
        assert!(takes_part(&|other| other.place[0] += 1));
    }

    #[test]
    fn each_has_a_pu_of_its_own_where_there_are_enough() {
        let bound = [card(&[70]), card(&[3])];
        assert_eq!(pus(&bound), [70, 3]);
        let half = [card(&[0, 1]), card(&[0]), card(&[0, 1])];
        assert_eq!(pus(&half), [1, 0, 0]);
        assert_eq!(pus(&[card(&[])]), [0]);
    }
}
