//! Machines made up from a line of text, in lstopo's manner.
//!
//! ```text
//! package:2 numa:1 core:10 pu:1  send=60,120,200  receive=220,450,750
//! ```
//!
//! Each level says how many of it are in one of the level above, so `numa` counts per package.
//! Levels keep this order and may be left out, which means 1. Costs are by class of proximity, see
//! [`ClassCosts::spread`] for how a list is read; without them those of
//! [`default_costs_for`](crate::default_costs_for) are used. `unit=cycles` changes the unit of
//! given costs from nanoseconds.
//!
//! Costs of lines that several threads share ([`LineCosts`]) are read from `write=70` and
//! `transfer=2,35,94`, which belong together, and from `base=`, `slope=` and `invalidate=`, lists
//! by class too, which may be left out and are then those of `transfer`, 0 and 0.
//!
//! `cluster:8` or `hosts: a b c` in front makes a machine of several equal hosts, see [`crate::cluster`]:
//!
//! ```text
//! cluster:8 package:2 core:6
//! hosts: a b c package:2 core:6  cards=0,1  L=1500 o=500 g=0 G=0.1
//! ```
//!
//! `cards` are the NUMA nodes of a host that own its network cards, the first one by default. L, o, g and G are the
//! costs of the network in the LogGP model, in nanoseconds, where those of
//! [`Network::ASSUMED`](crate::cluster::Network::ASSUMED) do not hold.

use crate::builtin::default_class_costs;
use crate::classes::ClassCosts;
use crate::cluster::Network;
use crate::file::{FileError, MachineFile};
use crate::lines::LineCosts;
use crate::pairwise::{CostError, Unit};

pub use crate::levels::Levels;

/// The most hardware threads a made-up machine may have.
///
/// Two matrices of that size take 256 MiB; more is a slip of the keyboard.
pub const THREADS_MAX: u64 = 4096;

/// Why a line of text is no machine.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntheticError {
    /// The text is empty.
    #[error("the synthetic machine is empty: write for example \"package:2 numa:1 core:4 pu:1\"")]
    Empty,
    /// A word is neither a level nor a list of costs.
    #[error(
        "{word:?} is not understood: write levels as cluster:N package:N numa:N core:N pu:N, \
         costs as send=A,B,C receive=A,B,C, costs of shared lines as write=A transfer=A,B,C \
         base=A,B,C slope=A,B,C invalidate=A,B,C, unit=ns or unit=cycles, and the network of a \
         cluster as L=A o=A g=A G=A cards=A,B"
    )]
    Word {
        /// The word.
        word: String,
    },
    /// A level comes too late, or twice.
    #[error(
        "{word:?} is out of order: each level once, in the order cluster or hosts, package, numa, core, pu"
    )]
    Order {
        /// The word.
        word: String,
    },
    /// A count is not a positive whole number.
    #[error("{word:?}: the count must be a whole number from 1 to 4096")]
    Count {
        /// The word.
        word: String,
    },
    /// The machine would have more threads than [`THREADS_MAX`].
    #[error("{spec:?} has {threads} hardware threads: the most is 4096")]
    TooLarge {
        /// The whole text.
        spec: String,
        /// The number of threads that it asks for.
        threads: u64,
    },
    /// A list of costs does not have 1 to 4 numbers.
    #[error(
        "{word:?}: give 1 to 4 costs from 0 to 1e15, nearest first: \
         [same core,] same NUMA node[, same package][, other package]"
    )]
    Costs {
        /// The word.
        word: String,
    },
    /// A list is given where one cost is wanted.
    #[error("{word:?}: give one cost, the line lies on the writer's NUMA node")]
    Single {
        /// The word.
        word: String,
    },
    /// Only one of the lists `send` and `receive` is given.
    #[error("{spec:?} has send= or receive= alone: give both, or none for the default costs")]
    Half {
        /// The whole text.
        spec: String,
    },
    /// Line costs are given without `write` or `transfer`.
    #[error("{spec:?} has costs of shared lines but lacks write=A or transfer=A,B,C: give both")]
    HalfLines {
        /// The whole text.
        spec: String,
    },
    /// Words about a network are given without hosts.
    #[error("{spec:?} has {word:?} but no hosts: begin with cluster:N or hosts: and their names")]
    NoHosts {
        /// The whole text.
        spec: String,
        /// The word.
        word: String,
    },
    /// A list of hosts has no name.
    #[error("{spec:?} lists no hosts: write their names behind hosts:, such as hosts: a b c")]
    NoNames {
        /// The whole text.
        spec: String,
    },
    /// The hosts make no cluster.
    #[error(transparent)]
    Hosts(FileError),
    /// The costs were refused as a whole.
    #[error(transparent)]
    Model(#[from] CostError),
}

