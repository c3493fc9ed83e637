//! One rank's part in one operation: its buffers, somewhere in larger ones, and what a naive reference
//! says must be in them afterwards.

use super::draw::{Of, Step, typed};
use super::element::{By, Element, Fold, add, bytewise, then};
use super::mixed;
use crate::periodic::{PERIOD, joined, repeated};
use corecast_collectives::Parts;
use corecast_model::Collective;
use corecast_team::{Failure, Member, Overlap, Request};
use std::ops::{DerefMut, Range};

/// A buffer amid others' elements, which must stay as they are.
struct Room<T> {
    all: Box<dyn DerefMut<Target = [T]>>,
    range: Range<usize>,
}

impl<T: Element> Room<T> {
    /// A room in symmetric memory of a member, or in any.
    fn new(content: &[T], shift: usize, symmetric: Option<&Member>) -> Self {
        let guard = |index| T::any(mixed(&[index as u64, 5]));
        let mut all: Vec<T> = (0..shift).map(guard).collect();
        all.extend_from_slice(content);
        all.extend((0..3).map(guard));
        Self {
            range: shift..shift + content.len(),
            all: match symmetric {
                Some(member) => {
                    let mut room = member.alloc(all.len()).unwrap();
                    room.copy_from_slice(&all);
                    Box::new(room)
                }
                None => Box::new(all),
            },
        }
    }

    fn get(&self) -> &[T] {
        &self.all[self.range.clone()]
    }

    fn get_mut(&mut self) -> &mut [T] {
        &mut self.all[self.range.clone()]
    }
}

/// The layout of a buffer: each rank's count and place, and the number of elements of the whole.
#[derive(Default)]
struct Layout {
    counts: Vec<usize>,
    at: Vec<usize>,
    all: usize,
}

impl Layout {
    /// Parts that lie side by side.
    fn packed(counts: Vec<usize>) -> Self {
        let mut all = 0;
        let at = counts.iter().map(|count| {
            all += count;
            all - count
        });
        Self {
            at: at.collect(),
            all,
            counts,
        }
    }

    /// Parts that lie in a random order, with gaps.
    fn scattered(counts: Vec<usize>, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut order: Vec<usize> = (0..counts.len()).collect();
        rng.shuffle(&mut order);
        let (mut at, mut all) = (vec![0; counts.len()], rng.usize(..3));
        for rank in order {
            at[rank] = all;
            all += counts[rank] + rng.usize(..3);
        }
        Self { counts, at, all }
    }

    fn of(&self, rank: usize) -> Range<usize> {
        self.at[rank]..self.at[rank] + self.counts[rank]
    }

    fn parts(&self) -> Parts<'_> {
        Parts::new(&self.counts, &self.at)
    }
}

/// One rank's part of one operation.
pub(super) trait Case {
    /// Calls the operation and waits for it.
    fn block(&mut self, member: &mut Member) -> Result<(), Failure>;

    /// Begins the operation in flight.
    fn start<'o, 'scope, 'env>(
        &'scope mut self,
        flight: &'o Overlap<'scope, 'env>,
    ) -> Result<Request<'o, 'scope, 'env>, Failure>;

    /// Compares the result with the reference.
    fn check(&self);
}

/// The part of a member, in buffers that begin anywhere, some of them in symmetric memory.
pub(super) fn case(step: &Step, member: &Member, shift: u64) -> Box<dyn Case> {
    typed!(step.of, T => Box::new(Typed::<T>::new(step, member, shift)))
}

struct Typed<T: Element> {
    step: Step,
    me: usize,
    n: usize,
    send: Room<T>,
    recv: Room<T>,
    /// The layouts of what is sent, and of what is received.
    give: Layout,
    take: Layout,
    expected: Room<T>,
    operator: By<T>,
}

/// The first elements of what `rank` has, for rank `to` if that matters: random bytes.
fn period<T: Element>(step: &Step, rank: usize, to: usize, len: usize) -> Vec<T> {
    let mut rng = fastrand::Rng::with_seed(mixed(&[step.seed, rank as u64, to as u64]));
    let mut period = vec![T::zeroed(); len.min(PERIOD)];
    rng.fill(bytemuck::cast_slice_mut(&mut period));
    period
}

/// The data of `rank`, for rank `to` if that matters.
fn data<T: Element>(step: &Step, rank: usize, to: usize, len: usize) -> Vec<T> {
    repeated(period(step, rank, to, len), len)
}

