//! Parses a document: its title, its headings, its links, and its HTML.
//!
//! pulldown-cmark parses and renders. In between, headings get the ids that forges give them, links are rewritten by
//! a function of the caller, and tables are put into a box that scrolls by itself, so that no page is wider than its
//! window.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use std::collections::BTreeMap;

/// A heading below the title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The level, from 1 for the title to 6.
    pub level: u8,
    /// Its words, without markup.
    pub text: String,
    /// The id that a link's fragment names.
    pub id: String,
}

/// A parsed document.
pub struct Document<'text> {
    events: Vec<Event<'text>>,
    /// All headings in order; the title is the first one of level 1.
    pub headings: Vec<Heading>,
}

impl<'text> Document<'text> {
    /// Parses a document.
    pub fn parse(text: &'text str) -> Self {
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        let mut events: Vec<_> = Parser::new_ext(text, options).collect();
        let headings = name_headings(&mut events);
        Self { events, headings }
    }

    /// The words of the first heading of level 1, if there is one.
    pub fn title(&self) -> Option<&str> {
        let title = self.headings.iter().find(|heading| heading.level == 1);
        title.map(|heading| heading.text.as_str())
    }

    /// Whether a link's fragment names a heading of this document.
    pub fn has_fragment(&self, fragment: &str) -> bool {
        self.headings.iter().any(|heading| heading.id == fragment)
    }

    /// The targets of all links and pictures, as they are written.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.as_ref())
            }
            _ => None,
        })
    }

    /// The document as HTML. `rewrite` gives the link on the site for a target as it is written.
    pub fn html(self, mut rewrite: impl FnMut(&str) -> String) -> String {
        let mut events = Vec::with_capacity(self.events.len());
        for mut event in self.events {
            let (mut before, mut after) = (None, None);
            match &mut event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    *dest_url = CowStr::from(rewrite(dest_url));
                }
                Event::Start(Tag::Table(_)) => before = Some("<div class=\"table\">"),
                Event::End(TagEnd::Table) => after = Some("</div>\n"),
                _ => {}
            }
            events.extend(before.map(|box_| Event::Html(box_.into())));
            events.push(event);
            events.extend(after.map(|end| Event::Html(end.into())));
        }
        let mut text = String::new();
        html::push_html(&mut text, events.into_iter());
        text
    }
}

/// Gives every heading an id, and lists them.
fn name_headings(events: &mut [Event<'_>]) -> Vec<Heading> {
    let mut headings = Vec::new();
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for start in 0..events.len() {
        let Event::Start(Tag::Heading { level, .. }) = &events[start] else {
            continue;
        };
        let level = number(*level);
        let words = events[start..]
            .iter()
            .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
        let text: String = words
            .filter_map(|event| match event {
                Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
                Event::SoftBreak => Some(" "),
                _ => None,
            })
            .collect();
        let slug = slug(&text);
        let times = used.entry(slug.clone()).or_default();
        let id = match *times {
            0 => slug,
            n => format!("{slug}-{n}"),
        };
        *times += 1;
        if let Event::Start(Tag::Heading { id: place, .. }) = &mut events[start] {
            *place = Some(CowStr::from(id.clone()));
        }
        headings.push(Heading { level, text, id });
    }
    headings
}

fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// The id that forges give to a heading: lower case, hyphens for spaces, no punctuation.
///
/// ```
/// use corecast_site::markdown::slug;
/// assert_eq!(slug("`CORECAST_ALGO`, and what it does"), "corecast_algo-and-what-it-does");
/// ```
pub fn slug(text: &str) -> String {
    let kept = text.chars().filter_map(|c| match c {
        ' ' | '-' => Some('-'),
        '_' => Some('_'),
        c if c.is_alphanumeric() => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_ids_that_links_name() {
        let document = Document::parse("# A `title`\n\n## One & two\n\n## One & two\n\ntext\n");
        let ids: Vec<_> = document.headings.iter().map(|h| h.id.as_str()).collect();
        assert_eq!(ids, ["a-title", "one--two", "one--two-1"]);
        assert_eq!(document.title(), Some("A title"));
        assert!(document.has_fragment("one--two-1") && !document.has_fragment("one--two-2"));
    }

    #[test]
    fn links_are_rewritten_and_tables_are_boxed() {
        let text = "[a](b.md#c) ![d](e.svg)\n\n| x |\n| --- |\n| `y` |\n";
        let document = Document::parse(text);
        assert_eq!(document.targets().collect::<Vec<_>>(), ["b.md#c", "e.svg"]);
        let html = document.html(|target| target.replace(".md", ".html"));
        assert!(html.contains("<a href=\"b.html#c\">a</a>"), "{html}");
        assert!(html.contains("src=\"e.svg\""), "{html}");
        assert!(html.contains("<div class=\"table\"><table>"), "{html}");
    }
}
