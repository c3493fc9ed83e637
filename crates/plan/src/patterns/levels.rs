//! Trees of three levels: hosts, the NUMA regions of a host, the members of a region (NUMA clusters §3).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use corecast_model::CostModel;

use super::knomial;
use crate::smelt;
use crate::tree::Tree;

/// The shape of one level of a [`levels`] tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LevelShape {
    /// A binomial tree.
    Binomial,
    /// The leader serves all others.
    Flat,
    /// Smelt's tree for the costs between the members of the level.
    Planned,
}

/// The shapes of the three levels. As text they are joined by slashes, as in `binomial/binomial/flat`.
///
/// # Examples
///
/// ```
/// use corecast_plan::patterns::{LevelShape, LevelShapes};
///
/// let shapes: LevelShapes = "binomial/planned/flat".parse().unwrap();
/// assert_eq!(shapes.node, LevelShape::Planned);
/// assert_eq!(shapes.to_string(), "binomial/planned/flat");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelShapes {
    /// Between the leaders of the hosts.
    pub cluster: LevelShape,
    /// Between the leaders of a host's regions.
    pub node: LevelShape,
    /// Inside of a region.
    pub region: LevelShape,
}

impl LevelShape {
    const NAMES: [(&'static str, Self); 3] = [
        ("binomial", Self::Binomial),
        ("flat", Self::Flat),
        ("planned", Self::Planned),
    ];

    /// The tree of this shape over `members`, of which the first one is the root: for each place the places that it
    /// serves.
    fn lists(self, costs: Option<&CostModel>, members: &[usize]) -> Vec<Vec<usize>> {
        let n = members.len();
        match self {
            Self::Flat => super::sequential(n, 0).child_lists().to_vec(),
            Self::Planned if n > 2 => {
                let costs = costs.expect("levels are planned by costs");
                let part = costs
                    .subset(members)
                    .expect("members of the team, each once");
                smelt::tree(&part, 0).child_lists().to_vec()
            }
            Self::Binomial | Self::Planned => knomial(n, 0, 2).child_lists().to_vec(),
        }
    }
}

impl LevelShapes {
    /// Binomial trees on all levels, the default of the paper.
    pub const BINOMIAL: Self = Self {
        cluster: LevelShape::Binomial,
        node: LevelShape::Binomial,
        region: LevelShape::Binomial,
    };
    /// Flat trees inside of regions, and binomial ones above.
    pub const FLAT_INSIDE: Self = Self {
        region: LevelShape::Flat,
        ..Self::BINOMIAL
    };

    /// Whether any level is planned by costs.
    pub(crate) fn looks_at_costs(self) -> bool {
        [self.cluster, self.node, self.region].contains(&LevelShape::Planned)
    }
}

impl fmt::Display for LevelShapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |shape: LevelShape| {
            let mut names = LevelShape::NAMES.iter();
            names
                .find(|(_, one)| *one == shape)
                .map_or("", |(name, _)| name)
        };
        let [cluster, node, region] = [self.cluster, self.node, self.region].map(name);
        write!(f, "{cluster}/{node}/{region}")
    }
}

impl FromStr for LevelShapes {
    /// The part of the text that names no shape, or all of it where it has not three parts.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = |name: &&str| {
            let known = LevelShape::NAMES.iter().find(|(known, _)| known == name);
            known.map(|(_, shape)| *shape).ok_or((*name).to_owned())
        };
        let names: Vec<&str> = text.split('/').collect();
        let [cluster, node, region] = &names[..] else {
            return Err(text.to_owned());
        };
        Ok(Self {
            cluster: shape(cluster)?,
            node: shape(node)?,
            region: shape(region)?,
        })
    }
}

/// The leaders of a host: of the host itself, and of each of its regions in the order of their lowest ranks, that of
/// the host first.
struct HostLeaders {
    /// The ranks that serve other hosts, one for each card.
    cards: Vec<usize>,
    /// The members of each region, its leader first; the leader of the host leads the first one.
    regions: Vec<Vec<usize>>,
}

