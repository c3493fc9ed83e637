//! A rank of a session that Corecast plays itself: a member of a team of processes.

use crate::sized::{Seated, Task, check, clock_ns, touch};
use corecast_coll::Member;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Obeys the orders that come over the socket in `folder`, as the rank that `member` is, until the
/// session ends.
///
/// # Errors
///
/// The socket's; [`io::ErrorKind::InvalidInput`] for an order that makes no sense.
pub fn serve(folder: &Path, member: Member) -> io::Result<()> {
    let odd = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
    let (rank, size, pid) = (member.rank(), member.size(), std::process::id());
    let mut seated = Seated::alone(member);
    let mut stream = UnixStream::connect(folder.join("socket"))?;
    writeln!(stream, "rank {rank} {size} {pid}")?;
    let mut orders = BufReader::new(stream.try_clone()?);
    let mut order = String::new();
    while orders.read_line(&mut order)? > 0 {
        let answer = match parse(&order, size) {
            Some(Order::Check(task, rounds)) => match check(&mut seated, task, rank, rounds) {
                Ok(()) => b"ok\n".to_vec(),
                Err(flaw) => format!("wrong {flaw}\n").into_bytes(),
            },
            Some(Order::Time(task, warm, operations, lead_ns)) => {
                seated.begin(task, rank);
                let timed = series(&mut seated, task, rank, warm, 0)
                    .and_then(|_| series(&mut seated, task, rank, operations, lead_ns));
                match timed {
                    Ok(times) => {
                        let mut answer = format!("times {}\n", times.len()).into_bytes();
                        answer.extend(times.iter().flat_map(|time| time.to_ne_bytes()));
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

/// What a session asks for.
enum Order {
    /// So many operations checked.
    Check(Task, u64),
    /// Operations to warm up, operations, and nanoseconds before a common start.
    Time(Task, u64, u64, u64),
}

fn parse(order: &str, ranks: usize) -> Option<Order> {
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
        "check" => Order::Check(task()?, number(3)?),
        "time" => Order::Time(task()?, number(4)?, number(5)?, number(6)?),
        _ => return None,
    })
}

/// Nanoseconds of each operation; of barriers, their sum.
fn series(
    seated: &mut Seated,
    task: Task,
    rank: usize,
    operations: u64,
    lead_ns: u64,
) -> Result<Vec<u64>, String> {
    use crate::sized::{Operation, Player};
    let clock = clock_ns();
    seated.barrier()?;
    if task.operation == Operation::Barrier {
        let begin = Instant::now();
        (0..operations).try_for_each(|_| seated.barrier())?;
        return Ok(vec![begin.elapsed().as_nanos() as u64]);
    }
    let mut times = Vec::with_capacity(operations as usize);
    for number in 1..=operations {
        let place = number as usize % task.places();
        if task.gives(rank) > 0 {
            seated.prepare(place, &mut |data| touch(data, number));
        }
        seated.barrier()?;
        if lead_ns > 0 {
            line_up(seated.member(), lead_ns)?;
        }
        let begin = Instant::now();
        seated.perform(place)?;
        let took = begin.elapsed().as_nanos() as u64;
        times.push(took.saturating_sub(clock).max(1));
    }
    seated.barrier()?;
    Ok(times)
}

/// Returns at an instant that the root names: processes share the system's clock.
fn line_up(member: &mut Member, lead_ns: u64) -> Result<(), String> {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let start = member.broadcast_value(Task::ROOT, now() + lead_ns);
    let start = start.map_err(|failure| failure.to_string())?;
    // A start in the far future is a clock that is not shared.
    if start > now() + Duration::from_secs(1).as_nanos() as u64 {
        return Err("the processes do not share a clock".to_owned());
    }
    while now() < start {}
    Ok(())
}
