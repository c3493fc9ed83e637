//! Follows the links from the documents that the sidebar lists, and writes the files.

use crate::markdown::Document;
use crate::navigation::{Section, sections};
use crate::page::{self, Link, Page, STYLE, STYLE_FILE, Sidebar};
use crate::path::{Kind, join, on_site, parent, relative};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A link whose target does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLink {
    /// The document that has the link.
    pub document: String,
    /// Its target as it is written.
    pub target: String,
    /// A sentence that says what is missing.
    pub reason: &'static str,
}

impl fmt::Display for DeadLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.document, self.target, self.reason)
    }
}

/// The content of a path of the repository.
enum Content {
    /// The text of a document or of another file.
    Text(String),
    /// The files of a folder, by their paths.
    Files(Vec<String>),
    /// A picture, which is copied without parsing.
    Bytes,
}

/// The site, with all paths of the repository that it shows.
pub struct Site {
    root: PathBuf,
    sections: Vec<Section>,
    entries: BTreeMap<String, (Kind, Content)>,
    dead: Vec<DeadLink>,
}

impl Site {
    /// Reads the documents of the repository at `root`, and everything that they link to.
    ///
    /// # Errors
    ///
    /// A document that the sidebar lists cannot be read, or a linked file is no text. Dead links are no error here:
    /// [`dead_links`](Self::dead_links) lists them.
    pub fn gather(root: &Path) -> Result<Self> {
        let sections = sections(root)?;
        let mut site = Self {
            root: root.to_owned(),
            sections,
            entries: BTreeMap::new(),
            dead: Vec::new(),
        };
        let listed = site.sections.iter().flat_map(|section| &section.documents);
        let mut open: Vec<String> = listed.cloned().collect();
        while let Some(path) = open.pop() {
            if !site.entries.contains_key(&path) {
                site.read(&path, &mut open)?;
            }
        }
        site.look_for_fragments();
        Ok(site)
    }

    /// Reads the file or folder at a path, and adds the paths to which it links to `open`.
    fn read(&mut self, path: &str, open: &mut Vec<String>) -> Result<()> {
        let file = self.root.join(path);
        if file.is_dir() {
            let files = files_in(&file, path)?;
            open.extend(files.iter().cloned());
            let entry = (Kind::Folder, Content::Files(files));
            self.entries.insert(path.to_owned(), entry);
            return Ok(());
        }
        let kind = Kind::of_file(path);
        if kind == Kind::Picture {
            self.entries.insert(path.to_owned(), (kind, Content::Bytes));
            return Ok(());
        }
        let text =
            fs::read_to_string(&file).with_context(|| format!("{path} cannot be read as text"))?;
        if kind == Kind::Document {
            for target in Document::parse(&text).targets() {
                let Some((to, _)) = local(path, target) else {
                    continue;
                };
                match to.and_then(|to| self.there(to)) {
                    Some(to) => open.push(to),
                    None => self.dead.push(DeadLink {
                        document: path.to_owned(),
                        target: target.to_owned(),
                        reason: "there is no such file",
                    }),
                }
            }
        }
        self.entries
            .insert(path.to_owned(), (kind, Content::Text(text)));
        Ok(())
    }

    /// The path whose page shows `path`: the readme for a folder that has one; `None` if there is no such file.
    fn there(&self, path: String) -> Option<String> {
        let file = self.root.join(&path);
        if file.join("README.md").is_file() {
            let readme = if path.is_empty() {
                "README.md".to_owned()
            } else {
                format!("{path}/README.md")
            };
            return Some(readme);
        }
        file.exists().then_some(path)
    }

    /// Adds to the dead links those whose file exists but has no such heading.
    fn look_for_fragments(&mut self) {
        let documents: BTreeMap<&str, Document<'_>> = self.documents().collect();
        let mut dead = Vec::new();
        for (path, document) in &documents {
            for target in document.targets() {
                let Some((Some(to), Some(fragment))) = local(path, target) else {
                    continue;
                };
                let Some(to) = self.there(to) else { continue };
                let found = documents
                    .get(to.as_str())
                    .is_some_and(|document| document.has_fragment(fragment));
                if !found {
                    dead.push(DeadLink {
                        document: (*path).to_owned(),
                        target: target.to_owned(),
                        reason: "there is no such heading",
                    });
                }
            }
        }
        self.dead.extend(dead);
    }

    /// All documents, parsed, by path.
    fn documents(&self) -> impl Iterator<Item = (&str, Document<'_>)> {
        self.entries.iter().filter_map(|(path, entry)| match entry {
            (Kind::Document, Content::Text(text)) => Some((path.as_str(), Document::parse(text))),
            _ => None,
        })
    }

