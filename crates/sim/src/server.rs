//! A server with a queue, which serves one request at a time with a given service time.
//!
//! Caches, memory controllers and links are such servers, so contention is not a formula here: requests
//! wait for each other.
//!
//! Requests need not be submitted in the order of their arrival. A request that arrives before one that was submitted
//! earlier is served in a gap before that one, if it fits.

use crate::VirtualTime;

/// One server: the times at which it is busy, and its load so far.
///
/// It fills one cache line of the host, because there are thousands of servers, and a message asks many of them.
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
#[repr(align(64))]
pub struct Server {
    /// The last span of time in which it is busy.
    last: BusySpan,
    /// The busy spans before the last one, in order and with gaps between them; the first ones may be over.
    earlier: Vec<BusySpan>,
    busy: VirtualTime,
    served: u64,
    waited: VirtualTime,
}

/// The start and the end of a span of time.
type BusySpan = (VirtualTime, VirtualTime);

const _: () = assert!(size_of::<Server>() == 64);

impl Server {
    /// Serves a request that arrives `at` and takes `service`, and returns the time at which its service begins. No
    /// later call may have an arrival before `now`.
    #[inline]
    pub fn serve(
        &mut self,
        now: VirtualTime,
        at: VirtualTime,
        service: VirtualTime,
    ) -> VirtualTime {
        self.served += 1;
        if service == 0 {
            return at;
        }
        self.busy += service;
        let (from, to) = self.last;
        if at > to {
            if to > now {
                self.keep(now);
            } else {
                self.earlier.clear();
            }
            self.last = (at, at + service);
            return at;
        }
        let start = match at >= from {
            true => {
                self.last.1 = to + service;
                to
            }
            false => self.squeeze_in(at, service),
        };
        self.waited += start - at;
        start
    }

    /// Moves the last span to the earlier ones, and drops earlier ones that are over when their vector is full.
    fn keep(&mut self, now: VirtualTime) {
        if self.earlier.len() == self.earlier.capacity() {
            let over = self.earlier.partition_point(|span| span.1 <= now);
            self.earlier.drain(..over);
        }
        self.earlier.push(self.last);
    }

    /// Serves a request that comes before the last span, in the first gap that is long enough.
    fn squeeze_in(&mut self, at: VirtualTime, service: VirtualTime) -> VirtualTime {
        let mut place = self.earlier.partition_point(|span| span.1 < at);
        let mut start = at;
        while let Some(&(from, to)) = self.earlier.get(place) {
            if start + service <= from {
                break;
            }
            start = start.max(to);
            place += 1;
        }
        let end = start + service;
        if place == self.earlier.len() && end > self.last.0 {
            start = start.max(self.last.1);
            self.last.1 = start + service;
            return start;
        }
        self.occupy(place, (start, end));
        start
    }

    /// Adds a span before that at `place`, joined with those that it touches.
    fn occupy(&mut self, place: usize, (start, end): BusySpan) {
        let left = place.checked_sub(1).map(|left| &mut self.earlier[left]);
        if let Some(left) = left.filter(|left| left.1 == start) {
            left.1 = end;
            let joined = *left;
            match self.earlier.get(place) {
                Some(right) if right.0 == end => {
                    self.earlier[place - 1].1 = self.earlier.remove(place).1
                }
                None if self.last.0 == end => {
                    self.last.0 = joined.0;
                    self.earlier.pop();
                }
                _ => {}
            }
            return;
        }
        let right = self.earlier.get_mut(place).unwrap_or(&mut self.last);
        match right.0 == end {
            true => right.0 = start,
            false => self.earlier.insert(place, (start, end)),
        }
    }

    /// The total time for which it was busy.
    pub fn busy(&self) -> VirtualTime {
        self.busy
    }

    /// The number of requests that it has served.
    pub fn served(&self) -> u64 {
        self.served
    }

    /// The total time for which requests have waited for others.
    pub fn waited(&self) -> VirtualTime {
        self.waited
    }

    /// Sets the counters to zero; the times at which it is busy stay.
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
                server.serve(at as VirtualTime, at as VirtualTime, service);
            }
            let found = server.waited() as f64 / f64::from(count);
            let expected = load * service as f64 / (2.0 * (1.0 - load));
            let error = (found / expected - 1.0).abs();
            assert!(error < 0.05, "load {load}: {found} instead of {expected}");
        }
    }

    /// Compares the server with a calendar of single ticks.
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
        assert!(server.earlier.len() < 3);
        assert_eq!((server.served(), server.busy()), (1000, 3000));
    }
}
