//! Reading the kernel's small text files under a root that tests may put elsewhere.
//!
//! A file is read once for a discovery, and what cannot change while the same PUs are online once for a process: a team
//! discovers the machine when it is made, and most of that was reading.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cpulist::CpuList;

/// More bytes than `/proc/cpuinfo` has on the largest machines. There is a limit because a fixture
/// or a container may put anything behind these names.
const FILE_BYTES_MAX: u64 = 32 << 20;

/// Longer than all but some lists in files of sysfs, of which none gives more at a time.
const SYSFS_BYTES: usize = 4096;

/// What was read, by path; `None` for what is not there.
pub(crate) type Texts = HashMap<String, Option<String>>;

/// The texts of this process's machine that stay as they are, and the PUs that were online.
static CONSTANT: Mutex<Option<(CpuList, Arc<Texts>)>> = Mutex::new(None);

/// The texts that this process has kept, and the PUs that were online.
pub(crate) fn kept() -> Option<(CpuList, Arc<Texts>)> {
    let known = CONSTANT.lock().unwrap_or_else(PoisonError::into_inner);
    known.clone()
}

/// Keeps texts that another process has read, unless this one has kept its own; says whether it did.
pub(crate) fn keep_foreign(online: CpuList, texts: Texts) -> bool {
    let mut known = CONSTANT.lock().unwrap_or_else(PoisonError::into_inner);
    let is_first = known.is_none();
    if is_first {
        *known = Some((online, Arc::new(texts)));
    }
    is_first
}

/// Whether a file says the same for as long as the same PUs are online.
pub(crate) fn is_constant(path: &str) -> bool {
    let folders = [
        "/sys/devices/system/cpu/cpu",
        "/sys/devices/system/node/",
        "/sys/devices/cpu_",
        "/sys/class/dmi/",
        "/sys/hypervisor/",
        "/proc/device-tree/",
    ];
    let is_below = folders.iter().any(|folder| path.starts_with(folder));
    path == "/proc/cpuinfo" || is_below && !path.ends_with("/online")
}

/// The directory that stands for `/`, and the sentences about what could not be read there.
pub(crate) struct Files {
    root: PathBuf,
    /// What was read for this discovery.
    read: RefCell<Texts>,
    /// What was read for earlier ones, and stays as it is.
    constant: Option<Arc<Texts>>,
    /// The assumptions so far, in order, each with the PUs that it is about, if any.
    assumptions: Vec<(String, CpuList)>,
}

