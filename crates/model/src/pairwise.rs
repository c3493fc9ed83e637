//! The costs of one message at each of its two ends, for every ordered pair of threads.

pub(crate) mod error;
mod makers;
mod matrix;
mod means;

pub use error::CostError;
pub use matrix::Matrix;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::lines::Lines;

/// The unit of every number in a [`CostModel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Cycles of the machine's own counter.
    #[serde(rename = "cycles")]
    Cycles,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
}

impl Unit {
    /// Returns the name, as text and JSON have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Nanoseconds => "ns",
        }
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The pairwise costs of a team: `send(i, j)` is how long i is blocked to send one line to j,
/// `receive(i, j)` how long j is blocked to receive it (Smelt §3.1).
///
/// Both indices are positions in the list of measured threads, not operating-system numbers. The
/// two are not symmetric in general (Smelt §3.2), and none is derived from the other. The diagonal
/// is 0 whatever was given, since no thread sends to itself.
///
/// # Examples
///
/// ```
/// use corecast_model::{CostModel, Unit};
///
/// let costs = CostModel::new(
///     Unit::Nanoseconds,
///     vec![vec![0.0, 60.0], vec![55.0, 0.0]],
///     vec![vec![0.0, 220.0], vec![210.0, 0.0]],
///     vec![0, 1],
/// )?;
/// assert_eq!(costs.send(1, 0), 55.0);
/// assert_eq!(costs.receive(0, 1), 220.0);
/// # Ok::<(), corecast_model::CostError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CostModel {
    unit: Unit,
    send: Matrix,
    receive: Matrix,
    /// NUMA node of each thread.
    numa: Vec<u32>,
    /// The costs of shared lines, where known.
    lines: Option<Lines>,
    /// The host of each thread, and whether its NUMA node owns a network card, on a machine of several hosts.
    hosts: Option<Hosts>,
}

/// The hosts of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hosts {
    of: Vec<u32>,
    cards: Vec<bool>,
}

impl CostModel {
    /// The largest cost that is accepted.
    ///
    /// Eleven days in nanoseconds, and small enough that sums over any team stay finite and exact
    /// to well below one unit.
    pub const COST_MAX: f64 = error::COST_MAX;

    /// A model from rows: `send[i][j]`, `receive[i][j]`, and the NUMA node of each thread.
    ///
    /// # Errors
    ///
    /// No thread; a ragged matrix; matrices or `numa` of different lengths; a cost that is NaN,
    /// infinite, negative or above [`CostModel::COST_MAX`]. Diagonal entries are not looked at.
    pub fn new(
        unit: Unit,
        send: Vec<Vec<f64>>,
        receive: Vec<Vec<f64>>,
        numa: Vec<u32>,
    ) -> Result<Self, CostError> {
        let n = send.len();
        if n == 0 {
            return Err(CostError::Empty);
        }
        for (what, found) in [("receive", receive.len()), ("numa", numa.len())] {
            if found != n {
                return Err(CostError::Length {
                    what,
                    found,
                    expected: n,
                });
            }
        }
        let send = Matrix::checked("send", send, n)?;
        let receive = Matrix::checked("receive", receive, n)?;
        Ok(Self {
            unit,
            send,
            receive,
            numa,
            lines: None,
            hosts: None,
        })
    }

    /// Number of threads, at least 1.
    #[must_use]
    pub fn n(&self) -> usize {
        self.send.n()
    }

    /// The unit of every cost.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Returns how long `i` is blocked to send one line to `j`.
    ///
    /// # Panics
    ///
    /// When i or j is not below [`CostModel::n`].
    #[must_use]
    #[inline]
    pub fn send(&self, i: usize, j: usize) -> f64 {
        self.send.get(i, j)
    }

    /// Returns how long `j` is blocked to receive a line that `i` sent.
    ///
    /// # Panics
    ///
    /// When i or j is not below [`CostModel::n`].
    #[must_use]
    #[inline]
    pub fn receive(&self, i: usize, j: usize) -> f64 {
        self.receive.get(i, j)
    }

    /// The NUMA node of a thread. Numbers may have holes; only equality has a meaning.
    #[must_use]
    #[inline]
    pub fn numa(&self, i: usize) -> u32 {
        self.numa[i]
    }

