//! Renders the documents of the repository as a static site.
//!
//! The site starts from the README, the architecture, the changelog and everything in `docs/`, and follows their links:
//! each Markdown file becomes a page, each other text file that is linked becomes a page that shows it, each folder a
//! list, and each picture is copied. The folders of the site are those of the repository, so a relative link that works
//! in one works in the other. A dead link is an error that names the page and the target.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`path`] | maps paths of the repository to files of the site |
//! | [`markdown`] | parses a document: title, headings, links, HTML |
//! | [`navigation`] | lists the pages of the sidebar, in order |
//! | [`page`] | puts the frame around a page's content |
//! | [`site`] | follows the links, and writes the files |
#![forbid(unsafe_code)]

pub mod markdown;
pub mod navigation;
pub mod page;
pub mod path;
pub mod site;

pub use site::Site;
