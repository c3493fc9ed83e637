//! Streamcluster against a reference that follows the definitions, and over every kind of provider.
//!
//! The reference shares points and dice with the application and nothing else. It keeps no costs: it
//! computes all of them anew whenever it needs one.

use crate::common::{Open, own};
use corecast_bench::apps::streamcluster::{self, Dice, Points, Problem, Solution, Stream};
use corecast_bench::apps::{Means, OverBarrier, Provider, Run, settings};
use corecast_bench::{Role, Status, cpu_placement, peers};
use std::thread;

/// A clustering: the centre of each point.
#[derive(Clone)]
struct Clustering<'p> {
    points: Points<'p>,
    centres: Vec<usize>,
    of: Vec<usize>,
}

impl Clustering<'_> {
    fn way(&self, a: usize, b: usize) -> i128 {
        let pairs = self.points.at(a).iter().zip(self.points.at(b));
        let sum: i128 = pairs.map(|(a, b)| i128::from(a - b).pow(2)).sum();
        sum * i128::from(self.points.weight(a))
    }

    fn cost(&self, price: i128) -> i128 {
        let points: i128 = (0..self.of.len()).map(|p| self.way(p, self.of[p])).sum();
        points + price * self.centres.len() as i128
    }

    /// The clustering with `x` open, and with all points there that are nearer to it.
    fn with(&self, x: usize) -> Self {
        let mut open = self.clone();
        for point in 0..open.of.len() {
            if open.way(point, x) < open.way(point, open.of[point]) {
                open.of[point] = x;
            }
        }
        if !open.centres.contains(&x) {
            open.centres.push(x);
        }
        open
    }

    /// The clustering with the points of `centre` moved to `x`, and `centre` closed.
    fn sent(&self, centre: usize, x: usize) -> Self {
        let mut sent = self.clone();
        for of in sent.of.iter_mut().filter(|of| **of == centre) {
            *of = x;
        }
        sent.centres.retain(|&c| c != centre);
        sent
    }

    /// The clustering after a look at `x`. Each centre is closed if that alone lowers the cost, and
    /// all is kept if the total cost falls.
    fn looked_at(&self, x: usize, price: i128) -> Self {
        let open = self.with(x);
        let mut best = open.clone();
        for &centre in self.centres.iter().filter(|&&centre| centre != x) {
            if open.sent(centre, x).cost(price) < open.cost(price) {
                best = best.sent(centre, x);
            }
        }
        match best.cost(price) < self.cost(price) {
            true => best,
            false => self.clone(),
        }
    }
}

/// Coordinates of centres, and how many points each stands for.
type Centres = (Vec<i16>, Vec<i64>);

struct Reference {
    min: usize,
    max: usize,
    dice: Dice,
    looks: u64,
}

impl Reference {
    fn start<'p>(&mut self, points: Points<'p>, price: i128) -> Clustering<'p> {
        let n = points.len();
        let first = self.dice.below(n as u64) as usize;
        let throws = self.dice;
        self.dice.bits();
        let mut open = Clustering {
            points,
            centres: vec![first],
            of: vec![first; n],
        };
        for point in (first + 1..n).chain(0..first) {
            let cost = open.way(point, open.of[point]);
            // The chance is cost / price.
            if i128::from(throws.throw(point as u64)) * price < cost * (1 << 32) {
                open = open.with(point);
            }
        }
        open
    }

    fn sample(&mut self, points: Points<'_>) -> Vec<usize> {
        let count = rounds(self.min);
        if points.len() <= count {
            return (0..points.len()).collect();
        }
        let lots = (0..points.len()).flat_map(|p| vec![p; points.weight(p) as usize]);
        let lots: Vec<usize> = lots.collect();
        let lot = |_| lots[self.dice.below(lots.len() as u64) as usize];
        (0..count).map(lot).collect()
    }

    fn improve(&mut self, at: &mut Clustering<'_>, sample: &mut [usize], price: i128, part: i128) {
        loop {
            self.dice.shuffle(sample);
            let before = at.cost(price);
            for look in 0..rounds(self.max) {
                self.looks += 1;
                *at = at.looked_at(sample[look % sample.len()], price);
            }
            let after = at.cost(price);
            if before - after <= after * part / 1000 {
                return;
            }
        }
    }

    fn cluster(&mut self, points: Points<'_>) -> Centres {
        let n = points.len();
        if n <= self.max {
            let all = Clustering {
                points,
                centres: (0..n).collect(),
                of: (0..n).collect(),
            };
            return means(&all);
        }
        let one = Clustering {
            points,
            centres: vec![0],
            of: vec![0; n],
        };
        let (mut low, mut high) = (0, one.cost(0));
        let mut price = high / 2;
        let mut at = self.start(points, price);
        while at.centres.len() < self.min && price > 0 {
            high = price;
            price = (low + high) / 2;
            at = self.start(points, price);
        }
        let mut sample = self.sample(points);
        loop {
            self.improve(&mut at, &mut sample, price, 100);
            let k = at.centres.len() as f64;
            let (min, max) = (self.min as f64, self.max as f64);
            if (k <= 1.1 * max && k >= 0.9 * min) || (k <= max + 2.0 && k >= min - 2.0) {
                self.improve(&mut at, &mut sample, price, 1);
            }
            let k = at.centres.len();
            match k {
                _ if k > self.max => low = price,
                _ if k < self.min => high = price,
                _ => return means(&at),
            }
            price = (low + high) / 2;
            if low as f64 >= 0.999 * high as f64 || high - low <= 1 {
                return means(&at);
            }
        }
    }
}