impl HostLeaders {
    fn new(places: &[LevelPlace], members: &[usize], root: usize) -> Self {
        let mut regions = BTreeMap::<u32, Vec<usize>>::new();
        for &rank in members {
            regions.entry(places[rank].numa).or_default().push(rank);
        }
        let mut regions: Vec<Vec<usize>> = regions.into_values().collect();
        regions.sort_by_key(|region| region[0]);
        if let Some(region) = regions.iter_mut().find(|region| region.contains(&root)) {
            let at = region.iter().position(|&rank| rank == root).unwrap_or(0);
            region[..=at].rotate_right(1);
        }
        let first = regions.iter().position(|region| region.contains(&root));
        let card = |region: &Vec<usize>| places[region[0]].card;
        let first = first.or_else(|| regions.iter().position(card)).unwrap_or(0);
        regions.rotate_left(first);
        let mut cards: Vec<usize> = regions.iter().filter(|r| card(r)).map(|r| r[0]).collect();
        if cards.is_empty() {
            cards.push(regions[0][0]);
        }
        Self { cards, regions }
    }

    /// The leader of the host.
    fn leader(&self) -> usize {
        self.regions[0][0]
    }
}

/// A tree over the leaders of all hosts, in each host a tree over the leaders of its NUMA regions, and in each region a
/// tree over its members.
///
/// The root leads its host and its region. Elsewhere the leader of a host is the lowest rank of the first region that
/// owns a network card, and leads that region. Where several regions of a host own one, the leader of each serves some
/// of the hosts below: the first one the first, the next one the second, and so on. A leader serves hosts first, then
/// regions of its host, then members of its region. On a machine of one host the tree has two levels.
///
/// ```text
///   2 hosts of 2 regions of 4: 0-3 4-7 | 8-11 12-15, cards in the first region, root 0
///
///             0
///        ╱  ╱   ╲  ╲
///       8  4     2  1
///     ╱╱╲╲ …     │
///   12 10 9      3
/// ```
///
/// # Panics
///
/// When the root is outside of the team.
///
/// # Source
///
/// NUMA clusters §3 and Figure 1.
///
/// # Examples
///
/// ```
/// use corecast_plan::patterns::{LevelShapes, levels};
///
/// let machine = corecast_model::synthetic("cluster:2 package:2 core:4").unwrap();
/// let tree = levels(machine.costs(), LevelShapes::BINOMIAL, 0);
/// assert_eq!(tree.children(0), [8, 4, 2, 1]);
/// assert_eq!(tree.children(8), [12, 10, 9]);
/// ```
#[must_use]
pub fn levels(costs: &CostModel, shapes: LevelShapes, root: usize) -> Tree {
    let place = |rank: usize| LevelPlace {
        host: costs.hosts().map_or(0, |hosts| hosts[rank]),
        numa: costs.numa(rank),
        card: costs.has_card(rank),
    };
    let places: Vec<LevelPlace> = (0..costs.n()).map(place).collect();
    build(&places, Some(costs), shapes, root)
}

/// Where a rank is, as far as trees of [`levels`] ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelPlace {
    /// Its host.
    pub host: u32,
    /// Its NUMA region, counted over all hosts.
    pub numa: u32,
    /// Whether that region owns a network card.
    pub card: bool,
}

/// The tree of [`levels`] for ranks with these places, where no level is planned by costs. Thousands of ranks have a
/// place each, and millions of costs.
///
/// # Panics
///
/// When the root is outside of the team, or a level is planned.
#[must_use]
pub fn levels_at(places: &[LevelPlace], shapes: LevelShapes, root: usize) -> Tree {
    assert!(!shapes.looks_at_costs(), "levels are planned by costs");
    build(places, None, shapes, root)
}

fn build(
    places: &[LevelPlace],
    costs: Option<&CostModel>,
    shapes: LevelShapes,
    root: usize,
) -> Tree {
    let n = places.len();
    assert!(root < n, "root {root} is outside of a team of {n}");
    let mut members = BTreeMap::<u32, Vec<usize>>::new();
    for (rank, place) in places.iter().enumerate() {
        members.entry(place.host).or_default().push(rank);
    }
    let mut hosts: Vec<HostLeaders> = members
        .into_values()
        .map(|members| HostLeaders::new(places, &members, root))
        .collect();
    hosts.sort_by_key(HostLeaders::leader);
    let first = hosts.iter().position(|host| host.leader() == root);
    hosts.rotate_left(first.expect("the root leads its host"));

    let mut children = vec![Vec::new(); n];
    let leaders: Vec<usize> = hosts.iter().map(HostLeaders::leader).collect();
    let below = shapes.cluster.lists(costs, &leaders);
    for (host, list) in hosts.iter().zip(below) {
        for (at, below) in list.into_iter().enumerate() {
            let card = host.cards[at % host.cards.len()];
            children[card].push(leaders[below]);
        }
    }
    for host in &hosts {
        let leaders: Vec<usize> = host.regions.iter().map(|region| region[0]).collect();
        serve(&mut children, &leaders, shapes.node.lists(costs, &leaders));
        for region in &host.regions {
            serve(&mut children, region, shapes.region.lists(costs, region));
        }
    }
    Tree::by_construction(root, children)
}

