//! What runs between hosts, by the costs of a message there: trees, and the segments of long data.

use corecast::Pattern;
use corecast_collectives::Plans;
use corecast_collectives::pipeline::PipelineSegments;
use corecast_collectives::plans::BarrierPlan;
use corecast_model::cluster::Network;
use corecast_plan::Tree;
use corecast_plan::rounds::Rounds;

/// The patterns of trees between hosts; of equally good ones the first.
const PATTERNS: [Pattern; 3] = [Pattern::Binomial, Pattern::Sequential, Pattern::Smelt];

/// Fewest bytes of a segment that the model asks for.
const SEGMENT_BYTES_MIN: usize = PipelineSegments::DYNAMIC_BYTES;

/// The pattern whose trees are the fastest by the LogGP model: for broadcasts of a byte and of a segment of
/// [`PipelineSegments::FIXED_BYTES`], as one tree serves both, by the product of the two times.
///
/// # Examples
///
/// ```
/// use corecast::Pattern;
/// use corecast_cluster::pattern;
/// use corecast_model::cluster::Network;
///
/// // Messages take long, and many of them can be on their way: the root sends all of them.
/// let far = Network { latency_ns: 100_000.0, overhead_ns: 100.0, gap_ns: 0.0, byte_ns: 0.01 };
/// assert_eq!(pattern(4, &far), Pattern::Sequential);
/// // Each keeps its sender as long as it is on its way.
/// let near = Network { latency_ns: 0.0, overhead_ns: 5_000.0, gap_ns: 10_000.0, byte_ns: 1.0 };
/// assert_eq!(pattern(8, &near), Pattern::Binomial);
/// ```
pub fn pattern(hosts: usize, network: &Network) -> Pattern {
    let time = |pattern: Pattern| {
        let plans = of_pattern(hosts, network, pattern);
        [1, PipelineSegments::FIXED_BYTES]
            .map(|bytes| broadcast_ns(plans.broadcast(), network, bytes))
            .iter()
            .product::<f64>()
    };
    let [first, others @ ..] = PATTERNS;
    let mut best = (first, time(first));
    for pattern in others {
        let time = time(pattern);
        if time < best.1 {
            best = (pattern, time);
        }
    }
    best.0
}

/// When the last host has a message of `bytes` that is broadcast over a tree. A host sends to its children one after the other.
fn broadcast_ns(tree: &Tree, network: &Network, bytes: usize) -> f64 {
    let mut last = 0.0_f64;
    let mut left = vec![(tree.root(), 0.0)];
    while let Some((host, at)) = left.pop() {
        last = last.max(at);
        for (index, &child) in tree.children(host).iter().enumerate() {
            let sent = at + index as f64 * network.send_ns(bytes);
            left.push((child, sent + network.message_ns(bytes)));
        }
    }
    last
}

/// The segments of `len` bytes that go through the hosts and through each of them, by the model: with segments of s bytes a
/// pipeline of d stages after the first takes (len/s + d) (2 o + g + s G), as a host receives and sends each of them, which is
/// least at s = √(len (2 o + g) / (d G)).
pub(crate) fn segments(len: usize, hosts: usize, network: &Network) -> PipelineSegments {
    let each = 2.0 * network.overhead_ns + network.gap_ns;
    let stages = f64::from(hosts.max(2).next_power_of_two().ilog2());
    let best = (len as f64 * each / (stages * network.byte_ns)).sqrt();
    // Without a cost of bytes nothing is gained by parts.
    match best < len as f64 {
        true => PipelineSegments::Fixed((best as usize).max(SEGMENT_BYTES_MIN)),
        false => PipelineSegments::Whole,
    }
}

/// The plans between `hosts`.
pub(crate) fn plans(hosts: usize, network: &Network, pattern: Pattern) -> Plans {
    let plans = of_pattern(hosts, network, pattern);
    // Each round costs a message, and a tree needs twice as many as a dissemination.
    let rounds = BarrierPlan::Rounds(Rounds::dissemination(hosts, 2));
    plans.with_barrier(rounds).expect("as many hosts")
}

/// Trees of a pattern. They know no difference between two hosts, as their costs are those of one network.
fn of_pattern(hosts: usize, network: &Network, pattern: Pattern) -> Plans {
    let send = network.send_ns(1);
    let receive = (network.message_ns(1) - send).max(0.0);
    let words = format!("core:{hosts} send={send} receive={receive}");
    let machine = corecast_model::synthetic(&words).expect("costs that were checked");
    let plans = Plans::of_pattern(machine.costs(), pattern, Some(0));
    plans.expect("a root that is there")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETHERNET: Network = Network {
        latency_ns: 20_000.0,
        overhead_ns: 5_000.0,
        gap_ns: 0.0,
        byte_ns: 1.0,
    };

    /// Every tree of up to 6 hosts in which each child has a greater number, by brute force.
    #[test]
    fn times_of_trees_are_those_of_the_model() {
        for hosts in 1..=6_usize {
            let trees: usize = (1..hosts).product();
            for number in 0..trees {
                let (mut rest, mut children) = (number, vec![Vec::new(); hosts]);
                for child in 1..hosts {
                    children[rest % child].push(child);
                    rest /= child;
                }
                // Event by event: when each has it, and when its processor is free again.
                let (mut has, mut free) = (vec![0.0; hosts], vec![0.0; hosts]);
                for host in 0..hosts {
                    free[host] = has[host];
                    for &child in &children[host] {
                        has[child] = free[host] + 2.0 * 5_000.0 + 20_000.0 + 99.0;
                        free[host] += 5_000.0;
                    }
                }
                let tree = Tree::from_children(0, children).unwrap();
                let last = has.iter().copied().fold(0.0, f64::max);
                assert_eq!(broadcast_ns(&tree, &ETHERNET, 100), last, "{tree:?}");
            }
        }
    }

    #[test]
    fn segments_are_where_the_model_is_least() {
        for (len, hosts) in [(1 << 20, 2), (1 << 20, 8), (16 << 20, 16), (100_000, 4)] {
            let PipelineSegments::Fixed(bytes) = segments(len, hosts, &ETHERNET) else {
                panic!("{len} bytes whole");
            };
            let stages = (hosts as f64).log2().ceil();
            let time = |s: f64| (len as f64 / s + stages) * (10_000.0 + s);
            let best = (1..=len / 512).map(|k| time(512.0 * k as f64));
            let best = best.fold(f64::INFINITY, f64::min);
            assert!(
                time(bytes as f64) <= best * 1.001,
                "{len}, {hosts}: {bytes}"
            );
        }
        assert_eq!(segments(1000, 2, &ETHERNET), PipelineSegments::Whole);
        let free = Network {
            byte_ns: 0.0,
            ..ETHERNET
        };
        assert_eq!(segments(1 << 30, 2, &free), PipelineSegments::Whole);
        assert_eq!(segments(0, 2, &free), PipelineSegments::Whole);
    }
}