    /// The NUMA nodes of all threads, in order.
    #[must_use]
    pub fn numa_nodes(&self) -> &[u32] {
        &self.numa
    }

    /// Whether two threads share a NUMA node.
    #[must_use]
    #[inline]
    pub fn same_numa_node(&self, i: usize, j: usize) -> bool {
        self.numa[i] == self.numa[j]
    }

    /// The host of each thread, by its number in the machine's list; `None` on a machine of one host.
    #[must_use]
    pub fn hosts(&self) -> Option<&[u32]> {
        self.hosts.as_ref().map(|hosts| &hosts.of[..])
    }

    /// Whether the NUMA node of a thread owns a network card of its host; `false` on a machine of one host.
    #[must_use]
    pub fn has_card(&self, i: usize) -> bool {
        self.hosts.as_ref().is_some_and(|hosts| hosts.cards[i])
    }

    /// All send costs.
    #[must_use]
    pub fn send_matrix(&self) -> &Matrix {
        &self.send
    }

    /// All receive costs.
    #[must_use]
    pub fn receive_matrix(&self) -> &Matrix {
        &self.receive
    }

    /// Returns the costs of shared lines; `None` where they are unknown, so that plans can have no
    /// groups.
    #[must_use]
    pub fn lines(&self) -> Option<&Lines> {
        self.lines.as_ref()
    }

    /// Returns the model of a team: entry r of `positions` becomes thread r.
    ///
    /// # Errors
    ///
    /// An empty list, a position that the model does not have, or one listed twice.
    pub fn subset(&self, positions: &[usize]) -> Result<Self, CostError> {
        if positions.is_empty() {
            return Err(CostError::Empty);
        }
        let mut seen = vec![false; self.n()];
        for &position in positions {
            match seen.get_mut(position) {
                None => {
                    return Err(CostError::OutOfRange {
                        position,
                        last: self.n() - 1,
                    });
                }
                Some(true) => return Err(CostError::Duplicate { position }),
                Some(seen) => *seen = true,
            }
        }
        let pick =
            |m: &Matrix| Matrix::from_fn(positions.len(), |i, j| m.get(positions[i], positions[j]));
        Ok(Self {
            unit: self.unit,
            send: pick(&self.send),
            receive: pick(&self.receive),
            numa: positions.iter().map(|&p| self.numa[p]).collect(),
            lines: self.lines.as_ref().map(|lines| lines.subset(positions)),
            hosts: self.hosts.as_ref().map(|hosts| Hosts {
                of: positions.iter().map(|&p| hosts.of[p]).collect(),
                cards: positions.iter().map(|&p| hosts.cards[p]).collect(),
            }),
        })
    }

    /// Returns the model of the same team when every message flows backwards: what a parent pays to
    /// *receive* from its child becomes its `send`, and what the child pays to send becomes its
    /// `receive`.
    ///
    /// A reduction over a tree of this model costs what a broadcast over it costs in the mirrored
    /// one, when each parent takes its children in the reverse of the broadcast's order. Costs of
    /// shared lines stay as they are: they are not those of a message, and have no other direction.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        match self.mirrored_while(&mut |_| ControlFlow::Continue(())) {
            ControlFlow::Continue(mirrored) => mirrored,
            ControlFlow::Break(()) => unreachable!("nobody ends it"),
        }
    }

    /// Returns [`CostModel::mirrored`], unless `go_on` ends it early. That is called every few
    /// thousand entries with their number: large matrices take a second.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// let costs = corecast_model::synthetic("core:8").unwrap().costs().clone();
    /// let all = costs.mirrored_while(&mut |_| ControlFlow::Continue(()));
    /// assert_eq!(all.continue_value(), Some(costs.mirrored()));
    /// assert!(costs.mirrored_while(&mut |_| ControlFlow::Break(())).is_break());
    /// ```
    pub fn mirrored_while(
        &self,
        go_on: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<(), Self> {
        ControlFlow::Continue(Self {
            unit: self.unit,
            send: self.receive.transposed(go_on)?,
            receive: self.send.transposed(go_on)?,
            numa: self.numa.clone(),
            lines: self.lines.clone(),
            hosts: self.hosts.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