/// The costs of shared lines as far as they were given.
#[derive(Default)]
struct GivenLines {
    write: Option<f64>,
    /// The lists in the order of [`LineCosts::LISTS`].
    lists: [Option<[f64; 4]>; 4],
}

impl GivenLines {
    /// Takes a word if it is about lines. Returns `None` if it is not, or if it repeats an earlier
    /// one.
    fn take(&mut self, word: &str, key: &str, value: &str) -> Option<Result<(), SyntheticError>> {
        if key == "write" && self.write.is_none() {
            let one = costs(word, value).and_then(|list| match value.contains(',') {
                false => Ok(list[0]),
                true => Err(SyntheticError::Single {
                    word: word.to_owned(),
                }),
            });
            return Some(one.map(|write| self.write = Some(write)));
        }
        let at = LineCosts::LISTS.iter().position(|&name| name == key)?;
        let list = &mut self.lists[at];
        let free = list.is_none();
        free.then(|| costs(word, value).map(|given| *list = Some(given)))
    }

    fn finish(self, spec: &str) -> Result<Option<LineCosts>, SyntheticError> {
        let [invalidate, transfer, base, slope] = self.lists;
        match (self.write, transfer) {
            (Some(write), Some(transfer)) => Ok(Some(LineCosts {
                write,
                invalidate: invalidate.unwrap_or_default(),
                transfer,
                base: base.unwrap_or(transfer),
                slope: slope.unwrap_or_default(),
            })),
            (None, None) if invalidate.or(base).or(slope).is_none() => Ok(None),
            _ => Err(SyntheticError::HalfLines {
                spec: spec.to_owned(),
            }),
        }
    }
}

/// The hosts of a text, and the words about their network.
#[derive(Default)]
struct GivenHosts<'a> {
    names: Vec<String>,
    cards: Option<Vec<u32>>,
    /// L, o, g and G, as far as they are given.
    network: [Option<f64>; 4],
    /// The first word about the network.
    word: Option<&'a str>,
}

/// The costs of a network, in the order of [`GivenHosts::network`].
const NETWORK: [&str; 4] = ["L", "o", "g", "G"];

impl<'a> GivenHosts<'a> {
    /// Reads the hosts at the beginning of `spec`, and returns what follows them.
    fn read(spec: &'a str) -> Result<(Self, Vec<&'a str>), SyntheticError> {
        let mut words = spec.split_whitespace().peekable();
        let mut given = Self::default();
        if let Some(list) = words.next_if(|word| word.starts_with("hosts:")) {
            let first = list.strip_prefix("hosts:").filter(|name| !name.is_empty());
            given.names.extend(first.map(str::to_owned));
            while let Some(name) = words.next_if(|word| !word.contains([':', '='])) {
                given.names.push(name.to_owned());
            }
            if given.names.is_empty() {
                let spec = spec.to_owned();
                return Err(SyntheticError::NoNames { spec });
            }
        } else if let Some(word) = words.next_if(|word| word.starts_with("cluster:")) {
            let hosts = count(word, &word["cluster:".len()..])?;
            given.names = (0..hosts).map(|host| format!("host{host}")).collect();
        }
        Ok((given, words.collect()))
    }

    /// Takes a word if it is about the network, and was not given before.
    fn take(&mut self, word: &'a str) -> Option<Result<(), SyntheticError>> {
        let (key, value) = word.split_once('=')?;
        let taken = match NETWORK.iter().position(|&name| name == key) {
            Some(at) if self.network[at].is_none() && !value.contains(',') => costs(word, value)
                .map(|list| {
                    self.network[at] = Some(list[0]);
                }),
            None if key == "cards" && self.cards.is_none() => {
                let cards: Result<Vec<u32>, _> = value.split(',').map(str::parse).collect();
                let bad = |_| SyntheticError::Word {
                    word: word.to_owned(),
                };
                cards.map_err(bad).map(|cards| self.cards = Some(cards))
            }
            _ => return None,
        };
        self.word = self.word.or(Some(word));
        Some(taken)
    }

