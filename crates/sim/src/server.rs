//! A server with a queue: whatever serves one request at a time, for a time that does not vary.
//!
//! Caches, memory controllers and links are such servers, so contention is not a formula here: requests
//! wait for each other.
//!
//! Requests need not be handed in in the order of their arrival. One that arrives before another that was
//! handed in earlier gets a gap before it if it fits, as it would have been first.

use crate::Time;
use std::collections::VecDeque;

/// One server: when it is busy, and what it has done so far.
///
/// # Examples
///
/// ```
/// use corecast_sim::server::Server;
///
/// let mut link = Server::default();
/// assert_eq!(link.serve(0, 100, 10), 100);
/// assert_eq!(link.serve(0, 103, 10), 110); // waits for the first
/// assert_eq!(link.serve(0, 50, 10), 50); // was there long before
/// assert_eq!(link.busy(), 30);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// Busy times, apart from each other and in order.
    spans: VecDeque<(Time, Time)>,
    busy: Time,
    served: u64,
    waited: Time,
}

impl Server {
    /// Serves a request that arrives `at` and takes `service`; says when that begins. Nothing will arrive
    /// before `now`.
    pub fn serve(&mut self, now: Time, at: Time, service: Time) -> Time {
        self.served += 1;
        if service == 0 {
            return at;
        }
        while self.spans.front().is_some_and(|span| span.1 <= now) {
            self.spans.pop_front();
        }
        let mut start = at;
        let mut place = match self.spans.back() {
            Some(last) if last.1 > at => self.spans.partition_point(|span| span.1 <= at),
            _ => self.spans.len(),
        };
        while let Some(&(from, to)) = self.spans.get(place) {
            if start + service <= from {
                break;
            }
            start = start.max(to);
            place += 1;
        }
        self.occupy(place, start, start + service);
        self.busy += service;
        self.waited += start - at;
        start
    }

    /// Adds a span before that at `place`, joined with those that it touches.
    fn occupy(&mut self, place: usize, start: Time, end: Time) {
        let touches_left = place > 0 && self.spans[place - 1].1 == start;
        let touches_right = self.spans.get(place).is_some_and(|span| span.0 == end);
        match (touches_left, touches_right) {
            (true, true) => {
                self.spans[place - 1].1 = self.spans[place].1;
                self.spans.remove(place);
            }
            (true, false) => self.spans[place - 1].1 = end,
            (false, true) => self.spans[place].0 = start,
            (false, false) => self.spans.insert(place, (start, end)),
        }
    }

    /// How long it was busy, all together.
    pub fn busy(&self) -> Time {
        self.busy
    }

    /// How many requests it has served.
    pub fn served(&self) -> u64 {
        self.served
    }

    /// How long requests have waited for others, all together.
    pub fn waited(&self) -> Time {
        self.waited
    }

    /// Forgets what it has done, but not what it is doing.
    pub(crate) fn reset(&mut self) {
        (self.busy, self.served, self.waited) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean wait of M/D/1: ρ s / 2 (1 − ρ).
    #[test]
    fn open_arrivals_wait_as_long_as_in_m_d_1() {
        let service = 1000;
        for load in [0.1, 0.3, 0.5, 0.7, 0.8] {
            let mut random = fastrand::Rng::with_seed(7);
            let mut server = Server::default();
            let (mut at, count) = (0.0, 400_000);
            for _ in 0..count {
                at += -(1.0 - random.f64()).ln() * service as f64 / load;
                server.serve(at as Time, at as Time, service);
            }
            let found = server.waited() as f64 / f64::from(count);
            let expected = load * service as f64 / (2.0 * (1.0 - load));
            let error = (found / expected - 1.0).abs();
            assert!(error < 0.05, "load {load}: {found} instead of {expected}");
        }
    }

    /// Against a calendar of single ticks.
    #[test]
    fn no_two_requests_are_served_at_once_and_each_as_soon_as_it_fits() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let mut server = Server::default();
            let mut ticks = vec![false; 2000];
            for _ in 0..60 {
                let (at, service) = (random.u64(0..300), random.u64(1..12));
                let fits = |start: u64| (start..start + service).all(|tick| !ticks[tick as usize]);
                let expected = (at..).find(|&start| fits(start)).unwrap();
                assert_eq!(server.serve(0, at, service), expected);
                (expected..expected + service).for_each(|tick| ticks[tick as usize] = true);
            }
        }
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let mut server = Server::default();
        for at in 0..1000 {
            server.serve(at * 10, at * 10, 3);
        }
        assert!(server.spans.len() < 3);
        assert_eq!((server.served(), server.busy()), (1000, 3000));
    }
}
