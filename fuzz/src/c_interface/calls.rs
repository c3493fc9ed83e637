//! One call of an operation: its arguments, what it should give, and how it can be called wrongly.

use super::data::{Buffer, By, Kind, OWN};
use arbitrary::{Result, Unstructured};
use corecast_c::flight::moves::*;
use corecast_c::flight::overlap::{Flight, Request};
use corecast_c::flight::reductions::*;
use corecast_c::member::Member;
use corecast_c::moves::*;
use corecast_c::operators::Operator;
use corecast_c::reductions::*;
use corecast_c::status::Status;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// The arguments of a call, of which each operation takes some.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    op: Op,
    root: usize,
    send: *const c_void,
    send_count: usize,
    /// Counts and displacements.
    send_at: (*const usize, *const usize),
    recv: *mut c_void,
    recv_count: usize,
    recv_at: (*const usize, *const usize),
    /// Bytes of the parts of operations with equal parts.
    bytes: usize,
    element_bytes: usize,
    element: i32,
    operator: *const Operator,
}

macro_rules! calls {
    ($call:ident; $($op:ident $wait:ident $start:ident ($($argument:expr),*);)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Op { $($op),* }

        const OPS: &[Op] = &[$(Op::$op),*];

        impl Call {
            /// Makes the call and waits for its end.
            ///
            /// # Safety
            ///
            /// The arguments are what `corecast.h` asks for, or are refused.
            pub(super) unsafe fn issue(&self, member: *mut Member) -> Status {
                let $call = self;
                // SAFETY: the caller's promise.
                unsafe { match self.op { $(Op::$op => $wait(member, $($argument),*),)* } }
            }

            /// Starts the operation.
            ///
            /// # Safety
            ///
            /// As `issue`, until the operation has ended.
            pub(super) unsafe fn start(&self, flight: *const Flight, request: *mut *mut Request) -> Status {
                let $call = self;
                // SAFETY: the caller's promise.
                unsafe { match self.op { $(Op::$op => $start(flight, $($argument,)* request),)* } }
            }
        }
    };
}

calls! { c;
    Barrier corecast_barrier corecast_start_barrier ();
    Broadcast corecast_broadcast corecast_start_broadcast (c.root, c.recv, c.bytes);
    Scatter corecast_scatter corecast_start_scatter (c.root, c.send, c.recv, c.bytes);
    Scatterv corecast_scatterv corecast_start_scatterv
        (c.root, c.send, c.send_at.0, c.send_at.1, c.recv, c.recv_count, c.element_bytes);
    Gather corecast_gather corecast_start_gather (c.root, c.send, c.recv, c.bytes);
    Gatherv corecast_gatherv corecast_start_gatherv
        (c.root, c.send, c.send_count, c.recv, c.recv_at.0, c.recv_at.1, c.element_bytes);
    Allgather corecast_allgather corecast_start_allgather (c.send, c.recv, c.bytes);
    Allgatherv corecast_allgatherv corecast_start_allgatherv
        (c.send, c.send_count, c.recv, c.recv_at.0, c.recv_at.1, c.element_bytes);
    Alltoall corecast_alltoall corecast_start_alltoall (c.send, c.recv, c.bytes);
    Alltoallv corecast_alltoallv corecast_start_alltoallv
        (c.send, c.send_at.0, c.send_at.1, c.recv, c.recv_at.0, c.recv_at.1, c.element_bytes);
    Reduce corecast_reduce corecast_start_reduce (c.root, c.recv, c.recv_count, c.element, c.operator);
    Allreduce corecast_allreduce corecast_start_allreduce (c.recv, c.recv_count, c.element, c.operator);
    ReduceScatter corecast_reduce_scatter corecast_start_reduce_scatter
        (c.send, c.send_count, c.recv, c.element, c.operator);
    ReduceScatterv corecast_reduce_scatterv corecast_start_reduce_scatterv
        (c.send, c.send_at.0, c.recv, c.element, c.operator);
    Scan corecast_scan corecast_start_scan (c.recv, c.recv_count, c.element, c.operator);
    Exscan corecast_exscan corecast_start_exscan (c.recv, c.recv_count, c.element, c.operator);
}

/// What all ranks do at a time.
#[derive(Clone, Debug)]
pub(super) struct Step {
    op: Op,
    root: usize,
    /// Elements of a part, and what makes the lengths of parts and the values.
    count: usize,
    seed: u64,
    kind: Kind,
    by: By,
    /// How parts of any lengths lie: elements between them, and whether in decreasing order.
    gap: usize,
    backwards: bool,
    pub(super) is_in_flight: bool,
    /// Which ranks call wrongly before, and how.
    pub(super) wrong: (u8, usize),
    /// The sides of a synchronised operation.
    pub(super) sides: Option<(i32, i32)>,
}

