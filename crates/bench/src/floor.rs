//! Hand-written loops: what two cores can do at best with plain loads and stores.
//!
//! ```text
//! RoundTrip                       MutualExchange
//! rank 0: ping = n                rank r: line[r] = n
//!         wait until pong == n            wait until line[1-r] >= n
//! rank 1: wait until ping == n
//!         pong = n
//! ```
//!
//! and [`LineStream`] for many messages in one direction, [`lines`] for short
//! collectives and [`copies`] for those of any size.
//!
//! A one-way message cannot be faster than half of a [`RoundTrip`], and a
//! barrier of two ranks cannot be faster than a [`MutualExchange`], whose words lie in two lines or in one; nor can an
//! allreduction of one word, with the words' values beside them. The spin
//! loops come with and without the CPU's pause hint, because which is faster
//! depends on the machine: race both, and [`Comparison::fastest`] of
//! [`Role::Floor`] is the floor. A [`Swap`] can be faster than both where two ranks share one line,
//! and stands in races of single messages only.
//!
//! [`Comparison::fastest`]: crate::Comparison::fastest

mod await_number;
mod copies;
mod exchange;
mod exchange_line;
mod lines;
mod stream;
mod swap;

pub use copies::copies;
pub use exchange::exchange;
pub use exchange_line::PLACES;
pub use lines::lines;
pub use stream::LineStream;
pub use swap::Swap;

use crate::engine::{Engine, Flaw, Ledger, Member, Role, verify_barrier};
use crate::race::Entrant;
use await_number::{await_number, take_number};
use corecast_wire::Line;
use exchange_line::{ExchangeLine, exchange_places, give, take};
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use await_number::await_turn;

/// The pairs of lines of a floor.
type LinePairs = Box<[[Line<AtomicU64>; 2]; PLACES]>;

fn places() -> LinePairs {
    Box::new(std::array::from_fn(|_| Default::default()))
}

/// All loops that are floors of a barrier of two ranks.
pub fn barrier_floors<'a>() -> [Entrant<'a>; 5] {
    [
        Entrant::threads(MutualExchange::<false>::new(Words::InTwoLines)),
        Entrant::threads(MutualExchange::<true>::new(Words::InTwoLines)),
        Entrant::threads(MutualExchange::<false>::new(Words::InOneLine)),
        Entrant::threads(MutualExchange::<true>::new(Words::InOneLine)),
        Entrant::threads(MutualExchange::<true>::new(Words::InOneLine).taking()),
    ]
}

/// All loops that are floors of two messages of one word that cross.
pub fn value_exchanges<'a>() -> [Entrant<'a>; 3] {
    [
        Entrant::threads(MutualExchange::<false>::new(Words::WithValues)),
        Entrant::threads(MutualExchange::<true>::new(Words::WithValues)),
        Entrant::threads(MutualExchange::<true>::new(Words::WithValues).taking()),
    ]
}

/// Both loops that are floors of a message between two ranks.
pub fn round_trips<'a>() -> [Entrant<'a>; 2] {
    [
        Entrant::threads(RoundTrip::<false>::new()),
        Entrant::threads(RoundTrip::<true>::new()),
    ]
}

/// A number sent to and fro over two lines. Half of the round trip is reported.
///
/// # Cost
///
/// Two line transfers and two invalidations per round trip.
#[derive(Debug)]
pub struct RoundTrip<const PAUSE: bool> {
    places: LinePairs,
}

impl<const PAUSE: bool> RoundTrip<PAUSE> {
    /// Creates the floor with all lines at zero.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<const PAUSE: bool> Default for RoundTrip<PAUSE> {
    fn default() -> Self {
        Self { places: places() }
    }
}

impl<const PAUSE: bool> Engine for RoundTrip<PAUSE> {
    fn name(&self) -> &str {
        "floor: half a round trip"
    }

    fn setting(&self) -> String {
        spin_setting::<PAUSE>()
    }

    fn role(&self) -> Role {
        Role::Floor
    }

    fn ranks(&self) -> usize {
        2
    }

    fn parts(&self) -> u32 {
        2
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(RoundTripMember::<PAUSE> {
            places: &self.places,
            rank,
            number: 0,
            place: 0,
        })
    }
}

struct RoundTripMember<'a, const PAUSE: bool> {
    places: &'a [[Line<AtomicU64>; 2]; PLACES],
    rank: usize,
    number: u64,
    place: usize,
}

impl<const PAUSE: bool> Member for RoundTripMember<'_, PAUSE> {
    // Release stores pair with the Acquire loads of the other rank: the number
    // carries whatever was written before it, as any message would.
    fn run(&mut self, operations: u64) {
        // Copied, so that the loops run in registers.
        let [ping, pong] = &self.places[self.place];
        let (ping, pong, start) = (&ping.0, &pong.0, self.number);
        let end = start + operations;
        if self.rank == 0 {
            for number in start + 1..=end {
                ping.store(number, Ordering::Release);
                await_number::<PAUSE>(pong, number);
            }
        } else {
            for number in start + 1..=end {
                await_number::<PAUSE>(ping, number);
                pong.store(number, Ordering::Release);
            }
        }
        self.number = end;
    }

    fn turn(&mut self) {
        self.place = (self.place + 1) % PLACES;
    }

    /// After each round trip, each rank must find that the other has entered it.
    fn verify(&mut self, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let mut flaw = Ok(());
        for number in 1..=ledger.rounds() {
            ledger.counter(rank).store(number, Ordering::Relaxed);
            self.run(1);
            let other = ledger.counter(1 - rank).load(Ordering::Relaxed);
            // Rank 0 may run ahead by one once rank 1 has answered.
            let wrong = other < number || other > number + 1;
            if wrong && flaw.is_ok() {
                flaw = Err(Flaw::WrongResult(format!(
                    "round trip {number} ended for rank {rank} with the other rank at {other}"
                )));
            }
        }
        flaw
    }
}

