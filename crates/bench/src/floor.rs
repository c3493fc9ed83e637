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
//! barrier of two ranks cannot be faster than a [`MutualExchange`], whose words lie in two lines or in one. The spin
//! loops come with and without the CPU's pause hint, because which is faster
//! depends on the machine: race both, and [`Comparison::fastest`] of
//! [`Role::Floor`] is the floor. A [`Swap`] can be faster than both where two ranks share one line,
//! and stands in races of single messages only.
//!
//! [`Comparison::fastest`]: crate::Comparison::fastest

mod await_number;
mod copies;
mod lines;
mod stream;
mod swap;

pub use copies::copies;
pub use lines::lines;
pub use stream::LineStream;
pub use swap::Swap;

use crate::engine::{Engine, Flaw, Ledger, Member, Role};
use crate::race::Entrant;
use await_number::await_number;
use corecast_wire::Line;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use await_number::await_turn;

/// How many places a floor's pair of lines may lie in; each batch takes the next one.
///
/// The distance to the cache slice that a line's address falls to changes a transfer by up to
/// 20 % (97 to 118 ns one way for two pairs of one run; 2-core KVM guest, Xeon at 2.5 GHz,
/// November 2026). With one pair alone, the floor would depend on luck.
pub const PLACES: usize = 64;

/// The pairs of lines of a floor.
type LinePairs = Box<[[Line<AtomicU64>; 2]; PLACES]>;

fn places() -> LinePairs {
    Box::new(std::array::from_fn(|_| Default::default()))
}

/// All loops that are floors of a barrier of two ranks.
pub fn barrier_floors<'a>() -> [Entrant<'a>; 4] {
    let [spin, pause] = mutual_exchanges();
    [
        spin,
        pause,
        Entrant::threads(MutualExchange::<false>::new(Words::InOneLine)),
        Entrant::threads(MutualExchange::<true>::new(Words::InOneLine)),
    ]
}

/// Both loops that are floors of two messages that cross.
pub fn mutual_exchanges<'a>() -> [Entrant<'a>; 2] {
    [
        Entrant::threads(MutualExchange::<false>::new(Words::InTwoLines)),
        Entrant::threads(MutualExchange::<true>::new(Words::InTwoLines)),
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
}

/// Each rank writes its own word and waits for the other's: the least that a
/// barrier of two ranks must do.
///
/// # Cost
///
/// In two lines one transfer and one invalidation each way, in parallel; in one line two transfers.
#[derive(Debug)]
pub struct MutualExchange<const PAUSE: bool> {
    places: LinePairs,
    pairs: Box<[Line<[AtomicU64; 2]>; PLACES]>,
    words: Words,
}

impl<const PAUSE: bool> MutualExchange<PAUSE> {
    /// Creates the floor with all lines at zero.
    pub fn new(words: Words) -> Self {
        Self {
            places: places(),
            pairs: Box::new(std::array::from_fn(|_| Default::default())),
            words,
        }
    }
}

impl<const PAUSE: bool> Engine for MutualExchange<PAUSE> {
    fn name(&self) -> &str {
        "floor: mutual line exchange"
    }

    fn setting(&self) -> String {
        let spins = spin_setting::<PAUSE>();
        match self.words {
            Words::InTwoLines => spins,
            Words::InOneLine => format!("both words in one line, {spins}"),
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
        })
    }
}

struct MutualExchangeMember<'a, const PAUSE: bool> {
    exchange: &'a MutualExchange<PAUSE>,
    rank: usize,
    passed: u64,
    place: usize,
}

impl<const PAUSE: bool> Member for MutualExchangeMember<'_, PAUSE> {
    fn run(&mut self, operations: u64) {
        let (lines, pair) = (
            &self.exchange.places[self.place],
            &self.exchange.pairs[self.place].0,
        );
        let [mine, theirs] = [self.rank, 1 - self.rank].map(|rank| match self.exchange.words {
            Words::InTwoLines => &lines[rank].0,
            Words::InOneLine => &pair[rank],
        });
        let (start, end) = (self.passed, self.passed + operations);
        // Release pairs with the Acquire of the other rank, as in any barrier.
        for number in start + 1..=end {
            mine.store(number, Ordering::Release);
            await_number::<PAUSE>(theirs, number);
        }
        self.passed = end;
    }

    fn turn(&mut self) {
        self.place = (self.place + 1) % PLACES;
    }
}

fn spin_setting<const PAUSE: bool>() -> String {
    match PAUSE {
        true => "spins with the pause hint".to_owned(),
        false => "spins without pause".to_owned(),
    }
}
