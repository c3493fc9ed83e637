//! The memory that is left before the kernel kills a process for want of it.
//!
//! The kernel promises more than it has, and settles the difference with its OOM killer. So every
//! limit is checked before shared memory is reserved, or much private memory is touched: the machine's free
//! memory, the control groups from this process's own up to the root, and for shared memory the limit on file
//! sizes, which ends a process by a signal. Nothing keeps others from taking the same memory a moment later; the aim is a sentence
//! instead of a kill in the ordinary case.

use super::SegmentError;
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The bytes that a limit leaves.
#[derive(Debug, PartialEq, Eq)]
struct LimitLeft {
    bytes: u64,
    limit: String,
}

/// Memory that may be taken without another look at the limits, which reads some ten files: processes of a team take theirs in
/// many small parts.
#[derive(Debug)]
struct Allowance {
    bytes: u64,
    until: Instant,
}

static ALLOWANCE: Mutex<Option<Allowance>> = Mutex::new(None);

impl Allowance {
    /// So small a share of what a look has found that others matter more.
    const SHARE: u64 = 1 << 6;
    const MOST: u64 = 16 << 20;
    const LIFE: Duration = Duration::from_secs(1);

    /// After a look that found `left` bytes beyond those that are taken, at the time `now`.
    fn after(left: u64, now: Instant) -> Self {
        Self {
            bytes: (left / Self::SHARE).min(Self::MOST),
            until: now + Self::LIFE,
        }
    }

    /// Takes `bytes`, if they are within it at the time `now`.
    fn take(&mut self, bytes: u64, now: Instant) -> bool {
        let taken = now < self.until && bytes <= self.bytes;
        if taken {
            self.bytes -= bytes;
        }
        taken
    }
}

/// Returns an error unless `bytes` more fit below every limit.
pub(super) fn check(bytes: usize, shared: bool) -> Result<(), SegmentError> {
    let now = Instant::now();
    let of_files = file_size().filter(|_| shared);
    // Not waited for: in a forked child nobody may be left to give it back.
    let mut allowance = ALLOWANCE.try_lock().ok();
    if let Some(Some(allowance)) = allowance.as_deref_mut()
        && of_files
            .as_ref()
            .is_none_or(|left| left.bytes >= bytes as u64)
        && allowance.take(bytes as u64, now)
    {
        return Ok(());
    }
    let left = look(bytes, of_files)?;
    if let Some(allowance) = &mut allowance {
        **allowance = Some(Allowance::after(left, now));
    }
    Ok(())
}

/// The bytes that all limits leave beyond `bytes`.
fn look(bytes: usize, of_files: Option<LimitLeft>) -> Result<u64, SegmentError> {
    let mut found = vec![machine(""), of_files];
    found.extend(groups("").into_iter().map(Some));
    let Some(least) = found.into_iter().flatten().min_by_key(|left| left.bytes) else {
        return Ok(u64::MAX);
    };
    let left = least.bytes.checked_sub(bytes as u64);
    left.ok_or(SegmentError::Room {
        bytes,
        left: least.bytes,
        limit: least.limit,
    })
}

/// The memory that the machine has available. `root` is a prefix of all paths, for tests.
fn machine(root: &str) -> Option<LimitLeft> {
    let text = fs::read_to_string(format!("{root}/proc/meminfo")).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(LimitLeft {
        bytes: kibibytes.saturating_mul(1024),
        limit: "the machine (MemAvailable in /proc/meminfo)".into(),
    })
}

/// The limit on file sizes, which holds for shared memory too, as it is a file.
fn file_size() -> Option<LimitLeft> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    Some(LimitLeft {
        bytes: limit.current?,
        limit: "the limit on file sizes (ulimit -f)".into(),
    })
}

/// The memory that is left by each control group that limits this process.
fn groups(root: &str) -> Vec<LimitLeft> {
    let read = |path: &str| fs::read_to_string(format!("{root}{path}")).unwrap_or_default();
    let (memberships, mounts) = (read("/proc/self/cgroup"), read("/proc/self/mountinfo"));
    let mut found = Vec::new();
    for line in memberships.lines() {
        let Some((v2, group)) = membership(line) else {
            continue;
        };
        let Some((within, point)) = mounts.lines().find_map(|line| mount(line, v2)) else {
            continue;
        };
        // In a container the mount may show a part of the hierarchy only, or another part.
        let below = match within.as_str() {
            "/" => group,
            within => group.strip_prefix(within).unwrap_or_default(),
        };
        let mut below = below.trim_end_matches('/');
        loop {
            found.extend(group_left(root, &format!("{point}{below}"), v2));
            match below.rfind('/') {
                Some(end) => below = &below[..end],
                None => break,
            }
        }
    }
    found
}

/// Parses a line `id:controllers:path` of `/proc/self/cgroup`. If the group limits memory, returns
/// whether it is of version 2, and its path.
fn membership(line: &str) -> Option<(bool, &str)> {
    let mut fields = line.splitn(3, ':');
    let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    match controllers {
        "" if id == "0" => Some((true, path)),
        list if list.split(',').any(|name| name == "memory") => Some((false, path)),
        _ => None,
    }
}

/// Parses a line of `/proc/self/mountinfo`: `id parent major:minor ROOT POINT options [optional…] -
/// TYPE source SUPER-OPTIONS`. Returns ROOT and POINT if these control groups are mounted there.
fn mount(line: &str, v2: bool) -> Option<(String, String)> {
    let (front, back) = line.split_once(" - ")?;
    let mut front = front.split(' ').skip(3);
    let (within, point) = (front.next()?, front.next()?);
    let mut back = back.split(' ');
    let (kind, options) = (back.next()?, back.nth(1).unwrap_or_default());
    let is_it = match v2 {
        true => kind == "cgroup2",
        false => kind == "cgroup" && options.split(',').any(|name| name == "memory"),
    };
    is_it.then(|| (within.to_owned(), point.to_owned()))
}