fn rounds(k: usize) -> usize {
    ((3.0 * k as f64 * (k as f64).ln()) as usize).max(k)
}

fn means(at: &Clustering<'_>) -> Centres {
    let mut all: Centres = (Vec::new(), Vec::new());
    let mut centres = at.centres.clone();
    centres.sort_unstable();
    for centre in centres {
        let members: Vec<usize> = (0..at.of.len()).filter(|&p| at.of[p] == centre).collect();
        let weight: i64 = members.iter().map(|&p| at.points.weight(p)).sum();
        if weight == 0 {
            continue;
        }
        all.1.push(weight);
        for d in 0..at.points.dimensions() {
            let sum = |&p: &usize| at.points.weight(p) * i64::from(at.points.at(p)[d]);
            all.0
                .push((members.iter().map(sum).sum::<i64>() / weight) as i16);
        }
    }
    all
}

fn reference(problem: &Problem, stream: &Stream) -> Solution {
    let mut reference = Reference {
        min: problem.centres_min,
        max: problem.centres_max,
        dice: Dice::new(problem.seed),
        looks: 0,
    };
    let mut seen: Centres = (Vec::new(), Vec::new());
    for start in (0..problem.points).step_by(problem.chunk) {
        let end = problem.points.min(start + problem.chunk);
        let (places, weights) = reference.cluster(stream.points().part(start..end));
        seen.0.extend(places);
        seen.1.extend(weights);
    }
    let (centres, weights) = reference.cluster(Points::new(problem.dimensions, &seen.0, &seen.1));
    Solution {
        centres,
        weights,
        looks: reference.looks,
    }
}

/// Points in a few clumps, some of them at the very same place.
fn clumps(problem: &Problem) -> Stream {
    let mut dice = Dice::new(problem.seed);
    let coordinate = |dice: &mut Dice, clump: u64| (clump * 900 + dice.below(3)) as i16;
    let mut points = Vec::new();
    for _ in 0..problem.points {
        let clump = dice.below(4);
        points.extend((0..problem.dimensions).map(|_| coordinate(&mut dice, clump)));
    }
    Stream::new(problem.dimensions, points)
}

fn solve_over(provider: &dyn Provider, problem: &Problem, stream: &Stream) -> Vec<Solution> {
    let ranks = provider.ranks();
    thread::scope(|scope| {
        let solving: Vec<_> = (0..ranks)
            .map(|rank| {
                scope.spawn(move || {
                    let mut backend = provider.backend(rank);
                    streamcluster::solve(problem, stream, (rank, ranks), backend.as_mut())
                })
            })
            .collect();
        let solutions = solving.into_iter().map(|s| s.join().unwrap().unwrap());
        solutions.collect()
    })
}

fn problems() -> impl Iterator<Item = Problem> {
    (0..24).map(|seed| Problem {
        points: 40 + 7 * seed as usize,
        dimensions: 1 + (seed as usize * 5) % 9,
        centres_min: 1 + seed as usize % 4,
        centres_max: 4 + seed as usize % 3,
        chunk: 30 + seed as usize,
        seed,
    })
}

#[test]
fn one_rank_finds_what_the_reference_finds() {
    for problem in problems() {
        for stream in [Stream::random(&problem), clumps(&problem)] {
            let found = streamcluster::alone(&problem, &stream);
            assert_eq!(found, reference(&problem, &stream), "{problem:?}");
            let weight: i64 = found.weights.iter().sum();
            assert_eq!(weight, problem.points as i64, "{problem:?}");
        }
    }
}

