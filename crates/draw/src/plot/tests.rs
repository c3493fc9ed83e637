use super::*;
use crate::palette::{OTHERS, OURS, REFERENCE, Rgb};

fn point(x: f64, y: f64) -> Point {
    Point {
        x,
        y,
        low: 0.9 * y,
        high: 1.1 * y,
    }
}

#[test]
fn pictures_are_well_formed_and_show_what_they_were_given() {
    let series = |name: &str, colour: Rgb| Series {
        name: name.to_owned(),
        colour,
        bold: colour == OURS[0],
        points: vec![point(8.0, 300.0), point(4096.0, 2_000.0)],
    };
    let all = [
        series("Corecast & <co>", OURS[0]),
        series("floor", REFERENCE),
        series("somebody", OTHERS[0]),
    ];
    let bar = |label: &str, value: f64| Bar {
        label: label.to_owned(),
        value,
        low: 0.9 * value,
        high: 1.1 * value,
        note: "somebody".to_owned(),
    };
    let pictures = [
        curves("a title", Across::Bytes, &all),
        curves("a title", Across::Ranks, &all[..1]),
        curves("nothing", Across::Ranks, &[]),
        bars(
            "bars",
            &[bar("first", 0.3), bar("second", 1.0), bar("third", 40.0)],
        ),
        against("points", &[(1e2, 1e3), (1e9, 1e6)]),
    ];
    for text in &pictures {
        let document = roxmltree::Document::parse(text).unwrap();
        assert_eq!(document.root_element().tag_name().name(), "svg");
        for node in document.descendants().filter(|node| node.is_element()) {
            for attribute in node.attributes() {
                assert!(!attribute.value().contains("NaN"), "{text}");
            }
        }
    }
    assert!(
        pictures[0].contains("4.0 KiB") || pictures[0].contains("4 KiB"),
        "{}",
        pictures[0]
    );
    assert!(pictures[0].contains("Corecast &amp; &lt;co&gt;"));
    // Three curves have two points each.
    assert_eq!(pictures[0].matches("<circle").count(), 6);
    assert_eq!(pictures[3].matches("<rect").count(), 1 + 3);
}
