//! The costs of messages as a search looks them up.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::soft;
use crate::pace::{FAR, Pace};

/// The costs of a message from one member to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageCost {
    pub(super) send: f64,
    pub(super) receive: f64,
    /// The factors of `send` and `receive` in a soft maximum.
    pub(super) soft_send: f64,
    pub(super) soft_receive: f64,
}

/// Largest team whose costs are laid out before the first move. In larger ones a search sees few of
/// all pairs, and laying out takes 32 bytes and some 30 ns for each.
const LAID_OUT_MAX: usize = 1024;

/// The costs of messages for all ordered pairs.
pub(super) struct PairCosts<'a> {
    costs: &'a CostModel,
    n: usize,
    /// The costs of all pairs; empty where each is worked out when it is asked for.
    edges: Vec<MessageCost>,
    /// The k of soft maxima.
    sharpness: f64,
}

impl<'a> PairCosts<'a> {
    /// Lays out the costs for trees whose latency is in the order of `scale`. For large teams, and
    /// where a watcher ends the search, they are not laid out, which changes no result.
    pub(super) fn of(costs: &'a CostModel, scale: f64, pace: &mut Pace<'_>) -> Self {
        let mut pairs = Self {
            costs,
            n: costs.n(),
            edges: Vec::new(),
            sharpness: soft::sharpness(scale),
        };
        if let ControlFlow::Continue(edges) = pairs.laid_out(pace) {
            pairs.edges = edges;
        }
        pairs
    }

    fn laid_out(&self, pace: &mut Pace<'_>) -> ControlFlow<(), Vec<MessageCost>> {
        if self.n > LAID_OUT_MAX {
            return ControlFlow::Continue(Vec::new());
        }
        let (send, receive) = (self.costs.send_matrix(), self.costs.receive_matrix());
        let mut edges = Vec::with_capacity(self.n * self.n);
        for (sends, receives) in send.rows().zip(receive.rows()) {
            pace.spend(FAR * self.n as u64)?;
            let pairs = sends.iter().zip(receives);
            edges.extend(pairs.map(|(&send, &receive)| self.message(send, receive)));
        }
        ControlFlow::Continue(edges)
    }

    #[inline]
    fn message(&self, send: f64, receive: f64) -> MessageCost {
        MessageCost {
            send,
            receive,
            soft_send: soft::grown(self.sharpness * send),
            soft_receive: soft::grown(self.sharpness * receive),
        }
    }

    pub(super) fn n(&self) -> usize {
        self.n
    }

    /// Returns the k of soft maxima; 0 where there is none.
    #[inline]
    pub(super) fn sharpness(&self) -> f64 {
        self.sharpness
    }

    /// Returns the costs of a message from `v` to `c`.
    #[inline]
    pub(super) fn edge(&self, v: usize, c: usize) -> MessageCost {
        match self.edges.get(v * self.n + c) {
            Some(&edge) => edge,
            None => self.message(self.costs.send(v, c), self.costs.receive(v, c)),
        }
    }

    /// Returns send and receive of a message from `v` to `c`.
    #[inline]
    pub(super) fn send_receive(&self, v: usize, c: usize) -> (f64, f64) {
        match self.edges.get(v * self.n + c) {
            Some(edge) => (edge.send, edge.receive),
            None => (self.costs.send(v, c), self.costs.receive(v, c)),
        }
    }
}
