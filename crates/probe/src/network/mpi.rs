//! Rounds between ranks of a job of MPI. Rank 0 conducts; all others do what it tells them.

use super::measuring::{Link, NetworkTimes, Round, measure};
use corecast_network::Job;
use std::time::{Duration, Instant};

/// What rank 0 tells another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// To say what its host is.
    Tell,
    /// To answer so many rounds.
    Answer {
        messages: usize,
        bytes: usize,
        times: usize,
    },
    /// To end.
    End,
}

/// Bytes of an order.
const ORDER: usize = 32;

impl Order {
    fn encode(self) -> [u8; ORDER] {
        let words = match self {
            Self::End => [0; 4],
            Self::Tell => [1, 0, 0, 0],
            Self::Answer {
                messages,
                bytes,
                times,
            } => [2, messages, bytes, times],
        };
        let mut order = [0; ORDER];
        for (place, word) in order.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&(word as u64).to_le_bytes());
        }
        order
    }

    fn decode(order: &[u8; ORDER]) -> Self {
        let [kind, messages, bytes, times] = std::array::from_fn(|at| {
            let word = order[8 * at..][..8].try_into().expect("eight bytes");
            u64::from_le_bytes(word) as usize
        });
        match kind {
            0 => Self::End,
            1 => Self::Tell,
            _ => Self::Answer {
                messages,
                bytes,
                times,
            },
        }
    }
}

/// How long a rank sleeps that waits for an order: it shall take nothing from those that are timed.
const NAP: Duration = Duration::from_micros(500);

/// What a rank other than 0 does until rank 0 has measured: it says on which host it is, and answers rounds. `tell` makes the
/// text about its host, and is called on one rank of each host at most.
pub fn serve(job: &Job, tell: impl Fn() -> String) {
    send_text(job, 0, &identity());
    loop {
        while !job.has_message(0) {
            std::thread::sleep(NAP);
        }
        let mut order = [0; ORDER];
        job.receive(0, &mut order);
        match Order::decode(&order) {
            Order::End => return,
            Order::Tell => send_text(job, 0, &tell()),
            Order::Answer {
                messages,
                bytes,
                times,
            } => {
                let mut buffer = vec![0; bytes];
                for _ in 0..times {
                    (0..messages).for_each(|_| job.receive(0, &mut buffer));
                    job.send(0, &buffer);
                }
            }
        }
    }
}

/// A host that the job is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkHost {
    /// Its name, which no other host of the job has.
    pub name: String,
    /// What `tell` says of it.
    pub text: String,
    /// The first rank there.
    pub rank: usize,
}

/// Rank 0's part: it knows who is where, measures, and ends the others when it is dropped.
#[derive(Debug)]
pub struct Session<'j> {
    job: &'j Job,
    hosts: Vec<NetworkHost>,
    is_one_host: bool,
}

/// Hosts to which messages are timed, at most.
const LINKS_MAX: usize = 8;

impl<'j> Session<'j> {
    /// Finds the hosts of a job of two ranks and more, on rank 0, while all others [`serve`]. `tell` makes the text about its
    /// own host.
    ///
    /// Ranks are on one host if they have one name, one start of the kernel and one network. If all are, the first two stand
    /// for hosts.
    ///
    /// # Panics
    ///
    /// On another rank, and in a job of one.
    pub fn new(job: &'j Job, tell: impl Fn() -> String) -> Self {
        assert!(job.rank() == 0 && job.size() > 1, "rank 0 of two and more");
        let mut identities = vec![identity()];
        identities.extend((1..job.size()).map(|rank| receive_text(job, rank)));
        let first = |rank: &usize| !identities[..*rank].contains(&identities[*rank]);
        let mut leaders: Vec<usize> = (0..job.size()).filter(first).collect();
        let is_one_host = leaders.len() == 1;
        if is_one_host {
            leaders.push(1);
        }
        let mut hosts: Vec<NetworkHost> = Vec::new();
        for rank in leaders {
            let text = match rank {
                0 => tell(),
                _ => {
                    job.send(rank, &Order::Tell.encode());
                    receive_text(job, rank)
                }
            };
            let name = identities[rank].lines().next().unwrap_or_default();
            let mut unique = name.to_owned();
            let mut count = 1;
            while hosts.iter().any(|host| host.name == unique) {
                count += 1;
                unique = format!("{name} {count}");
            }
            hosts.push(NetworkHost {
                name: unique,
                text,
                rank,
            });
        }
        Self {
            job,
            hosts,
            is_one_host,
        }
    }

