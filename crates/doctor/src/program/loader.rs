//! Finds the libraries of a program as the system's loader does (ld.so(8)).
//!
//! Each needed name is looked for in the folders of `DT_RPATH` of the file that needs it and of those that loaded
//! that file, of `LD_LIBRARY_PATH`, of the file's own `DT_RUNPATH`, of `/etc/ld.so.conf`, and in the standard ones.
//! The search is breadth first, and a loaded name is not looked for again. Folders for particular processors
//! (`glibc-hwcaps`) and the words `$LIB` and `$PLATFORM` are not supported.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::elf::{self, Architecture, Elf};

/// How deep configuration files may include each other.
const INCLUDES_MAX: usize = 8;

/// The folders that are searched for every file's libraries.
#[derive(Clone, Debug, Default)]
pub(super) struct Folders {
    /// Libraries that are loaded before all others.
    pub(super) preload: Vec<String>,
    pub(super) library_path: Vec<String>,
    /// The folders of the loader's configuration, then the standard ones.
    pub(super) system: Vec<String>,
}

impl Folders {
    /// The folders of this process's environment and system, for programs of `architecture`.
    pub(super) fn here(architecture: Architecture) -> Self {
        let words = |name: &str, ends: &[char]| -> Vec<String> {
            let value = std::env::var_os(name).unwrap_or_default();
            let value = value.to_string_lossy();
            match value.is_empty() {
                true => Vec::new(),
                false => value.split(ends).map(str::to_owned).collect(),
            }
        };
        let mut preload = words("LD_PRELOAD", &[' ', ':']);
        preload.retain(|name| !name.is_empty());
        let mut system = configured(Path::new("/etc/ld.so.conf"), 0);
        for root in ["/", "/usr/"] {
            system.extend(architecture.folders().iter().map(|f| format!("{root}{f}")));
            system.push(format!("{root}lib"));
        }
        Self {
            preload,
            library_path: words("LD_LIBRARY_PATH", &[':', ';']),
            system,
        }
    }
}

/// The folders that a configuration file names, with those of the files that it includes.
fn configured(path: &Path, depth: usize) -> Vec<String> {
    let Ok(text) = fs::read_to_string(path) else {
        return Vec::new();
    };
    let mut folders = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        match line.split_once(char::is_whitespace) {
            Some(("include", pattern)) if depth < INCLUDES_MAX => {
                let base = path.parent().unwrap_or(Path::new("/"));
                for file in matching(&base.join(pattern.trim())) {
                    folders.extend(configured(&file, depth + 1));
                }
            }
            Some(("include" | "hwcap", _)) => {}
            _ => {
                let words = line.split(|c: char| c.is_whitespace() || matches!(c, ':' | ','));
                folders.extend(words.filter(|w| w.starts_with('/')).map(str::to_owned));
            }
        }
    }
    folders
}

/// The files that match `pattern`, sorted; only its last part may contain a star.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let Some(name) = pattern.file_name().and_then(|n| n.to_str()) else {
        return Vec::new();
    };
    let Some((begin, end)) = name.split_once('*') else {
        return vec![pattern.to_owned()];
    };
    let folder = pattern.parent().unwrap_or(Path::new("/"));
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let fits = |name: &str| {
        name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(fits))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

/// A loaded file: the program or a library.
#[derive(Clone, Debug)]
pub(super) struct Loaded {
    pub(super) path: PathBuf,
    pub(super) elf: Elf,
    /// Index of the file that needed it first, in the order of loading; absent for the program.
    parent: Option<usize>,
}

/// A needed library that was not found, and the file that needs it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Missing {
    /// The library.
    pub name: String,
    /// The file.
    pub needed_by: String,
}

