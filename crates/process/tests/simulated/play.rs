//! One rank in a case: it calls the program, and does what its faults say.

use super::buffers::{Buffers, INJECTED};
use super::case::{Case, Fault, Misuse, Piece, Step};
use super::random::Random;
use super::scheduler::sim;
use corecast_model::Collective;
use corecast_team::{Failure, Member, Request, Team};
use corecast_wire::sync::sleep;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

/// What became of one operation of one rank.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Right,
    Wrong,
    Failed(Failure),
}

/// What one rank has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// Operations by number, and what became of them.
    pub(crate) outcomes: Vec<(usize, Outcome)>,
    /// What the body had to say if it panicked.
    pub(crate) panicked: Option<String>,
    /// Why it has no member, or none that can have operations in flight.
    pub(crate) refused: Option<String>,
    /// Why the team failed, as the team says.
    pub(crate) team: Option<Failure>,
    /// Whether the team was asked for that after all others had ended.
    pub(crate) stayed: bool,
    /// Whether it has come to the end.
    pub(crate) ended: bool,
    /// The faults of its own that it has come to.
    pub(crate) struck: Vec<Fault>,
}

/// What all ranks of a case share, outside of the team.
pub(crate) struct Stage {
    pub(crate) case: Case,
    pub(crate) logs: Vec<RefCell<Log>>,
    /// The ranks that have entered each operation, as bits.
    entered: Vec<Cell<u64>>,
    /// The ranks that have come to each long pause.
    come: RefCell<Vec<usize>>,
}

impl Stage {
    pub(crate) fn new(case: Case) -> Rc<Self> {
        let operations = case.operations();
        Rc::new(Self {
            logs: (0..case.n).map(|_| RefCell::default()).collect(),
            entered: vec![Cell::new(0); operations + 1],
            come: RefCell::new(vec![0; 2 * case.pieces.len()]),
            case,
        })
    }

    fn meet(&self, at: usize) {
        self.come.borrow_mut()[at] += 1;
        while self.come.borrow()[at] < self.case.n {
            sleep(Duration::from_micros(3));
        }
    }
}

/// Why a rank plays on no further.
enum Over {
    Failed,
    Gone,
    Cancelled,
}

struct Rank<'a> {
    stage: &'a Stage,
    me: usize,
    random: Random,
    team: &'a Team,
    /// Operators that may panic, and whether they have.
    panics: RefCell<Vec<(Fault, Rc<Cell<bool>>)>>,
}

/// Plays rank `me`, which joins `team`.
pub(crate) fn play(stage: &Rc<Stage>, me: usize, team: Rc<Team>) {
    let rank = Rank {
        stage,
        me,
        random: Random::new(&[stage.case.replay.seed, 3, me as u64]),
        team: &team,
        panics: RefCell::default(),
    };
    let played = catch_unwind(AssertUnwindSafe(|| rank.play()));
    // Also of one that was killed after that.
    for (fault, has) in rank.panics.borrow().iter() {
        if has.get() {
            rank.strikes(*fault);
        }
    }
    if sim().unwinds() {
        return;
    }
    if let Err(payload) = played {
        sim().has_caught();
        stage.logs[me].borrow_mut().panicked = Some(said(&*payload));
    }
}

/// What a panic says.
pub(crate) fn said(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}

