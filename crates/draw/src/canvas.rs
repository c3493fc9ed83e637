//! The shapes and conventions that all SVG pictures share.
//!
//! Pictures are trees of the `svg` crate's elements, which escapes all text. This module adds what every picture
//! needs beyond that: a document with a white ground and a title, coordinates with two digits, arrowheads, and an
//! estimate of the width of a line of text.

use svg::node::element::{Circle, Definitions, Line, Marker, Path, Rectangle, Text, Title};
use svg::{Document, Node};

use crate::palette::Rgb;

/// An empty picture with a white ground and a title, which viewers show as a hint.
pub(crate) fn document(width: f64, height: f64, title: &str) -> Document {
    let (width, height) = (width.ceil(), height.ceil());
    Document::new()
        .set("viewBox", (0, 0, width, height))
        .set("width", width)
        .set("height", height)
        .set("font-family", "sans-serif")
        .set("font-size", 11)
        .set("role", "img")
        .add(Title::new(title))
        .add(rectangle(0.0, 0.0, width, height).set("fill", "#ffffff"))
}

/// The picture as text that ends with a line break.
pub(crate) fn finish(picture: &Document) -> String {
    format!("{picture}\n")
}

/// A line of text with its base line at `y`.
pub(crate) fn text(content: &str, x: f64, y: f64) -> Text {
    Text::new(content).set("x", round(x)).set("y", round(y))
}

/// A rectangle by its upper left corner, width and height.
pub(crate) fn rectangle(x: f64, y: f64, width: f64, height: f64) -> Rectangle {
    Rectangle::new()
        .set("x", round(x))
        .set("y", round(y))
        .set("width", round(width))
        .set("height", round(height))
}

/// A straight line.
pub(crate) fn line(from: (f64, f64), to: (f64, f64)) -> Line {
    Line::new()
        .set("x1", round(from.0))
        .set("y1", round(from.1))
        .set("x2", round(to.0))
        .set("y2", round(to.1))
}

/// A straight line as a path.
pub(crate) fn path(from: (f64, f64), to: (f64, f64)) -> Path {
    let ((x0, y0), (x1, y1)) = (from, to);
    let way = format!("M{} {}L{} {}", round(x0), round(y0), round(x1), round(y1));
    Path::new().set("d", way)
}

/// Defines an arrowhead, which a line takes by `marker-end="url(#id)"`.
pub(crate) fn arrowhead(id: &str, colour: &str) -> Definitions {
    Definitions::new().add(
        Marker::new()
            .set("id", id)
            .set("viewBox", "0 0 8 8")
            .set("refX", 8)
            .set("refY", 4)
            .set("markerUnits", "userSpaceOnUse")
            .set("markerWidth", 8)
            .set("markerHeight", 8)
            .set("orient", "auto-start-reverse")
            .add(Path::new().set("d", "M0 0 8 4 0 8z").set("fill", colour)),
    )
}

/// Adds a hint to `node`, which viewers show when the pointer rests on it.
pub(crate) fn with_hint<T: Node>(mut node: T, hint: &str) -> T {
    node.append(Title::new(hint));
    node
}

/// Rounds to two digits after the point, which are enough for a picture and keep the file small.
pub(crate) fn round(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

/// Mean width of a line of text in a sans-serif font of this size, as in DejaVu Sans, the widest in common use.
pub(crate) fn width_of(text: &str, size: f64) -> f64 {
    0.58 * size * text.chars().count() as f64
}

/// Coordinates as `points` of a polyline.
pub(crate) fn way(points: impl Iterator<Item = (f64, f64)>) -> String {
    let points = points.map(|(x, y)| format!("{},{}", round(x), round(y)));
    points.collect::<Vec<_>>().join(" ")
}

/// A small disc.
pub(crate) fn dot((x, y): (f64, f64), radius: f64, colour: Rgb) -> Circle {
    Circle::new()
        .set("cx", round(x))
        .set("cy", round(y))
        .set("r", radius)
        .set("fill", colour.hex())
}
