//! The result of a measurement, and its machine file.

use std::collections::BTreeMap;
use std::time::Duration;

use corecast_model::{
    CostModel, FileError, Machine, MachineFile, Matrix, Measured, Messages, Unit,
};
use corecast_wire::queue::Backend;

use crate::calendar::iso_utc;

/// One quantity for every ordered pair, in nanoseconds. Diagonals are 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Medians.
    pub ns: Matrix,
    /// Half widths of their 95 % intervals.
    pub half_width_ns: Matrix,
}

/// All results of [`pairwise`](crate::pairwise). Row and column r of each matrix belong to entry r
/// of `threads`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measurement {
    /// The machine.
    pub machine: Machine,
    /// Operating-system numbers of the measured hardware threads.
    pub threads: Vec<u32>,
    /// `send(i, j)`: how long i is blocked to send one line to j. The write buffer hides the
    /// transfer.
    pub send: Costs,
    /// `receive(i, j)`: how long j is blocked to receive a line from i that is queued already, as
    /// one of a batch.
    pub receive: Costs,
    /// `send(i, j)` until the line has left the write buffer of i.
    pub send_drained: Costs,
    /// `receive(i, j)` of a message that comes alone.
    pub receive_alone: Costs,
    /// Half of a round trip that i starts with j.
    pub one_way: Costs,
    /// The time of one message of a line after a pause, from a common start until j, which waits,
    /// has it.
    pub one: Costs,
    /// The time of one long message after a pause, from a common start until j, which waits, has it.
    pub long: Costs,
    /// The time of one message of a line each way from a common start, the later of the two.
    pub crossed: Costs,
    /// `receive_alone` of a long message.
    pub taken: Costs,
    /// Bytes of a long message.
    pub long_bytes: usize,
    /// Whether only some pairs of each topology class were measured and the others filled in.
    pub sampled: bool,
    /// Which ordered pairs were measured, row by row.
    pub measured_pairs: Vec<bool>,
    /// The number of samples behind the median pair; each is a lap of the ring.
    pub samples: u64,
    /// The number of samples left out as interrupted, over all pairs and quantities.
    pub discarded: u64,
    /// The protocol of the queues.
    pub backend: Backend,
    /// The number of slots of each queue.
    pub slots: usize,
    /// The number of messages in a timed section.
    pub batch: usize,
    /// The time at which the measurement began, in seconds since 1970.
    pub began_unix_seconds: u64,
    /// The time that the measurement took.
    pub elapsed: Duration,
    /// Notes for the user on the measurement, one sentence each.
    pub notes: Vec<String>,
}

/// The measured numbers that become the `receive` of a cost model; `send` is the same in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// The time per message of a batch, which is Smelt's own (§3.2). It is right for a receiver that
    /// finds many messages queued, and too low for one that waits for a single message.
    #[default]
    Batch,
    /// The time of a message that comes alone and is queued already.
    Alone,
    /// `one_way - send`, and not less than `Alone`: the time from the moment when the sender is free
    /// until the receiver has the message. The model's latency of a tree of two (§3.1) is then the
    /// measured one, write buffer, invalidation and polling included.
    OneWay,
}

impl Measurement {
    /// Whether the ordered pair was measured itself, and not filled in from its class.
    ///
    /// # Panics
    ///
    /// When a position is not below the number of threads.
    #[must_use]
    pub fn is_measured(&self, from: usize, to: usize) -> bool {
        let n = self.threads.len();
        assert!(from < n && to < n, "({from}, {to}) of {n} threads");
        self.measured_pairs[from * n + to]
    }

    /// Returns the time at which the measurement began, as `2026-11-21T22:17:29Z`.
    #[must_use]
    pub fn when(&self) -> String {
        iso_utc(self.began_unix_seconds)
    }

    /// Returns the `receive` matrix of a cost model on this basis.
    #[must_use]
    pub fn receive_on(&self, basis: Basis) -> Costs {
        match basis {
            Basis::Batch => self.receive.clone(),
            Basis::Alone => self.receive_alone.clone(),
            Basis::OneWay => {
                let n = self.threads.len();
                let (whole, send, least) = (&self.one_way, &self.send, &self.receive_alone);
                Costs {
                    ns: Matrix::from_fn(n, |i, j| {
                        (whole.ns.get(i, j) - send.ns.get(i, j)).max(least.ns.get(i, j))
                    }),
                    half_width_ns: Matrix::from_fn(n, |i, j| {
                        whole.half_width_ns.get(i, j) + send.half_width_ns.get(i, j)
                    }),
                }
            }
        }
    }

    /// Makes the machine file: costs in nanoseconds with their intervals, when and how they were
    /// measured. A sampled measurement says so among the machine's assumptions.
    ///
    /// # Errors
    ///
    /// The machine was changed since, so that it lacks a thread or is no longer valid.
    pub fn to_machine_file(&self, basis: Basis) -> Result<MachineFile, FileError> {
        let receive = self.receive_on(basis);
        let n = self.threads.len();
        let costs = CostModel::from_fn(
            Unit::Nanoseconds,
            vec![0; n],
            |i, j| self.send.ns.get(i, j),
            |i, j| receive.ns.get(i, j),
        )?;
        let mut machine = self.machine.clone();
        if self.sampled {
            let measured = self.measured_pairs.iter().filter(|&&m| m).count();
            machine.assumptions.push(format!(
                "costs of {measured} of {} pairs were measured, the others are medians of their topology class",
                n * (n - 1)
            ));
        }
        let file = MachineFile::new(machine, self.threads.clone(), costs)?;
        let file =
            file.with_intervals(rows(&self.send.half_width_ns), rows(&receive.half_width_ns))?;
        let file = file.with_messages(self.messages())?;
        Ok(file.with_measured(Measured {
            when: self.when(),
            samples: self.samples,
            tool: self.tool(basis),
        }))
    }

    /// Returns the costs of messages that come alone. Costs of calls are not in it: they have to be
    /// measured where the calls are.
    #[must_use]
    pub fn messages(&self) -> Messages {
        Messages {
            long_bytes: self.long_bytes,
            one: self.one.ns.clone(),
            long: self.long.ns.clone(),
            alone: self.receive_alone.ns.clone(),
            taken: self.taken.ns.clone(),
            crossed: self.crossed.ns.clone(),
            calls: BTreeMap::new(),
            combine: 0.0,
            copy: 0.0,
        }
    }

    /// `corecast-probe 0.1.0 (ump, 64 slots, batches of 8)`, with the basis where it is not Smelt's.
    fn tool(&self, basis: Basis) -> String {
        let basis = match basis {
            Basis::Batch => "",
            Basis::Alone => ", receive alone",
            Basis::OneWay => ", receive by one-way latency",
        };
        format!(
            "{} {} ({}, {} slots, batches of {}{basis})",
            env!("CARGO_PKG_NAME"),
            env!("CARGO_PKG_VERSION"),
            self.backend,
            self.slots,
            self.batch
        )
    }
}

fn rows(matrix: &Matrix) -> Vec<Vec<f64>> {
    matrix.rows().map(<[f64]>::to_vec).collect()
}