impl Step {
    pub(super) fn of(u: &mut Unstructured, size: usize) -> Result<Self> {
        let kind = Kind::of(u)?;
        Ok(Self {
            op: *u.choose(OPS)?,
            root: u.choose_index(size)?,
            count: match u.int_in_range(0..=7)? {
                0 => 0,
                1 => u.int_in_range(0..=40_000 / kind.bytes)?,
                _ => u.int_in_range(1..=30)?,
            },
            seed: u.int_in_range(0..=255)?,
            by: By::of(u, kind)?,
            kind,
            gap: u.int_in_range(0..=2)?,
            backwards: u.arbitrary()?,
            is_in_flight: u.ratio(1, 3)?,
            wrong: (
                if u.ratio(1, 2)? { u.arbitrary()? } else { 0 },
                u.int_in_range(0..=31)?,
            ),
            sides: match u.int_in_range(0..=7)? {
                0 => Some((u.int_in_range(0..=2)?, u.int_in_range(0..=2)?)),
                _ => None,
            },
        })
    }

    /// A barrier.
    pub(super) fn barrier() -> Self {
        let kind = Kind { code: 0, bytes: 1 };
        Self {
            op: Op::Barrier,
            root: 0,
            count: 0,
            seed: 0,
            by: By::Sum,
            kind,
            gap: 0,
            backwards: false,
            is_in_flight: false,
            wrong: (0, 0),
            sides: None,
        }
    }

    /// The element of a rank at a place: small, so that sums and products are exact in all types.
    fn value(&self, rank: usize, place: usize) -> u64 {
        (self.seed + 5 * rank as u64 + 3 * place as u64) / 2 % 4
    }

    /// The elements that rank a sends to rank b, or has.
    fn part(&self, a: usize, b: usize) -> usize {
        (self.seed as usize + 3 * a + 2 * b) % (self.count + 1)
    }

    /// Displacements of parts, and the elements of all.
    fn laid_out(&self, counts: &[usize]) -> (Vec<usize>, usize) {
        let (mut displacements, mut end) = (vec![0; counts.len()], 0);
        for index in 0..counts.len() {
            let part = if self.backwards {
                counts.len() - 1 - index
            } else {
                index
            };
            displacements[part] = end;
            end += counts[part] + self.gap;
        }
        let ends = displacements
            .iter()
            .zip(counts)
            .filter(|(_, count)| **count > 0);
        let all = ends.map(|(start, count)| start + count).max();
        (displacements, all.unwrap_or(0))
    }

    /// What the ranks' elements at a place make together.
    fn combined(&self, ranks: std::ops::Range<usize>, place: usize) -> u64 {
        let values = ranks.map(|rank| self.value(rank, place));
        values.reduce(|a, b| self.by.combine(a, b)).unwrap_or(0)
    }

    /// The call of a rank.
    pub(super) fn prepare(&self, rank: usize, size: usize) -> Prepared {
        Prepared::new(self, rank, size)
    }
}

/// A call of one rank with all that it points to.
pub(super) struct Prepared {
    pub(super) call: Call,
    send: Buffer,
    recv: Buffer,
    /// Counts and displacements of both buffers.
    at: [(Vec<usize>, Vec<usize>); 2],
    /// What the receive buffer holds afterwards.
    expected: Vec<u8>,
    kind: Kind,
    by: By,
    /// The length of an element, for own operators.
    context: Box<usize>,
    rank: usize,
    size: usize,
}

/// Values at places of a buffer, of which the others stay as they were.
type Values = Vec<(usize, u64)>;

