//! Names are read as they are written, and records as they are shown.

use super::*;

#[test]
fn kinds_are_read_by_their_names() {
    let operations = Collective::ALL.into_iter();
    let kinds = operations.flat_map(|one| [Kind::Operation(one), Kind::Start(one)]);
    let mut names = std::collections::BTreeSet::new();
    for kind in kinds.chain(Kind::OTHERS) {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert!(names.insert(kind.name()) && names.insert(kind.to_string()) | true);
    }
    for wrong in ["", "start", "start-", "start-for", "end of for", "Barrier"] {
        assert_eq!(wrong.parse::<Kind>(), Err(UnknownKind(wrong.to_owned())));
    }
}

#[test]
fn records_of_calls_and_of_code_are_read_as_they_were_written() {
    let call = Place::Call {
        file: "a.rs".into(),
        line: 1,
        column: 2,
        rank: 3,
    };
    let code = |object| Place::Code {
        object,
        address: 4,
        rank: object.map(|_| 6),
    };
    let sums = Sums {
        unsplit: 1,
        unsplit_ns: 5_000,
        ..Sums::of(true, 7_000, 11_000)
    };
    let wait = |place, kind| Wait { place, kind, sums };
    let record = Record {
        schema: SCHEMA,
        program: "p".into(),
        process: 1,
        seconds: 0.5,
        threads: 2,
        in_regions_ns: 3,
        objects: Vec::new(),
        waits: vec![
            wait(call, Kind::Start(Collective::Scan)),
            wait(code(Some(0)), Kind::Region),
            wait(code(None), Kind::BARRIER),
        ],
    };
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
    let shown = record.to_string();
    let lines: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect()
        })
        .collect();
    assert_eq!(
        lines[1],
        [
            "a.rs:1:2",
            "start of scan",
            "3",
            "1",
            "23.0 µs",
            "7.00 µs",
            "11.0 µs",
            "1 in 5.00 µs",
            "18.0 µs"
        ]
    );
    assert_eq!(lines[2][..3], ["0x4", "end of parallel", "6"]);
    assert_eq!(lines[3][..3], ["0x4", "barrier", "–"]);
    assert_eq!(lines.len(), 4);
}