    /// The dead links.
    pub fn dead_links(&self) -> &[DeadLink] {
        &self.dead
    }

    /// Writes all pages and pictures below `out`, and returns the number of files.
    ///
    /// # Errors
    ///
    /// A link is dead, two paths would become one file, or a file cannot be written.
    pub fn write(&self, out: &Path) -> Result<usize> {
        if !self.dead.is_empty() {
            let lines: Vec<_> = self.dead.iter().map(|link| format!("  {link}")).collect();
            bail!("links lead nowhere:\n{}", lines.join("\n"));
        }
        let sidebar = self.sidebar()?;
        let mut written: BTreeMap<String, &str> = BTreeMap::new();
        let style = (STYLE_FILE.to_owned(), "the style sheet");
        written.insert(style.0, style.1);
        put(out, STYLE_FILE, STYLE.as_bytes())?;
        for (path, (kind, content)) in &self.entries {
            let file = on_site(path, *kind);
            if let Some(other) = written.insert(file.clone(), path) {
                bail!("{path} and {other} would both become {file}");
            }
            if let Content::Bytes = content {
                put(out, &file, &fs::read(self.root.join(path))?)?;
                continue;
            }
            let page = self.page(path, *kind, content, file);
            put(out, &page.file, page.framed(&sidebar).as_bytes())?;
        }
        Ok(written.len())
    }

    fn sidebar(&self) -> Result<Sidebar> {
        let link = |path: &String| {
            let Some((Kind::Document, Content::Text(text))) = self.entries.get(path) else {
                bail!("{path} is no document");
            };
            let document = Document::parse(text);
            let title = document.title();
            ensure!(
                title.is_some(),
                "{path} has no title: its first line is no `# Title`"
            );
            Ok(Link {
                text: title.unwrap_or_default().to_owned(),
                file: on_site(path, Kind::Document),
            })
        };
        let section = |section: &Section| {
            let links = section.documents.iter().map(link).collect::<Result<_>>()?;
            Ok((section.title.clone(), links))
        };
        self.sections.iter().map(section).collect()
    }

    fn page(&self, path: &str, kind: Kind, content: &Content, file: String) -> Page {
        let plain = |content| Page {
            file: file.clone(),
            title: path.to_owned(),
            content,
            parts: Vec::new(),
        };
        match content {
            Content::Text(text) if kind == Kind::Document => {
                let document = Document::parse(text);
                let title = document.title().unwrap_or(path).to_owned();
                let parts = document.headings.iter().filter(|h| h.level == 2);
                let parts = parts.map(|h| (h.text.clone(), h.id.clone())).collect();
                let content = document.html(|target| self.rewritten(path, &file, target));
                Page {
                    file,
                    title,
                    content,
                    parts,
                }
            }
            Content::Text(text) => plain(page::source(path, text)),
            Content::Files(files) => {
                let links = files.iter().map(|path| Link {
                    text: path.rsplit('/').next().unwrap_or(path).to_owned(),
                    file: on_site(path, Kind::of_file(path)),
                });
                plain(page::listing(path, &file, &links.collect::<Vec<_>>()))
            }
            Content::Bytes => plain(String::new()),
        }
    }

    /// The link of a page for a target that is written in its document.
    fn rewritten(&self, document: &str, file: &str, target: &str) -> String {
        let Some((Some(to), fragment)) = local(document, target) else {
            return target.to_owned();
        };
        let Some((path, (kind, _))) = self
            .there(to)
            .and_then(|to| self.entries.get_key_value(&to))
        else {
            return target.to_owned();
        };
        let mut link = relative(file, &on_site(path, *kind));
        if let Some(fragment) = fragment {
            link.push('#');
            link.push_str(fragment);
        }
        link
    }
}

/// The path in the repository to which a link of `document` leads, and its fragment; `None` for a link to another
/// site. The path is `None` if it is outside of the repository.
fn local<'target>(
    document: &str,
    target: &'target str,
) -> Option<(Option<String>, Option<&'target str>)> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = match target.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment)),
        None => (target, None),
    };
    let to = if path.is_empty() {
        Some(document.to_owned())
    } else {
        join(parent(document), path)
    };
    Some((to, fragment))
}

/// The files of a folder that are not hidden, by name.
fn files_in(folder: &Path, path: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() && !name.starts_with('.') {
            files.push(format!("{path}/{name}"));
        }
    }
    files.sort();
    Ok(files)
}

fn put(out: &Path, file: &str, bytes: &[u8]) -> Result<()> {
    let path = out.join(file);
    let folder = path.parent().unwrap_or(out);
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    fs::write(&path, bytes).with_context(|| format!("{} cannot be written", path.display()))
}
