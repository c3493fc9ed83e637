//! What was measured of a network, from which its costs follow.

use serde::{Deserialize, Serialize};

/// A measured time in nanoseconds, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The time itself.
    pub median: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What messages of one size take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageTimes {
    /// Bytes of a message.
    pub bytes: usize,
    /// Half of a round trip, in nanoseconds.
    pub one_way: Interval,
    /// The time that one message of many in a row takes, in nanoseconds.
    pub in_a_row: Interval,
}

/// A measured network: the terms of [`Network`](super::Network) with their intervals, the two overheads apart, and the times
/// of messages themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkMeasurement {
    /// The library that carried the messages.
    pub library: String,
    /// Date and time of the measurement, in UTC.
    pub created: String,
    /// How many pairs of hosts were measured; the medians are those of all of them.
    pub pairs: usize,
    /// L
    pub latency_ns: Interval,
    /// o of the sender
    pub send_overhead_ns: Interval,
    /// o of the receiver
    pub receive_overhead_ns: Interval,
    /// g
    pub gap_ns: Interval,
    /// G
    pub byte_ns: Interval,
    /// Half of a round trip of messages without data.
    pub empty_ns: Interval,
    /// The most bytes of a message before the step in the times of longer ones, from where on a library asks before it sends
    /// (rendezvous); `None` where there is no step.
    pub rendezvous_bytes: Option<usize>,
    /// Times by size, the shortest messages first.
    pub sizes: Vec<MessageTimes>,
}

impl NetworkMeasurement {
    /// A time that is none, with its name.
    pub(super) fn wrong(&self) -> Option<(&'static str, f64)> {
        let named = [
            ("measured.latency_ns", self.latency_ns),
            ("measured.send_overhead_ns", self.send_overhead_ns),
            ("measured.receive_overhead_ns", self.receive_overhead_ns),
            ("measured.gap_ns", self.gap_ns),
            ("measured.byte_ns", self.byte_ns),
            ("measured.empty_ns", self.empty_ns),
        ];
        let sizes = self.sizes.iter().flat_map(|size| {
            [
                ("measured.sizes.one_way", size.one_way),
                ("measured.sizes.in_a_row", size.in_a_row),
            ]
        });
        for (what, time) in named.into_iter().chain(sizes) {
            for value in [time.low, time.median, time.high] {
                if !(0.0..=1e12).contains(&value) {
                    return Some((what, value));
                }
            }
        }
        None
    }
}
