//! How pictures are written: numbers and lines of text in SVG.

use svg::node::element::Text;

/// A line of text with its base line at `y`.
pub(super) fn text(content: &str, x: f64, y: f64) -> Text {
    Text::new(content)
        .set("x", round(x))
        .set("y", round(y))
        .set("fill", "#222222")
}

/// Two digits after the point are enough for a picture and keep the file small.
pub(super) fn round(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}
