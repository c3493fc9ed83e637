//! Data and unified caches with the PUs that share them.

use corecast_model::{Cache, CacheKind};

use crate::cpulist::CpuList;
use crate::files::Files;

/// All data and unified caches of the online PUs, nearest level first, each once.
pub(crate) fn caches(files: &mut Files, online: &CpuList) -> Vec<Cache> {
    let mut caches: Vec<Cache> = Vec::new();
    let mut silent = CpuList::new();
    for pu in online.iter() {
        let found = caches_of(files, pu, online, &caches);
        if found.is_empty() {
            silent.insert(pu);
        }
        caches.extend(found);
    }
    if silent.len() == online.len() {
        files.assume("no cache data in sysfs: assumed private caches");
    } else if !silent.is_empty() {
        files.assume(format!(
            "no cache data for PU {silent}: assumed private caches"
        ));
    }
    caches.sort_by(|a, b| key(a).cmp(&key(b)));
    // Sharers repeat each other; where sizes differ (big and little cores) the lists do too.
    caches.dedup_by(|a, b| key(a) == key(b));
    report_contradictions(files, &caches);
    caches
}

fn key(cache: &Cache) -> (u8, bool, &[u32]) {
    (
        cache.level,
        cache.kind == CacheKind::Unified,
        &cache.shared_by,
    )
}

/// The caches of one PU; `known` are those of others, which it may share.
fn caches_of(files: &mut Files, pu: u32, online: &CpuList, known: &[Cache]) -> Vec<Cache> {
    let directory = format!("/sys/devices/system/cpu/cpu{pu}/cache");
    let indices = files.numbered(&directory, "index");
    let read = |index| {
        let directory = format!("{directory}/index{index}");
        cache(files, &directory, pu, online, known)
    };
    indices.iter().filter_map(read).collect()
}

fn cache(
    files: &mut Files,
    directory: &str,
    pu: u32,
    online: &CpuList,
    known: &[Cache],
) -> Option<Cache> {
    let kind = match files.text(&format!("{directory}/type")).as_deref() {
        Some("Data") => CacheKind::Data,
        Some("Instruction") => return None,
        _ => CacheKind::Unified,
    };
    let Some(level) = files
        .value(&format!("{directory}/level"))
        .filter(|level| *level > 0)
    else {
        files.assume_of(pu, "a cache has no level: assumed there is no such cache");
        return None;
    };
    let mask = || CpuList::from_mask(&files.text(&format!("{directory}/shared_cpu_map"))?);
    let sharers = files
        .list(&format!("{directory}/shared_cpu_list"))
        .or_else(mask);
    let sharers = sharers
        .map(|list| list.intersection(online))
        .filter(|list| list.contains(pu));
    if sharers.is_none() {
        files.assume_of(
            pu,
            format!("the L{level} cache names no sharers: assumed private"),
        );
    }
    let shared_by: Vec<u32> = sharers.unwrap_or(CpuList::from([pu])).iter().collect();
    let it = |other: &&Cache| key(other) == (level, kind == CacheKind::Unified, &shared_by);
    if shared_by[0] != pu
        && let Some(known) = known.iter().find(it)
    {
        return Some(known.clone());
    }
    let positive = |value: &u64| *value > 0;
    let line = files
        .value(&format!("{directory}/coherency_line_size"))
        .filter(|&line| line > 0);
    let size = files.text(&format!("{directory}/size"));
    Some(Cache {
        level,
        kind,
        size_bytes: size.and_then(|size| bytes(&size)).filter(positive),
        line_bytes: line,
        shared_by,
    })
}

/// `36608K`; other kernels wrote other units.
fn bytes(size: &str) -> Option<u64> {
    let (digits, unit) = match size.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 1 << 10),
        None => match size.strip_suffix(['M', 'm']) {
            Some(digits) => (digits, 1 << 20),
            None => (size, 1),
        },
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Virtual machines give each PU a different idea of who shares a cache.
fn report_contradictions(files: &mut Files, caches: &[Cache]) {
    for pair in caches.chunk_by(|a, b| (a.level, a.kind) == (b.level, b.kind)) {
        let mut seen = CpuList::new();
        for cache in pair {
            let sharers: CpuList = cache.shared_by.iter().copied().collect();
            if !sharers.intersection(&seen).is_empty() {
                let level = cache.level;
                files.assume(format!(
                    "PUs disagree on who shares an L{level} cache: assumed each of the groups"
                ));
            }
            seen = seen.union(&sharers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(bytes("36608K"), Some(36_608 << 10));
        assert_eq!(bytes("2M"), Some(2 << 20));
        assert_eq!(bytes("512"), Some(512));
        for garbage in [
            "",
            "K",
            "-1K",
            "1G ",
            "99999999999999999999K",
            "18446744073709551615K",
        ] {
            assert_eq!(bytes(garbage), None, "{garbage:?}");
        }
    }
}
