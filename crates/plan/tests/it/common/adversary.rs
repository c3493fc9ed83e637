//! Cost models that are hard on bounds and searches, by kind and seed.

use corecast_model::{CostModel, Unit};
use fastrand::Rng;

/// A maker of cost models for n members.
pub(crate) type Make = fn(usize, &mut Rng) -> CostModel;

/// All kinds by name.
pub(crate) const KINDS: [(&str, Make); 15] = [
    ("ties", ties),
    ("zeros", zeros),
    ("all zero", |n, _| uniform(n, 0.0, 0.0)),
    ("one outlier", one_outlier),
    ("one dead member", one_dead_member),
    ("asymmetry", asymmetry),
    ("senders and receivers", senders_and_receivers),
    ("a NUMA node each", |n, random| anything(n, random, 1)),
    ("one NUMA node", |n, random| anything(n, random, n)),
    ("noisy blocks", noisy_blocks),
    ("uneven hierarchy", |n, random| hierarchy(n, random, 0.0)),
    ("noisy hierarchy", |n, random| hierarchy(n, random, 0.03)),
    ("two decimals", two_decimals),
    ("huge", huge),
    ("last bits", last_bits),
];

/// The cost model of a kind. Equal arguments give equal models.
pub(crate) fn costs(make: Make, n: usize, seed: u64) -> CostModel {
    make(n, &mut Rng::with_seed(seed))
}

/// A cost model from a function of the sender, the receiver, and whether the receive cost is asked
/// for.
fn model(numa: Vec<u32>, mut cost: impl FnMut(usize, usize, bool) -> f64) -> CostModel {
    let n = numa.len();
    let mut rows = |receive| -> Vec<Vec<f64>> {
        let row = |i| (0..n).map(|j| cost(i, j, receive)).collect();
        (0..n).map(row).collect()
    };
    let (send, receive) = (rows(false), rows(true));
    CostModel::new(Unit::Cycles, send, receive, numa).unwrap()
}

fn nodes(n: usize, per_node: usize) -> Vec<u32> {
    (0..n).map(|rank| (rank / per_node) as u32).collect()
}

fn uniform(n: usize, send: f64, receive: f64) -> CostModel {
    model(
        nodes(n, 2),
        |_, _, is_receive| if is_receive { receive } else { send },
    )
}

/// There are two costs, and each pair has one of them.
fn ties(n: usize, random: &mut Rng) -> CostModel {
    let (low, high) = (
        1.0 + random.usize(..3) as f64,
        4.0 + random.usize(..5) as f64,
    );
    model(
        nodes(n, 3),
        |_, _, _| if random.usize(..2) == 0 { low } else { high },
    )
}

fn zeros(n: usize, random: &mut Rng) -> CostModel {
    model(nodes(n, 2), |_, _, _| random.usize(..4) as f64)
}

fn one_outlier(n: usize, random: &mut Rng) -> CostModel {
    let (from, to, in_receive) = (random.usize(..n), random.usize(..n), random.usize(..2) == 0);
    model(nodes(n, 4), |i, j, receive| match (i, j, receive) {
        at if at == (from, to, in_receive) => 1e12,
        _ => 50.0 + 100.0 * random.f64(),
    })
}

/// All messages to or from one member are expensive.
fn one_dead_member(n: usize, random: &mut Rng) -> CostModel {
    let dead = random.usize(..n);
    model(nodes(n, 4), |i, j, _| {
        (1.0 + random.f64()) * if i == dead || j == dead { 1e6 } else { 100.0 }
    })
}

/// A message one way costs a thousand times as much as one the other way.
fn asymmetry(n: usize, random: &mut Rng) -> CostModel {
    let rank: Vec<u64> = (0..n).map(|_| random.u64(..)).collect();
    model(nodes(n, 2), |i, j, _| {
        (1.0 + random.f64()) * if rank[i] < rank[j] { 1000.0 } else { 1.0 }
    })
}

/// Each member has its own cost of sending and its own cost of receiving.
fn senders_and_receivers(n: usize, random: &mut Rng) -> CostModel {
    let mut prices = || -> Vec<f64> { (0..n).map(|_| (1000.0_f64).powf(random.f64())).collect() };
    let (sends, receives) = (prices(), prices());
    model(
        nodes(n, 3),
        |i, j, receive| if receive { receives[j] } else { sends[i] },
    )
}

fn anything(n: usize, random: &mut Rng, per_node: usize) -> CostModel {
    model(nodes(n, per_node), |_, _, _| 1000.0 * random.f64())
}

/// Two levels of costs in equal blocks, with noise of ±3 %.
fn noisy_blocks(n: usize, random: &mut Rng) -> CostModel {
    let numa = nodes(n, 2 + random.usize(..3));
    let level = numa.clone();
    model(numa, |i, j, receive| {
        let (near, far) = if receive {
            (220.0, 750.0)
        } else {
            (60.0, 200.0)
        };
        let price = if level[i] == level[j] { near } else { far };
        price * (0.97 + 0.06 * random.f64())
    })
}

/// Three levels of costs with groups of any size. NUMA nodes are the inner groups, or pairs of
/// them.
fn hierarchy(n: usize, random: &mut Rng, noise: f64) -> CostModel {
    let inner: Vec<usize> = (0..n).map(|_| random.usize(..4)).collect();
    let outer: Vec<usize> = (0..4).map(|_| random.usize(..2)).collect();
    let mut prices = [(); 6].map(|()| (5.0 + random.usize(..800) as f64).floor());
    prices[..3].sort_by(f64::total_cmp);
    prices[3..].sort_by(f64::total_cmp);
    let shift = u32::from(random.usize(..4) == 0);
    let numa = inner.iter().map(|&group| group as u32 >> shift).collect();
    model(numa, |i, j, receive| {
        let level = match (inner[i] == inner[j], outer[inner[i]] == outer[inner[j]]) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        let price = prices[level + if receive { 3 } else { 0 }];
        price * (1.0 + noise * (2.0 * random.f64() - 1.0))
    })
}

/// Costs with two decimals, as measured ones are written.
fn two_decimals(n: usize, random: &mut Rng) -> CostModel {
    let numa = nodes(n, 4);
    let level = numa.clone();
    model(numa, |i, j, _| {
        let scale = if level[i] == level[j] {
            6000.0
        } else {
            40000.0
        };
        (scale * (0.8 + 0.4 * random.f64())).floor() / 100.0
    })
}

/// Costs at the upper end of what is accepted.
fn huge(n: usize, random: &mut Rng) -> CostModel {
    let few = [
        CostModel::COST_MAX,
        CostModel::COST_MAX - 1.0,
        0.5 * CostModel::COST_MAX,
    ];
    model(nodes(n, 3), |_, _, _| few[random.usize(..3)])
}

/// Costs that differ by a few units in the last place.
fn last_bits(n: usize, random: &mut Rng) -> CostModel {
    let (send, receive) = (100.1_f64, 300.3_f64);
    model(nodes(n, 3), |_, _, is_receive| {
        let base = if is_receive { receive } else { send };
        f64::from_bits(base.to_bits() + random.u64(..4))
    })
}
