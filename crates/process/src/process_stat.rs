//! The start time of a process, and whether it is still alive, from `/proc`.

use std::fs;

/// A process as `/proc/PID/stat` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    /// Its start time, in clock ticks since the machine was started.
    pub(crate) born: u64,
    /// Whether all of its threads have ended. A zombie, whose exit status nobody has read yet, has ended.
    pub(crate) ended: bool,
}

/// The state of process `pid`; `None` if there is no such process, or no `/proc`.
pub(crate) fn life(pid: u32) -> Option<ProcessStat> {
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
}
