//! What `/proc` tells of processes: start times, whether they are still alive, and the namespaces of this one.
//!
//! The number of a process means something in its PID namespace alone, and its start time in its time namespace. What
//! `/proc` shows are the processes of the PID namespace in which it was mounted, so it is not believed where that is
//! another one than this process's.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// A process as `/proc/PID/stat` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    /// Its start time, in clock ticks since the machine was started.
    pub(crate) born: u64,
    /// Whether all of its threads have ended. A zombie, whose exit status nobody has read yet, has ended.
    pub(crate) ended: bool,
}

/// The namespaces in which the numbers and start times of processes have a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Namespaces {
    /// The kernel's number of the PID namespace; 0 if it is unknown.
    pub(crate) pid: u64,
    /// The kernel's number of the time namespace; 0 if it is unknown, or the kernel has none.
    pub(crate) time: u64,
}

impl Namespaces {
    /// Those of this process.
    pub(crate) fn own() -> Self {
        let number = |kind| fs::metadata(format!("/proc/self/ns/{kind}")).map_or(0, |ns| ns.ino());
        Self {
            pid: number("pid"),
            time: number("time"),
        }
    }

    /// Whether numbers of processes have one meaning in both; `None` if that is unknown.
    pub(crate) fn share_numbers(self, other: Self) -> Option<bool> {
        (self.pid != 0 && other.pid != 0).then_some(self.pid == other.pid)
    }
}

/// The state of process `pid`; `None` if there is no such process, or no `/proc` of this process's PID namespace.
pub(crate) fn life(pid: u32) -> Option<ProcessStat> {
    let link = fs::read_link("/proc/self").ok()?;
    if link.to_str()?.parse() != Ok(std::process::id()) {
        return None;
    }
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The start time of process `pid`, in clock ticks since the machine was started. Process numbers are reused, so
/// only the number together with this time names one process for ever. `None` if it is unknown.
///
/// # Examples
///
/// ```
/// use corecast_process::peer_monitor::born;
/// assert_eq!(born(std::process::id()), born(std::process::id()));
/// assert_eq!(born(u32::MAX), None);
/// ```
pub fn born(pid: u32) -> Option<u64> {
    life(pid).map(|life| life.born)
}

/// `PID (NAME) STATE …`: the name may hold blanks and parentheses, so fields count from its end.
fn parse(stat: &str) -> Option<ProcessStat> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    // Fields 20 and 22 of proc(5); the state is the third.
    let threads: u64 = fields.nth(16)?.parse().ok()?;
    let born = fields.nth(1)?.parse().ok()?;
    // A main thread that has ended before the others looks like a zombie too.
    let ended = matches!(state, "X" | "x") || (state == "Z" && threads <= 1);
    Some(ProcessStat { born, ended })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_do_not_shift_the_fields() {
        let stat = |name: &str, state: &str, threads: u32| {
            format!(
                "7 ({name}) {state} 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 {threads} 0 4711 1 2 3"
            )
        };
        for name in ["a", "a b", ") R 1 (", "x) Z"] {
            let life = |state, threads| parse(&stat(name, state, threads)).unwrap();
            let alive = ProcessStat {
                born: 4711,
                ended: false,
            };
            assert_eq!(life("R", 1), alive);
            assert_eq!(life("Z", 3), alive);
            assert!(life("Z", 1).ended && life("X", 0).ended);
        }
        for garbage in ["", "7 (a", "7 (a) R", "7 (a) R 1 x"] {
            assert_eq!(parse(garbage), None);
        }
    }

    #[test]
    fn this_process_lives() {
        assert!(!life(std::process::id()).unwrap().ended);
    }

    #[test]
    fn numbers_of_processes_mean_the_same_in_one_namespace() {
        let shares = |one, other| {
            let of = |pid| Namespaces { pid, time: 3 };
            of(one).share_numbers(of(other))
        };
        assert_eq!((shares(7, 7), shares(7, 8)), (Some(true), Some(false)));
        assert_eq!(
            (shares(0, 7), shares(7, 0), shares(0, 0)),
            (None, None, None)
        );
        let own = Namespaces::own();
        assert!(own.share_numbers(own).is_none_or(|shares| shares));
    }
}