#[test]
fn clumps_are_found() {
    let problem = Problem {
        points: 400,
        dimensions: 6,
        centres_min: 4,
        centres_max: 4,
        chunk: 100,
        seed: 5,
    };
    let found = streamcluster::alone(&problem, &clumps(&problem));
    let mut clumps: Vec<i16> = found.centres.chunks(6).map(|c| c[0] / 900).collect();
    clumps.sort_unstable();
    assert_eq!(clumps, [0, 1, 2, 3]);
}

#[test]
fn neither_ranks_nor_providers_change_the_solution() {
    let problem = Problem {
        points: 600,
        dimensions: 5,
        centres_min: 3,
        centres_max: 6,
        chunk: 250,
        seed: 9,
    };
    let stream = Stream::random(&problem);
    let expected = streamcluster::alone(&problem, &stream);
    for ranks in [1, 2, 3, 5, 8] {
        let placements = cpu_placement::free(ranks);
        let mut providers: Vec<Box<dyn Provider>> = Vec::new();
        for engine in peers::thread_barriers(&placements) {
            providers.push(Box::new(OverBarrier::new(engine)));
        }
        if ranks > 1 {
            providers.extend([Means::Barrier, Means::Collectives].map(|means| own(ranks, means)));
        }
        for provider in providers {
            for found in solve_over(provider.as_ref(), &problem, &stream) {
                assert_eq!(found, expected, "{ranks} ranks, {}", provider.name());
            }
        }
    }
}

#[test]
fn tables_take_any_length() {
    let ranks = 3;
    let engine = Box::new(peers::StdBarrier::new(ranks));
    let provider = OverBarrier::new(engine);
    let meet = |rank: usize| {
        let mut backend = provider.backend(rank);
        for length in [0, 1, 2, 255, 256, 257, 700] {
            let mut data: Vec<i64> = (0..length).map(|at| at * (rank as i64 + 1)).collect();
            backend.sum(&mut data).unwrap();
            assert!(data.iter().zip(0..).all(|(sum, at)| *sum == 6 * at));
            assert_eq!(backend.min(10 - rank as i64), Ok(8));
            let total = backend.join_sum(rank as i64).unwrap();
            assert!(rank > 0 || total == 3);
        }
    };
    thread::scope(|scope| {
        for rank in 0..ranks {
            scope.spawn(move || meet(rank));
        }
    });
}

#[test]
fn races_show_time_to_solution_and_throw_out_what_does_not_synchronise() {
    let problem = Problem {
        points: 300,
        dimensions: 4,
        centres_min: 3,
        centres_max: 6,
        chunk: 150,
        seed: 2,
    };
    let placements = cpu_placement::free(2);
    let providers: Vec<Box<dyn Provider>> = vec![
        own(2, Means::Barrier),
        own(2, Means::Collectives),
        Box::new(OverBarrier::new(Box::new(peers::StdBarrier::new(2)))),
        Box::new(OverBarrier::new(Box::new(Open(2)))),
    ];
    let run = Run::race(problem, &placements, &settings(true), providers, |_| {}).unwrap();
    let report = run.report();
    let statuses: Vec<&str> = report.entries.iter().map(|e| e.status.as_str()).collect();
    assert_eq!(statuses, ["timed", "timed", "timed", "timed", "failed"]);
    assert!(matches!(
        run.comparison.entries[4].status,
        Status::Failed(_)
    ));
    let [alone, barrier, collectives, peer, _] = &report.entries[..] else {
        panic!("{report:?}");
    };
    assert_eq!((alone.role, alone.synchronisations), (None, 0));
    assert_eq!(barrier.role, Some(Role::Corecast));
    assert_eq!(barrier.synchronisations, peer.synchronisations);
    // A sum takes two barriers.
    assert!(collectives.synchronisations < barrier.synchronisations);
    assert!(collectives.synchronisations > report.looks);
    assert!(barrier.ratio_to_best_peer.is_some() && peer.ratio_to_one_rank.is_some());
    let text = report.render();
    for part in [
        "one rank alone",
        "std::sync::Barrier",
        "FAILED open",
        "/ best peer",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn problems_that_cannot_be_solved() {
    let good = Problem::default();
    assert_eq!(good.check(), Ok(()));
    for (bad, quoted) in [
        (Problem { points: 0, ..good }, "0 points"),
        (
            Problem {
                dimensions: 200,
                ..good
            },
            "200 dimensions",
        ),
        (
            Problem {
                centres_min: 30,
                ..good
            },
            "from 30 to 20 centres",
        ),
        (Problem { chunk: 20, ..good }, "chunks of 20"),
    ] {
        let error = bad.check().unwrap_err().to_string();
        assert!(error.contains(quoted), "{error}");
    }
}