    /// The hosts, that of rank 0 first.
    pub fn hosts(&self) -> &[NetworkHost] {
        &self.hosts
    }

    /// Whether all ranks are on one host, so that no network is between them.
    pub fn is_one_host(&self) -> bool {
        self.is_one_host
    }

    /// How many pairs of hosts are measured: the first one with each of the others, up to 8 of them.
    pub fn pairs(&self) -> usize {
        (self.hosts.len() - 1).min(LINKS_MAX)
    }

    /// Measures, see [`measure`].
    pub fn measure(&self, limit: Duration, go_on: impl FnMut(f64) -> bool) -> NetworkTimes {
        let link = |host: &NetworkHost| MpiLink {
            job: self.job,
            peer: host.rank,
            buffer: Vec::new(),
        };
        let mut links: Vec<MpiLink<'_>> =
            self.hosts[1..].iter().take(LINKS_MAX).map(link).collect();
        measure(&mut links, limit, go_on)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        (1..self.job.size()).for_each(|rank| self.job.send(rank, &Order::End.encode()));
    }
}

/// From rank 0 to a rank that serves.
struct MpiLink<'j> {
    job: &'j Job,
    peer: usize,
    buffer: Vec<u8>,
}

impl MpiLink<'_> {
    /// Has the peer answer, and makes room.
    fn begin(&mut self, messages: usize, bytes: usize, times: usize) {
        let order = Order::Answer {
            messages,
            bytes,
            times,
        };
        self.buffer.resize(bytes, 0);
        self.job.send(self.peer, &order.encode());
    }
}

/// Lets the time pass until so many nanoseconds after `begin`.
fn wait_until(begin: Instant, ns: f64) {
    while (begin.elapsed().as_nanos() as f64) < ns {
        std::hint::spin_loop();
    }
}

impl Link for MpiLink<'_> {
    fn rounds(&mut self, round: Round, times: usize) -> Vec<f64> {
        // The first one waits for a peer that sleeps, and does not count.
        self.begin(round.messages, round.bytes, times + 1);
        let mut one = || {
            let begin = Instant::now();
            for message in 1..=round.messages {
                self.job.send(self.peer, &self.buffer);
                if message < round.messages && round.delay_ns > 0.0 {
                    wait_until(Instant::now(), round.delay_ns);
                }
            }
            self.job.receive(self.peer, &mut self.buffer);
            begin.elapsed().as_nanos() as f64
        };
        one();
        (0..times).map(|_| one()).collect()
    }

    fn receives(&mut self, bytes: usize, wait_ns: f64, times: usize) -> Vec<f64> {
        self.begin(1, bytes, times + 1);
        let mut one = || {
            self.job.send(self.peer, &self.buffer);
            wait_until(Instant::now(), wait_ns);
            let begin = Instant::now();
            self.job.receive(self.peer, &mut self.buffer);
            begin.elapsed().as_nanos() as f64
        };
        one();
        (0..times).map(|_| one()).collect()
    }
}

/// The name of this process's host, and what tells it from others of that name.
fn identity() -> String {
    let text = |path| std::fs::read_to_string(path).unwrap_or_default();
    let name = text("/proc/sys/kernel/hostname");
    let boot = text("/proc/sys/kernel/random/boot_id");
    let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    format!("{}\n{}\n{}", name.trim(), boot.trim(), network.display())
}

fn send_text(job: &Job, to: usize, text: &str) {
    job.send(to, &(text.len() as u64).to_le_bytes());
    job.send(to, text.as_bytes());
}

fn receive_text(job: &Job, from: usize) -> String {
    let mut length = [0; 8];
    job.receive(from, &mut length);
    let mut text = vec![0; u64::from_le_bytes(length) as usize];
    job.receive(from, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were_given() {
        let answer = Order::Answer {
            messages: 16,
            bytes: 1 << 20,
            times: 3,
        };
        for order in [Order::End, Order::Tell, answer] {
            assert_eq!(Order::decode(&order.encode()), order);
        }
    }
}
