//! A rank's handle: what a thread calls.

use crate::barrier::Steps;
use crate::failure::Failure;
use crate::hardware::Hardware;
use crate::operation::{Kind, Mark, Operation};
use crate::route::Route;
use crate::{allreduce, barrier, broadcast, reduce};
use bytemuck::Pod;
use corecast_wire::{Fabric, Policy};
use std::panic::Location;

/// A rank's part of the barrier's plan.
#[derive(Debug)]
pub(crate) enum Barrier {
    Tree { fan_in: Route, fan_out: Route },
    Rounds(Steps),
}

/// One rank of a team. Can be sent to another thread, but used by one at a time.
///
/// Every operation must be called by all members, in the same order and with the same root. It
/// fails instead of hanging when they do not: see [`Failure`]. After a failure all further
/// operations of the team fail in the same way.
///
/// Dropping a member means leaving: whoever waits for it fails.
#[derive(Debug)]
pub struct Member {
    fabric: Hardware,
    barrier: Barrier,
    broadcast: Route,
    reduce: Route,
    policy: Policy,
    /// Two buffers for the partial result and for what comes in, aligned for any element.
    scratch: Box<[u128]>,
    /// Bytes of one message; longer data travels in several.
    chunk_bytes: usize,
}

/// Largest alignment of an element.
const ALIGN_MAX: usize = align_of::<u128>();

impl Member {
    pub(crate) fn new(
        fabric: Hardware,
        barrier: Barrier,
        broadcast: Route,
        reduce: Route,
        policy: Policy,
    ) -> Self {
        let longest = fabric
            .links
            .iter()
            .map(|link| link.sender.message_bytes_max());
        let chunk_bytes = longest.min().unwrap_or(ALIGN_MAX) / ALIGN_MAX * ALIGN_MAX;
        Self {
            fabric,
            barrier,
            broadcast,
            reduce,
            policy,
            scratch: vec![0; 2 * chunk_bytes / ALIGN_MAX].into_boxed_slice(),
            chunk_bytes,
        }
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.fabric.rank()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.fabric.size()
    }

    /// How this member waits.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Where this member has come.
    pub(crate) fn mark(&self) -> Mark {
        self.fabric.mark
    }

    /// Names the operation to whoever will wait for this rank.
    #[inline(always)]
    fn begin(
        &mut self,
        kind: Kind,
        root: usize,
        site: &'static Location<'static>,
    ) -> Result<(), Failure> {
        let fabric = &mut self.fabric;
        if root >= fabric.size() {
            root_outside(root, fabric.size());
        }
        fabric.seq += 1;
        let operation = Operation {
            seq: fabric.seq as u32,
            kind,
            root: root as u32,
        };
        fabric.here.operation = operation;
        fabric.here.site = site;
        fabric.mark.advance(operation, fabric.seq);
        fabric.diary.enter(operation.entry(), site);
        let board = &fabric.here.board;
        if board.has_failed() {
            return Err(board.failure().expect("the failure comes before the flag"));
        }
        Ok(())
    }

    /// Returns when every member has called it. What members wrote before is visible to all after.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Cost
    ///
    /// That of the plan: see [`barrier::tree`] and [`barrier::dissemination`].
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_coll::{Plans, Team};
    /// use corecast_plan::Pattern;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let machine = corecast_model::synthetic("core:3").unwrap();
    /// let dissemination: Pattern = "dissemination:2".parse()?;
    /// let team = Team::new(Plans::of_pattern(machine.costs(), dissemination, None)?)?;
    /// let come = AtomicUsize::new(0);
    /// team.run(|member| {
    ///     come.fetch_add(1, Ordering::Relaxed);
    ///     member.barrier().unwrap();
    ///     assert_eq!(come.load(Ordering::Relaxed), 3);
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn barrier(&mut self) -> Result<(), Failure> {
        self.begin(Kind::Barrier, 0, Location::caller())?;
        match &self.barrier {
            Barrier::Tree { fan_in, fan_out } => barrier::tree(&mut self.fabric, fan_in, fan_out),
            Barrier::Rounds(steps) => barrier::dissemination(&mut self.fabric, steps),
        }
    }

    /// Gives `root`'s `data` to every member. All have the same number of elements.
    ///
    /// Broadcasts are totally ordered: every member gets them in the order in which they were
    /// called, whoever is the root.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `data` may then be partly overwritten.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team.
    ///
    /// # Cost
    ///
    /// See [`broadcast::tree`]; data longer than a message goes in several, one after another.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_coll::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// team.run(|member| {
    ///     let mut data = [0.0; 4];
    ///     if member.rank() == 2 {
    ///         data = [1.0, 2.0, 3.0, 4.0];
    ///     }
    ///     member.broadcast(2, &mut data).unwrap();
    ///     assert_eq!(data, [1.0, 2.0, 3.0, 4.0]);
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn broadcast<T: Pod>(&mut self, root: usize, data: &mut [T]) -> Result<(), Failure> {
        self.begin(Kind::Broadcast, root, Location::caller())?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(data);
        if bytes.len() <= self.chunk_bytes {
            return broadcast::tree(&mut self.fabric, &self.broadcast, root, bytes);
        }
        for chunk in bytes.chunks_mut(self.chunk_bytes) {
            broadcast::tree(&mut self.fabric, &self.broadcast, root, chunk)?;
        }
        Ok(())
    }

    /// [`broadcast`](Self::broadcast) of one value: returns `root`'s.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team.
    #[inline]
    #[track_caller]
    pub fn broadcast_value<T: Pod>(&mut self, root: usize, mut value: T) -> Result<T, Failure> {
        self.broadcast(root, std::slice::from_mut(&mut value))?;
        Ok(value)
    }

