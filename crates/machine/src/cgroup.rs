//! Finds the directories of this process's control groups.
//!
//! `/proc/self/cgroup` names the group of each hierarchy, `/proc/self/mountinfo` says which part
//! of each hierarchy is mounted where. Three cases have to come out right:
//!
//! ```text
//! case                         group            root of mount    directory
//! host, or own cgroup namespace  /a/b             /                MOUNT/a/b
//! container without namespace    /docker/x        /docker/x        MOUNT
//! mount from an outer namespace  /                /..              unknown: MOUNT
//! group outside the namespace    /../y            /                unknown: MOUNT
//! ```
//!
//! Parsed here rather than by a crate, because the readers on offer refuse the whole file for one
//! odd line, where skipping the line is right.

use crate::cpulist::CpuList;
use crate::files::Files;

/// The directory where distributions mount the hierarchies, for containers that hide `mountinfo`.
const MOUNT_POINT_DEFAULT: &str = "/sys/fs/cgroup";

/// A file-system location of one of the process's control groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ControlGroup {
    pub(crate) version: Version,
    /// The directory where the hierarchy is mounted.
    mount_point: String,
    /// The group below it: empty, or with a leading slash.
    below: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V2,
}

impl ControlGroup {
    /// The directories from the group itself up to the mount point: a limit of any of them holds.
    pub(crate) fn directories(&self) -> impl Iterator<Item = String> + '_ {
        let ends = self.below.rmatch_indices('/').map(|(end, _)| end);
        std::iter::once(self.below.len())
            .chain(ends)
            .map(|end| format!("{}{}", self.mount_point, &self.below[..end]))
    }
}

/// The groups of the process that may limit `controller` (`cpu` or `cpuset`): one per version and
/// mount, since hybrid systems mount both versions.
pub(crate) fn groups(files: &mut Files, controller: &str) -> Vec<ControlGroup> {
    let memberships = memberships(files, controller);
    let mounts = mounts(files, controller);
    let mut groups: Vec<ControlGroup> = Vec::new();
    for (version, path) in memberships {
        let candidates = mounts.iter().filter(|mount| mount.version == version);
        let resolved: Vec<ControlGroup> = candidates
            .filter_map(|mount| resolve(files, mount, &path))
            .collect();
        if let Some(exact) = resolved.first() {
            groups.push(exact.clone());
            continue;
        }
        // The group itself is not visible. The mount's own directory is an ancestor or the
        // container's own group, so its limits hold, and there may be more.
        let fallback = mounts.iter().find(|mount| mount.version == version);
        if let Some(mount) = fallback.filter(|mount| files.is_dir(&mount.point)) {
            files.assume(format!(
                "control group {path:?} is not visible below {}: assumed the limits found there",
                mount.point
            ));
            groups.push(ControlGroup {
                version,
                mount_point: mount.point.clone(),
                below: String::new(),
            });
        }
    }
    groups
}

/// The CPUs that the process's cpusets leave it, with the file that says so.
///
/// The group's own file may be missing where the controller is off for it; the nearest ancestor's
/// counts then.
pub(crate) fn cpuset(files: &mut Files) -> Option<(CpuList, String)> {
    let groups = groups(files, "cpuset");
    let mut found: Option<(CpuList, String)> = None;
    for group in &groups {
        // Mounted with `noprefix`, as on Android, the files lack the controller's name.
        let names: &[&str] = match group.version {
            Version::V2 => &["cpuset.cpus.effective"],
            Version::V1 => &[
                "cpuset.effective_cpus",
                "cpuset.cpus",
                "effective_cpus",
                "cpus",
            ],
        };
        let paths = group
            .directories()
            .flat_map(|directory| names.iter().map(move |name| format!("{directory}/{name}")));
        for path in paths {
            match files
                .text(&path)
                .map(|text| (text.parse::<CpuList>(), text))
            {
                None => continue,
                Some((Ok(cpus), _)) if !cpus.is_empty() => {
                    let both = found.as_ref().map(|(other, _)| other.intersection(&cpus));
                    if both.as_ref().is_none_or(|both| !both.is_empty()) {
                        found = Some((both.unwrap_or(cpus), path));
                    }
                    break;
                }
                Some((_, text)) => {
                    files.assume(format!("{path} reads {text:?}: assumed no restriction"));
                    break;
                }
            }
        }
    }
    found
}

