//! Which rank is on which host.

/// The hosts of a group of ranks. Hosts are numbered by their first ranks.
///
/// # Examples
///
/// ```
/// use corecast_cluster::Hosts;
///
/// let hosts = Hosts::new(&[7, 7, 3], &[None, Some(0), None]);
/// assert_eq!(hosts.host_of(2), 1);
/// assert_eq!(hosts.place_of(1), 1);
/// // It is near the network card.
/// assert_eq!(hosts.leaders(0), [1]);
/// assert!(hosts.is_in_order());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// Host and place on it, of each rank.
    places: Vec<(usize, usize)>,
    ranks: Vec<Vec<usize>>,
    leaders: Vec<Vec<usize>>,
    is_in_order: bool,
}

impl Hosts {
    /// Groups ranks by `keys`, of which those on one host are equal. `cards` are the network cards that ranks are near, by
    /// numbers that mean something on their own hosts alone. The first rank near each card is a leader of its host; where no
    /// rank is near one, the first rank is (NUMA clusters §3).
    ///
    /// # Panics
    ///
    /// If there are no ranks, or not as many of both.
    pub fn new<K: PartialEq>(keys: &[K], cards: &[Option<u32>]) -> Self {
        assert!(!keys.is_empty() && keys.len() == cards.len());
        let (mut ranks, mut places) = (Vec::<Vec<usize>>::new(), Vec::new());
        for (rank, key) in keys.iter().enumerate() {
            let host = ranks.iter().position(|ranks| keys[ranks[0]] == *key);
            let host = host.unwrap_or_else(|| {
                ranks.push(Vec::new());
                ranks.len() - 1
            });
            places.push((host, ranks[host].len()));
            ranks[host].push(rank);
        }
        let leaders_of = |ranks: &Vec<usize>| {
            let mut leaders: Vec<usize> = Vec::new();
            for &rank in ranks.iter().filter(|&&rank| cards[rank].is_some()) {
                if leaders.iter().all(|&leader| cards[leader] != cards[rank]) {
                    leaders.push(rank);
                }
            }
            if leaders.is_empty() {
                leaders.push(ranks[0]);
            }
            leaders
        };
        Self {
            leaders: ranks.iter().map(leaders_of).collect(),
            is_in_order: ranks.iter().flatten().copied().eq(0..keys.len()),
            places,
            ranks,
        }
    }

    /// The number of hosts.
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// The number of ranks on all hosts.
    pub fn size(&self) -> usize {
        self.places.len()
    }

    /// The host of a rank.
    pub fn host_of(&self, rank: usize) -> usize {
        self.places[rank].0
    }

    /// The number of a rank among those of its host.
    pub fn place_of(&self, rank: usize) -> usize {
        self.places[rank].1
    }

    /// The ranks of a host.
    pub fn ranks(&self, host: usize) -> &[usize] {
        &self.ranks[host]
    }

    /// The ranks of a host that are near its network cards, one for each card. The first acts for it where no root does.
    pub fn leaders(&self, host: usize) -> &[usize] {
        &self.leaders[host]
    }

    /// How many leaders every host has: between as many pairs of ranks of two hosts long data can go at a time.
    pub fn lanes(&self) -> usize {
        self.leaders.iter().map(Vec::len).min().unwrap_or(1)
    }

    /// Whether all ranks of a host come before those of the next one, so that partial results of hosts can be combined
    /// in rank order.
    pub fn is_in_order(&self) -> bool {
        self.is_in_order
    }

    /// All ranks, host by host.
    pub fn by_host(&self) -> impl Iterator<Item = usize> + '_ {
        self.ranks.iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_take_turns_are_not_in_order() {
        let hosts = Hosts::new(&["a", "b", "a"], &[None; 3]);
        assert!(!hosts.is_in_order());
        assert_eq!(hosts.by_host().collect::<Vec<_>>(), [0, 2, 1]);
        assert_eq!(
            (hosts.ranks(0), hosts.leaders(1), hosts.place_of(2)),
            (&[0, 2][..], &[1][..], 1)
        );
        assert!(Hosts::new(&[5, 5, 1], &[None; 3]).is_in_order());
    }

    #[test]
    fn a_leader_is_near_each_card() {
        let cards = [
            None,
            Some(4),
            Some(4),
            Some(2),
            Some(2),
            Some(4),
            None,
            Some(4),
        ];
        let hosts = Hosts::new(&[0, 0, 0, 0, 1, 1, 1, 1], &cards);
        assert_eq!(
            (hosts.leaders(0), hosts.leaders(1)),
            (&[1, 3][..], &[4, 5][..])
        );
        assert_eq!(hosts.lanes(), 2);
        let one = Hosts::new(&[0, 0, 0, 0, 1, 1, 2, 2], &cards);
        assert_eq!((one.leaders(2), one.lanes()), (&[7][..], 1));
    }
}
