//! Guidelines that hold on every machine: no operation may be slower than a combination of others that does its work.
//!
//! Source: Träff, Gropp and Thakur 2010, *Self-consistent MPI performance guidelines*; Hunold and Carpen-Amarie
//! 2018 on tuning by them.
//!
//! Times of different races come from different moments, so an apparent violation is a suspicion only: a race of
//! the slow algorithm against the remedies decides.

use crate::candidates::Asked;
use corecast_model::Collective;
use serde::Serialize;
use std::collections::BTreeMap;

/// A measured time with its interval, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// Median.
    pub ns: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Time {
    /// The time of one operation after another.
    fn and(self, other: Self) -> Self {
        Self {
            ns: self.ns + other.ns,
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }
}

/// Times of the tuned operations, by operation and bytes of a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Number of ranks.
    pub ranks: usize,
    /// Whether the time of a barrier includes a broadcast of one word after it.
    pub barriers_are_followed: bool,
    /// The algorithm that runs and its time, by the operation's name and size.
    times: BTreeMap<(&'static str, usize), (Asked, Time)>,
}

/// Relative slack of a comparison beyond both intervals.
pub const SLACK: f64 = 0.05;

/// A guideline that seems not to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The slow operation.
    pub operation: Collective,
    /// Its size.
    pub bytes: usize,
    /// Its median time, in nanoseconds.
    pub ns: f64,
    /// The time that it should not exceed, in nanoseconds.
    pub bound_ns: f64,
    /// The operations that set this bound, in words.
    pub bound: String,
    /// Algorithms to race in its place.
    pub remedies: Vec<Asked>,
}

/// The result of a suspicion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The operation.
    pub operation: &'static str,
    /// Its size in bytes.
    pub bytes: usize,
    /// Its median time before, in nanoseconds.
    pub measured_ns: f64,
    /// The time that it should not have exceeded, in nanoseconds.
    pub bound_ns: f64,
    /// The operations that set this bound, in words.
    pub bound: String,
    /// The algorithm that replaced the slow one; `None` where none did.
    pub mended_by: Option<String>,
    /// What was done about the violation, and the result, for the reader of a report.
    pub said: String,
}

impl Table {
    /// An empty table for so many ranks.
    pub fn new(ranks: usize) -> Self {
        Self {
            ranks,
            barriers_are_followed: false,
            times: BTreeMap::new(),
        }
    }

    /// Sets the algorithm and time of an operation at a size.
    pub fn set(&mut self, operation: Collective, bytes: usize, asked: Asked, time: Time) {
        self.times.insert((operation.name(), bytes), (asked, time));
    }

    fn get(&self, operation: Collective, bytes: usize) -> Option<Time> {
        self.times
            .get(&(operation.name(), bytes))
            .map(|(_, time)| *time)
    }

    /// The time at the least known size of at least `bytes`. It bounds the time of `bytes` from above, as fewer bytes
    /// take no longer.
    fn at_least(&self, operation: Collective, bytes: usize) -> Option<Time> {
        let name = operation.name();
        let mut above = self.times.range((name, bytes)..=(name, usize::MAX));
        above.next().map(|(_, (_, time))| *time)
    }

    fn sizes(&self, operation: Collective) -> Vec<(usize, Asked, Time)> {
        let name = operation.name();
        let all = self.times.range((name, 0)..=(name, usize::MAX));
        all.map(|((_, bytes), (asked, time))| (*bytes, *asked, *time))
            .collect()
    }

    /// All that seems to violate a guideline.
    pub fn suspects(&self) -> Vec<Suspect> {
        let mut found = Vec::new();
        self.barrier(&mut found);
        for operation in Collective::WITH_ALGORITHMS {
            for (bytes, _, time) in self.sizes(operation) {
                found.extend(self.in_parts(operation, bytes, time));
            }
            self.monotone(operation, &mut found);
        }
        found
    }

    /// Guideline: a barrier is not slower than an allreduce of one word.
    fn barrier(&self, found: &mut Vec<Suspect>) {
        let (Some(barrier), Some(mut bound)) = (
            self.get(Collective::Barrier, 0),
            self.get(Collective::Allreduce, 8),
        ) else {
            return;
        };
        let mut said = "an allreduce of 8 bytes".to_owned();
        if self.barriers_are_followed {
            let Some(broadcast) = self.get(Collective::Broadcast, 8) else {
                return;
            };
            bound = bound.and(broadcast);
            said += ", each with a broadcast behind it";
        }
        let remedies = ["dissemination", "tree", "m-way", "groups", "counter"].map(Some);
        let barrier = (Collective::Barrier, 0, barrier);
        found.extend(suspect(barrier, bound, said, remedies.into()));
    }

    /// Guideline: an operation is not slower than others that together do its work.
    fn in_parts(&self, operation: Collective, bytes: usize, time: Time) -> Option<Suspect> {
        let n = self.ranks;
        let (parts, remedy): (Vec<(Collective, usize)>, &'static str) = match operation {
            Collective::Allreduce => (
                vec![(Collective::Reduce, bytes), (Collective::Broadcast, bytes)],
                "trees",
            ),
            Collective::Allgather => (
                vec![
                    (Collective::Gather, bytes),
                    (Collective::Broadcast, bytes * n),
                ],
                "trees",
            ),
            Collective::ReduceScatter => (vec![(Collective::Reduce, bytes); n], "trees"),
            Collective::Broadcast => {
                let part = bytes.div_ceil(n);
                (
                    vec![(Collective::Scatter, part), (Collective::Allgather, part)],
                    "scattered",
                )
            }
            _ => return None,
        };
        let mut bound = Time {
            ns: 0.0,
            low: 0.0,
            high: 0.0,
        };
        for &(part, bytes) in &parts {
            bound = bound.and(self.at_least(part, bytes)?);
        }
        let said = match operation {
            Collective::ReduceScatter => format!("a reduce to each of {n} ranks"),
            _ => format!("{} and {}", parts[0].0, parts[1].0),
        };
        suspect((operation, bytes, time), bound, said, vec![Some(remedy)])
    }