    /// Combines the members' `data` element by element into that of `root`; on other ranks `data`
    /// stays as it is. All have the same number of elements.
    ///
    /// `operator` must be associative and commutative up to what the caller tolerates. Values are
    /// combined in an order that depends on the plan and the root alone: a team gives the same
    /// bits each time.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `root`'s `data` may then hold partial results.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team, or an element is longer than a message or has an alignment
    /// above 16.
    ///
    /// # Cost
    ///
    /// See [`reduce::tree`]; data longer than a message goes in several, one after another.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_coll::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// let results = team.run(|member| {
    ///     let mut data = [member.rank() as i32, 10 * member.rank() as i32];
    ///     member.reduce(1, &mut data, i32::max).unwrap();
    ///     data
    /// });
    /// assert_eq!(results, [[0, 0], [2, 20], [2, 20]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn reduce<T: Pod>(
        &mut self,
        root: usize,
        data: &mut [T],
        operator: impl Fn(T, T) -> T,
    ) -> Result<(), Failure> {
        self.begin(Kind::Reduce, root, Location::caller())?;
        let is_root = self.rank() == root;
        self.by_chunks(data, is_root, |fabric, sum, incoming, routes| {
            reduce::tree(
                fabric,
                routes.reduce,
                root,
                sum,
                incoming,
                combine(&operator),
            )
        })
    }

    /// [`reduce`](Self::reduce) of one value: `Some` for `root`, `None` for the others.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// As [`reduce`](Self::reduce).
    #[inline]
    #[track_caller]
    pub fn reduce_value<T: Pod>(
        &mut self,
        root: usize,
        mut value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<Option<T>, Failure> {
        self.reduce(root, std::slice::from_mut(&mut value), operator)?;
        Ok((self.rank() == root).then_some(value))
    }

    /// Combines the members' `data` element by element into everybody's: the same bits for all.
    /// Otherwise as [`reduce`](Self::reduce).
    ///
    /// # Errors
    ///
    /// [`Failure`]; `data` may then hold partial results.
    ///
    /// # Panics
    ///
    /// If an element is longer than a message or has an alignment above 16.
    ///
    /// # Cost
    ///
    /// See [`allreduce::tree`]; two ranks use [`allreduce::exchange`].
    #[inline]
    #[track_caller]
    pub fn allreduce<T: Pod>(
        &mut self,
        data: &mut [T],
        operator: impl Fn(T, T) -> T,
    ) -> Result<(), Failure> {
        self.begin(Kind::Allreduce, 0, Location::caller())?;
        self.by_chunks(data, true, |fabric, sum, incoming, routes| {
            let combine = combine(&operator);
            if fabric.size() == 2 {
                return allreduce::exchange(fabric, sum, incoming, combine);
            }
            allreduce::tree(
                fabric,
                routes.reduce,
                routes.broadcast,
                sum,
                incoming,
                combine,
            )
        })
    }

    /// [`allreduce`](Self::allreduce) of one value.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// As [`allreduce`](Self::allreduce).
    #[inline]
    #[track_caller]
    pub fn allreduce_value<T: Pod>(
        &mut self,
        mut value: T,
        operator: impl Fn(T, T) -> T,
    ) -> Result<T, Failure> {
        self.allreduce(std::slice::from_mut(&mut value), operator)?;
        Ok(value)
    }

    /// Runs `step` over `data` in parts that fit a message, on a copy that `keep` decides to copy
    /// back. Runs once even for no data, so that members still meet.
    #[inline(always)]
    fn by_chunks<T: Pod>(
        &mut self,
        data: &mut [T],
        keep: bool,
        mut step: impl FnMut(&mut Hardware, &mut [u8], &mut [u8], Routes<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let elements = match size_of::<T>() {
            0 => data.len(),
            bytes => self.chunk_bytes / bytes,
        };
        assert!(
            align_of::<T>() <= ALIGN_MAX && (elements > 0 || data.is_empty()),
            "elements of {} bytes, aligned to {}, do not fit messages of {} bytes, aligned to {ALIGN_MAX}",
            size_of::<T>(),
            align_of::<T>(),
            self.chunk_bytes,
        );
        let routes = Routes {
            broadcast: &self.broadcast,
            reduce: &self.reduce,
        };
        let scratch: &mut [u8] = bytemuck::cast_slice_mut(&mut self.scratch);
        let (sum, incoming) = scratch.split_at_mut(self.chunk_bytes);
        let mut rest = data;
        loop {
            let (chunk, after) = rest.split_at_mut(rest.len().min(elements));
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(chunk);
            let (sum, incoming) = (&mut sum[..bytes.len()], &mut incoming[..bytes.len()]);
            sum.copy_from_slice(bytes);
            step(&mut self.fabric, sum, incoming, routes)?;
            if keep {
                bytes.copy_from_slice(sum);
            }
            rest = after;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Routes<'a> {
    broadcast: &'a Route,
    reduce: &'a Route,
}

/// `operator` on the elements that two buffers hold. Buffers are aligned to [`ALIGN_MAX`].
#[inline(always)]
fn combine<T: Pod>(operator: &impl Fn(T, T) -> T) -> impl Fn(&mut [u8], &[u8]) {
    |left, right| {
        let (left, right): (&mut [T], &[T]) =
            (bytemuck::cast_slice_mut(left), bytemuck::cast_slice(right));
        for (left, &right) in left.iter_mut().zip(right) {
            *left = operator(*left, right);
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn root_outside(root: usize, size: usize) -> ! {
    panic!(
        "root {root} is outside of the team, whose ranks are 0 to {}",
        size - 1
    )
}

impl Drop for Member {
    fn drop(&mut self) {
        let here = &self.fabric.here;
        here.board.leave(here.rank, std::thread::panicking());
    }
}
