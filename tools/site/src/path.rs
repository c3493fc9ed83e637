//! Maps paths of the repository to files of the site.
//!
//! All paths are relative to the repository's root and use `/`. The root itself is the empty path.

/// The folder of a path.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The path that `target`, written in a file of `folder`, leads to; `None` where it leaves the repository.
///
/// ```
/// use corecast_site::path::join;
/// assert_eq!(join("docs/guide", "../tuning.md").as_deref(), Some("docs/tuning.md"));
/// assert_eq!(join("docs", "../..").as_deref(), None);
/// ```
pub fn join(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The form that a path of the repository has on the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A Markdown file, which becomes a page.
    Document,
    /// A picture, which is copied.
    Picture,
    /// A folder, which becomes a list of its pages.
    Folder,
    /// Any other text, which becomes a page that shows it.
    Source,
}

impl Kind {
    /// The kind of a file, by its name.
    pub fn of_file(path: &str) -> Kind {
        match path.rsplit_once('.') {
            Some((_, "md")) => Kind::Document,
            Some((_, "svg" | "png")) => Kind::Picture,
            _ => Kind::Source,
        }
    }
}

/// The file on the site that a path of the repository becomes.
///
/// ```
/// use corecast_site::path::{Kind, on_site};
/// assert_eq!(on_site("README.md", Kind::Document), "index.html");
/// assert_eq!(on_site("docs/guide/README.md", Kind::Document), "docs/guide/index.html");
/// assert_eq!(on_site("docs/c.md", Kind::Document), "docs/c.html");
/// assert_eq!(on_site("crates/wire/src/lib.rs", Kind::Source), "crates/wire/src/lib.rs.html");
/// assert_eq!(on_site("benches/records", Kind::Folder), "benches/records/index.html");
/// ```
pub fn on_site(path: &str, kind: Kind) -> String {
    let folder_page = |folder: &str| match folder {
        "" => "index.html".to_owned(),
        folder => format!("{folder}/index.html"),
    };
    match kind {
        Kind::Picture => path.to_owned(),
        Kind::Folder => folder_page(path),
        Kind::Source => format!("{path}.html"),
        Kind::Document if path == "README.md" || path.ends_with("/README.md") => {
            folder_page(parent(path))
        }
        Kind::Document => format!("{}.html", path.trim_end_matches(".md")),
    }
}

/// The relative link from one file of the site to another one.
///
/// ```
/// use corecast_site::path::relative;
/// assert_eq!(relative("docs/guide/index.html", "docs/c.html"), "../c.html");
/// assert_eq!(relative("index.html", "docs/c.html"), "docs/c.html");
/// ```
pub fn relative(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let folders = from.len().min(to.len()) - 1;
    let shared = (0..folders).take_while(|&at| from[at] == to[at]).count();
    let mut link = "../".repeat(from.len() - 1 - shared);
    link.push_str(&to[shared..].join("/"));
    link
}
