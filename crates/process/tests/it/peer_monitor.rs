//! The peer monitor, with real processes that are killed at any point.

use crate::by_itself::by_itself;
use crate::own_process::{WATCHDOG, eventually, in_fork};
use corecast_process::peer_monitor::{WatchError, born, watch};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A process without input and output, which is killed when this is dropped.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl std::ops::Deref for Guarded {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

fn child() -> Guarded {
    let mut command = Command::new("sleep");
    command.arg("600").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Guarded(command.spawn().unwrap())
}

fn end(mut child: Guarded) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn monitors() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|name| name.trim() == "corecast-watch")
        .count()
}

#[test]
fn hundreds_of_deaths_at_any_point_are_told_once_each() {
    by_itself(|| {
        eventually("the peer monitor of an earlier test ends", || {
            monitors() == 0
        });
        let before = descriptors();
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut deaths = 0;
        while deaths < 300 {
            let group = random.usize(1..=5);
            let mut children: Vec<Guarded> = (0..group).map(|_| child()).collect();
            let counts: Vec<_> = (0..group).map(|_| Arc::new(AtomicUsize::new(0))).collect();
            let mut watches = Vec::new();
            // Each child is killed before it is watched, after, or not at all, and some watches end.
            let mut killed = vec![false; group];
            for (i, child) in children.iter_mut().enumerate() {
                let born = born(child.id());
                let kill = |child: &mut Child| {
                    child.kill().unwrap();
                    true
                };
                if random.u8(..4) == 0 {
                    killed[i] = kill(child);
                }
                let count = Arc::clone(&counts[i]);
                let watch = watch(child.id(), born, move || {
                    count.fetch_add(1, Ordering::SeqCst);
                });
                watches.push(Some(watch.unwrap()));
                if random.bool() {
                    std::thread::sleep(Duration::from_micros(random.u64(..300)));
                }
                if !killed[i] && random.u8(..4) > 0 {
                    killed[i] = kill(child);
                }
            }
            let mut dropped = vec![false; group];
            for i in 0..group {
                if random.u8(..4) == 0 {
                    watches[i] = None;
                    dropped[i] = true;
                }
            }
            for i in 0..group {
                if killed[i] && !dropped[i] {
                    eventually("a death is told", || counts[i].load(Ordering::SeqCst) == 1);
                }
                deaths += usize::from(killed[i]);
            }
            drop(watches);
            children.into_iter().for_each(end);
            eventually("no peer monitor without a watch", || monitors() == 0);
            for i in 0..group {
                let told = counts[i].load(Ordering::SeqCst);
                match (killed[i], dropped[i]) {
                    (true, false) => assert_eq!(told, 1),
                    (true, true) => assert!(told <= 1),
                    (false, _) => assert_eq!(told, 0),
                }
            }
        }
        eventually("all descriptors are closed", || descriptors() <= before);
    });
}

#[test]
fn one_thread_for_all_and_none_without_a_watch() {
    by_itself(|| {
        eventually("none left", || monitors() == 0);
        let children: Vec<Guarded> = (0..20).map(|_| child()).collect();
        let watches: Vec<_> = children
            .iter()
            .map(|child| watch(child.id(), born(child.id()), || panic!("nobody dies")).unwrap())
            .collect();
        eventually("one thread", || monitors() == 1);
        drop(watches);
        eventually("it ends", || monitors() == 0);
        children.into_iter().for_each(end);
    });
}

#[test]
fn who_was_dead_already_is_told_too() {
    by_itself(|| {
        let mut child = child();
        let was_born = born(child.id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        // This process's number with an earlier start time, as if an earlier process had had the
        // number.
        let me = std::process::id();
        let earlier = born(me).unwrap() - 1;
        let (tell, told) = channel();
        for (pid, born) in [(child.id(), Some(was_born)), (me, Some(earlier))] {
            let tell = tell.clone();
            let _watch = watch(pid, born, move || tell.send(pid).unwrap()).unwrap();
            assert_eq!(told.recv_timeout(WATCHDOG), Ok(pid));
        }
    });
}

#[test]
fn a_panic_in_one_callback_does_not_reach_the_others() {
    by_itself(|| {
        let children = [child(), child()];
        let (tell, told) = channel();
        let _loud = watch(children[0].id(), None, || {
            panic!("in a callback, on purpose")
        })
        .unwrap();
        let _calm = watch(children[1].id(), None, move || tell.send(()).unwrap()).unwrap();
        children.into_iter().for_each(end);
        assert_eq!(told.recv_timeout(WATCHDOG), Ok(()));
    });
}

#[test]
fn a_callback_may_watch_and_unwatch() {
    by_itself(|| {
        let (first, second) = (child(), child());
        let (tell, told) = channel();
        let other = second.id();
        let held = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&held);
        let watched = watch(first.id(), None, move || {
            *kept.lock().unwrap() =
                Some(watch(other, None, move || tell.send(()).unwrap()).unwrap());
        });
        end(first);
        eventually("the callback has watched", || {
            held.lock().unwrap().is_some()
        });
        drop(watched);
        end(second);
        assert_eq!(told.recv_timeout(WATCHDOG), Ok(()));
        *held.lock().unwrap() = None;
        eventually("it ends", || monitors() == 0);
    });
}

#[test]
fn nothing_happens_nothing_runs() {
    by_itself(|| {
        let child = child();
        let watch = watch(child.id(), None, || {}).unwrap();
        // Context switches of the peer monitor's thread stand still while it sleeps.
        let switches = || {
            let tasks = std::fs::read_dir("/proc/self/task").unwrap();
            let status = tasks
                .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok())
                .find(|status| status.contains("corecast-watch"))
                .unwrap();
            let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        eventually("one thread", || monitors() == 1);
        let mut before = switches();
        eventually("it sleeps", || {
            let now = switches();
            std::thread::sleep(Duration::from_millis(100));
            std::mem::replace(&mut before, now.clone()) == now && switches() == now
        });
        drop(watch);
        end(child);
    });
}

#[test]
fn what_is_no_process_number_is_refused() {
    for pid in [0, u32::MAX, 1 << 31] {
        let error = watch(pid, None, || {}).unwrap_err();
        assert!(matches!(error, WatchError::NoNumber { .. }));
        assert!(error.to_string().contains(&pid.to_string()));
    }
}

/// The monitor's thread ends soon after the last watch, and may be about to when the process forks.
#[test]
fn a_forked_child_watches_whatever_the_parent_did_at_the_fork() {
    by_itself(|| {
        let watched = child();
        let pid = watched.id();
        // The more there is to look at, the longer the thread is at it.
        let _all: Vec<_> = (0..200).map(|_| watch(pid, None, || ()).unwrap()).collect();
        for round in 0..300 {
            drop(watch(pid, None, || ()).unwrap());
            assert!(in_fork(|| watch(pid, None, || ()).is_ok()), "round {round}");
        }
    });
}
