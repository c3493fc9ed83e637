//! Hand-written exchanges of one element between two ranks: a value beside the flag, both flags and all values in one line.

use super::await_number::{await_turn, take_number};
use super::exchange_line::{ExchangeLine, PLACES, exchange_places, give, take};
use crate::engine::Role;
use crate::race::Entrant;
use crate::sized::{Conditions, ELEMENT_BYTES, Library, Player, Task, Trial};
use corecast_model::Collective;
use corecast_wire::Line;
use std::sync::atomic::{AtomicU64, Ordering};

/// The floors of `task`, if each of two ranks needs one element of the other: a rank that polls reads the line, or takes it,
/// as it will write there next.
pub fn exchange<'a>(task: Task, conditions: impl Into<Conditions>) -> Vec<Entrant<'a>> {
    let conditions = conditions.into();
    let both_ways = matches!(
        task.operation,
        Collective::Allreduce | Collective::Allgather
    );
    if !both_ways || task.ranks != 2 || task.bytes != ELEMENT_BYTES {
        return Vec::new();
    }
    let polls = [false, true].map(|takes| {
        let library = PairExchange {
            sums: task.operation == Collective::Allreduce,
            oversubscribed: conditions.oversubscribed,
            takes,
            places: exchange_places(),
            come: Default::default(),
        };
        Entrant::threads(Trial::new(library, task, conditions))
    });
    polls.into()
}

struct PairExchange {
    /// Whether results are sums, or both values.
    sums: bool,
    oversubscribed: bool,
    /// Whether a rank that polls takes the line to write it.
    takes: bool,
    places: Box<[ExchangeLine; PLACES]>,
    come: [Line<AtomicU64>; 2],
}

impl Library for PairExchange {
    fn name(&self) -> &str {
        "floor: one line for both"
    }

    fn setting(&self) -> String {
        match self.takes {
            true => "polls by taking it".to_owned(),
            false => String::new(),
        }
    }

    fn role(&self) -> Role {
        Role::Floor
    }

    fn player<'a>(&'a self, rank: usize) -> Box<dyn Player + 'a> {
        Box::new(PairRank {
            exchange: self,
            rank,
            come: 0,
            number: 0,
            place: 0,
            input: 0.0,
            result: [0.0; 2],
        })
    }
}

struct PairRank<'a> {
    exchange: &'a PairExchange,
    rank: usize,
    /// Number of barriers so far; `number` counts the operations.
    come: u64,
    number: u64,
    place: usize,
    input: f64,
    result: [f64; 2],
}

impl Player for PairRank<'_> {
    fn barrier(&mut self) -> Result<(), String> {
        self.come += 1;
        let (come, oversubscribed) = (&self.exchange.come, self.exchange.oversubscribed);
        // Release pairs with the Acquire of the other rank.
        come[self.rank].store(self.come, Ordering::Release);
        await_turn(&come[1 - self.rank], self.come, oversubscribed);
        Ok(())
    }

    fn prepare(&mut self, _place: usize, write: &mut dyn FnMut(&mut [f64])) {
        write(std::slice::from_mut(&mut self.input));
    }

    fn perform(&mut self, _place: usize) -> Result<(), String> {
        self.number += 1;
        let (line, number) = (&self.exchange.places[self.place], self.number);
        let (rank, peer) = (self.rank, 1 - self.rank);
        give(line, rank, number, self.input.to_bits());
        match (self.exchange.oversubscribed, self.exchange.takes) {
            (false, true) => take_number(&line.0[peer], number),
            (oversubscribed, _) => await_turn(&line.0[peer], number, oversubscribed),
        }
        let theirs = f64::from_bits(take(line, peer, number));
        self.result = match self.exchange.sums {
            // Two numbers have the same sum in any order.
            true => [self.input + theirs, 0.0],
            false if rank == 0 => [self.input, theirs],
            false => [theirs, self.input],
        };
        Ok(())
    }

    fn result(&mut self, _place: usize, read: &mut dyn FnMut(&[f64])) {
        let count = if self.exchange.sums { 1 } else { 2 };
        read(&self.result[..count]);
    }

    fn turn(&mut self) {
        self.place = (self.place + 1) % PLACES;
    }
}