/// The arrays of `ranks`, combined in a loop.
fn folded<T: Element>(step: &Step, mut ranks: Range<usize>, len: usize, fold: Fold) -> Vec<T> {
    let mut sum = match ranks.next() {
        Some(first) => period(step, first, 0, len),
        None => return Vec::new(),
    };
    for rank in ranks {
        let with: Vec<T> = period(step, rank, 0, len);
        match fold {
            Fold::Bytes => bytewise(&mut sum, &with, add),
            Fold::Then => bytewise(&mut sum, &with, then),
            _ => {
                for (sum, &with) in sum.iter_mut().zip(&with) {
                    *sum = T::one(fold, *sum, with);
                }
            }
        }
    }
    repeated(sum, len)
}

impl<T: Element> Typed<T> {
    fn new(step: &Step, member: &Member, shift: u64) -> Self {
        let (n, me) = (member.size(), member.rank());
        let (len, root, fold) = (step.len, step.root, step.fold);
        let mine = || data::<T>(step, me, 0, len);
        let junk = |len: usize| vec![T::any(mixed(&[shift, 9])); len];
        let all_ranks = |sum_len: usize| folded::<T>(step, 0..n, sum_len, fold);
        // The counts of an operation with a root, or whose counts all ranks share.
        let counts = || (0..n).map(|rank| step.count(rank, n)).collect::<Vec<_>>();
        let (mut give, mut take) = (Layout::default(), Layout::default());
        let layout_seed = mixed(&[step.seed, shift]);

        let (send, recv, expected): (Vec<T>, Vec<T>, Vec<T>) = match step.what {
            Collective::Barrier => Default::default(),
            Collective::Broadcast => (vec![], mine(), data(step, root, 0, len)),
            Collective::Reduce if me == root => (vec![], mine(), all_ranks(len)),
            Collective::Reduce => (vec![], mine(), mine()),
            Collective::Allreduce => (vec![], mine(), all_ranks(len)),
            Collective::Scan => (vec![], mine(), folded(step, 0..me + 1, len, fold)),
            Collective::Exscan if me == 0 => (vec![], mine(), mine()),
            Collective::Exscan => (vec![], mine(), folded(step, 0..me, len, fold)),
            Collective::Scatter => {
                let all = joined((0..n).map(|to| data(step, root, to, len)));
                let send = if me == root { all } else { vec![] };
                (send, junk(len), data(step, root, me, len))
            }
            Collective::Gather => {
                let into = if me == root { junk(n * len) } else { vec![] };
                let all = joined((0..n).map(|rank| data(step, rank, 0, len)));
                (mine(), into, if me == root { all } else { vec![] })
            }
            Collective::Allgather => {
                let all = joined((0..n).map(|rank| data(step, rank, 0, len)));
                (mine(), junk(n * len), all)
            }
            Collective::Alltoall => {
                let send = joined((0..n).map(|to| data(step, me, to, len)));
                let all = joined((0..n).map(|from| data(step, from, me, len)));
                (send, junk(n * len), all)
            }
            Collective::Scatterv => {
                give = Layout::scattered(counts(), layout_seed);
                let mut send = junk(give.all);
                for to in 0..n {
                    send[give.of(to)].copy_from_slice(&data(step, root, to, give.counts[to]));
                }
                let part = give.counts[me];
                (send, junk(part), data(step, root, me, part))
            }
            Collective::Gatherv | Collective::Allgatherv => {
                take = Layout::scattered(counts(), layout_seed);
                let (recv, mut expected) = (junk(take.all), junk(take.all));
                if me == root || step.what == Collective::Allgatherv {
                    for from in 0..n {
                        let part = data(step, from, 0, take.counts[from]);
                        expected[take.of(from)].copy_from_slice(&part);
                    }
                }
                (data(step, me, 0, take.counts[me]), recv, expected)
            }
            Collective::Alltoallv => {
                let row = (0..n).map(|to| step.count(me, to)).collect();
                let column = (0..n).map(|from| step.count(from, me)).collect();
                give = Layout::scattered(row, layout_seed);
                take = Layout::scattered(column, layout_seed + 1);
                let mut send = junk(give.all);
                let (recv, mut expected) = (junk(take.all), junk(take.all));
                for peer in 0..n {
                    let out = data(step, me, peer, give.counts[peer]);
                    send[give.of(peer)].copy_from_slice(&out);
                    let come = data(step, peer, me, take.counts[peer]);
                    expected[take.of(peer)].copy_from_slice(&come);
                }
                (send, recv, expected)
            }
            Collective::ReduceScatter => {
                let more = |rank: usize| usize::from(rank < len % n);
                give = Layout::packed((0..n).map(|rank| len / n + more(rank)).collect());
                let part = give.of(me);
                (mine(), junk(part.len()), all_ranks(len)[part].to_vec())
            }
            Collective::ReduceScatterv => {
                give = Layout::packed(counts());
                let part = give.of(me);
                let expected = all_ranks(give.all)[part.clone()].to_vec();
                (data(step, me, 0, give.all), junk(part.len()), expected)
            }
        };
        let (send_shift, recv_shift) = (shift % 8, shift / 8 % 8);
        let symmetric = |bit: u64| {
            let is_symmetric = mixed(&[layout_seed, 11]) & bit != 0;
            is_symmetric.then_some(member)
        };
        Self {
            step: step.clone(),
            me,
            n,
            send: Room::new(&send, send_shift as usize, symmetric(1)),
            recv: Room::new(&recv, recv_shift as usize, symmetric(2)),
            give,
            take,
            expected: Room::new(&expected, recv_shift as usize, None),
            operator: By::fold(fold),
        }
    }
}

