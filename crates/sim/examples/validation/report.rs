//! The document and its pictures: put together, written, or compared with what is there.

use std::fmt::Write;
use std::path::Path;

/// A section: its title, and who makes it.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) make: fn() -> Part,
}

/// What a section gives.
pub(crate) enum Part {
    /// Markdown below its title; and SVG, by file names in docs/validation.
    Made {
        text: String,
        pictures: Vec<(&'static str, String)>,
    },
    /// What it needs is not on this machine; the document keeps what it says.
    Skipped { why: String },
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Made {
            text,
            pictures: Vec::new(),
        }
    }
}

/// The document while it grows.
pub(crate) struct Page<'a> {
    text: String,
    old: &'a str,
    pictures: Vec<(&'static str, String)>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(head: &str, old: &'a str) -> Self {
        Self {
            text: head.to_owned(),
            old,
            pictures: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, title: &str, text: &str, pictures: Vec<(&'static str, String)>) {
        let _ = write!(self.text, "\n## {title}\n\n{}\n", text.trim());
        self.pictures.extend(pictures);
    }

    /// The section as the document has it, if it does.
    pub(crate) fn keep(&mut self, title: &str) {
        let head = format!("\n## {title}\n");
        if let Some((_, rest)) = self.old.split_once(&head) {
            let text = rest.split("\n## ").next().unwrap_or_default();
            let text = text.trim().to_owned();
            self.add(title, &text, Vec::new());
        }
    }

    /// Writes what differs, or says what does.
    pub(crate) fn settle(self, folder: &Path, check: bool) -> Result<(), String> {
        let names = self
            .pictures
            .iter()
            .map(|(name, _)| format!("validation/{name}"));
        let names = std::iter::once("validation.md".to_owned()).chain(names);
        let texts = std::iter::once(&self.text).chain(self.pictures.iter().map(|(_, text)| text));
        let mut differences = String::new();
        for (name, text) in names.zip(texts) {
            let path = folder.join(&name);
            let old = std::fs::read_to_string(&path).unwrap_or_default();
            if old == *text {
                continue;
            }
            if check {
                let _ = writeln!(differences, "docs/{name}:\n{}", difference(&old, text));
                continue;
            }
            let parent = path.parent().unwrap_or(folder);
            let written =
                std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text));
            written.map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
            println!("docs/{name} is new");
        }
        match differences.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "{differences}\nNot what would be written. If the new figures are right: \
                 cargo run --release -p corecast-sim --example validation"
            )),
        }
    }
}

/// The lines of each section, the head first.
fn sections(text: &str) -> Vec<Vec<&str>> {
    let mut sections = vec![Vec::new()];
    for line in text.lines() {
        if line.starts_with("## ") {
            sections.push(Vec::new());
        }
        sections.last_mut().expect("the head").push(line);
    }
    sections
}

/// The lines that differ, from the first to the last of them in each section.
fn difference(old: &str, new: &str) -> String {
    let (mut old, mut new) = (sections(old), sections(new));
    let count = old.len().max(new.len());
    old.resize(count, Vec::new());
    new.resize(count, Vec::new());
    let (mut text, mut line) = (String::new(), 1);
    for (old, new) in old.iter().zip(&new) {
        if old != new {
            let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
            let back = old.iter().rev().zip(new.iter().rev());
            let tail = back.take_while(|(a, b)| a == b).count();
            let tail = tail.min(old.len().min(new.len()) - same);
            let _ = writeln!(text, "@@ line {} @@", line + same);
            for line in &old[same..old.len() - tail] {
                let _ = writeln!(text, "-{line}");
            }
            for line in &new[same..new.len() - tail] {
                let _ = writeln!(text, "+{line}");
            }
        }
        line += old.len();
    }
    text
}

/// A table in Markdown. The first column is to the left, the others to the right.
pub(crate) fn table<const COLUMNS: usize>(
    head: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> String {
    let mut text = format!(
        "| {} |\n| ---{} |\n",
        head.join(" | "),
        " | ---:".repeat(COLUMNS - 1)
    );
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

/// By how much `found` is above (or below) what it should be.
pub(crate) fn percent(found: f64, expected: f64) -> String {
    let percent = 100.0 * (found / expected - 1.0);
    // Not minus nothing.
    let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
    format!("{percent:+.1} %")
}
