//! One rank's buffers in one operation, and what one loop over all ranks says must be in them afterwards.

use super::case::Step;
use super::random::mixed;
use corecast_model::Collective;
use corecast_team::{Failure, Member, Overlap, Request};
use std::cell::Cell;
use std::ops::DerefMut;
use std::rc::Rc;

/// What an injected panic says.
pub(crate) const INJECTED: &str = "an injected panic";

/// An operator that may panic at one of its calls.
type By = Box<dyn Fn(u64, u64) -> u64>;

/// Elements that lie in symmetric memory, or anywhere.
type Elements = Box<dyn DerefMut<Target = [u64]>>;

fn elements(list: Vec<u64>, symmetric: Option<&Member>) -> Elements {
    // Whoever is refused memory goes on with any.
    let symmetric = symmetric.and_then(|member| member.alloc(list.len()).ok());
    match symmetric {
        Some(mut room) => {
            room.copy_from_slice(&list);
            Box::new(room)
        }
        None => Box::new(list),
    }
}

pub(crate) struct Buffers {
    step: Step,
    me: usize,
    send: Elements,
    recv: Elements,
    expected: Vec<u64>,
    operator: By,
}

fn value(seed: u64, step: &Step, rank: usize, index: usize) -> u64 {
    let base = mixed(&[seed, step.number as u64, rank as u64]);
    (base ^ index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Buffers {
    /// The part of a member, whose buffers lie in symmetric memory in one of four cases. `panics_at` counts down to the call at which the operator panics.
    pub(crate) fn new(
        seed: u64,
        step: Step,
        member: &Member,
        panics_at: Option<(u64, Rc<Cell<bool>>)>,
    ) -> Self {
        let (n, me, len) = (member.size(), member.rank(), step.len);
        let of = |rank: usize, range: std::ops::Range<usize>| -> Vec<u64> {
            range.map(|index| value(seed, &step, rank, index)).collect()
        };
        let sum = |ranks: std::ops::Range<usize>, range: std::ops::Range<usize>| -> Vec<u64> {
            range
                .map(|index| {
                    ranks
                        .clone()
                        .map(|rank| value(seed, &step, rank, index))
                        .fold(0, u64::wrapping_add)
                })
                .collect()
        };
        let block = |rank: usize| rank * len..(rank + 1) * len;
        let mine = || of(me, 0..len);
        let junk = |len: usize| vec![0xDEAD_BEEF; len];
        let (send, recv, expected) = match step.what {
            Collective::Barrier => Default::default(),
            Collective::Broadcast => (vec![], mine(), of(step.root, 0..len)),
            Collective::Reduce if me == step.root => (vec![], mine(), sum(0..n, 0..len)),
            Collective::Reduce => (vec![], mine(), mine()),
            Collective::Allreduce => (vec![], mine(), sum(0..n, 0..len)),
            Collective::Scan => (vec![], mine(), sum(0..me + 1, 0..len)),
            Collective::Exscan if me == 0 => (vec![], mine(), mine()),
            Collective::Exscan => (vec![], mine(), sum(0..me, 0..len)),
            Collective::Scatter => {
                let send = if me == step.root {
                    of(me, 0..n * len)
                } else {
                    vec![]
                };
                (send, junk(len), of(step.root, block(me)))
            }
            Collective::Gather if me == step.root => {
                let all = (0..n).flat_map(|rank| of(rank, 0..len)).collect();
                (mine(), junk(n * len), all)
            }
            Collective::Gather => (mine(), vec![], vec![]),
            Collective::Allgather => {
                let all = (0..n).flat_map(|rank| of(rank, 0..len)).collect();
                (mine(), junk(n * len), all)
            }
            Collective::Alltoall => {
                let all = (0..n).flat_map(|rank| of(rank, block(me))).collect();
                (of(me, 0..n * len), junk(n * len), all)
            }
            Collective::ReduceScatter => (of(me, 0..n * len), junk(len), sum(0..n, block(me))),
            other => unreachable!("{other} is not drawn"),
        };
        let symmetric = mixed(&[seed, 3]).is_multiple_of(4).then_some(member);
        let left = Cell::new(panics_at.as_ref().map_or(u64::MAX, |(call, _)| *call));
        let operator = move |a: u64, b: u64| {
            if left.get() == 0
                && let Some((_, has)) = &panics_at
                && !has.replace(true)
            {
                std::panic::panic_any(INJECTED);
            }
            left.set(left.get().wrapping_sub(1));
            a.wrapping_add(b)
        };
        Self {
            step,
            me,
            send: elements(send, symmetric),
            recv: elements(recv, symmetric),
            expected,
            operator: Box::new(operator),
        }
    }

    /// Whether the buffers hold what they must.
    pub(crate) fn are_right(&self) -> bool {
        self.recv[..] == self.expected
    }

    pub(crate) fn block(&mut self, member: &mut Member) -> Result<(), Failure> {
        let (root, is_root) = (self.step.root, self.me == self.step.root);
        let (send, recv, by) = (&self.send[..], &mut self.recv[..], &self.operator);
        match self.step.what {
            Collective::Barrier => member.barrier(),
            Collective::Broadcast => member.broadcast(root, recv),
            Collective::Reduce => member.reduce(root, recv, by),
            Collective::Allreduce => member.allreduce(recv, by),
            Collective::Scatter => member.scatter(root, is_root.then_some(send), recv),
            Collective::Gather => member.gather(root, send, is_root.then_some(recv)),
            Collective::Allgather => member.allgather(send, recv),
            Collective::Alltoall => member.alltoall(send, recv),
            Collective::ReduceScatter => member.reduce_scatter(send, recv, by),
            Collective::Scan => member.scan(recv, by),
            Collective::Exscan => member.exscan(recv, by),
            other => unreachable!("{other} is not drawn"),
        }
    }

    pub(crate) fn start<'o, 'scope, 'env>(
        &'scope mut self,
        flight: &'o Overlap<'scope, 'env>,
    ) -> Result<Request<'o, 'scope, 'env>, Failure> {
        let (root, is_root) = (self.step.root, self.me == self.step.root);
        let (send, recv, by) = (&self.send[..], &mut self.recv[..], &self.operator);
        match self.step.what {
            Collective::Barrier => flight.barrier(),
            Collective::Broadcast => flight.broadcast(root, recv),
            Collective::Reduce => flight.reduce(root, recv, by),
            Collective::Allreduce => flight.allreduce(recv, by),
            Collective::Scatter => flight.scatter(root, is_root.then_some(send), recv),
            Collective::Gather => flight.gather(root, send, is_root.then_some(recv)),
            Collective::Allgather => flight.allgather(send, recv),
            Collective::Alltoall => flight.alltoall(send, recv),
            Collective::ReduceScatter => flight.reduce_scatter(send, recv, by),
            Collective::Scan => flight.scan(recv, by),
            Collective::Exscan => flight.exscan(recv, by),
            other => unreachable!("{other} is not drawn"),
        }
    }
}
