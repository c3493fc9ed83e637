//! Finds and ends the processes that a starter has started.
//!
//! Starters put their ranks into process groups of their own, so that killing the starter's group
//! would leave them behind.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// The processes that descend from `ancestor`, itself not among them. Those whose parents have
/// ended are missing.
pub(super) fn descendants(ancestor: i32) -> Vec<i32> {
    let mut parents: Vec<(i32, i32)> = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|n| n.parse().ok());
        // A process may end while it is looked at.
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let (Some(pid), Some(parent)) = (pid, parent(&stat)) {
            parents.push((pid, parent));
        }
    }
    let mut found = vec![ancestor];
    let mut next = 0;
    while next < found.len() {
        let of = found[next];
        let children = parents.iter().filter(|(_, parent)| *parent == of);
        found.extend(children.map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// The parent in a line of `/proc/PID/stat`, whose second word may hold anything in brackets.
fn parent(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Asks a process to end.
pub(super) fn terminate(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // Fails only if it has ended.
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// Kills the processes that still run.
pub(super) fn kill(pids: &[i32]) {
    for pid in pids.iter().filter_map(|&pid| Pid::from_raw(pid)) {
        // Fails only if it has ended.
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn parents_are_found_behind_any_name() {
        assert_eq!(parent("12 (a) b) S 7 12 12"), Some(7));
        assert_eq!(parent("12 (cat) R 1"), Some(1));
        assert_eq!(parent("nonsense"), None);
    }

    #[test]
    fn grandchildren_in_other_groups_are_found_and_killed() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "setsid sleep 1000 & sleep 1000"]);
        let mut child = shell.stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id() as i32;
        let mut found = Vec::new();
        for _ in 0..1000 {
            found = descendants(pid);
            if found.len() == 2 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(found.len(), 2);
        found.push(pid);
        kill(&found);
        child.wait().unwrap();
        assert!(descendants(pid).is_empty());
    }
}