impl Rank<'_> {
    fn log(&self) -> std::cell::RefMut<'_, Log> {
        self.stage.logs[self.me].borrow_mut()
    }

    fn strikes(&self, fault: Fault) {
        sim().goes_wrong();
        let mut log = self.log();
        if !log.struck.contains(&fault) {
            log.struck.push(fault);
        }
    }

    fn faults(&self) -> impl Iterator<Item = Fault> + '_ {
        self.stage.case.faults.iter().copied()
    }

    fn play(&self) {
        let case = &self.stage.case;
        self.delay();
        let absent = self
            .faults()
            .find(|fault| matches!(fault, Fault::Absent { rank } if *rank == self.me));
        if let Some(absent) = absent {
            self.strikes(absent);
            if case.stays[self.me] {
                sim().linger();
            }
            return;
        }
        let mut member = match self.team.join(self.me) {
            Ok(member) => member,
            Err(error) => {
                self.log().refused = Some(error.to_string());
                return;
            }
        };
        let mut over = None;
        for (index, piece) in case.pieces.iter().enumerate() {
            self.delay();
            let played = match piece {
                Piece::Blocking(step) => self.block(step, &mut member),
                Piece::InFlight(steps) => self.fly(steps, &mut member),
                Piece::LongAfter(gone) => {
                    self.stage.meet(2 * index);
                    member.skip_operations(*gone);
                    self.stage.meet(2 * index + 1);
                    Ok(())
                }
            };
            if let Err(why) = played {
                over = Some(why);
                break;
            }
        }
        self.log().team = self.team.failure();
        let stays = match over {
            // Nobody may wait for a rank that has cancelled, so it need not leave for others to go on.
            Some(Over::Cancelled) => true,
            Some(Over::Failed) => case.stays[self.me],
            Some(Over::Gone) => false,
            None => {
                self.log().ended = true;
                // A rank waits for whoever calls other operations than the rest until that one goes on or leaves, so
                // nobody stays idle then.
                let misuse = |fault: Fault| matches!(fault, Fault::Misuse { .. });
                case.stays[self.me] && self.log().struck.is_empty() && !self.faults().any(misuse)
            }
        };
        if stays {
            sim().linger();
            let team = self.team.failure();
            let mut log = self.log();
            (log.team, log.stayed) = (team, true);
        }
    }

    /// Is late now and then.
    fn delay(&self) {
        if self.stage.case.late[self.me] && self.random.once_in(4) {
            sleep(Duration::from_nanos(self.random.spread(25)));
        }
    }

    fn enters(&self, step: &Step) {
        let entered = &self.stage.entered[step.number];
        entered.set(entered.get() | 1 << self.me);
    }

    fn ends(&self, step: &Step, right: bool) {
        let all = (1 << self.stage.case.n) - 1;
        let met = step.what != Collective::Barrier || self.stage.entered[step.number].get() == all;
        let outcome = match right && met {
            true => Outcome::Right,
            false => Outcome::Wrong,
        };
        self.log().outcomes.push((step.number, outcome));
    }

    fn fails(&self, step: &Step, failure: Failure) {
        let outcome = Outcome::Failed(failure);
        self.log().outcomes.push((step.number, outcome));
    }

    /// What this rank does in place of an operation: the one it calls, or why it goes on no further.
    fn instead(&self, step: &Step, cancel: impl FnOnce()) -> Result<Option<Step>, Over> {
        let mut called = Some(*step);
        for fault in self.faults() {
            match fault {
                Fault::Cancel { rank, number } if (rank, number) == (self.me, step.number) => {
                    self.strikes(fault);
                    cancel();
                    return Err(Over::Cancelled);
                }
                Fault::Leaves { rank, number } if (rank, number) == (self.me, step.number) => {
                    self.strikes(fault);
                    return Err(Over::Gone);
                }
                Fault::BodyPanic { rank, number } if (rank, number) == (self.me, step.number) => {
                    self.strikes(fault);
                    std::panic::panic_any(INJECTED);
                }
                Fault::Misuse { rank, number, how } if (rank, number) == (self.me, step.number) => {
                    self.strikes(fault);
                    let other = called.as_mut().unwrap_or_else(|| unreachable!());
                    match how {
                        Misuse::OtherWhat(what) => {
                            other.what = what;
                            other.len = other.len.min(500);
                        }
                        Misuse::OtherRoot(root) => other.root = root,
                        Misuse::OtherLen(len) => other.len = len,
                        // It is tried beside the right call, see `tries_bad_root`.
                        Misuse::BadRoot => continue,
                        Misuse::Skip => return Ok(None),
                    }
                    return Ok(called);
                }
                _ => {}
            }
        }
        Ok(called)
    }

    /// Whether this rank gives a root outside of the team before it calls the operation.
    fn tries_bad_root(&self, step: &Step) -> bool {
        self.faults().any(|fault| {
            let (me, number) = (self.me, step.number);
            let how = Misuse::BadRoot;
            fault
                == Fault::Misuse {
                    rank: me,
                    number,
                    how,
                }
        })
    }

    /// The buffers of an operation, and whether this rank catches a panic of its operator.
    fn buffers(&self, called: &Step, member: &Member) -> (Buffers, bool) {
        let case = &self.stage.case;
        let panics = self.faults().find_map(|fault| match fault {
            Fault::OperatorPanic {
                rank, number, call, ..
            } if (rank, number) == (self.me, called.number) => {
                Some((fault, call, Rc::new(Cell::new(false))))
            }
            _ => None,
        });
        let at = panics
            .as_ref()
            .map(|(_, call, has)| (*call, Rc::clone(has)));
        let buffers = Buffers::new(case.replay.seed, *called, member, at);
        let caught = |fault| matches!(fault, Fault::OperatorPanic { caught: true, .. });
        let catches = panics.as_ref().is_some_and(|(fault, ..)| caught(*fault));
        let panics = panics.map(|(fault, _, has)| (fault, has));
        self.panics.borrow_mut().extend(panics);
        (buffers, catches)
    }

    /// Runs what may panic by injection. Catches that where the fault says so, and elsewhere passes it on.
    fn catching<R>(&self, caught: bool, body: impl FnOnce() -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(result) => Some(result),
            // The stack of a dead task is unwound by such a payload, which is not a body's to catch.
            Err(payload) if caught && !sim().unwinds() => {
                sim().has_caught();
                let words = said(&*payload);
                if words != INJECTED && !words.contains("is outside of the team") {
                    self.log().panicked = Some(words);
                }
                None
            }
            Err(payload) => std::panic::resume_unwind(payload),
        }
    }

    fn block(&self, step: &Step, member: &mut Member) -> Result<(), Over> {
        let Some(called) = self.instead(step, || member.cancel())? else {
            return Ok(());
        };
        self.enters(step);
        let root = self.stage.case.n + 3;
        if self.tries_bad_root(step) {
            let tried = self.catching(true, || member.broadcast(root, &mut [0u64]));
            assert!(tried.is_none(), "root {root} was accepted");
        }
        let (mut buffers, catches) = self.buffers(&called, member);
        let result = self.catching(catches, || buffers.block(member));
        match result {
            None => Ok(()),
            Some(Ok(())) if called == *step => {
                self.ends(step, buffers.are_right());
                Ok(())
            }
            Some(Ok(())) => Ok(()),
            Some(Err(failure)) => {
                self.fails(step, failure);
                Err(Over::Failed)
            }
        }
    }

    fn fly(&self, steps: &[Step], member: &mut Member) -> Result<(), Over> {
        let mut cancels = false;
        let mut prepared: Vec<Prepared> = Vec::new();
        let mut over = None;
        for step in steps {
            match self.instead(step, || cancels = true) {
                Ok(None) => {}
                Ok(Some(called)) => {
                    let (buffers, catches) = self.buffers(&called, member);
                    prepared.push(Prepared {
                        step: *step,
                        called,
                        buffers,
                        catches,
                        ended: Cell::new(false),
                    });
                }
                Err(why) => {
                    over = Some(why);
                    break;
                }
            }
        }
        let catches = prepared.iter().any(|it| it.catches);
        let flown = self.catching(catches, || self.overlap(&mut prepared, catches, member));
        // What was dropped has ended all the same, and has succeeded unless the team has not.
        let cancelled = self.faults().any(|it| matches!(it, Fault::Cancel { .. }));
        let all_succeeded = matches!(flown, Some(Ok(())))
            && !catches
            && !cancelled
            && self.team.failure().is_none();
        for it in prepared.iter().filter(|it| it.step == it.called) {
            if it.ended.get() || all_succeeded {
                self.ends(&it.step, it.buffers.are_right());
            }
        }
        flown.unwrap_or(Ok(()))?;
        if cancels {
            member.cancel();
        }
        over.map_or(Ok(()), Err)
    }

    fn overlap(
        &self,
        prepared: &mut [Prepared],
        catches: bool,
        member: &mut Member,
    ) -> Result<(), Over> {
        let mut bad = [0u64];
        let bad = &mut bad;
        let flown = member.overlap(|flight| -> Result<(), Over> {
            let mut bad = Some(bad);
            let mut requests: Vec<InFlight<'_, '_, '_>> = Vec::new();
            for it in prepared {
                self.delay();
                self.enters(&it.step);
                if self.tries_bad_root(&it.step)
                    && let Some(bad) = bad.take()
                {
                    let root = self.stage.case.n + 3;
                    let tried = self.catching(true, || flight.broadcast(root, bad).map(drop));
                    assert!(tried.is_none(), "root {root} was accepted");
                }
                let buffers = &mut it.buffers;
                match self.catching(catches, || buffers.start(flight)) {
                    None => continue,
                    Some(Ok(request)) => requests.push(InFlight {
                        step: it.step,
                        ended: &it.ended,
                        request,
                    }),
                    Some(Err(failure)) => {
                        self.fails(&it.step, failure);
                        return Err(Over::Failed);
                    }
                }
                while !requests.is_empty() && self.random.once_in(3) {
                    let at = self.random.index(requests.len());
                    self.finish(requests.swap_remove(at), catches)?;
                }
                if self.random.once_in(4) {
                    self.catching(catches, || flight.progress());
                }
            }
            while !requests.is_empty() {
                let at = self.random.index(requests.len());
                self.finish(requests.swap_remove(at), catches)?;
            }
            Ok(())
        });
        flown.unwrap_or_else(|error| {
            self.log().refused = Some(error.to_string());
            Err(Over::Gone)
        })
    }

    /// Waits for a request, polls it to its end, or drops it.
    fn finish(&self, flying: InFlight<'_, '_, '_>, catches: bool) -> Result<(), Over> {
        let InFlight {
            step,
            ended,
            request,
        } = flying;
        let result = match self.random.below(4) {
            0 => return Ok(()),
            1 => self.catching(catches, || {
                loop {
                    match request.test() {
                        Ok(false) => sleep(Duration::from_nanos(1 + self.random.spread(20))),
                        Ok(true) => return Ok(()),
                        Err(failure) => return Err(failure),
                    }
                }
            }),
            _ => self.catching(catches, || request.wait()),
        };
        match result {
            None => Ok(()),
            Some(Ok(())) => {
                ended.set(true);
                Ok(())
            }
            Some(Err(failure)) => {
                self.fails(&step, failure);
                Err(Over::Failed)
            }
        }
    }
}

/// An operation that is about to be in flight.
struct Prepared {
    step: Step,
    called: Step,
    buffers: Buffers,
    catches: bool,
    /// Whether its request has succeeded.
    ended: Cell<bool>,
}

/// An operation in flight.
struct InFlight<'o, 'scope, 'env> {
    step: Step,
    ended: &'scope Cell<bool>,
    request: Request<'o, 'scope, 'env>,
}
