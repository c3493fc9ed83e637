//! Processes agree in every schedule that is tried: each is a coroutine that gives way before every access, and may be
//! killed there. Ballots with a fault show that the checks can fail.

use super::*;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A fault of the ballots that the checks have to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// A verdict is replaced whatever it is by now.
    VerdictsOverwritten,
    /// The end of a process is seen by half of the looks.
    GoneSeenByHalf,
    /// The votes of those that are gone are not kept.
    GoneForgotten,
    /// The end of a process is never seen.
    GoneUnseen,
}

/// The memory of a next team.
struct NextTeam {
    round: u64,
    /// The process that answers the others at the round's address.
    server: usize,
    registered: Vec<bool>,
}

struct Shared {
    votes: Vec<Cell<u64>>,
    verdict: Cell<u64>,
    /// Ranks whose processes have ended, or have dropped their team.
    gone: Vec<Cell<bool>>,
    killed: Vec<Cell<bool>>,
    next: RefCell<Vec<NextTeam>>,
    fault: Option<Fault>,
    looks: Cell<u64>,
}

type Turn = Yielder<(), ()>;

struct Seen<'s> {
    shared: &'s Shared,
    turn: &'s Turn,
}

impl Ballots for Seen<'_> {
    fn size(&self) -> usize {
        self.shared.votes.len()
    }

    fn vote(&self, rank: usize) -> u64 {
        self.turn.suspend(());
        self.shared.votes[rank].get()
    }

    fn replace_vote(&self, rank: usize, old: u64, new: u64) -> bool {
        self.turn.suspend(());
        let forgotten = self.shared.fault == Some(Fault::GoneForgotten) && new & 3 == GONE;
        let replaces = self.shared.votes[rank].get() == old;
        if replaces && !forgotten {
            self.shared.votes[rank].set(new);
        }
        replaces
    }

    fn verdict(&self) -> u64 {
        self.turn.suspend(());
        self.shared.verdict.get()
    }

    fn replace_verdict(&self, old: u64, new: u64) -> bool {
        self.turn.suspend(());
        let overwrites = self.shared.fault == Some(Fault::VerdictsOverwritten);
        let replaces = overwrites || self.shared.verdict.get() == old;
        if replaces {
            self.shared.verdict.set(new);
        }
        replaces
    }

    fn is_gone(&self, rank: usize) -> bool {
        self.turn.suspend(());
        self.shared.looks.set(self.shared.looks.get() + 1);
        match self.shared.fault {
            Some(Fault::GoneUnseen) => false,
            // Half of the looks see too much.
            Some(Fault::GoneSeenByHalf) if self.shared.looks.get().is_multiple_of(2) => true,
            _ => self.shared.gone[rank].get(),
        }
    }
}

/// Where a process has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outcome {
    round: u64,
    members: Vec<usize>,
    next: usize,
}

/// What a process does that goes on, with one rank of its own.
fn go_on(rank: usize, shared: &Shared, turn: &Turn) -> Result<Outcome, Refused> {
    let ballots = Seen { shared, turn };
    loop {
        let round = Round::arrive(&ballots, &[rank], &[], Places::Closed)?;
        let members = loop {
            match round.votes(&ballots) {
                Votes::Members(members) => break members,
                Votes::GivenUp => break Vec::new(),
                Votes::Missing(_) => turn.suspend(()),
                Votes::Differs(rank) => return Err(Refused::Excluded(rank)),
            }
        };
        if members.is_empty() {
            continue;
        }
        turn.suspend(());
        let next = enter(rank, round.number, shared);
        turn.suspend(());
        shared.next.borrow_mut()[next].registered[rank] = true;
        let has_registered = |&member: &usize| {
            turn.suspend(());
            shared.next.borrow()[next].registered[member]
        };
        let is_complete = || members.iter().all(has_registered);
        let is_done = loop {
            turn.suspend(());
            if let Some(is_done) = round.look(&ballots, &members, is_complete) {
                break is_done;
            }
        };
        if is_done {
            let round = round.number;
            return Ok(Outcome {
                round,
                members,
                next,
            });
        }
    }
}

