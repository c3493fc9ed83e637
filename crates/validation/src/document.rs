//! Puts docs/validation.md and its pictures together, and writes them or compares them with the files that exist.

use std::fmt::Write;
use std::path::Path;

/// A section of the document.
pub struct Section {
    /// The heading, by which the section is found in an existing document.
    pub title: &'static str,
    /// Makes the content of the section.
    pub make: fn() -> Content,
}

/// What a section consists of.
pub enum Content {
    /// The section was made.
    Made {
        /// Markdown below the title.
        text: String,
        /// SVG, each with its file name in docs/validation.
        pictures: Vec<(&'static str, String)>,
    },
    /// This machine lacks what the section needs, so the document keeps the section that it has.
    Skipped {
        /// What the machine lacks.
        why: String,
    },
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Made {
            text,
            pictures: Vec::new(),
        }
    }
}

/// The document while sections are added to it.
pub struct Page<'a> {
    text: String,
    old: &'a str,
    pictures: Vec<(&'static str, String)>,
    beside: Vec<(&'static str, String)>,
}

impl<'a> Page<'a> {
    /// A document that begins with `head`; `old` is the text of the existing file.
    pub fn new(head: &str, old: &'a str) -> Self {
        Self {
            text: head.to_owned(),
            old,
            pictures: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// Adds another document of this text, which is written and compared with this one.
    pub fn add_beside(&mut self, name: &'static str, text: String) {
        self.beside.push((name, text));
    }

    /// Adds a section.
    pub fn add(&mut self, title: &str, text: &str, pictures: Vec<(&'static str, String)>) {
        let _ = write!(self.text, "\n## {title}\n\n{}\n", text.trim());
        self.pictures.extend(pictures);
    }

    /// Adds the section of this title from the existing file, if that has it.
    pub fn keep(&mut self, title: &str) {
        let head = format!("\n## {title}\n");
        if let Some((_, rest)) = self.old.split_once(&head) {
            let text = rest.split("\n## ").next().unwrap_or_default();
            let text = text.trim().to_owned();
            self.add(title, &text, Vec::new());
        }
    }

    /// Writes the files that differ; with `check` it writes nothing.
    ///
    /// # Errors
    ///
    /// With `check` the lines that differ; otherwise the file that cannot be written.
    pub fn flush(self, folder: &Path, check: bool) -> Result<(), String> {
        let names = self
            .pictures
            .iter()
            .map(|(name, _)| format!("validation/{name}"));
        let beside = self.beside.iter().map(|(name, _)| (*name).to_owned());
        let names = std::iter::once("validation.md".to_owned())
            .chain(names)
            .chain(beside);
        let texts = std::iter::once(&self.text).chain(
            self.pictures
                .iter()
                .chain(&self.beside)
                .map(|(_, text)| text),
        );
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
                 cargo run --release -p corecast-validation"
            )),
        }
    }
}

/// The lines of the head, then those of each section.
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

/// For each section that differs, all lines from the first difference to the last.
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

/// A table in Markdown. The first column is aligned to the left, the others to the right.
pub fn table<const COLUMNS: usize>(
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

/// By how many percent `found` is above or below `expected`.
pub fn percent(found: f64, expected: f64) -> String {
    let percent = 100.0 * (found / expected - 1.0);
    // Avoids "-0.0".
    let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
    format!("{percent:+.1} %")
}

/// How many ratios are at most `within`, and their geometric mean.
pub(crate) fn summary(ratios: impl Iterator<Item = f64>, within: f64) -> [String; 2] {
    let all: Vec<f64> = ratios.collect();
    let within = all.iter().filter(|&&ratio| ratio <= within).count();
    if all.is_empty() {
        return ["–".to_owned(), "–".to_owned()];
    }
    let mean = all.iter().map(|ratio| ratio.ln()).sum::<f64>() / all.len() as f64;
    [
        format!("{within} of {}", all.len()),
        format!("{:.2}", mean.exp()),
    ]
}
