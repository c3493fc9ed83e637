//! The machine as nested boxes, in the manner of lstopo.
//!
//! Sizes are computed from the inside out; each box arranges its parts in as many columns as bring
//! it nearest to the shape of a screen. The picture's nominal size is bounded, so a machine with a thousand threads
//! has small print and the picture is not larger.

use svg::Node;
use svg::node::element::Group;

use super::boxes::{Kind, Part};
use crate::canvas::{self, rectangle, text};
use crate::palette::category;

/// Size of the text.
const FONT: f64 = 12.0;
/// Height of a line of text.
const LINE: f64 = 16.0;
/// Space around and between boxes.
const GAP: f64 = 8.0;
/// Mean width of a character in DejaVu Sans, the widest font in common use.
const GLYPH: f64 = 0.62 * FONT;
/// The preferred ratio of a box's width to its height.
const SHAPE: f64 = 1.6;
/// Largest nominal width and height of the picture.
const LARGEST: (f64, f64) = (1600.0, 1200.0);

/// A box with its size, and its parts with their places.
struct Placed<'a> {
    part: &'a Part,
    lines: Vec<&'a str>,
    width: f64,
    height: f64,
    inside: Vec<(f64, f64, Placed<'a>)>,
}

/// The picture of `machine`; `notes` are set below it, one line each.
#[must_use]
pub fn svg(machine: &Part, notes: &[String]) -> String {
    let placed = place(machine);
    let longest = notes.iter().map(|n| n.chars().count()).max().unwrap_or(0) as f64 * GLYPH;
    let width = placed.width.max(longest) + 2.0 * GAP;
    let height = placed.height + 2.0 * GAP + notes.len() as f64 * LINE;
    let scale = (LARGEST.0 / width).min(LARGEST.1 / height).min(1.0);
    let mut boxes = Group::new();
    add(&mut boxes, &placed, GAP, GAP);
    for (k, note) in notes.iter().enumerate() {
        let y = placed.height + GAP + (k as f64 + 1.0) * LINE;
        boxes.append(text(note, GAP, y).set("fill", "#555555"));
    }
    let picture = canvas::document(width, height, &machine.label)
        .set("width", (width * scale).round())
        .set("height", (height * scale).round())
        .set("font-size", FONT)
        .set("fill", "#222222")
        .add(boxes);
    canvas::finish(&picture)
}

/// Finds the size of `part` and the places of everything in it.
fn place(part: &Part) -> Placed<'_> {
    let lines: Vec<&str> = match part.kind {
        Kind::Core => part.label.split(", ").collect(),
        _ => vec![part.label.as_str()],
    };
    let children: Vec<Placed<'_>> = part.parts.iter().map(place).collect();
    let head = GAP + lines.len() as f64 * LINE;
    let label = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0) as f64 * GLYPH;
    let (mut inner, mut inside) = ((0.0, 0.0), Vec::new());
    if part.kind == Kind::Core {
        let (w, h) = pu_size(part);
        inner = (part.pus.len() as f64 * (w + GAP) - GAP, h);
    } else if !children.is_empty() {
        let columns = best_columns(&children, head);
        let (cell_w, cell_h) = largest(&children);
        inner = (
            columns as f64 * (cell_w + GAP) - GAP,
            children.len().div_ceil(columns) as f64 * (cell_h + GAP) - GAP,
        );
        for (k, mut child) in children.into_iter().enumerate() {
            let (x, y) = (
                (k % columns) as f64 * (cell_w + GAP),
                (k / columns) as f64 * (cell_h + GAP),
            );
            (child.width, child.height) = (cell_w, cell_h);
            inside.push((GAP + x, head + y, child));
        }
    }
    let width = f64::max(inner.0, label) + 2.0 * GAP;
    Placed {
        part,
        lines,
        width,
        height: head + inner.1 + GAP,
        inside,
    }
}