/// The memory that one group leaves. The page cache counts as free, because the kernel gives it up
/// first.
fn group_left(root: &str, directory: &str, v2: bool) -> Option<LimitLeft> {
    let (limit, used, cache) = match v2 {
        true => (
            "memory.max",
            "memory.current",
            ["inactive_file", "active_file"],
        ),
        false => (
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            ["total_inactive_file", "total_active_file"],
        ),
    };
    let read = |name: &str| fs::read_to_string(format!("{root}{directory}/{name}")).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    // "max" is no number and no limit; version 1 writes a number near 2^63 for it.
    let most = number(limit).filter(|&most| most < 1 << 60)?;
    let stat = read("memory.stat").unwrap_or_default();
    let cached: u64 = stat
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| cache.contains(name))
        .filter_map(|(_, bytes)| bytes.trim().parse::<u64>().ok())
        .sum();
    let used = number(used)?.saturating_sub(cached);
    Some(LimitLeft {
        bytes: most.saturating_sub(used),
        limit: format!("the control group's {directory}/{limit}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree(std::path::PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root =
                std::env::temp_dir().join(format!("corecast-room-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }

        fn root(&self) -> &str {
            self.0.to_str().unwrap()
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    const V2: &str = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    const V1: &str = "\
        29 20 0:25 /docker/x /sys/fs/cgroup/cpuset rw s:1 - cgroup cgroup rw,cpuset\n\
        31 20 0:27 /docker/x /sys/fs/cgroup/memory rw s:1 - cgroup cgroup rw,memory\n";

    #[test]
    fn every_group_up_to_the_root_counts_and_cache_is_free() {
        let tree = Tree::new(
            "v2",
            &[
                ("proc/self/cgroup", "0::/a/b\n"),
                ("proc/self/mountinfo", V2),
                ("sys/fs/cgroup/a/b/memory.max", "max\n"),
                ("sys/fs/cgroup/a/memory.max", "1000\n"),
                ("sys/fs/cgroup/a/memory.current", "900\n"),
                (
                    "sys/fs/cgroup/a/memory.stat",
                    "anon 5\ninactive_file 100\nactive_file 50\n",
                ),
            ],
        );
        let expected = LimitLeft {
            bytes: 250,
            limit: "the control group's /sys/fs/cgroup/a/memory.max".into(),
        };
        assert_eq!(groups(tree.root()), [expected]);
    }

    #[test]
    fn a_container_sees_its_part_of_version_1() {
        let tree = Tree::new(
            "v1",
            &[
                (
                    "proc/self/cgroup",
                    "9:name=x:/docker/x/z\n4:cpu,memory:/docker/x/y\n",
                ),
                ("proc/self/mountinfo", V1),
                (
                    "sys/fs/cgroup/memory/memory.limit_in_bytes",
                    "9223372036854771712",
                ),
                ("sys/fs/cgroup/memory/y/memory.limit_in_bytes", "500"),
                ("sys/fs/cgroup/memory/y/memory.usage_in_bytes", "700"),
                // A group of another hierarchy has the name of one that limits others' memory.
                ("sys/fs/cgroup/memory/z/memory.limit_in_bytes", "300"),
                ("sys/fs/cgroup/memory/z/memory.usage_in_bytes", "100"),
            ],
        );
        let found = groups(tree.root());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].bytes, 0);
        assert!(found[0].limit.ends_with("memory/y/memory.limit_in_bytes"));
    }

    #[test]
    fn odd_files_limit_nothing() {
        let tree = Tree::new(
            "odd",
            &[
                ("proc/self/cgroup", "0:\n::\n7::/a\n1:memory\n"),
                (
                    "proc/self/mountinfo",
                    &format!(" - \n1 2 3 - cgroup2\n{V2}"),
                ),
                ("sys/fs/cgroup/a/memory.max", "1000\n"),
                ("sys/fs/cgroup/a/memory.current", "900\n"),
                ("proc/meminfo", "MemAvailable: many kB\n"),
            ],
        );
        assert_eq!(groups(tree.root()), []);
        assert_eq!(machine(tree.root()), None);
        assert_eq!(machine("/nowhere"), None);
    }

    #[test]
    fn little_may_be_taken_for_a_while_without_another_look() {
        let now = Instant::now();
        let mut of_little = Allowance::after(6400, now);
        assert!(of_little.take(60, now) && !of_little.take(41, now) && of_little.take(40, now));
        assert!(!of_little.take(1, now) && of_little.take(0, now));
        let mut of_much = Allowance::after(u64::MAX, now);
        assert!(!of_much.take(Allowance::MOST + 1, now));
        assert!(!of_much.take(1, now + Allowance::LIFE));
        assert!(of_much.take(Allowance::MOST, now + Allowance::LIFE / 2));
        let mut none = Allowance::after(0, now);
        assert!(!none.take(1, now) && !none.take(0, now + Allowance::LIFE));
    }

    #[test]
    fn this_machine_has_some_memory_and_not_all() {
        for shared in [false, true] {
            check(1 << 20, shared).unwrap();
            let error = check(usize::MAX >> 1, shared).unwrap_err().to_string();
            assert!(error.contains("are left by the "), "{error}");
        }
    }
}
