//! The site has no dead links, and all its pages.

use super::root;
use corecast_site::{Site, path};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// All files below a folder, by relative path.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let relative = path.strip_prefix(folder).unwrap();
                found.insert(relative.to_string_lossy().into_owned());
            }
        }
    }
    found
}

/// The values of an attribute in a page.
fn attributes<'page>(page: &'page str, name: &str) -> Vec<&'page str> {
    let mark = format!(" {name}=\"");
    let values = page.split(mark.as_str()).skip(1);
    values.map(|rest| rest.split('"').next().unwrap()).collect()
}

/// The dead links of all pages, each with its page.
fn dead(pages: &BTreeMap<String, String>, files: &BTreeSet<String>) -> Vec<String> {
    let mut dead = Vec::new();
    for (page, text) in pages {
        let links = attributes(text, "href")
            .into_iter()
            .chain(attributes(text, "src"));
        for link in links.filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (to, fragment) = link
                .split_once('#')
                .map_or((link, None), |(to, f)| (to, Some(f)));
            let to = match to {
                "" => Some(page.clone()),
                to => path::join(path::parent(page), to),
            };
            let there = to.as_ref().is_some_and(|to| files.contains(to));
            let named = fragment.is_none_or(|fragment| {
                let target = to.as_ref().and_then(|to| pages.get(to));
                target.is_some_and(|text| attributes(text, "id").contains(&fragment))
            });
            if !there || !named {
                dead.push(format!("{page}: {link}"));
            }
        }
    }
    dead
}

#[test]
fn every_page_is_there_and_no_link_is_dead() {
    let out = tempfile::tempdir().unwrap();
    let site = Site::gather(&root()).unwrap();
    let number = site.write(out.path()).unwrap();
    let files = files(out.path());
    assert_eq!(files.len(), number);

    // Every document of the project has its page, and the entry page leads to the guide.
    for folder in ["docs", "docs/guide"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                let page = path::on_site(&format!("{folder}/{name}"), path::Kind::Document);
                assert!(files.contains(&page), "{folder}/{name} has no page");
            }
        }
    }
    for page in [
        "index.html",
        "ARCHITECTURE.html",
        "CHANGELOG.html",
        "docs/guide/index.html",
    ] {
        assert!(files.contains(page), "{page} is missing");
    }

    let pages: BTreeMap<String, String> = files
        .iter()
        .filter(|file| file.ends_with(".html"))
        .map(|file| {
            (
                file.clone(),
                std::fs::read_to_string(out.path().join(file)).unwrap(),
            )
        })
        .collect();
    let dead = dead(&pages, &files);
    assert!(dead.is_empty(), "dead links:\n  {}", dead.join("\n  "));
    for (page, text) in &pages {
        let links = attributes(text, "href").into_iter();
        let inward = links.filter(|link| !link.contains("://"));
        let markdown: Vec<_> = inward.filter(|link| link.contains(".md")).collect();
        assert!(
            markdown.is_empty(),
            "{page} links to Markdown: {markdown:?}"
        );
    }
}

/// A small repository in a folder of its own.
fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

#[test]
fn links_become_links_between_pages() {
    let root = repository(&[
        (
            "README.md",
            "# Corecast\n\n[guide](docs/guide/01-a.md#two) [code](src/lib.rs) [all](src)\n",
        ),
        (
            "docs/guide/01-a.md",
            "# A\n\n## Two\n\n[back](../../README.md) ![p](../p.svg) [out](https://example.org)\n",
        ),
        ("docs/p.svg", "<svg/>"),
        ("src/lib.rs", "fn f<T>() {}\n"),
        ("never/linked.md", "# N\n"),
    ]);
    let site = Site::gather(root.path()).unwrap();
    assert_eq!(site.dead_links(), []);
    let out = tempfile::tempdir().unwrap();
    site.write(out.path()).unwrap();
    let read = |file: &str| std::fs::read_to_string(out.path().join(file)).unwrap();
    assert!(read("index.html").contains("href=\"docs/guide/01-a.html#two\""));
    assert!(read("index.html").contains("href=\"src/lib.rs.html\""));
    assert!(read("index.html").contains("href=\"src/index.html\""));
    assert!(read("src/lib.rs.html").contains("fn f&lt;T&gt;() {}"));
    assert!(read("src/index.html").contains("href=\"lib.rs.html\""));
    assert!(read("docs/guide/01-a.html").contains("href=\"../../index.html\""));
    assert!(read("docs/guide/01-a.html").contains("src=\"../p.svg\""));
    assert!(read("docs/guide/01-a.html").contains("href=\"https://example.org\""));
    assert_eq!(read("docs/p.svg"), "<svg/>");
    assert!(
        !files(out.path())
            .iter()
            .any(|file| file.starts_with("never"))
    );
}

#[test]
fn dead_links_are_named_and_end_the_command() {
    let root = repository(&[
        (
            "README.md",
            "# Corecast\n\n[a](docs/no.md) [b](docs/guide/01-a.md#no) [c](../out.md) [d](#no)\n",
        ),
        ("docs/guide/01-a.md", "# A\n"),
    ]);
    let site = Site::gather(root.path()).unwrap();
    let dead: Vec<String> = site.dead_links().iter().map(ToString::to_string).collect();
    assert_eq!(
        dead,
        [
            "README.md: docs/no.md: there is no such file",
            "README.md: ../out.md: there is no such file",
            "README.md: docs/guide/01-a.md#no: there is no such heading",
            "README.md: #no: there is no such heading",
        ]
    );
    let out = tempfile::tempdir().unwrap();
    let error = site.write(out.path()).unwrap_err().to_string();
    assert!(error.contains("docs/no.md"), "{error}");
    assert!(files(out.path()).is_empty());
}

#[test]
fn a_listed_document_without_a_title_is_an_error() {
    let root = repository(&[("README.md", "no title\n"), ("docs/guide/01-a.md", "# A\n")]);
    let out = tempfile::tempdir().unwrap();
    let error = Site::gather(root.path())
        .unwrap()
        .write(out.path())
        .unwrap_err();
    assert!(
        error.to_string().contains("README.md has no title"),
        "{error}"
    );
}