/// Finds the next team at the address of a round, or makes it where nobody answers.
fn enter(rank: usize, round: u64, shared: &Shared) -> usize {
    let mut all = shared.next.borrow_mut();
    let answers = |next: &NextTeam| next.round == round && !shared.killed[next.server].get();
    all.iter().position(answers).unwrap_or_else(|| {
        all.push(NextTeam {
            round,
            server: rank,
            registered: vec![false; shared.votes.len()],
        });
        all.len() - 1
    })
}

/// Plays one schedule, and returns what is wrong with it.
fn play(seed: u64, size: usize, fault: Option<Fault>) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let shared = Rc::new(Shared {
        votes: vec![Cell::new(0); size],
        verdict: Cell::new(0),
        gone: vec![Cell::new(false); size],
        killed: vec![Cell::new(false); size],
        next: RefCell::default(),
        fault,
        looks: Cell::new(0),
    });
    let start = |rank| {
        let shared = Rc::clone(&shared);
        let stack = DefaultStack::new(1 << 16).expect("a stack");
        Coroutine::with_stack(stack, move |turn: &Turn, ()| go_on(rank, &shared, turn))
    };
    let mut processes: Vec<_> = (0..size).map(start).collect();
    let mut outcomes = vec![None; size];
    // The first rank has been lost, others follow it while the rest agree.
    let mut to_kill = random.usize(0..size - 1);
    shared.killed[0].set(true);
    let mut unseen = vec![0];
    // Schedules differ in how long a process runs at a time, and how fast ends follow each other and are seen.
    let [stays, seen_soon, killed_soon] =
        [[0, 128, 230], [8, 40, 200], [4, 16, 60]].map(|of: [u8; 3]| of[random.usize(0..3)]);
    let mut rank = 0;
    for _ in 0..4_000 {
        if random.u8(..) >= stays {
            rank = random.usize(0..size);
        }
        if random.u8(..) < seen_soon && !unseen.is_empty() {
            let seen = unseen.swap_remove(random.usize(0..unseen.len()));
            shared.gone[seen].set(true);
        }
        if shared.killed[rank].get() || outcomes[rank].is_some() {
            continue;
        }
        if to_kill > 0 && random.u8(..) < killed_soon {
            to_kill -= 1;
            shared.killed[rank].set(true);
            unseen.push(rank);
            continue;
        }
        if let CoroutineResult::Return(outcome) = processes[rank].resume(()) {
            // It drops the old team.
            shared.gone[rank].set(true);
            outcomes[rank] = Some(outcome);
        }
    }
    for process in &mut processes {
        process.force_unwind();
    }
    let mut done = outcomes.iter().flatten();
    if let Some(refused) = done.clone().find(|outcome| outcome.is_err()) {
        return Err(format!("{refused:?}"));
    }
    if let Some(first) = done.next()
        && let Some(other) = done.find(|other| *other != first)
    {
        return Err(format!("{first:?} and {other:?}"));
    }
    let alive = |&rank: &usize| !shared.killed[rank].get();
    match (0..size)
        .filter(alive)
        .find(|&rank| outcomes[rank].is_none())
    {
        Some(rank) => Err(format!("rank {rank} waits for ever")),
        None => Ok(()),
    }
}

#[test]
fn all_that_live_go_on_with_one_team() {
    for seed in 0..6_000 {
        let size = 2 + seed as usize % 4;
        if let Err(wrong) = play(seed, size, None) {
            panic!("seed {seed}: {wrong}");
        }
    }
}