/// Lets each of `members` serve those that its list of places names.
fn serve(children: &mut [Vec<usize>], members: &[usize], lists: Vec<Vec<usize>>) {
    for (&rank, list) in members.iter().zip(lists) {
        children[rank].extend(list.into_iter().map(|place| members[place]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(spec: &str) -> CostModel {
        corecast_model::synthetic(spec).unwrap().costs().clone()
    }

    /// Figure 1: 8 nodes of 4 regions of 6 cores. Each rank but the root gets its data over the shortest way: from
    /// another host only as leader of its host, from another region only as leader of its region.
    #[test]
    fn only_leaders_cross_levels() {
        for spec in [
            "cluster:8 package:4 core:6",
            "cluster:5 package:2 core:3 cards=1",
            "cluster:3 numa:3 core:2 cards=0,2",
            "package:3 core:5",
        ] {
            let costs = costs(spec);
            let host = |rank: usize| costs.hosts().map_or(0, |hosts| hosts[rank]);
            for shapes in [
                "binomial/binomial/binomial",
                "flat/flat/flat",
                "planned/planned/planned",
                "binomial/binomial/flat",
            ] {
                for root in [0, 1, costs.n() - 1] {
                    let tree = levels(&costs, shapes.parse().unwrap(), root);
                    let mut entered = BTreeMap::new();
                    let mut regions = BTreeMap::new();
                    for rank in (0..costs.n()).filter(|&rank| rank != root) {
                        let parent = tree.parent(rank).unwrap();
                        if host(parent) != host(rank) {
                            assert_eq!(entered.insert(host(rank), rank), None, "{spec} {shapes}");
                            assert!(costs.has_card(rank) && (costs.has_card(parent)));
                        } else if costs.numa(parent) != costs.numa(rank) {
                            assert_eq!(regions.insert(costs.numa(rank), rank), None);
                        }
                    }
                    let hosts: std::collections::BTreeSet<u32> = (0..costs.n()).map(host).collect();
                    let nodes: std::collections::BTreeSet<u32> =
                        costs.numa_nodes().iter().copied().collect();
                    assert_eq!(entered.len(), hosts.len() - 1);
                    assert_eq!(entered.len() + regions.len(), nodes.len() - 1);
                }
            }
        }
    }

    /// §4.1: with powers of two the hierarchical binomial tree is the normal one.
    #[test]
    fn with_powers_of_two_it_is_the_binomial_tree() {
        let costs = costs("cluster:8 package:2 core:4");
        assert_eq!(levels(&costs, LevelShapes::BINOMIAL, 0), knomial(64, 0, 2));
        let six = self::costs("cluster:4 package:2 core:6");
        assert_ne!(levels(&six, LevelShapes::BINOMIAL, 0), knomial(48, 0, 2));
    }

    #[test]
    fn each_card_serves_its_share_of_the_hosts() {
        let costs = costs("cluster:16 package:2 core:2 cards=0,1");
        let tree = levels(&costs, LevelShapes::FLAT_INSIDE, 0);
        // Four hosts below the first one, two for each card.
        assert_eq!(tree.children(0), [32, 8, 2, 1]);
        assert_eq!(tree.children(2), [16, 4, 3]);
    }

    #[test]
    fn shapes_are_read_and_written() {
        for text in ["flat/planned/binomial", "binomial/binomial/binomial"] {
            assert_eq!(text.parse::<LevelShapes>().unwrap().to_string(), text);
        }
        assert_eq!(
            "flat/round/flat".parse::<LevelShapes>(),
            Err("round".to_owned())
        );
        assert_eq!(
            "flat/flat".parse::<LevelShapes>(),
            Err("flat/flat".to_owned())
        );
    }
}