/// Makes the same call on a member or on operations in flight.
macro_rules! call {
    ($on:expr, $case:expr, $operator:expr, $barrier:expr) => {{
        let (root, send, recv) = ($case.step.root, $case.send.get(), $case.recv.get_mut());
        let (give, take) = (&$case.give, &$case.take);
        let is_root = $case.me == root;
        match $case.step.what {
            Collective::Barrier => $barrier,
            Collective::Broadcast => $on.broadcast(root, recv),
            Collective::Reduce => $on.reduce(root, recv, $operator),
            Collective::Allreduce => $on.allreduce(recv, $operator),
            Collective::Scatter => $on.scatter(root, is_root.then_some(send), recv),
            Collective::Scatterv => {
                let send = is_root.then(|| (send, give.parts()));
                $on.scatterv(root, send, recv)
            }
            Collective::Gather => $on.gather(root, send, is_root.then_some(recv)),
            Collective::Gatherv => {
                let recv = is_root.then(|| (recv, take.parts()));
                $on.gatherv(root, send, recv)
            }
            Collective::Allgather => $on.allgather(send, recv),
            Collective::Allgatherv => $on.allgatherv(send, recv, take.parts()),
            Collective::Alltoall => $on.alltoall(send, recv),
            Collective::Alltoallv => $on.alltoallv((send, give.parts()), (recv, take.parts())),
            Collective::ReduceScatter => $on.reduce_scatter(send, recv, $operator),
            Collective::ReduceScatterv => $on.reduce_scatterv(send, &give.counts, recv, $operator),
            Collective::Scan => $on.scan(recv, $operator),
            Collective::Exscan => $on.exscan(recv, $operator),
        }
    }};
}

impl<T: Element> Case for Typed<T> {
    fn block(&mut self, member: &mut Member) -> Result<(), Failure> {
        let operator: By<T> = By::fold(self.step.fold);
        call!(member, self, operator, member.barrier())
    }

    fn start<'o, 'scope, 'env>(
        &'scope mut self,
        flight: &'o Overlap<'scope, 'env>,
    ) -> Result<Request<'o, 'scope, 'env>, Failure> {
        call!(flight, self, &self.operator, flight.barrier())
    }

    fn check(&self) {
        // Compares bits, because zeros have signs.
        let found: &[u8] = bytemuck::cast_slice(&self.recv.all);
        let expected: &[u8] = bytemuck::cast_slice(&self.expected.all);
        if found == expected {
            return;
        }
        let at = found.iter().zip(expected).position(|(a, b)| a != b);
        let element = at.unwrap_or(0) / size_of::<T>();
        panic!(
            "rank {} of {}, {:?}: element {element} of {} to {} (with {} before) is {:?} where the \
             reference has {:?}",
            self.me,
            self.n,
            self.step,
            self.recv.range.start,
            self.recv.range.end,
            self.recv.range.start,
            self.recv.all[element],
            self.expected.all[element],
        );
    }
}