/// Layout of the words by which two ranks tell each other their arrival: one line or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Each in a line of its own.
    InTwoLines,
    /// Both in one line: a rank that takes the line to write its word gets the other's too.
    InOneLine,
    /// Both in one line, each with a value that the other rank needs: an allreduction of one word.
    WithValues,
}

/// Each rank writes its own word and waits for the other's: the least that a
/// barrier of two ranks must do.
///
/// # Cost
///
/// In two lines one transfer and one invalidation each way, in parallel; in one line two transfers, or one if ranks
/// that poll take the line.
#[derive(Debug)]
pub struct MutualExchange<const PAUSE: bool> {
    places: LinePairs,
    pairs: Box<[ExchangeLine; PLACES]>,
    words: Words,
    /// Whether a rank that polls takes the line to write it.
    takes: bool,
}

impl<const PAUSE: bool> MutualExchange<PAUSE> {
    /// Creates the floor with all lines at zero.
    pub fn new(words: Words) -> Self {
        Self {
            places: places(),
            pairs: exchange_places(),
            words,
            takes: false,
        }
    }

    /// A rank that polls takes the line to write it, as it will write its own word there next.
    pub fn taking(self) -> Self {
        Self {
            takes: true,
            ..self
        }
    }
}

impl<const PAUSE: bool> Engine for MutualExchange<PAUSE> {
    fn name(&self) -> &str {
        "floor: mutual line exchange"
    }

    fn setting(&self) -> String {
        let spins = match self.takes {
            true => "polls by taking the line".to_owned(),
            false => spin_setting::<PAUSE>(),
        };
        match self.words {
            Words::InTwoLines => spins,
            Words::InOneLine => format!("both words in one line, {spins}"),
            Words::WithValues => format!("words and values in one line, {spins}"),
        }
    }

    fn role(&self) -> Role {
        Role::Floor
    }

    fn ranks(&self) -> usize {
        2
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(MutualExchangeMember::<PAUSE> {
            exchange: self,
            rank,
            passed: 0,
            place: 0,
            sum: 0,
        })
    }
}

struct MutualExchangeMember<'a, const PAUSE: bool> {
    exchange: &'a MutualExchange<PAUSE>,
    rank: usize,
    passed: u64,
    place: usize,
    /// With values: those of both ranks together.
    sum: u64,
}

impl<const PAUSE: bool> MutualExchangeMember<'_, PAUSE> {
    #[inline(always)]
    fn wait(&self, word: &AtomicU64, number: u64) {
        match self.exchange.takes {
            true => take_number(word, number),
            false => await_number::<PAUSE>(word, number),
        }
    }

    /// Each rank gives the number of the operation and its own.
    fn run_with_values(&mut self, operations: u64) {
        let line = &self.exchange.pairs[self.place];
        let (rank, peer, start) = (self.rank, 1 - self.rank, self.passed);
        let (end, mut sum) = (start + operations, self.sum);
        for number in start + 1..=end {
            let own = number + rank as u64;
            give(line, rank, number, own);
            self.wait(&line.0[peer], number);
            sum = sum.wrapping_add(own + take(line, peer, number));
        }
        (self.passed, self.sum) = (end, sum);
    }
}

impl<const PAUSE: bool> Member for MutualExchangeMember<'_, PAUSE> {
    fn run(&mut self, operations: u64) {
        let (lines, pair) = (
            &self.exchange.places[self.place],
            &self.exchange.pairs[self.place].0,
        );
        let [mine, theirs] = match self.exchange.words {
            Words::InTwoLines => [self.rank, 1 - self.rank].map(|rank| &lines[rank].0),
            Words::InOneLine => [self.rank, 1 - self.rank].map(|rank| &pair[rank]),
            Words::WithValues => return self.run_with_values(operations),
        };
        let (start, end) = (self.passed, self.passed + operations);
        // Release pairs with the Acquire of the other rank, as in any barrier.
        for number in start + 1..=end {
            mine.store(number, Ordering::Release);
            self.wait(theirs, number);
        }
        self.passed = end;
    }

    fn turn(&mut self) {
        self.place = (self.place + 1) % PLACES;
    }

    fn verify(&mut self, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        verify_barrier(rank, ledger, &mut |operations| self.run(operations))?;
        let expected = match self.exchange.words {
            Words::InTwoLines | Words::InOneLine => 0,
            Words::WithValues => self.passed * (self.passed + 2),
        };
        match self.sum == expected {
            true => Ok(()),
            false => Err(Flaw::WrongResult(format!(
                "the values of {} exchanges come to {}, not {expected}",
                self.passed, self.sum
            ))),
        }
    }
}

fn spin_setting<const PAUSE: bool>() -> String {
    match PAUSE {
        true => "spins with the pause hint".to_owned(),
        false => "spins without pause".to_owned(),
    }
}
