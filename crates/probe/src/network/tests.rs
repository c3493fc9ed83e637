//! The terms of networks that are known.

use super::fit::Terms;
use super::measuring::{Link, NetworkTimes, Round, measure};
use crate::estimate::{median, sorted};
use std::time::Duration;

/// A network that is as LogGP says, on whose times there is noise: a part of each time, and now and then an interruption.
struct Known {
    terms: Terms,
    noise: f64,
    /// Bytes beyond which a message asks before it goes.
    asks_above: usize,
    random: fastrand::Rng,
}

impl Known {
    fn new(terms: Terms, noise: f64) -> Self {
        Self {
            terms,
            noise,
            asks_above: usize::MAX,
            random: fastrand::Rng::with_seed(7),
        }
    }

    fn noisy(&mut self, time: f64) -> f64 {
        let late = match self.noise > 0.0 && self.random.u32(..20) == 0 {
            true => 50_000.0 * self.random.f64(),
            false => 0.0,
        };
        time * (1.0 + self.noise * (self.random.f64() - 0.5)) + late
    }
}

impl Link for Known {
    fn rounds(&mut self, round: Round, times: usize) -> Vec<f64> {
        let Terms {
            latency,
            send,
            receive,
            gap,
            byte,
        } = self.terms;
        let bytes = round.bytes.saturating_sub(1) as f64 * byte;
        let asked = match round.bytes > self.asks_above {
            true => 2.0 * (send + latency + receive),
            false => 0.0,
        };
        let way = send + latency + bytes + receive + asked;
        let next = (send + round.delay_ns).max(gap + bytes) + asked;
        let time = 2.0 * way + (round.messages - 1) as f64 * next;
        (0..times).map(|_| self.noisy(time)).collect()
    }

    fn receives(&mut self, _: usize, wait_ns: f64, times: usize) -> Vec<f64> {
        let Terms {
            latency,
            send,
            receive,
            ..
        } = self.terms;
        assert!(
            wait_ns > 2.0 * latency + send + receive,
            "it is not there yet"
        );
        (0..times).map(|_| self.noisy(receive)).collect()
    }
}

const KNOWN: [Terms; 3] = [
    // A card for high-performance computing; the gap is what takes longest.
    Terms {
        latency: 900.0,
        send: 250.0,
        receive: 350.0,
        gap: 600.0,
        byte: 0.08,
    },
    // TCP, where the processors take longer than the gap.
    Terms {
        latency: 20_000.0,
        send: 5_000.0,
        receive: 3_000.0,
        gap: 700.0,
        byte: 8.5,
    },
    // No gap beside the bytes.
    Terms {
        latency: 1_500.0,
        send: 500.0,
        receive: 500.0,
        gap: 0.0,
        byte: 1.0,
    },
];

fn times(known: Known) -> NetworkTimes {
    measure(&mut [known], Duration::from_secs(3600), |_| true)
}

fn terms(times: &NetworkTimes) -> Terms {
    times.terms(|times| median(&sorted(times)).unwrap())
}

#[test]
fn the_terms_of_a_network_without_noise_are_found_exactly() {
    for known in KNOWN {
        let found = terms(&times(Known::new(known, 0.0)));
        let near = |found: f64, known: f64| (found - known).abs() <= 1e-6 * known.max(1.0);
        assert!(near(found.latency, known.latency), "{found:?} {known:?}");
        assert!(near(found.send, known.send), "{found:?} {known:?}");
        assert!(near(found.receive, known.receive), "{found:?} {known:?}");
        assert!(near(found.gap, known.gap), "{found:?} {known:?}");
        assert!(near(found.byte, known.byte), "{found:?} {known:?}");
    }
}

#[test]
fn noise_and_interruptions_are_within_the_intervals() {
    for known in KNOWN {
        let found = times(Known::new(known, 0.05));
        let (network, measured) = found.costs("none", "never", 1);
        let one_way = known.send + known.latency + known.receive;
        let near = |found: f64, known: f64, scale: f64| (found - known).abs() <= 0.03 * scale;
        assert!(near(measured.latency_ns.median, known.latency, one_way));
        assert!(near(measured.send_overhead_ns.median, known.send, one_way));
        assert!(near(
            measured.receive_overhead_ns.median,
            known.receive,
            known.receive
        ));
        // The gap shows where it is what takes longest.
        let longest = known.gap.max(known.send);
        assert!(
            near(measured.gap_ns.median, known.gap, 3.0 * longest),
            "{measured:?}"
        );
        assert!(
            near(measured.byte_ns.median, known.byte, known.byte),
            "{measured:?}"
        );
        for (interval, known) in [
            (measured.latency_ns, known.latency),
            (measured.send_overhead_ns, known.send),
            (measured.byte_ns, known.byte),
        ] {
            assert!(interval.low <= interval.median && interval.median <= interval.high);
            // Twice the interval: one in twenty is outside of it.
            let reach = 2.0 * (interval.high - interval.low) + 1e-9;
            assert!(
                (interval.median - known).abs() <= reach,
                "{interval:?} {known}"
            );
        }
        assert_eq!(measured.rendezvous_bytes, None, "{measured:?}");
        network.check().unwrap();
        let off = network.message_ns(64) / measured.sizes[3].one_way.median;
        assert!((0.97..1.03).contains(&off), "{off}");
    }
}

#[test]
fn a_step_in_the_times_is_where_messages_ask_first() {
    for (noise, asks_above) in [(0.0, 1 << 13), (0.05, 1 << 13), (0.05, 3 << 14)] {
        let mut known = Known::new(KNOWN[0], noise);
        known.asks_above = asks_above;
        let (_, measured) = times(known).costs("none", "never", 1);
        let below = asks_above.next_power_of_two();
        let below = if below > asks_above { below / 2 } else { below };
        assert_eq!(measured.rendezvous_bytes, Some(below), "{measured:?}");
    }
}

#[test]
fn it_ends_when_it_is_told_to_and_has_each_time_all_the_same() {
    let times = measure(
        &mut [Known::new(KNOWN[0], 0.05), Known::new(KNOWN[0], 0.05)],
        Duration::from_secs(3600),
        |_| false,
    );
    assert!(terms(&times).latency > 0.0);
    let counts: Vec<usize> = times.one.iter().map(|(_, times)| times.len()).collect();
    assert!(counts.iter().all(|&count| count <= 25), "{counts:?}");
}