impl Prepared {
    fn new(step: &Step, rank: usize, size: usize) -> Self {
        let (count, kind) = (step.count, step.kind);
        let is_root = rank == step.root;
        let row = |a: usize| (0..size).map(|b| step.part(a, b)).collect::<Vec<usize>>();
        let column: Vec<usize> = (0..size).map(|a| step.part(a, rank)).collect();
        let own: Vec<usize> = (0..size).map(|a| step.part(a, 0)).collect();
        let (own_at, own_all) = step.laid_out(&own);
        let run = |from: usize, start: usize, count: usize, to: usize| -> Values {
            (0..count)
                .map(|i| (to + i, step.value(from, start + i)))
                .collect()
        };
        let joined = |parts: Vec<Values>| parts.concat();
        let mut at: [(Vec<usize>, Vec<usize>); 2] = Default::default();
        // Elements that are sent, elements of the receive buffer, its values before and after.
        let mut before: Values = Vec::new();
        let (sent, received, after): (usize, usize, Values) = match step.op {
            Op::Barrier => (0, 0, Vec::new()),
            Op::Broadcast => {
                if is_root {
                    before = run(rank, 0, count, 0);
                }
                (0, count, run(step.root, 0, count, 0))
            }
            Op::Scatter => {
                let sent = if is_root { size * count } else { 0 };
                (sent, count, run(step.root, rank * count, count, 0))
            }
            Op::Scatterv => {
                at[0] = (own.clone(), own_at.clone());
                let sent = if is_root { own_all } else { 0 };
                (sent, own[rank], run(step.root, own_at[rank], own[rank], 0))
            }
            Op::Gather | Op::Allgather if is_root || step.op == Op::Allgather => {
                let all = (0..size).map(|r| run(r, 0, count, r * count));
                (count, size * count, joined(all.collect()))
            }
            Op::Gather | Op::Allgather => (count, 0, Vec::new()),
            Op::Gatherv | Op::Allgatherv if is_root || step.op == Op::Allgatherv => {
                at[1] = (own.clone(), own_at.clone());
                let all = (0..size).map(|r| run(r, 0, own[r], own_at[r]));
                (own[rank], own_all, joined(all.collect()))
            }
            Op::Gatherv | Op::Allgatherv => (own[rank], 0, Vec::new()),
            Op::Alltoall => {
                let all = (0..size).map(|r| run(r, rank * count, count, r * count));
                (size * count, size * count, joined(all.collect()))
            }
            Op::Alltoallv => {
                let (places, all) = step.laid_out(&column);
                let (starts, sent) = step.laid_out(&row(rank));
                let parts = (0..size).map(|r| {
                    let start = step.laid_out(&row(r)).0[rank];
                    run(r, start, column[r], places[r])
                });
                let after = joined(parts.collect());
                at = [(row(rank), starts), (column, places)];
                (sent, all, after)
            }
            Op::Reduce | Op::Allreduce | Op::Scan | Op::Exscan => {
                before = run(rank, 0, count, 0);
                let ranks = match step.op {
                    Op::Scan => 0..rank + 1,
                    Op::Exscan if rank > 0 => 0..rank,
                    Op::Exscan => 0..1,
                    Op::Reduce if !is_root => rank..rank + 1,
                    _ => 0..size,
                };
                let combined = |i| (i, step.combined(ranks.clone(), i));
                (0, count, (0..count).map(combined).collect())
            }
            Op::ReduceScatter => {
                let start = (0..rank).map(|r| block(count, size, r)).sum::<usize>();
                let mine = block(count, size, rank);
                let combined = |i| (i, step.combined(0..size, start + i));
                (count, mine, (0..mine).map(combined).collect())
            }
            Op::ReduceScatterv => {
                at[0].0 = own.clone();
                let start: usize = own[..rank].iter().sum();
                let combined = |i| (i, step.combined(0..size, start + i));
                (
                    own.iter().sum(),
                    own[rank],
                    (0..own[rank]).map(combined).collect(),
                )
            }
        };
        let send = Buffer::new(&kind.all((0..sent).map(|i| step.value(rank, i))));
        let recv = Buffer::unwritten(received * kind.bytes);
        let filled = |values: &Values| {
            let mut bytes = recv.bytes().to_vec();
            for &(place, value) in values {
                let element = kind.all([value]);
                bytes[place * kind.bytes..][..kind.bytes].copy_from_slice(&element);
            }
            bytes
        };
        let (before, expected) = (filled(&before), filled(&after));
        let recv = Buffer::new(&before);
        let context = Box::new(kind.bytes);
        let place = |buffer: &Buffer, elements| {
            if elements > 0 {
                buffer.place()
            } else {
                null_mut()
            }
        };
        let point = |(counts, displacements): &(Vec<usize>, Vec<usize>)| {
            let at = |list: &Vec<usize>| {
                if list.is_empty() {
                    null()
                } else {
                    list.as_ptr()
                }
            };
            (at(counts), at(displacements))
        };
        let call = Call {
            op: step.op,
            root: step.root,
            send: place(&send, sent),
            send_count: sent,
            send_at: point(&at[0]),
            recv: place(&recv, received),
            recv_count: received,
            recv_at: point(&at[1]),
            bytes: count * kind.bytes,
            element_bytes: kind.bytes,
            element: kind.code,
            operator: step.by.handle(&context),
        };
        let by = step.by;
        Self {
            call,
            send,
            recv,
            at,
            expected,
            kind,
            by,
            context,
            rank,
            size,
        }
    }

    /// Checks what a call that has succeeded gave.
    pub(super) fn check(&self) {
        let found = self.recv.bytes();
        let differs = found.iter().zip(&self.expected).position(|(a, b)| a != b);
        assert!(
            differs.is_none(),
            "rank {} of {}: {:?} differs from byte {differs:?} on: {:?}",
            self.rank,
            self.size,
            self.call,
            self.kind
        );
    }