#[test]
fn each_fault_of_the_ballots_is_found() {
    for fault in [
        Fault::VerdictsOverwritten,
        Fault::GoneSeenByHalf,
        Fault::GoneForgotten,
        Fault::GoneUnseen,
    ] {
        let found =
            (0..6_000).find_map(|seed| play(seed, 2 + seed as usize % 4, Some(fault)).err());
        assert!(found.is_some(), "{fault:?} is not found");
    }
}

#[test]
fn processes_that_want_different_things_are_told() {
    let shared = Rc::new(Shared {
        votes: vec![Cell::new(0); 2],
        verdict: Cell::new(0),
        gone: vec![Cell::new(false); 2],
        killed: vec![Cell::new(false); 2],
        next: RefCell::default(),
        fault: None,
        looks: Cell::new(0),
    });
    let stack = DefaultStack::new(1 << 16).expect("a stack");
    let other = Rc::clone(&shared);
    let mut process = Coroutine::with_stack(stack, move |turn: &Turn, ()| {
        let ballots = Seen {
            shared: &other,
            turn,
        };
        let closed = Round::arrive(&ballots, &[0], &[], Places::Closed).unwrap();
        let refilled = Round::arrive(&ballots, &[1], &[], Places::Refilled).unwrap();
        (closed.votes(&ballots), refilled.votes(&ballots))
    });
    let votes = loop {
        if let CoroutineResult::Return(votes) = process.resume(()) {
            break votes;
        }
    };
    assert_eq!(votes, (Votes::Differs(1), Votes::Differs(0)));
}

/// Ballots in memory, of ranks of which none is gone. The verdict that is read is an old one if so is wished.
struct Plain {
    votes: [Cell<u64>; 2],
    verdict: Cell<u64>,
    seen: Option<u64>,
}

impl Plain {
    fn new(votes: [u64; 2], verdict: u64) -> Self {
        let (votes, verdict) = (votes.map(Cell::new), Cell::new(verdict));
        let seen = None;
        Self {
            votes,
            verdict,
            seen,
        }
    }
}

impl Ballots for Plain {
    fn size(&self) -> usize {
        2
    }

    fn vote(&self, rank: usize) -> u64 {
        self.votes[rank].get()
    }

    fn replace_vote(&self, rank: usize, old: u64, new: u64) -> bool {
        self.votes[rank].replace(new) == old
    }

    fn verdict(&self) -> u64 {
        self.seen.unwrap_or(self.verdict.get())
    }

    fn replace_verdict(&self, old: u64, new: u64) -> bool {
        self.verdict.replace(new) == old
    }

    fn is_gone(&self, _rank: usize) -> bool {
        false
    }
}

#[test]
fn a_round_follows_the_one_that_was_given_up_and_leaves_out_whom_others_took_for_gone() {
    for given_up in [0, 1, 2, 9] {
        let ballots = Plain::new([0, 0], given_up << 1);
        let round = Round::arrive(&ballots, &[0], &[], Places::Closed).unwrap();
        assert_eq!(round.number, given_up + 1);
        assert_eq!(round.votes(&ballots), Votes::Missing(1));

        // Somebody has voted for rank 1, which comes late.
        ballots.votes[1].set(round.number << 2 | GONE);
        assert_eq!(round.votes(&ballots), Votes::Members(vec![0]));
        let late = Round::arrive(&ballots, &[1], &[], Places::Closed);
        assert_eq!(late, Err(Refused::Excluded(1)));
    }
    let done = Round::arrive(&Plain::new([0, 0], 3), &[0], &[], Places::Closed);
    assert_eq!(done, Err(Refused::Done));
}

/// The verdict that a process has read may be older than the votes that it reads then.
#[test]
fn a_vote_of_a_later_round_gives_up_this_one() {
    let places = Places::Closed;
    let round = Round { number: 1, places };
    let mut ballots = Plain::new([1 << 2 | COMES, 2 << 2 | COMES], 1 << 1);
    ballots.seen = Some(0);
    assert_eq!(round.votes(&ballots), Votes::GivenUp);
}