    /// The machine of all hosts, each of which is `host`.
    fn finish(self, spec: &str, host: MachineFile) -> Result<MachineFile, SyntheticError> {
        if self.names.is_empty() {
            return match self.word {
                None => Ok(host),
                Some(word) => Err(SyntheticError::NoHosts {
                    spec: spec.to_owned(),
                    word: word.to_owned(),
                }),
            };
        }
        let assumed = Network::ASSUMED;
        let [latency, overhead, gap, byte] = self.network;
        let network = Network {
            latency_ns: latency.unwrap_or(assumed.latency_ns),
            overhead_ns: overhead.unwrap_or(assumed.overhead_ns),
            gap_ns: gap.unwrap_or(assumed.gap_ns),
            byte_ns: byte.unwrap_or(assumed.byte_ns),
        };
        let threads = self.names.len() as u64 * host.threads().len() as u64;
        if threads > THREADS_MAX {
            return Err(SyntheticError::TooLarge {
                spec: spec.to_owned(),
                threads,
            });
        }
        let cards = self.cards.unwrap_or_else(|| vec![0]);
        let hosts = self.names.into_iter();
        let hosts = hosts.map(|name| (name, host.clone(), cards.clone()));
        MachineFile::of_hosts(spec, hosts.collect(), network).map_err(SyntheticError::Hosts)
    }
}

/// The count of a word.
fn count(word: &str, value: &str) -> Result<u32, SyntheticError> {
    let count = value.parse().ok();
    count
        .filter(|&count| (1..=THREADS_MAX as u32).contains(&count))
        .ok_or_else(|| SyntheticError::Count {
            word: word.to_owned(),
        })
}

/// Makes the machine of several hosts that a line of text names, each of which is like `host`: the text has hosts and
/// words about their network, and neither levels nor costs.
///
/// # Errors
///
/// Those of [`synthetic`], and any other word.
///
/// # Examples
///
/// ```
/// use corecast_model::synthetic::{synthetic, synthetic_like};
///
/// let host = synthetic("package:2 core:2")?;
/// let three = synthetic_like("hosts: a b c L=2000", &host)?;
/// assert_eq!(three.costs().n(), 12);
/// # Ok::<(), corecast_model::SyntheticError>(())
/// ```
pub fn synthetic_like(spec: &str, host: &MachineFile) -> Result<MachineFile, SyntheticError> {
    let (mut hosts, words) = GivenHosts::read(spec)?;
    for word in words {
        let unknown = || SyntheticError::Word {
            word: word.to_owned(),
        };
        hosts.take(word).ok_or_else(unknown)??;
    }
    hosts.finish(spec, host.clone())
}

/// Makes the machine that a line of text describes.
///
/// # Errors
///
/// A word that is not understood, levels out of order, a zero or fractional count, more than
/// [`THREADS_MAX`] threads, a list of costs of the wrong length or with a bad number. Every message
/// quotes the word.
///
/// # Examples
///
/// ```
/// let file = corecast_model::synthetic("package:2 core:4 send=60,200 receive=220,750")?;
/// assert_eq!(file.costs().n(), 8);
/// assert_eq!(file.costs().send(0, 1), 60.0);
/// assert_eq!(file.costs().receive(0, 7), 750.0);
/// # Ok::<(), corecast_model::SyntheticError>(())
/// ```
pub fn synthetic(spec: &str) -> Result<MachineFile, SyntheticError> {
    const LEVELS: [&str; 4] = ["package", "numa", "core", "pu"];
    let mut counts = [1_u32; 4];
    let mut next_level = 0;
    let (mut send, mut receive, mut unit) = (None, None, None);
    let mut lines = GivenLines::default();

    let (mut hosts, words) = GivenHosts::read(spec)?;
    for word in words {
        if let Some(taken) = hosts.take(word) {
            taken?;
            continue;
        }
        let unknown = || SyntheticError::Word {
            word: word.to_owned(),
        };
        if let Some((key, value)) = word.split_once('=') {
            match key {
                "send" if send.is_none() => send = Some(costs(word, value)?),
                "receive" if receive.is_none() => receive = Some(costs(word, value)?),
                "unit" if unit.is_none() => {
                    unit = Some(match value {
                        "ns" => Unit::Nanoseconds,
                        "cycles" => Unit::Cycles,
                        _ => return Err(unknown()),
                    });
                }
                _ => lines.take(word, key, value).ok_or_else(unknown)??,
            }
        } else {
            let (key, value) = word.split_once(':').ok_or_else(unknown)?;
            let level = LEVELS.iter().position(|&l| l == key).ok_or_else(unknown)?;
            if level < next_level {
                return Err(SyntheticError::Order {
                    word: word.to_owned(),
                });
            }
            next_level = level + 1;
            counts[level] = count(word, value)?;
        }
    }

    if next_level == 0 && hosts.names.is_empty() {
        return Err(SyntheticError::Empty);
    }
    let levels = Levels {
        package: counts[0],
        numa: counts[1],
        core: counts[2],
        pu: counts[3],
    };
    if levels.threads() > THREADS_MAX {
        return Err(SyntheticError::TooLarge {
            spec: spec.to_owned(),
            threads: levels.threads(),
        });
    }
    let classes = match (send, receive) {
        (Some(send), Some(receive)) => ClassCosts {
            unit: unit.unwrap_or(Unit::Nanoseconds),
            send,
            receive,
        },
        (None, None) if unit.is_none() => default_class_costs(),
        _ => {
            return Err(SyntheticError::Half {
                spec: spec.to_owned(),
            });
        }
    };
    let mut machine = levels.machine(spec);
    machine.assumptions.push(match send {
        Some(_) => "Made up from a line of text, costs included.".to_owned(),
        None => {
            "Made up from a line of text; costs are CLa's for Sandy Bridge (TPDS 2016, Table 1)."
                .to_owned()
        }
    });
    let model = classes.model(&machine)?;
    let file = MachineFile::of_whole(machine, model).expect("every thread has its costs");
    let file = match lines.finish(spec)? {
        Some(lines) => file.with_lines(lines).expect("each cost was checked"),
        None => file,
    };
    hosts.finish(spec, file)
}

