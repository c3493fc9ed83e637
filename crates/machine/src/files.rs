//! Reading the kernel's small text files under a root that tests may put elsewhere.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::cpulist::CpuList;

/// More bytes than `/proc/cpuinfo` has on the largest machines. There is a limit because a fixture
/// or a container may put anything behind these names.
const FILE_BYTES_MAX: u64 = 32 << 20;

/// The directory that stands for `/`, and the sentences about what could not be read there.
pub(crate) struct Files {
    root: PathBuf,
    /// The assumptions so far, in order, each with the PUs that it is about, if any.
    assumptions: Vec<(String, CpuList)>,
}

impl Files {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            assumptions: Vec::new(),
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
        let path = self.at(path);
        // Only regular files: opening a FIFO would wait for a writer.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(path)
            .ok()?
            .take(FILE_BYTES_MAX)
            .read_to_end(&mut bytes)
            .ok()?;
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

    /// The numbers N of the entries `prefixN` of a directory, increasing.
    pub(crate) fn numbered(&self, directory: &str, prefix: &str) -> CpuList {
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
        assert_eq!(files.list("/good").unwrap().len(), 4);
        for odd in ["/empty", "/binary", "/index0", "/missing"] {
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
}