    /// Checks the bytes around the buffers.
    pub(super) fn check_around(&self) {
        self.send.check();
        self.recv.check();
    }

    /// What the receive buffer holds now.
    pub(super) fn received(&self) -> &[u8] {
        self.recv.bytes()
    }

    /// Frees the operator: for an operation in flight as soon as it has started.
    pub(super) fn free_operator(&mut self) {
        if !self.call.operator.is_null() {
            self.by.free(self.call.operator);
            self.call.operator = null();
        }
    }

    /// Whether the operator is freed before an operation in flight has ended.
    pub(super) fn keeps_no_operator(&self) -> bool {
        self.kind.bytes % 2 == 1
    }

    /// The call with arguments that have to be refused, and what they need. Each operation has some.
    pub(super) fn wrong(&self, choice: usize) -> (Call, Box<[usize]>) {
        let (right, size) = (self.call, self.size);
        let is_root = self.rank == right.root;
        let mut all: Vec<Call> = Vec::new();
        let mut numbers: Box<[usize]> = vec![0; size].into();
        let mut add = |change: &dyn Fn(&mut Call)| {
            let mut call = right;
            change(&mut call);
            all.push(call);
        };
        let (sent, received) = (right.send_count > 0, right.recv_count > 0);
        let beyond = isize::MAX as usize + 1;
        use Op::*;
        if matches!(
            right.op,
            Broadcast | Scatter | Scatterv | Gather | Gatherv | Reduce
        ) {
            add(&|c| c.root = size);
            add(&|c| c.root = usize::MAX);
        }
        if matches!(
            right.op,
            Broadcast | Scatter | Gather | Allgather | Alltoall
        ) {
            add(&|c| c.bytes = beyond);
            add(&|c| c.bytes = usize::MAX);
        }
        if sent {
            add(&|c| c.send = null());
        }
        if received {
            add(&|c| c.recv = null_mut());
        }
        if sent && received {
            add(&|c| c.recv = c.send.cast_mut());
        }
        let has_parts = match right.op {
            Scatterv | Gatherv => is_root,
            Allgatherv | Alltoallv => true,
            _ => false,
        };
        if has_parts {
            add(&|c| c.element_bytes = 0);
            if sent || received {
                add(&|c| c.element_bytes = usize::MAX);
            }
            for wrong in [
                null::<usize>(),
                right.send_at.0.cast::<u8>().wrapping_add(1).cast(),
            ] {
                add(&|c| (c.send_at.0, c.recv_at.0) = (wrong, wrong));
                add(&|c| (c.send_at.1, c.recv_at.1) = (wrong, wrong));
            }
            match right.op {
                Scatterv => add(&|c| c.recv_count += 1),
                Gatherv | Allgatherv => add(&|c| c.send_count += 1),
                _ => {}
            }
            let counts = &self.at[usize::from(right.op != Scatterv)].0;
            let filled = counts.iter().filter(|&&count| count > 0).count();
            if filled > 1 && right.op != Scatterv {
                let same = numbers.as_ptr();
                add(&|c| c.recv_at.1 = same);
            }
        }
        if matches!(
            right.op,
            Reduce | Allreduce | Scan | Exscan | ReduceScatter | ReduceScatterv
        ) {
            for code in [OWN + 1, -1, i32::MAX, i32::MIN] {
                add(&|c| c.element = code);
            }
            add(&|c| c.operator = null());
            if self.by.is_own() {
                // Elements of another length.
                let other = if self.kind.bytes == 8 { 0 } else { 3 };
                add(&|c| c.element = other);
            } else {
                add(&|c| c.element = OWN);
            }
            if self.kind.is_float() {
                add(&|c| c.operator = By::Xor.handle(&0));
            }
            if self.kind.code != OWN && self.kind.bytes > 1 {
                add(&|c| c.recv = c.recv.wrapping_byte_add(1));
            }
            match right.op {
                ReduceScatter => add(&|c| c.send_count = usize::MAX),
                ReduceScatterv => {
                    numbers.fill(usize::MAX);
                    let many = numbers.as_ptr();
                    add(&|c| c.send_at.0 = many);
                    add(&|c| c.send_at.0 = null());
                }
                _ => add(&|c| c.recv_count = usize::MAX),
            }
        }
        // A barrier cannot be called wrongly, but for its handle.
        let call = all.get(choice % all.len().max(1)).copied();
        (call.unwrap_or(right), numbers)
    }

    /// Whether there is a [wrong](Self::wrong) call.
    pub(super) fn can_be_wrong(&self) -> bool {
        self.call.op != Op::Barrier
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.free_operator();
        assert_eq!(*self.context, self.kind.bytes);
    }
}

/// The elements of a rank's block, as the header says.
fn block(count: usize, size: usize, rank: usize) -> usize {
    count / size + usize::from(rank < count % size)
}