/// The paths of the process's groups in `/proc/self/cgroup`: `id:controllers:path`.
fn memberships(files: &Files, controller: &str) -> Vec<(Version, String)> {
    let Some(text) = files.text("/proc/self/cgroup") else {
        return vec![(Version::V2, "/".into()), (Version::V1, "/".into())];
    };
    let membership = |line: &str| {
        let mut fields = line.splitn(3, ':');
        let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let version = match controllers {
            "" if id == "0" => Version::V2,
            list if list.split(',').any(|name| name == controller) => Version::V1,
            _ => return None,
        };
        path.starts_with('/').then(|| (version, path.to_owned()))
    };
    text.lines().filter_map(membership).collect()
}

/// One line of `/proc/self/mountinfo` that mounts a hierarchy.
struct Mount {
    version: Version,
    /// Which group of the hierarchy is at the mount point.
    root: String,
    point: String,
}

fn mounts(files: &Files, controller: &str) -> Vec<Mount> {
    let Some(text) = files.text("/proc/self/mountinfo") else {
        let mount = |version, point: String| Mount {
            version,
            root: "/".into(),
            point,
        };
        return vec![
            mount(Version::V2, MOUNT_POINT_DEFAULT.into()),
            mount(Version::V1, format!("{MOUNT_POINT_DEFAULT}/{controller}")),
        ];
    };
    text.lines()
        .filter_map(|line| mount(line, controller))
        .collect()
}

/// `id parent major:minor ROOT POINT options [optional…] - TYPE source SUPER-OPTIONS`
fn mount(line: &str, controller: &str) -> Option<Mount> {
    let (front, back) = line.split_once(" - ")?;
    let mut front = front.split(' ').skip(3);
    let (root, point) = (front.next()?, front.next()?);
    let mut back = back.split(' ');
    let (kind, options) = (back.next()?, back.nth(1).unwrap_or_default());
    let version = match kind {
        "cgroup2" => Version::V2,
        "cgroup" if options.split(',').any(|name| name == controller) => Version::V1,
        _ => return None,
    };
    Some(Mount {
        version,
        root: unescape(root),
        point: unescape(point),
    })
}

/// `mountinfo` writes blanks and backslashes as three octal digits after a backslash.
fn unescape(field: &str) -> String {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail
            .get(..3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if first == b'\\' => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns where `path` lies below `mount`; `None` where it is not visible there.
fn resolve(files: &Files, mount: &Mount, path: &str) -> Option<ControlGroup> {
    let below = match mount.root.trim_end_matches('/') {
        "" => path,
        root => path
            .strip_prefix(root)
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))?,
    };
    let below = below.trim_end_matches('/');
    // A group cannot be named `..`: a path that still has it lies outside of the namespace.
    if below.split('/').any(|part| part == "..") {
        return None;
    }
    let (mount_point, below) = (mount.point.clone(), below.to_owned());
    files
        .is_dir(&format!("{mount_point}{below}"))
        .then_some(ControlGroup {
            version: mount.version,
            mount_point,
            below,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_go_from_the_group_up_to_the_mount_point() {
        let directories = |below: &str| {
            let (version, mount_point) = (Version::V2, "/m".to_owned());
            let group = ControlGroup {
                version,
                mount_point,
                below: below.into(),
            };
            group.directories().collect::<Vec<_>>()
        };
        assert_eq!(directories("/a/b"), ["/m/a/b", "/m/a", "/m"]);
        assert_eq!(directories(""), ["/m"]);
    }

    #[test]
    fn mountinfo_fields_are_unescaped() {
        assert_eq!(unescape(r"/a\040b\134c"), r"/a b\c");
        assert_eq!(unescape(r"/a\04"), r"/a\04");
        assert_eq!(unescape(r"/\777"), r"/\777");
    }

    #[test]
    fn odd_mountinfo_lines_are_skipped() {
        let line = "32 31 0:29 / /sys/fs/cgroup/cpu rw shared:1 master:2 - cgroup cgroup rw,cpu";
        assert_eq!(mount(line, "cpu").unwrap().point, "/sys/fs/cgroup/cpu");
        assert!(mount(line, "cpuset").is_none());
        for odd in [
            "",
            " - ",
            "1 2 3 - cgroup2",
            "1 2 3 / - cgroup2 x rw",
            "\u{fffd}",
        ] {
            assert!(mount(odd, "cpu").is_none(), "{odd:?}");
        }
    }
}
