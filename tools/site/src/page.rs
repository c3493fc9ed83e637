//! The frame around a page's content: sidebar, contents of the page, links to the pages before and after.

use crate::path::relative;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style sheet of all pages.
pub const STYLE: &str = include_str!("style.css");

/// The style sheet's file on the site.
pub const STYLE_FILE: &str = "style.css";

/// A link to a file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The text of the link.
    pub text: String,
    /// The file to which it leads.
    pub file: String,
}

/// The sidebar of every page: sections with their links.
pub type Sidebar = Vec<(String, Vec<Link>)>;

/// One page before it is framed.
pub struct Page {
    /// Its file on the site.
    pub file: String,
    /// Its title.
    pub title: String,
    /// Its content, as HTML.
    pub content: String,
    /// Links to its own sections: the text, and the fragment.
    pub parts: Vec<(String, String)>,
}

impl Page {
    /// The whole page as HTML.
    pub fn framed(&self, sidebar: &Sidebar) -> String {
        let link = |to: &str| relative(&self.file, to);
        let pages: Vec<&Link> = sidebar.iter().flat_map(|(_, links)| links).collect();
        let place = pages.iter().position(|page| page.file == self.file);
        let before = place.and_then(|at| at.checked_sub(1)).map(|at| pages[at]);
        let after = place.and_then(|at| pages.get(at + 1)).copied();
        // The contents of the page are inserted below its title.
        let title_ends = self
            .content
            .find("</h1>")
            .map_or(0, |at| at + "</h1>".len());
        let (heading, text) = self.content.split_at(title_ends);
        let step = |rel: &str, mark: &str, page: &Link| -> Markup {
            html! { a rel=(rel) href=(link(&page.file)) { span { (mark) } (page.text) } }
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) @if self.title != "Corecast" { " · Corecast" } }
                    link rel="stylesheet" href=(link(STYLE_FILE));
                }
                body {
                    header {
                        a class="home" href=(link("index.html")) { "Corecast" }
                        a class="to-contents" href="#contents" { "All pages" }
                    }
                    main {
                        article {
                            (PreEscaped(heading))
                            @if self.parts.len() > 2 {
                                details class="parts" {
                                    summary { "On this page" }
                                    ul {
                                        @for (text, id) in &self.parts {
                                            li { a href={ "#" (id) } { (text) } }
                                        }
                                    }
                                }
                            }
                            (PreEscaped(text))
                        }
                        @if before.is_some() || after.is_some() {
                            p class="steps" {
                                @if let Some(page) = before { (step("prev", "Before", page)) }
                                @if let Some(page) = after { (step("next", "Next", page)) }
                            }
                        }
                    }
                    nav id="contents" aria-label="All pages" {
                        @for (title, links) in sidebar {
                            h2 { (title) }
                            ul {
                                @for page in links {
                                    li {
                                        @if page.file == self.file {
                                            a aria-current="page" href=(link(&page.file)) { (page.text) }
                                        } @else {
                                            a href=(link(&page.file)) { (page.text) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        };
        page.into_string()
    }
}

/// The content of a page that shows a file.
pub fn source(path: &str, text: &str) -> String {
    html! {
        h1 { code { (path) } }
        pre class="source" { code { (text) } }
    }
    .into_string()
}

/// The content of a page that lists a folder.
pub fn listing(folder: &str, from: &str, links: &[Link]) -> String {
    html! {
        h1 { code { (folder) } }
        ul {
            @for entry in links {
                li { a href=(relative(from, &entry.file)) { (entry.text) } }
            }
        }
    }
    .into_string()
}
