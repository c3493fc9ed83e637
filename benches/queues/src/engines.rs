//! The two operations raced: a stream of messages, and a message to and fro.

use crate::link::{Message, Rx, Tx};
use corecast_bench::engine::Ledger;
use corecast_bench::{Engine, Flaw, Member, Role};
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

/// An end of a queue, kept for the member that will take it.
type End<T> = Mutex<Option<T>>;

fn take<T>(end: &End<T>) -> T {
    let mut end = end.lock().unwrap_or_else(PoisonError::into_inner);
    end.take()
        .expect("a queue is raced once, with one member per rank")
}

/// Name and setting of a queue in the table.
pub(crate) struct Title {
    pub(crate) name: &'static str,
    pub(crate) setting: String,
    pub(crate) role: Role,
}

/// One operation is one message from rank 0 to rank 1.
pub(crate) struct Stream<T, R> {
    title: Title,
    ends: (End<T>, End<R>),
}

impl<T: Tx, R: Rx> Stream<T, R> {
    pub(crate) fn new(title: Title, (tx, rx): (T, R)) -> Stream<T, R> {
        let ends = (Mutex::new(Some(tx)), Mutex::new(Some(rx)));
        Stream { title, ends }
    }
}

impl<T: Tx, R: Rx> Engine for Stream<T, R> {
    fn name(&self) -> &str {
        self.title.name
    }

    fn setting(&self) -> String {
        self.title.setting.clone()
    }

    fn role(&self) -> Role {
        self.title.role
    }

    fn ranks(&self) -> usize {
        2
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        match rank {
            0 => Box::new(Source {
                tx: take(&self.ends.0),
                sent: 0,
            }),
            _ => Box::new(Drain {
                rx: take(&self.ends.1),
                received: 0,
            }),
        }
    }
}

struct Source<T> {
    tx: T,
    sent: u64,
}

impl<T: Tx> Member for Source<T> {
    fn run(&mut self, operations: u64) {
        self.tx.send_run(self.sent, operations);
        self.sent += operations;
    }

    fn verify(&mut self, _rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        for length in run_lengths(ledger) {
            self.run(length);
        }
        Ok(())
    }
}

struct Drain<R> {
    rx: R,
    received: u64,
}

impl<R: Rx> Member for Drain<R> {
    fn run(&mut self, operations: u64) {
        self.rx.receive_run(operations, |message| {
            black_box(message);
        });
        self.received += operations;
    }

    fn verify(&mut self, _rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let mut flaw = Ok(());
        for length in run_lengths(ledger) {
            let number = &mut self.received;
            self.rx.receive_run(length, |message| {
                if flaw.is_ok() {
                    flaw = check(*number, message);
                }
                *number += 1;
            });
        }
        flaw
    }
}

/// Lengths of the runs that are checked: they vary, and in all they are several laps of a ring.
fn run_lengths(ledger: &Ledger) -> impl Iterator<Item = u64> {
    (1..=ledger.rounds()).map(|round| 1 + round * round % 517)
}

fn check(number: u64, message: Message) -> Result<(), Flaw> {
    match message == Message::new(number) {
        true => Ok(()),
        false => Err(Flaw::WrongResult(format!(
            "message {number} held {:?}",
            message.0
        ))),
    }
}

/// One operation is one message from rank 0 to rank 1 and one back; half of
/// its time is reported.
pub(crate) struct PingPong<T, R> {
    title: Title,
    here: End<(T, R)>,
    there: End<(T, R)>,
}

impl<T: Tx, R: Rx> PingPong<T, R> {
    /// Creates it from two queues in opposite directions.
    pub(crate) fn new(title: Title, to: (T, R), back: (T, R)) -> PingPong<T, R> {
        PingPong {
            title,
            here: Mutex::new(Some((to.0, back.1))),
            there: Mutex::new(Some((back.0, to.1))),
        }
    }
}

impl<T: Tx, R: Rx> Engine for PingPong<T, R> {
    fn name(&self) -> &str {
        self.title.name
    }

    fn setting(&self) -> String {
        self.title.setting.clone()
    }

    fn role(&self) -> Role {
        self.title.role
    }

    fn ranks(&self) -> usize {
        2
    }

    fn parts(&self) -> u32 {
        2
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        match rank {
            0 => Box::new(Ping {
                ends: take(&self.here),
                number: 0,
            }),
            _ => Box::new(Pong {
                ends: take(&self.there),
            }),
        }
    }
}

struct Ping<T, R> {
    ends: (T, R),
    number: u64,
}

impl<T: Tx, R: Rx> Ping<T, R> {
    #[inline(always)]
    fn call(&mut self) -> Message {
        self.number += 1;
        self.ends.0.send(Message::new(self.number));
        self.ends.1.receive()
    }
}

impl<T: Tx, R: Rx> Member for Ping<T, R> {
    fn run(&mut self, operations: u64) {
        for _ in 0..operations {
            black_box(self.call());
        }
    }

    fn verify(&mut self, _rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let mut flaw = Ok(());
        for _ in 0..ledger.rounds() {
            let message = self.call();
            if flaw.is_ok() {
                flaw = check(self.number, message);
            }
        }
        flaw
    }
}

struct Pong<T, R> {
    ends: (T, R),
}

impl<T: Tx, R: Rx> Member for Pong<T, R> {
    fn run(&mut self, operations: u64) {
        for _ in 0..operations {
            let message = self.ends.1.receive();
            self.ends.0.send(message);
        }
    }

    fn verify(&mut self, _rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        self.run(ledger.rounds());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers;
    use corecast_bench::{Entrant, Settings, Status, cpu_placement, race};

    /// A sending end that changes one word of a message, after as many others as the number says.
    struct Spoiling<T>(T, u64);

    impl<T: Tx> Tx for Spoiling<T> {
        fn send(&mut self, mut message: Message) {
            message.0[6] ^= u64::from(self.1 == 0);
            self.1 = self.1.wrapping_sub(1);
            self.0.send(message);
        }
    }

    fn spoiled(after: u64) -> (Spoiling<impl Tx>, impl Rx) {
        let (tx, rx) = peers::sync_channel(64);
        (Spoiling(tx, after), rx)
    }

    fn title() -> Title {
        Title {
            name: "spoiled",
            setting: String::new(),
            role: Role::Peer,
        }
    }

    #[test]
    fn one_wrong_word_keeps_a_queue_from_being_timed() {
        let entrants = [
            Entrant::threads(Stream::new(title(), spoiled(100))),
            Entrant::threads(PingPong::new(title(), spoiled(100), spoiled(u64::MAX))),
        ];
        let settings = Settings {
            verify_rounds: 128,
            ..Settings::quick()
        };
        let comparison = race::run(
            "test",
            &cpu_placement::free(2),
            &settings,
            &entrants,
            |_| {},
        )
        .unwrap();
        for entry in &comparison.entries {
            assert!(
                matches!(&entry.status, Status::Failed(why) if why.contains("held")),
                "{:?}",
                entry.status
            );
        }
    }
}
