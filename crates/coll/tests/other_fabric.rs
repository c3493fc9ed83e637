//! The algorithms over a second fabric, made of the standard library's channels: same results, and
//! as many messages as their cost formulas say.

use corecast_coll::barrier::Steps;
use corecast_coll::{Combine, Route, allreduce, barrier, broadcast, reduce};
use corecast_model::CostModel;
use corecast_plan::{Pattern, Rounds, Tree};
use corecast_wire::Fabric;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};

/// One rank's ends of a channel to and from every rank.
struct Channels {
    rank: usize,
    out: Vec<Sender<Vec<u8>>>,
    into: Vec<Receiver<Vec<u8>>>,
    notifications: usize,
    messages: usize,
}

impl Fabric for Channels {
    type Error = Infallible;
    type Window<'w> = &'w mut [u8];

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.out.len()
    }

    fn notify(&mut self, peer: usize) -> Result<(), Infallible> {
        self.notifications += 1;
        self.out[peer].send(Vec::new()).unwrap();
        Ok(())
    }

    fn wait(&mut self, peer: usize) -> Result<(), Infallible> {
        assert!(self.into[peer].recv().unwrap().is_empty());
        Ok(())
    }

    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Infallible> {
        self.messages += 1;
        self.out[peer].send(payload.to_vec()).unwrap();
        Ok(())
    }

    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), Infallible> {
        payload.copy_from_slice(&self.into[peer].recv().unwrap());
        Ok(())
    }

    fn view<'b>(&self, window: &'b Self::Window<'_>, range: Range<usize>) -> &'b [u8] {
        &window[range]
    }

    fn own<'b>(
        &mut self,
        window: &'b mut Self::Window<'_>,
        range: Range<usize>,
    ) -> Result<&'b mut [u8], Infallible> {
        Ok(&mut window[range])
    }

    fn lend(
        &mut self,
        window: &Self::Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Infallible> {
        peers
            .into_iter()
            .try_for_each(|peer| self.send(peer, &window[range.clone()]))
    }

    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), Infallible> {
        let lent = self.into[peer].recv().unwrap();
        assert_eq!(lent.len(), len);
        // In two pieces, as a fabric may.
        let (front, back) = lent.split_at(len / 2);
        each(0, front);
        each(front.len(), back);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Runs `body` on `n` ranks and returns how many notifications and messages all of them sent.
fn run(n: usize, body: impl Fn(&mut Channels) + Sync) -> (usize, usize) {
    let mut fabrics: Vec<Channels> = (0..n)
        .map(|rank| Channels {
            rank,
            out: Vec::new(),
            into: Vec::new(),
            notifications: 0,
            messages: 0,
        })
        .collect();
    for from in 0..n {
        for to in 0..n {
            let (sender, receiver) = channel();
            fabrics[from].out.push(sender);
            fabrics[to].into.push(receiver);
        }
    }
    std::thread::scope(|scope| {
        let body = &body;
        let threads: Vec<_> = fabrics
            .iter_mut()
            .map(|fabric| scope.spawn(move || body(fabric)))
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
    let sum = |count: fn(&Channels) -> usize| fabrics.iter().map(count).sum();
    (sum(|f| f.notifications), sum(|f| f.messages))
}

fn trees(n: usize) -> Vec<Tree> {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let costs: &CostModel = machine.costs();
    let patterns = [
        Pattern::Smelt,
        Pattern::Binary,
        Pattern::Chain,
        Pattern::Sequential,
    ];
    patterns
        .into_iter()
        .flat_map(|pattern| [0, n - 1].map(|root| pattern.tree(costs, root).unwrap()))
        .collect()
}

/// Combines bytes one by one.
struct Each(fn(u8, u8) -> u8);

impl Combine for Each {
    fn grain(&self) -> usize {
        1
    }

    fn ordered(&self) -> bool {
        false
    }

    fn combine(&self, into: &mut [u8], with: &[u8]) {
        into.iter_mut()
            .zip(with)
            .for_each(|(a, b)| *a = self.0(*a, *b));
    }

    fn combine_left(&self, into: &mut [u8], with: &[u8]) {
        into.iter_mut()
            .zip(with)
            .for_each(|(a, b)| *a = self.0(*b, *a));
    }

    fn combine_into(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        out.copy_from_slice(a);
        self.combine(out, b);
    }
}

const ADD: Each = Each(|a, b| a + b);

#[test]
fn tree_algorithms_give_the_same_results_with_the_messages_they_promise() {
    for n in 1..=7 {
        for tree in trees(n) {
            let routes = Route::all(&tree);
            for root in 0..n {
                let sent = run(n, |fabric| {
                    let mut data = [if fabric.rank == root { 9 } else { 0 }];
                    broadcast::tree(fabric, &routes[fabric.rank], root, &mut data).unwrap();
                    assert_eq!(data, [9]);
                });
                assert_eq!(sent, (0, n - 1), "broadcast, {n} ranks");
                let sent = run(n, |fabric| {
                    let (mut sum, mut incoming) = ([fabric.rank as u8 + 1], [0]);
                    let route = &routes[fabric.rank];
                    reduce::tree(fabric, route, root, &mut sum, &mut incoming, &ADD).unwrap();
                    let all = (n * (n + 1) / 2) as u8;
                    assert!(fabric.rank != root || sum == [all]);
                });
                assert_eq!(sent, (0, n - 1), "reduce, {n} ranks");
            }
            let sent = run(n, |fabric| {
                let (mut sum, mut incoming) = ([fabric.rank as u8 + 1], [0]);
                let route = &routes[fabric.rank];
                allreduce::tree(fabric, route, route, &mut sum, &mut incoming, &ADD).unwrap();
                assert_eq!(sum, [(n * (n + 1) / 2) as u8]);
            });
            assert_eq!(sent, (0, 2 * (n - 1)), "allreduce, {n} ranks");
            let sent = run(n, |fabric| {
                let route = &routes[fabric.rank];
                barrier::tree(fabric, route, route).unwrap();
            });
            assert_eq!(sent, (2 * (n - 1), 0), "barrier, {n} ranks");
        }
    }
}

#[test]
fn two_ranks_exchange_in_rank_order() {
    let sent = run(2, |fabric| {
        let (mut sum, mut incoming) = ([fabric.rank as u8 + 1], [0]);
        // Neither associative nor commutative: shows the order.
        let combine = Each(|a, b| 10 * a + b);
        allreduce::exchange(fabric, &mut sum, &mut incoming, &combine).unwrap();
        assert_eq!(sum, [12]);
    });
    assert_eq!(sent, (0, 2));
}

#[test]
fn disseminations_send_what_their_schedule_says() {
    for n in 1..=9 {
        for radix in 2..=4 {
            let rounds = Rounds::dissemination(n, radix);
            let sent = run(n, |fabric| {
                let steps = Steps::of(&rounds, fabric.rank);
                barrier::dissemination(fabric, &steps).unwrap();
            });
            assert_eq!(
                sent,
                (rounds.notifications(), 0),
                "{n} ranks, radix {radix}"
            );
        }
    }
}