/// The program at `path` and its libraries in the order of loading, and the libraries that are missing.
pub(super) fn load(path: &Path, elf: Elf, folders: &Folders) -> (Vec<Loaded>, Vec<Missing>) {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut places: BTreeSet<PathBuf> = BTreeSet::new();
    if let Some(loader) = &elf.interpreter {
        // The loader is in memory before all others, and with musl it is the C library as well.
        names.extend(
            Path::new(loader)
                .file_name()
                .map(|n| n.to_string_lossy().into_owned()),
        );
        names.extend(elf::read_plain(Path::new(loader)).and_then(|e| e.soname));
    }
    let preload = match elf.interpreter {
        Some(_) => folders.preload.clone(),
        None => Vec::new(),
    };
    let mut loaded = vec![Loaded {
        path: path.to_owned(),
        elf,
        parent: None,
    }];
    let mut missing = Vec::new();
    let mut next = 0;
    while next < loaded.len() {
        let wanted = match next {
            // The loader skips a missing library of `LD_PRELOAD` with a message.
            0 => [&preload[..], &loaded[0].elf.needed].concat(),
            _ => loaded[next].elf.needed.clone(),
        };
        for (k, name) in wanted.into_iter().enumerate() {
            if !names.insert(name.clone()) {
                continue;
            }
            let Some((path, elf)) = find(&name, &loaded, next, folders) else {
                if next > 0 || k >= preload.len() {
                    let needed_by = loaded[next].path.display().to_string();
                    missing.push(Missing { name, needed_by });
                }
                continue;
            };
            names.extend(elf.soname.clone());
            if places.insert(fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
                loaded.push(Loaded {
                    path,
                    elf,
                    parent: Some(next),
                });
            }
        }
        next += 1;
    }
    (loaded, missing)
}

/// Finds the library `name`, which file `by` needs.
fn find(name: &str, loaded: &[Loaded], by: usize, folders: &Folders) -> Option<(PathBuf, Elf)> {
    let architecture = loaded[0].elf.architecture;
    let fits = |path: PathBuf| {
        // The loader skips files for other processors.
        let elf = elf::read_plain(&path).filter(|elf| elf.architecture == architecture)?;
        Some((path, elf))
    };
    if name.contains('/') {
        return fits(expand(name, &loaded[by].path)?);
    }
    let own = |file: &Loaded, list: &[String]| -> Vec<PathBuf> {
        let places = list.iter().filter_map(|f| expand(f, &file.path));
        places.collect()
    };
    let mut places = Vec::new();
    if loaded[by].elf.runpath.is_empty() {
        let mut file = Some(by);
        while let Some(at) = file {
            places.extend(own(&loaded[at], &loaded[at].elf.rpath));
            file = loaded[at].parent;
        }
    }
    places.extend(own(&loaded[0], &folders.library_path));
    places.extend(own(&loaded[by], &loaded[by].elf.runpath));
    places.extend(folders.system.iter().map(PathBuf::from));
    places
        .into_iter()
        .find_map(|folder| fits(folder.join(name)))
}

/// `text` with `$ORIGIN` replaced by the folder of `file`; `None` if it has other words of the loader. An empty
/// text is the current folder.
fn expand(text: &str, file: &Path) -> Option<PathBuf> {
    let origin = file.parent().unwrap_or(Path::new("/")).to_string_lossy();
    let text = text
        .replace("${ORIGIN}", &origin)
        .replace("$ORIGIN", &origin);
    let unknown = ["$LIB", "${LIB}", "$PLATFORM", "${PLATFORM}"];
    if unknown.iter().any(|word| text.contains(word)) {
        return None;
    }
    Some(PathBuf::from(if text.is_empty() { "." } else { &text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_include_others() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        fs::create_dir(folder.path().join("d")).unwrap();
        write(
            "main",
            "# all\ninclude d/*.conf\n/last /of:/all # words\nhwcap 1 avx\n",
        );
        write("d/b.conf", "/b\n");
        write("d/a.conf", "/a\ninclude ../main\n");
        write("d/c.off", "/c\n");
        let folders = configured(&folder.path().join("main"), 0);
        // A file that includes itself does not recurse without end.
        assert!(folders.len() < 100);
        assert!(folders.ends_with(&["/b", "/last", "/of", "/all"].map(str::to_owned)));
        assert_eq!(
            (
                folders.contains(&"/a".into()),
                folders.contains(&"/c".into())
            ),
            (true, false)
        );
        assert_eq!(configured(Path::new("/nowhere/ld.so.conf"), 0), [""; 0]);
    }

    #[test]
    fn origin_is_the_folder_of_the_file() {
        let file = Path::new("/opt/p/bin/p");
        assert_eq!(
            expand("$ORIGIN/../lib", file),
            Some("/opt/p/bin/../lib".into())
        );
        assert_eq!(expand("${ORIGIN}", file), Some("/opt/p/bin".into()));
        assert_eq!(expand("", file), Some(".".into()));
        assert_eq!(expand("/usr/$LIB", file), None);
    }
}
