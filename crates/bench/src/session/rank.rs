//! A rank of a session that Corecast plays itself: a member of a team of processes.

use crate::sized::{Conditions, Player, SizedRank, Stamp, Start, Task, check, series};
use corecast_model::Collective;
use corecast_team::Member;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Obeys the orders that come over the socket in `folder`, as the rank that `member` is, until the
/// session ends; with buffers in symmetric memory if told so.
///
/// # Errors
///
/// Errors of the socket; [`io::ErrorKind::InvalidInput`] for an order that cannot be parsed.
pub fn serve(folder: &Path, member: Member, symmetric: bool) -> io::Result<()> {
    let odd = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
    let (rank, size, pid) = (member.rank(), member.size(), std::process::id());
    let mut seated = SizedRank::alone(member, symmetric);
    let mut stream = UnixStream::connect(folder.join("socket"))?;
    writeln!(stream, "rank {rank} {size} {pid}")?;
    let mut orders = BufReader::new(stream.try_clone()?);
    let mut order = String::new();
    while orders.read_line(&mut order)? > 0 {
        let answer = match parse(&order, size) {
            Some(SessionOrder::Check(task, rounds)) => {
                let answer = match checked(&mut seated, task, rank, rounds) {
                    Ok(Some(algorithm)) => format!("ok {algorithm}\n"),
                    Ok(None) => "ok\n".to_owned(),
                    Err(flaw) => format!("wrong {flaw}\n"),
                };
                answer.into_bytes()
            }
            Some(SessionOrder::Time(task, warm, operations, line)) => {
                let begun = seated.begin(task, rank).map_err(|error| error.to_string());
                let unready = StartRule {
                    lead_ns: 0,
                    conditions: Conditions::from(true),
                };
                let times = begun
                    .and_then(|()| timed(&mut seated, task, rank, warm, &unready))
                    .and_then(|_| timed(&mut seated, task, rank, operations, &line));
                match times {
                    Ok(times) => {
                        let mut answer = format!("times {}\n", times.len()).into_bytes();
                        let numbers = times.iter().flat_map(|stamp| [stamp.begin, stamp.took]);
                        answer.extend(numbers.flat_map(u64::to_ne_bytes));
                        answer
                    }
                    Err(failure) => format!("wrong {failure}\n").into_bytes(),
                }
            }
            None => return Err(odd(format!("the order {order:?}"))),
        };
        stream.write_all(&answer)?;
        order.clear();
    }
    Ok(())
}

/// An order of a session.
enum SessionOrder {
    /// The task to check, and the number of operations.
    Check(Task, u64),
    /// The task to time, the numbers of operations to warm up and to time, and their start.
    Time(Task, u64, u64, StartRule),
}

/// How operations start.
struct StartRule {
    /// How many nanoseconds ahead the root names a common start; 0 for a barrier instead.
    lead_ns: u64,
    /// Whether caches are warm or cold, and operations loose.
    conditions: Conditions,
}

fn parse(order: &str, ranks: usize) -> Option<SessionOrder> {
    let words: Vec<&str> = order.split_ascii_whitespace().collect();
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    let task = || {
        Some(Task {
            operation: words.get(1)?.parse().ok()?,
            ranks,
            bytes: usize::try_from(number(2)?).ok()?.checked_mul(8)?,
        })
    };
    Some(match *words.first()? {
        "check" => SessionOrder::Check(task()?, number(3)?),
        "time" => {
            let start = match number(8)? {
                0 => Start::Barrier,
                _ => Start::BackToBack,
            };
            let conditions = Conditions::from(true).cold(usize::try_from(number(7)?).ok()?);
            let line = StartRule {
                lead_ns: number(6)?,
                conditions: conditions.starting(start),
            };
            SessionOrder::Time(task()?, number(4)?, number(5)?, line)
        }
        _ => return None,
    })
}

/// Checks `rounds` operations. Returns the algorithm that ran.
fn checked(
    seated: &mut SizedRank,
    task: Task,
    rank: usize,
    rounds: u64,
) -> Result<Option<&'static str>, String> {
    let algorithm = check(seated, task, rank, rounds)?;
    if task.operation == Collective::Barrier {
        let latest = |seated: &mut SizedRank, came| {
            let latest = seated.member().allreduce_value(came, u64::max);
            latest.map_err(|failure| failure.to_string())
        };
        let barrier = |seated: &mut SizedRank| seated.perform(0);
        check_barriers(seated, (rank, task.ranks), rounds, barrier, latest)?;
    }
    Ok(algorithm)
}

/// Checks barriers by the clock, which all processes share: no rank leaves one before the last rank has come. `latest`
/// returns the latest of all ranks' times.
fn check_barriers<S>(
    seated: &mut S,
    (rank, size): (usize, usize),
    rounds: u64,
    barrier: impl Fn(&mut S) -> Result<(), String>,
    latest: impl Fn(&mut S, u64) -> Result<u64, String>,
) -> Result<(), String> {
    let mut flaw = Ok(());
    for round in 1..=rounds {
        // At every eighth barrier one rank comes late.
        if round % 8 == 1 && (round / 8) as usize % size == rank {
            std::thread::sleep(Duration::from_micros(200));
        }
        let came = now();
        barrier(seated)?;
        let left = now();
        // A rank that has found a flaw still takes part, since others wait for it.
        if left < latest(seated, came)? && flaw.is_ok() {
            flaw = Err(format!(
                "rank {rank} left barrier {round} before the last rank had come"
            ));
        }
    }
    flaw
}

/// Runs operations. Returns when each began and how long it took, for barriers all together.
fn timed(
    seated: &mut SizedRank,
    task: Task,
    rank: usize,
    operations: u64,
    line: &StartRule,
) -> Result<Vec<Stamp>, String> {
    let meet = |seated: &mut SizedRank| line.meet(seated);
    let meet = (!line.conditions.is_loose()).then_some(meet);
    let mut times = Vec::new();
    series(
        seated,
        (task, rank),
        (operations, &mut 0),
        now,
        meet,
        &mut times,
    )?;
    seated.barrier()?;
    Ok(times)
}

/// Nanoseconds of the monotonic clock, which all processes share.
fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl StartRule {
    /// Brings the caches into the state asked for and returns when the operation is to start: at an
    /// instant that the root names, or after a barrier.
    fn meet(&self, seated: &mut SizedRank) -> Result<(), String> {
        if self.lead_ns == 0 {
            self.conditions.walk();
            return seated.barrier();
        }
        seated.barrier()?;
        let member = seated.member();
        let start = member.broadcast_value(Task::ROOT, now() + self.lead_ns);
        let start = start.map_err(|failure| failure.to_string())?;
        // A start in the far future means that the clock is not shared.
        let far = self.lead_ns + Duration::from_secs(1).as_nanos() as u64;
        if start > now() + far {
            return Err("the processes do not share a clock".to_owned());
        }
        self.conditions.walk();
        while now() < start {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_that_does_not_wait_is_found() {
        let check = |later: u64| {
            let (barrier, latest) = (|_: &mut ()| Ok(()), |_: &mut (), came| Ok(came + later));
            check_barriers(&mut (), (1, 2), 3, barrier, latest)
        };
        check(0).unwrap();
        let second = 1_000_000_000;
        let error = check(second).unwrap_err();
        assert_eq!(error, "rank 1 left barrier 1 before the last rank had come");
    }
}
