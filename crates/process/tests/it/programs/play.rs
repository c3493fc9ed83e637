//! Plays a program as one rank.

use super::apart::clock_ns;
use super::case::{Case, case};
use super::draw::{Piece, Program, Step};
use super::{doom, mixed};
use corecast_model::Collective;
use corecast_team::{Await, Failure, Member, Request};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The operations that the ranks of this process have entered, against which the promises of
/// barriers are checked.
pub(crate) struct Witness(Vec<(usize, AtomicUsize)>);

impl Witness {
    pub(crate) fn new(ranks: &[usize]) -> Self {
        Self(ranks.iter().map(|&rank| (rank, 0.into())).collect())
    }

    /// Notes that rank `me` enters an operation. Relaxed, here and below, because the barrier must
    /// order it.
    fn enters(&self, me: usize, number: usize) {
        let mine = self.0.iter().find(|(rank, _)| *rank == me).unwrap();
        mine.1.store(number, Ordering::Relaxed);
    }

    #[track_caller]
    fn all_have_entered(&self, step: &Step) {
        for (rank, at) in &self.0 {
            let at = at.load(Ordering::Relaxed);
            assert!(
                at >= step.number,
                "rank {rank} is in {at}, others have left {step:?}"
            );
        }
    }
}

/// One rank in a program.
pub(crate) struct Player<'a> {
    rng: fastrand::Rng,
    witness: &'a Witness,
    /// Whether the rank is delayed now and then.
    delays: bool,
    /// Whether the team has failed, which a request that was dropped does not report.
    has_failed: &'a dyn Fn() -> bool,
    /// When the rank has called the team last, by [`clock_ns`].
    pub(crate) called_at: u64,
}

impl<'a> Player<'a> {
    pub(crate) fn new(
        program: &Program,
        member: &Member,
        witness: &'a Witness,
        has_failed: &'a dyn Fn() -> bool,
    ) -> Self {
        let me = member.rank() as u64;
        Self {
            rng: fastrand::Rng::with_seed(mixed(&[program.seed, me, 2])),
            witness,
            // Some ranks of some programs are never late.
            delays: !mixed(&[program.seed, me, 3]).is_multiple_of(3),
            has_failed,
            called_at: 0,
        }
    }

    /// Runs the whole program and checks each result. Returns the team's failure, if it fails.
    ///
    /// # Panics
    ///
    /// If a result is not the reference's.
    pub(crate) fn play(&mut self, program: &Program, member: &mut Member) -> Result<(), Failure> {
        for piece in &program.pieces {
            match piece {
                Piece::Blocking(step) => self.block(step, member)?,
                Piece::InFlight(steps) => self.fly(steps, member)?,
            }
        }
        Ok(())
    }

    fn delay(&mut self) {
        doom::panic_in_time();
        match self.rng.u32(..40) {
            _ if !self.delays => {}
            0 => std::thread::sleep(Duration::from_micros(self.rng.u64(..300))),
            1..5 => (0..self.rng.u32(..4)).for_each(|_| std::thread::yield_now()),
            5..9 => (0..self.rng.u32(..2000)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }

    fn block(&mut self, step: &Step, member: &mut Member) -> Result<(), Failure> {
        let (me, sync, witness) = (member.rank(), step.sync, self.witness);
        let mut case = case(step, member, self.rng.u64(..64));
        self.delay();
        witness.enters(me, step.number);
        self.called_at = clock_ns();
        member.synced(sync, |member| {
            if sync.entry == Await::All {
                witness.all_have_entered(step);
            }
            case.block(member)
        })?;
        if sync.exit == Await::All || step.what == Collective::Barrier {
            witness.all_have_entered(step);
        }
        case.check();
        Ok(())
    }

    fn fly(&mut self, steps: &[Step], member: &mut Member) -> Result<(), Failure> {
        let me = member.rank();
        let mut cases: Vec<Box<dyn Case>> = steps
            .iter()
            .map(|step| case(step, member, self.rng.u64(..64)))
            .collect();
        let flown = member.overlap(|flight| -> Result<(), Failure> {
            let mut requests: Vec<(&Step, Request)> = Vec::new();
            for (step, case) in steps.iter().zip(&mut cases) {
                self.delay();
                self.witness.enters(me, step.number);
                self.called_at = clock_ns();
                requests.push((step, case.start(flight)?));
                self.wait_for_some(&mut requests)?;
            }
            while !requests.is_empty() && self.rng.u32(..4) > 0 {
                self.wait_for_some(&mut requests)?;
            }
            self.called_at = clock_ns();
            Ok(())
        });
        flown.unwrap_or_else(|error| panic!("{error}"))?;
        // All operations have ended, with or without a wait; unless the team has failed, they
        // succeeded.
        if (self.has_failed)() {
            return member.barrier();
        }
        cases.iter().for_each(|case| case.check());
        Ok(())
    }

    /// Waits for, looks at, or forgets one of `requests`.
    fn wait_for_some(&mut self, requests: &mut Vec<(&Step, Request)>) -> Result<(), Failure> {
        let some = self.rng.usize(..requests.len().max(1));
        if requests.is_empty() {
            return Ok(());
        }
        self.called_at = clock_ns();
        let ended = |step: &Step, witness: &Witness| {
            if step.what == Collective::Barrier {
                witness.all_have_entered(step);
            }
        };
        match self.rng.u32(..8) {
            0 | 1 => {
                let (step, request) = requests.swap_remove(some);
                request.wait()?;
                ended(step, self.witness);
            }
            2 | 3 => {
                let (step, request) = &requests[some];
                if request.test()? {
                    ended(step, self.witness);
                }
            }
            4 => drop(requests.swap_remove(some)),
            5 => self.delay(),
            _ => {}
        }
        Ok(())
    }
}