    /// Guideline: more bytes are not faster than fewer.
    fn monotone(&self, operation: Collective, found: &mut Vec<Suspect>) {
        let sizes = self.sizes(operation);
        for (at, &(bytes, asked, time)) in sizes.iter().enumerate() {
            let larger = sizes[at + 1..].iter();
            let Some(&(more, other, bound)) = larger.min_by(|a, b| a.2.high.total_cmp(&b.2.high))
            else {
                continue;
            };
            let remedies = match other == asked {
                true => Vec::new(),
                false => vec![other],
            };
            let said = format!("{operation} of {more} bytes");
            found.extend(suspect((operation, bytes, time), bound, said, remedies));
        }
    }
}

/// A suspicion, if the intervals and some slack do not explain it.
fn suspect(
    (operation, bytes, time): (Collective, usize, Time),
    bound: Time,
    said: String,
    remedies: Vec<Asked>,
) -> Option<Suspect> {
    (time.low > bound.high * (1.0 + SLACK)).then_some(Suspect {
        operation,
        bytes,
        ns: time.ns,
        bound_ns: bound.ns,
        bound: said,
        remedies,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(times: &[(Collective, usize, Asked, f64)]) -> Table {
        let mut table = Table::new(2);
        for &(operation, bytes, asked, ns) in times {
            let time = Time {
                ns,
                low: ns * 0.98,
                high: ns * 1.02,
            };
            table.set(operation, bytes, asked, time);
        }
        table
    }

    use Collective::{
        Allgather, Allreduce, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter,
    };

    #[test]
    fn sound_tables_raise_no_suspicion() {
        let sound = table(&[
            (Barrier, 0, None, 100.0),
            (Allreduce, 8, None, 150.0),
            (Reduce, 8, None, 100.0),
            (Broadcast, 8, None, 100.0),
            (Broadcast, 16, None, 110.0),
            (Scatter, 8, None, 90.0),
            (Allgather, 8, None, 120.0),
            (Gather, 8, None, 90.0),
        ]);
        assert_eq!(sound.suspects(), []);
        assert_eq!(Table::default().suspects(), []);
    }

    #[test]
    fn each_guideline_blames_the_slow_one_and_knows_a_remedy() {
        let cases = [
            (
                vec![(Barrier, 0, None, 200.0), (Allreduce, 8, None, 150.0)],
                Barrier,
                "an allreduce of 8 bytes",
            ),
            (
                vec![
                    (Allreduce, 64, None, 300.0),
                    (Reduce, 64, None, 100.0),
                    (Broadcast, 64, None, 100.0),
                ],
                Allreduce,
                "reduce and broadcast",
            ),
            (
                vec![
                    (Allgather, 64, None, 300.0),
                    (Gather, 64, None, 100.0),
                    (Broadcast, 256, None, 100.0),
                ],
                Allgather,
                "gather and broadcast",
            ),
            (
                vec![(ReduceScatter, 64, None, 300.0), (Reduce, 64, None, 100.0)],
                ReduceScatter,
                "a reduce to each of 2 ranks",
            ),
            (
                vec![
                    (Broadcast, 128, None, 300.0),
                    (Scatter, 64, None, 100.0),
                    (Allgather, 64, None, 100.0),
                ],
                Broadcast,
                "scatter and allgather",
            ),
        ];
        for (times, blamed, bound) in cases {
            let found = table(&times).suspects();
            assert_eq!(found.len(), 1, "{blamed}: {found:?}");
            assert_eq!((found[0].operation, &found[0].bound[..]), (blamed, bound));
            let known = crate::candidates::algorithms(blamed);
            assert!(!found[0].remedies.is_empty());
            for remedy in found[0].remedies.iter().flatten() {
                assert!(known.contains(remedy), "{blamed} {remedy}");
            }
        }
    }

    #[test]
    fn barriers_with_a_broadcast_behind_are_compared_with_allreduces_that_have_one() {
        let all = |barrier| {
            let mut table = table(&[
                (Barrier, 0, Some("tree"), barrier),
                (Allreduce, 8, None, 150.0),
                (Broadcast, 8, None, 100.0),
            ]);
            table.barriers_are_followed = true;
            table.suspects()
        };
        assert_eq!(all(240.0), []);
        let found = all(300.0);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].operation, found[0].bound_ns), (Barrier, 250.0));
        assert!(found[0].remedies.contains(&Some("counter")));
    }

    #[test]
    fn bigger_is_not_faster_and_lends_its_algorithm() {
        let found = table(&[
            (Reduce, 8, None, 100.0),
            (Reduce, 64, None, 400.0),
            (Reduce, 512, Some("fixed"), 200.0),
        ])
        .suspects();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].bytes, &found[0].remedies[..]),
            (64, &[Some("fixed")][..])
        );
        // The same algorithm is no remedy for itself.
        let found = table(&[(Reduce, 8, None, 400.0), (Reduce, 64, None, 200.0)]).suspects();
        assert_eq!(found[0].remedies, []);
    }

    #[test]
    fn intervals_and_slack_explain_small_differences() {
        let near = [
            (Allreduce, 8, None, 215.0),
            (Reduce, 8, None, 100.0),
            (Broadcast, 8, None, 100.0),
        ];
        assert_eq!(table(&near).suspects(), []);
    }
}