impl Files {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            read: RefCell::default(),
            constant: None,
            assumptions: Vec::new(),
        }
    }

    fn is_of_this_process(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Uses what an earlier discovery of this process has read, or was given, if the same PUs were online.
    pub(crate) fn recall(&mut self, online: &CpuList) {
        if self.is_of_this_process() {
            let known = kept().filter(|(pus, _)| pus == online);
            self.constant = known.map(|(_, texts)| texts);
        }
    }

    /// Keeps what cannot change for later discoveries of this process.
    pub(crate) fn keep(&self, online: &CpuList) {
        if self.is_of_this_process() && self.constant.is_none() {
            let read = self.read.borrow();
            let constant = read.iter().filter(|(path, _)| is_constant(path));
            let constant = constant.map(|(path, text)| (path.clone(), text.clone()));
            let kept = (online.clone(), Arc::new(constant.collect()));
            *CONSTANT.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        }
    }

    /// Records one sentence; a sentence that is recorded already is not repeated.
    pub(crate) fn assume(&mut self, sentence: impl Into<String>) {
        self.entry(sentence.into());
    }

    /// Records a sentence about one PU. PUs with the same sentence share it, because an odd machine
    /// of hundreds of PUs tends to be odd in all of them.
    pub(crate) fn assume_of(&mut self, pu: u32, sentence: impl Into<String>) {
        self.entry(sentence.into()).insert(pu);
    }

    fn entry(&mut self, sentence: String) -> &mut CpuList {
        let known = self
            .assumptions
            .iter()
            .position(|(other, _)| *other == sentence);
        let at = known.unwrap_or_else(|| {
            self.assumptions.push((sentence, CpuList::new()));
            self.assumptions.len() - 1
        });
        &mut self.assumptions[at].1
    }

    /// The sentences, each once.
    pub(crate) fn assumptions(&self) -> Vec<String> {
        let sentence = |(text, pus): &(String, CpuList)| match pus.is_empty() {
            true => text.clone(),
            false => format!("PU {pus}: {text}"),
        };
        self.assumptions.iter().map(sentence).collect()
    }

    /// Returns where `path`, an absolute path of the machine, lies under the root.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        // `..` must not leave a fixture; the kernel's own paths hold none but in cgroup names,
        // which are resolved before they come here.
        let inside = path
            .split('/')
            .filter(|part| !matches!(*part, "" | "." | ".."));
        inside.fold(self.root.clone(), |at, part| at.join(part))
    }

    pub(crate) fn is_dir(&self, path: &str) -> bool {
        self.at(path).is_dir()
    }

    /// The file's text without surrounding white space; `None` where it cannot be read or is
    /// empty. Bytes that are no UTF-8 are replaced: the parsers refuse them.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.text_by(path, || self.fresh(path))
    }

    fn text_by(&self, path: &str, read: impl FnOnce() -> Option<String>) -> Option<String> {
        let constant = self.constant.as_ref().and_then(|texts| texts.get(path));
        if let Some(known) = constant {
            return known.clone();
        }
        if let Some(known) = self.read.borrow().get(path) {
            return known.clone();
        }
        let text = read();
        let known = &mut self.read.borrow_mut();
        known.insert(path.to_owned(), text.clone());
        text
    }

    fn fresh(&self, path: &str) -> Option<String> {
        // To open a FIFO without this flag would wait for a writer.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let mut options = OpenOptions::new();
        let file = options.read(true).custom_flags(nonblocking);
        let mut file = file.open(self.at(path)).ok()?;
        let mut bytes = vec![0; SYSFS_BYTES];
        let read = file.read(&mut bytes).ok()?;
        bytes.truncate(read);
        // One read gives all of a file of sysfs, and most of the time to make a team is such reads.
        if read == SYSFS_BYTES || !path.starts_with("/sys/") {
            // Only regular files: others may go on for ever.
            if !file.metadata().ok()?.is_file() {
                return None;
            }
            file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A file with one value; `None` where there is none or it cannot be read as `T`.
    pub(crate) fn value<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// A file with a CPU list; `None` where it is missing, empty or garbage.
    pub(crate) fn list(&self, path: &str) -> Option<CpuList> {
        self.value(path).filter(|list: &CpuList| !list.is_empty())
    }

    /// The first of several files that hold a CPU list.
    pub(crate) fn first_list(&self, directory: &str, names: &[&str]) -> Option<CpuList> {
        names
            .iter()
            .find_map(|name| self.list(&format!("{directory}/{name}")))
    }

    /// The numbers N of the entries `prefixN` of a directory, increasing. They are read and kept as a file with that list
    /// would be.
    pub(crate) fn numbered(&self, directory: &str, prefix: &str) -> CpuList {
        let path = format!("{directory}/{prefix}*");
        let text = self.text_by(&path, || {
            let listed = self.listed(directory, prefix);
            (!listed.is_empty()).then(|| listed.to_string())
        });
        text.and_then(|list| list.parse().ok()).unwrap_or_default()
    }

    fn listed(&self, directory: &str, prefix: &str) -> CpuList {
        let Ok(entries) = fs::read_dir(self.at(directory)) else {
            return CpuList::new();
        };
        let number = |name: &str| {
            let digits = name.strip_prefix(prefix)?;
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse().ok().filter(|&n| plain && n <= CpuList::MAX)
        };
        entries
            .flatten()
            .filter_map(|entry| number(entry.file_name().to_str()?))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_files_read_as_absent() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
        write("good", b"0-3\n");
        write("empty", b"\n");
        write("binary", &[0xff, 0xfe, 0x00]);
        fs::create_dir_all(dir.path().join("index0")).unwrap();
        fs::create_dir_all(dir.path().join("index12")).unwrap();
        fs::create_dir_all(dir.path().join("index+3")).unwrap();
        let mut files = Files::new(dir.path());
        let fifo = dir.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
        assert_eq!(files.list("/good").unwrap().len(), 4);
        for odd in ["/empty", "/binary", "/index0", "/missing", "/fifo"] {
            assert_eq!(files.list(odd), None, "{odd}");
        }
        assert_eq!(files.numbered("/", "index").as_slice(), [0, 12]);
        assert_eq!(files.at("/a/../../b"), dir.path().join("a/b"));
        files.assume("once");
        files.assume("once");
        files.assume_of(4, "odd");
        files.assume_of(3, "odd");
        assert_eq!(files.assumptions(), ["once", "PU 3-4: odd"]);
    }

    #[test]
    fn a_file_is_read_once_for_a_discovery() {
        let dir = tempfile::tempdir().unwrap();
        let long = "0123456789\n".repeat(5000);
        fs::write(dir.path().join("long"), &long).unwrap();
        let files = Files::new(dir.path());
        assert_eq!(files.text("/long").unwrap(), long.trim());
        fs::write(dir.path().join("long"), "short").unwrap();
        assert_eq!(files.text("/long").unwrap(), long.trim());
        assert_eq!(files.text("/later"), None);
        fs::write(dir.path().join("later"), "there").unwrap();
        assert_eq!(files.text("/later"), None);
        assert_eq!(Files::new(dir.path()).text("/long").unwrap(), "short");
    }

    /// Only this process's own machine is remembered, and what may change is read anew.
    #[test]
    fn what_cannot_change_is_kept_while_the_same_pus_are_online() {
        let cpus = "/sys/devices/system/cpu";
        for constant in [
            "/proc/cpuinfo",
            &format!("{cpus}/cpu3/topology/core_id"),
            &format!("{cpus}/cpu3/cache/index2/size"),
            "/sys/devices/system/node/node0/cpulist",
        ] {
            assert!(is_constant(constant), "{constant}");
        }
        for changing in [
            "/proc/self/cgroup",
            "/proc/self/status",
            &format!("{cpus}/online"),
            &format!("{cpus}/cpu3/online"),
            "/sys/devices/system/node/online",
            "/sys/fs/cgroup/cpu.max",
        ] {
            assert!(!is_constant(changing), "{changing}");
        }
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("proc");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("cpuinfo"), "first").unwrap();
        let pus = CpuList::from([0, 1]);
        let mut files = Files::new(dir.path());
        files.recall(&pus);
        assert_eq!(files.text("/proc/cpuinfo").unwrap(), "first");
        files.keep(&pus);
        fs::write(place.join("cpuinfo"), "second").unwrap();
        let mut files = Files::new(dir.path());
        files.recall(&pus);
        assert_eq!(files.text("/proc/cpuinfo").unwrap(), "second");

        let mut own = Files::new(Path::new("/"));
        let said = own.text("/proc/cpuinfo");
        own.keep(&pus);
        let mut again = Files::new(Path::new("/"));
        again.recall(&pus);
        let constant = again.constant.clone().unwrap();
        assert!(constant.contains_key("/proc/cpuinfo"));
        assert_eq!(again.text("/proc/cpuinfo"), said);
        again.recall(&CpuList::from([0]));
        assert!(again.constant.is_none());
        own.recall(&pus);
    }
}
