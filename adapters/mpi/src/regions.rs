//! Layer 3: memory of the library's windows that teams lend of without a copy, and which team has which.
//!
//! A team has a region if all of its members share the window: then whoever borrows finds it. A window and a team may come in
//! either order, in different threads; each finds the other under one lock.

use crate::card::Process;
use corecast::process::{SharedRegion, SharedRegions};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

struct All {
    /// The members of each team on this host.
    teams: Vec<(Vec<Process>, Weak<SharedRegions>)>,
    /// The processes that share each window.
    windows: Vec<(Vec<Process>, Arc<SharedRegion>)>,
}

static ALL: Mutex<All> = Mutex::new(All {
    teams: Vec::new(),
    windows: Vec::new(),
});

fn all() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The regions of a team of these members, which are on this host.
pub(crate) fn of_team(members: Vec<Process>) -> Arc<SharedRegions> {
    let regions = Arc::new(SharedRegions::default());
    let mut all = all();
    all.teams.retain(|(_, team)| team.strong_count() > 0);
    for (processes, region) in &all.windows {
        if has_all(processes, &members) {
            regions.add(region);
        }
    }
    all.teams.push((members, Arc::downgrade(&regions)));
    regions
}

/// Gives a region to all teams that have it; `None` if there is one of its number already.
pub(crate) fn add(processes: Vec<Process>, region: SharedRegion) -> Option<Arc<SharedRegion>> {
    let mut all = all();
    if all
        .windows
        .iter()
        .any(|(_, known)| known.id() == region.id())
    {
        return None;
    }
    let region = Arc::new(region);
    for (members, team) in &all.teams {
        if let Some(team) = team.upgrade().filter(|_| has_all(&processes, members)) {
            team.add(&region);
        }
    }
    all.windows.push((processes, Arc::clone(&region)));
    Some(region)
}

/// Ends a region, which nobody lends any more.
pub(crate) fn remove(region: &Arc<SharedRegion>) {
    all()
        .windows
        .retain(|(_, known)| !Arc::ptr_eq(known, region));
}

/// Whether the processes that share a window are all members of a team, and perhaps more.
fn has_all(processes: &[Process], members: &[Process]) -> bool {
    members.iter().all(|member| processes.contains(member))
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::process::{SharedMapping, SymmetricHeap};

    fn processes(numbers: &[u64]) -> Vec<Process> {
        numbers.iter().map(|&number| [number, 0, 0, 0, 0]).collect()
    }

    #[test]
    fn teams_have_the_windows_that_all_of_their_members_share() {
        let heap = SymmetricHeap::new(1 << 20).unwrap();
        let data = heap.alloc(5000, 1).unwrap();
        let first = data.as_ptr().addr();
        let region = |id| {
            let mapping = SharedMapping::find(first..first + 5000).unwrap();
            // SAFETY: the heap stands.
            unsafe { mapping.region(id) }.unwrap()
        };
        let before = [&[1, 2][..], &[1, 2, 3], &[2], &[4]].map(|team| of_team(processes(team)));
        let window = add(processes(&[2, 1]), region(60_000)).unwrap();
        assert!(add(processes(&[2, 1]), region(60_000)).is_none());
        let after = [&[1, 2][..], &[1, 2, 3]].map(|team| of_team(processes(team)));
        let counts = |teams: &[Arc<SharedRegions>]| -> Vec<usize> {
            teams.iter().map(|team| team.len()).collect()
        };
        assert_eq!(counts(&before), [1, 0, 1, 0]);
        assert_eq!(counts(&after), [1, 0]);
        remove(&window);
        drop(window);
        assert_eq!(counts(&before), [0; 4]);
        assert_eq!(of_team(processes(&[1])).len(), 0);
    }
}