/// The greatest width and the greatest height of the boxes.
fn largest(boxes: &[Placed<'_>]) -> (f64, f64) {
    boxes.iter().fold((0.0, 0.0), |(w, h), b| {
        (f64::max(w, b.width), f64::max(h, b.height))
    })
}

/// The number of columns that brings a box of `children` nearest to [`SHAPE`].
fn best_columns(children: &[Placed<'_>], head: f64) -> usize {
    let (w, h) = largest(children);
    let badness = |columns: usize| {
        let rows = children.len().div_ceil(columns);
        let empty = (rows * columns - children.len()) as f64 / children.len() as f64;
        let shape = columns as f64 * (w + GAP) / (head + rows as f64 * (h + GAP));
        (shape / SHAPE).ln().abs() + empty
    };
    (1..=children.len())
        .min_by(|&a, &b| badness(a).total_cmp(&badness(b)))
        .unwrap_or(1)
}

/// Width and height of a hardware thread's box in `core`.
fn pu_size(core: &Part) -> (f64, f64) {
    let digits = core
        .pus
        .iter()
        .map(|p| p.to_string().len())
        .max()
        .unwrap_or(1);
    ((digits + 3) as f64 * GLYPH + GAP, LINE + GAP / 2.0)
}

/// Adds the box, with its upper left corner at (x, y), and all boxes in it.
fn add(group: &mut Group, placed: &Placed<'_>, x: f64, y: f64) {
    let (fill, stroke) = colours(placed.part.kind);
    let frame = rectangle(x, y, placed.width, placed.height)
        .set("rx", 3)
        .set("fill", fill)
        .set("stroke", stroke);
    group.append(frame);
    for (k, line) in placed.lines.iter().enumerate() {
        let label = text(line, x + GAP, y + (k as f64 + 1.0) * LINE);
        let weight = if placed.part.kind == Kind::Machine {
            "bold"
        } else {
            "normal"
        };
        group.append(label.set("font-weight", weight));
    }
    for (dx, dy, child) in &placed.inside {
        add(group, child, x + dx, y + dy);
    }
    if placed.part.kind == Kind::Core {
        let (w, h) = pu_size(placed.part);
        let top = y + GAP + placed.lines.len() as f64 * LINE;
        for (k, pu) in placed.part.pus.iter().enumerate() {
            let left = x + GAP + k as f64 * (w + GAP);
            let square = rectangle(left, top, w, h)
                .set("rx", 2)
                .set("fill", "#ffffff")
                .set("stroke", "#888888");
            group.append(square);
            let name = text(&format!("PU {pu}"), left + w / 2.0, top + LINE - GAP / 4.0);
            group.append(name.set("text-anchor", "middle"));
        }
    }
}

/// Fill and outline of a box.
fn colours(kind: Kind) -> (String, String) {
    let pair = |fill: &str, stroke: &str| (fill.to_owned(), stroke.to_owned());
    match kind {
        Kind::Machine => pair("#ffffff", "#333333"),
        Kind::Package => pair("#f4f4f4", "#555555"),
        Kind::Numa(k) => ("#efdfde".to_owned(), category(k).hex()),
        Kind::Cache => pair("#ffffff", "#999999"),
        Kind::Core => pair("#cfcfcf", "#888888"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_lie_inside_their_parents_and_apart_from_each_other() {
        fn check(placed: &Placed<'_>) {
            for (k, (x, y, child)) in placed.inside.iter().enumerate() {
                assert!(*x >= 0.0 && x + child.width <= placed.width + 0.01);
                assert!(*y >= 0.0 && y + child.height <= placed.height + 0.01);
                for (x2, y2, other) in &placed.inside[k + 1..] {
                    let apart =
                        *x2 >= x + child.width || *y2 >= y + child.height || x2 + other.width <= *x;
                    assert!(apart);
                }
                check(child);
            }
        }
        let core = |k: u32| Part {
            kind: Kind::Core,
            label: format!("core {k}, L2 1 MiB"),
            parts: vec![],
            pus: vec![k],
        };
        for n in 0..20 {
            let node = Part {
                kind: Kind::Numa(0),
                label: "NUMA node 0".into(),
                parts: (0..n).map(core).collect(),
                pus: (0..n).collect(),
            };
            check(&place(&node));
            assert!(roxmltree::Document::parse(&svg(&node, &["a < b".into()])).is_ok());
        }
    }
}