fn costs(word: &str, list: &str) -> Result<[f64; 4], SyntheticError> {
    let bad = || SyntheticError::Costs {
        word: word.to_owned(),
    };
    let values: Vec<f64> = list
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| bad())?;
    if !values
        .iter()
        .all(|v| (0.0..=crate::CostModel::COST_MAX).contains(v))
    {
        return Err(bad());
    }
    ClassCosts::spread(&values).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Proximity;

    #[test]
    fn levels_nest() {
        let file = synthetic("package:2 numa:2 core:3 pu:2").unwrap();
        let machine = file.machine();
        machine.validate().unwrap();
        assert_eq!(machine.pus.len(), 24);
        let count = (
            machine.package_count(),
            machine.numa_node_count(),
            machine.core_count(),
        );
        assert_eq!(count, (2, 4, 12));
        let seen = [1, 2, 6, 12].map(|other| machine.pus[0].proximity(&machine.pus[other]));
        assert_eq!(seen, Proximity::ALL);
    }

    #[test]
    fn lists_spread_by_length() {
        let costs = |list: &str| {
            let spec = format!("package:2 numa:2 core:2 pu:2 send={list} receive={list}");
            let file = synthetic(&spec).unwrap();
            [1, 2, 4, 8].map(|other| file.costs().send(0, other))
        };
        assert_eq!(costs("5"), [5.0; 4]);
        assert_eq!(costs("5,6"), [5.0, 5.0, 6.0, 6.0]);
        assert_eq!(costs("5,6,7"), [5.0, 5.0, 6.0, 7.0]);
        assert_eq!(costs("5,6,7,8"), [5.0, 6.0, 7.0, 8.0]);
    }

    #[test]
    fn line_costs_are_taken() {
        let file = synthetic("package:2 core:2 write=70 transfer=35,94 slope=5").unwrap();
        let expected = LineCosts {
            write: 70.0,
            invalidate: [0.0; 4],
            transfer: [35.0, 35.0, 94.0, 94.0],
            base: [35.0, 35.0, 94.0, 94.0],
            slope: [5.0; 4],
        };
        assert_eq!(file.costs().lines().unwrap().costs(), &expected);
        assert!(synthetic("core:2").unwrap().costs().lines().is_none());
        for (spec, part) in [
            ("core:2 write=70", "lacks write=A or transfer"),
            ("core:2 slope=1", "lacks write=A or transfer"),
            ("core:2 write=70,80 transfer=1", "write=70,80"),
            ("core:2 write=-1 transfer=1", "write=-1"),
            ("core:2 write=1 transfer=NaN", "transfer=NaN"),
            ("core:2 write=1 write=1 transfer=1", "write=1"),
            ("core:2 write=1 transfer=1 transfer=2", "transfer=2"),
        ] {
            let error = synthetic(spec).unwrap_err().to_string();
            assert!(error.contains(part), "{spec:?}: {error:?} lacks {part:?}");
        }
    }

    #[test]
    fn hosts_come_before_levels() {
        for spec in [
            "cluster:3 package:2 core:2",
            "hosts: a b c package:2 core:2",
        ] {
            let file = synthetic(spec).unwrap();
            let (machine, costs) = (file.machine(), file.costs());
            assert_eq!((costs.n(), machine.package_count()), (12, 6));
            let expected: Vec<u32> = (0..12).map(|thread| thread / 4).collect();
            assert_eq!(costs.hosts(), Some(&expected[..]));
            // A host inside, the network between them: one line of 64 bytes at 0.1 ns each.
            assert_eq!(
                costs.send(0, 3),
                synthetic("package:2 core:2").unwrap().costs().send(0, 3)
            );
            assert_eq!(costs.send(0, 4) + costs.receive(0, 4), 2500.0 + 63.0 * 0.1);
            let cards: Vec<usize> = (0..12).filter(|&thread| costs.has_card(thread)).collect();
            assert_eq!(cards, [0, 1, 4, 5, 8, 9]);
        }
        let file = synthetic("hosts: a b core:2 numa:1")
            .unwrap_err()
            .to_string();
        assert!(file.contains("out of order"), "{file}");
        let file = synthetic("hosts:a b numa:2 core:2 L=10 o=20 g=30 G=0 cards=1").unwrap();
        let cluster = file.cluster().unwrap();
        assert_eq!(
            (&cluster.hosts[1].name[..], &cluster.hosts[1].cards[..]),
            ("b", &[3][..])
        );
        // The gap is longer than the overhead.
        assert_eq!(
            (file.costs().send(0, 4), file.costs().receive(0, 4)),
            (30.0, 20.0)
        );
        let again = MachineFile::from_json(&file.to_json()).unwrap();
        assert_eq!(again, file);
    }

    #[test]
    fn bad_text_is_quoted() {
        for (spec, part) in [
            ("core:2 L=1", "has \"L=1\" but no hosts"),
            ("hosts: core:2", "lists no hosts"),
            ("hosts: a a core:2", "host \"a\" is listed twice"),
            ("cluster:0 core:2", "\"cluster:0\""),
            ("core:2 cluster:2", "\"cluster:2\""),
            ("cluster:2 core:2 cards=1", "cards in NUMA nodes [1]"),
            ("cluster:2 core:2 cards=x", "\"cards=x\""),
            ("cluster:2 core:2 G=-1", "\"G=-1\""),
            ("cluster:2 core:2 G=1 G=2", "\"G=2\""),
            ("cluster:1025 core:4", "4100 hardware threads"),
            ("cluster:2 core:2 send=1 receive=1 unit=cycles", "in cycles"),
            ("", "is empty"),
            ("  ", "is empty"),
            ("send=1 receive=1", "is empty"),
            ("core:0", "\"core:0\""),
            ("core:-1", "\"core:-1\""),
            ("core:2.5", "\"core:2.5\""),
            ("core", "\"core\""),
            ("socket:2", "\"socket:2\""),
            ("pu:2 core:2", "\"core:2\" is out of order"),
            ("core:2 core:2", "out of order"),
            (
                "package:4096 numa:4096 core:4096 pu:4096",
                "281474976710656 hardware threads",
            ),
            ("core:99999999999999999999", "99999999999999999999"),
            ("core:2 send=1", "alone"),
            ("core:2 unit=cycles", "alone"),
            ("core:2 send=1,2,3,4,5 receive=1", "send=1,2,3,4,5"),
            ("core:2 send=NaN receive=1", "send=NaN"),
            ("core:2 send=-1 receive=1", "send=-1"),
            ("core:2 send= receive=1", "\"send=\""),
            ("core:2 unit=s send=1 receive=1", "unit=s"),
            ("core:2 send=1 send=1 receive=1", "send=1"),
        ] {
            let error = synthetic(spec).unwrap_err().to_string();
            assert!(error.contains(part), "{spec:?}: {error:?} lacks {part:?}");
        }
    }

    #[test]
    fn the_largest_machines_are_built_at_once() {
        let file = synthetic("package:8 numa:2 core:32 pu:2").unwrap();
        assert_eq!(file.costs().n(), 1024);
    }
}
