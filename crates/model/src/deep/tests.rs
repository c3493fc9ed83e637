use super::*;
use crate::{FileError, MachineFile, synthetic};

/// A section with something of everything.
fn full() -> Deep {
    serde_json::from_str(include_str!("example.json")).unwrap()
}

fn file() -> MachineFile {
    let file = synthetic("core:2").unwrap();
    file.with_deep(full()).unwrap()
}

#[test]
fn written_and_read_again_it_is_the_same() {
    let file = file();
    let again = MachineFile::from_json(&file.to_json()).unwrap();
    assert_eq!(again, file);
    assert_eq!(again.deep(), Some(&full()));
    assert_eq!(again.deep().unwrap().quantity("pause").unwrap().unit, "ns");
    assert!(again.deep().unwrap().quantity("stop").is_none());
}

#[test]
fn a_file_without_it_has_none() {
    let file = synthetic("core:2").unwrap();
    assert!(!file.to_json().contains("deep"));
    assert_eq!(
        MachineFile::from_json(&file.to_json()).unwrap().deep(),
        None
    );
}

#[test]
fn bad_sections_are_refused_with_what_was_found() {
    let text = file().to_json();
    for (from, to, part) in [
        ("{\"schema\":1,", "{\"schema\":2,", "schema 2"),
        ("{\"schema\":1,", "{", "missing field `schema`"),
        (
            "\"steal\":0.0",
            "\"steal\":0.0,\"steal\":1.0",
            "duplicate field `steal`",
        ),
        (
            "\"value\":61.1",
            "\"value\":61.1,\"value\":1.0",
            "duplicate field `value`",
        ),
        (
            "\"same L3 cache\"",
            "\"same L0 cache\"",
            "\"same L0 cache\" is unknown",
        ),
        ("\"other package\"", "\"beside\"", "\"beside\" is unknown"),
        ("\"L2\"", "\"L02\"", "\"L02\" is unknown"),
        ("\"shared\"", "\"owned\"", "`owned`"),
        ("\"write\"", "\"erase\"", "`erase`"),
        ("61.1", "-61.1", "latencies[0].value is -61.1"),
        ("61.1", "1e16", "latencies[0].value is 1"),
        ("61.1", "\"61\"", "\"61\""),
        ("\"x\":8", "\"x\":1", "curves[0].points[1].x is 1 after 1"),
        (
            "\"misfit\":0.1",
            "\"misfit\":-1",
            "curves[0].fit.misfit is -1",
        ),
        ("\"steal\":0.0", "\"steal\":-2", "clock.steal is -2"),
        (
            "\"half_width\":0.25",
            "\"half_width\":-1",
            "half_width is -1",
        ),
        ("\"first\":1.0", "\"first\":null", "null"),
        ("\"steady\"", "\"stable\"", "`stable`"),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        let error = MachineFile::from_json(&text.replacen(from, to, 1)).expect_err(to);
        let line = error.to_string();
        assert!(line.contains(part), "{line:?} lacks {part:?}");
        assert!(!line.contains('\n'), "{line:?}");
    }
}

#[test]
fn numbers_that_no_time_may_be_are_refused_before_they_are_written() {
    let mut deep = full();
    deep.readers[0].ns.value = f64::NAN;
    let error = synthetic("core:2").unwrap().with_deep(deep).unwrap_err();
    assert!(matches!(error, FileError::Deep { .. }), "{error}");
    assert!(error.to_string().contains("readers[0].value is NaN"));
}

#[test]
fn words_are_written_in_one_way() {
    let nears = [
        Near::Own,
        Near::SameCore,
        Near::SameCache(2),
        Near::SameNumaNode,
        Near::SamePackage,
        Near::OtherPackage,
    ];
    assert!(nears.is_sorted());
    for near in nears {
        assert_eq!(Near::try_from(near.to_string()), Ok(near));
    }
    for level in [Level::Cache(1), Level::Cache(255), Level::Memory] {
        assert_eq!(Level::try_from(level.to_string()), Ok(level));
    }
    for text in ["L", "L256", "L+1", "l1", "Memory"] {
        assert!(Level::try_from(text.to_owned()).unwrap_err().contains(text));
    }
}
