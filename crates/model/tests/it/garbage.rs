//! Damaged files of every kind: an error on one line, or a valid value that survives a round trip.

use corecast_model::{Deep, MachineFile, Profile, synthetic};
use serde_json::{Value, json};

/// A machine file in Corecast's own format, with all optional parts.
fn own() -> Value {
    let file = synthetic("package:2 numa:1 core:2 send=60,200 receive=220,750").unwrap();
    let rows = || vec![vec![1.5; 4]; 4];
    let file = file.with_intervals(rows(), rows()).unwrap();
    let deep: Deep = serde_json::from_str(include_str!("../../src/deep/example.json")).unwrap();
    let file = file.with_deep(deep).unwrap();
    serde_json::from_str(&file.to_json()).unwrap()
}

/// A machine file in the format of Smelt's machine database.
fn database() -> Value {
    let rows = [[0, 1, 2, 3], [1, 0, 2, 3], [1, 2, 0, 3], [1, 2, 3, 0]];
    json!({
        "name": "d", "cpu": "c", "sockets": 1, "threads_per_core": 2,
        "numa_nodes": [[0, 2], [1, 3]], "unit": "cycles", "send": rows, "receive": rows,
    })
}

fn profile() -> Value {
    json!({
        "schema": 1, "machine_key": "k", "created": "c",
        "entries": [{
            "operation": "barrier", "threads": [0, 1], "winner": "smelt",
            "candidates": [{
                "pattern": "smelt", "root": 0, "children": [[1], []],
                "predicted_ns": 280.5, "measured_ns": 251.25, "interval_ns": [250.0, 252.5],
            }],
        }],
    })
}

/// Returns the texts that are put in the place of any value.
fn intruders() -> Vec<String> {
    let deep = "[".repeat(300) + &"]".repeat(300);
    let long = format!("\"{}\"", "m".repeat(10_000));
    let plain = [
        "null",
        "true",
        "0",
        "-0.0",
        "-1",
        "0.5",
        "1e15",
        "1.0000001e15",
        "1e308",
        "1e999",
        "-1e999",
        "NaN",
        "Infinity",
        "18446744073709551615",
        "18446744073709551616",
        "4294967296",
        "-9223372036854775808",
        "5e-324",
        "\"\"",
        "\"NaN\"",
        "\"1\"",
        "\"\\u0000\\n\\u001b[31m\"",
        "\"\\ud800\"",
        "[]",
        "[[]]",
        "[1,2]",
        "{}",
        "{\"a\":{}}",
        "",
        "01",
        "+1",
        ".5",
        "0x10",
        "'a'",
    ];
    let plain = plain.into_iter().map(str::to_owned);
    plain.chain([deep, long]).collect()
}

/// The JSON of a value with a mark in place of one of its parts, for every part.
fn every_place(value: &Value, mark: &Value) -> Vec<Value> {
    let mut all = vec![mark.clone()];
    match value {
        Value::Array(list) => {
            for (at, item) in list.iter().enumerate() {
                all.extend(every_place(item, mark).into_iter().map(|changed| {
                    let mut list = list.clone();
                    list[at] = changed;
                    Value::Array(list)
                }));
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                all.extend(every_place(item, mark).into_iter().map(|changed| {
                    let mut map = map.clone();
                    map[key] = changed;
                    Value::Object(map)
                }));
            }
        }
        _ => {}
    }
    all
}

/// Checks that the error is one line that can be shown, however long or wild the input is.
fn one_line(error: &impl std::fmt::Display) {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
}

fn machine(text: &str) -> bool {
    match MachineFile::from_json(text) {
        Ok(file) => {
            file.machine().validate().unwrap();
            assert_eq!(MachineFile::from_json(&file.to_json()).as_ref(), Ok(&file));
            true
        }
        Err(error) => {
            one_line(&error);
            false
        }
    }
}

fn races(text: &str) -> bool {
    match Profile::from_json(text) {
        Ok(profile) => {
            assert_eq!(
                Profile::from_json(&profile.to_json()).as_ref(),
                Ok(&profile)
            );
            true
        }
        Err(error) => {
            one_line(&error);
            false
        }
    }
}

/// Puts each intruder in each place. Returns how many were accepted, and how many were tried.
fn intrude(value: &Value, read: fn(&str) -> bool) -> (usize, usize) {
    const MARK: &str = "@mark@";
    assert!(read(&value.to_string()), "the whole file is fine");
    let (mut accepted, mut tried) = (0, 0);
    for place in every_place(value, &MARK.into()) {
        let text = place.to_string();
        for intruder in intruders() {
            accepted += usize::from(read(&text.replace(&format!("\"{MARK}\""), &intruder)));
            tried += 1;
        }
    }
    (accepted, tried)
}

#[test]
fn any_value_in_any_place_is_answered() {
    let mut sums = Vec::new();
    for (value, read) in [
        (own(), machine as fn(&str) -> bool),
        (database(), machine),
        (profile(), races),
    ] {
        let (accepted, tried) = intrude(&value, read);
        // Costs may be many numbers and names any text, but most other values are refused.
        assert!(
            0 < accepted && 2 * accepted < tried,
            "{accepted} of {tried}"
        );
        sums.push((accepted, tried));
    }
    println!("accepted, tried: {sums:?}");
}

#[test]
fn any_key_may_be_missing_or_there_twice() {
    let own_optional: &[&str] = &["send_interval", "receive_interval", "deep"];
    let database_optional: &[&str] = &["cpu", "sockets", "threads_per_core", "unit"];
    for (value, read, optional) in [
        (own(), machine as fn(&str) -> bool, own_optional),
        (database(), machine, database_optional),
        (profile(), races, &[]),
    ] {
        let Value::Object(map) = &value else {
            panic!("an object")
        };
        for (key, item) in map {
            let mut fewer = map.clone();
            fewer.remove(key);
            let text = Value::Object(fewer).to_string();
            assert_eq!(
                read(&text),
                optional.contains(&key.as_str()),
                "{key} is missing"
            );
            // A reader must not choose between two values, whether they are equal or not.
            for other in [item.to_string(), "null".to_owned()] {
                let twice = format!("{{\"{key}\":{other},{}", &value.to_string()[1..]);
                assert!(!read(&twice), "{key} is there twice");
            }
        }
    }
}

#[test]
fn every_cut_and_every_byte_is_answered() {
    for (value, read) in [
        (own(), machine as fn(&str) -> bool),
        (database(), machine),
        (profile(), races),
    ] {
        let text = value.to_string();
        for at in 0..text.len() {
            assert!(!read(&text[..at]), "cut at {at}");
            for byte in *b"\0\"{}[],:9-e \\n" {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = byte;
                read(&String::from_utf8(bytes).unwrap());
            }
        }
    }
}

#[test]
fn ten_million_bytes_are_answered() {
    const SIZE: usize = 10_000_000;
    let mut state = 1_u32;
    let mut letter = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b' ' + (state >> 24) as u8 % 95)
    };
    let noise: String = (0..SIZE).map(&mut letter).collect();
    let open = |part: &str| part.repeat(SIZE / part.len());
    for text in [
        noise,
        open("["),
        open("{\"send\":"),
        open("0"),
        open(" "),
        open("\""),
    ] {
        assert!(!machine(&text) && !races(&text));
        assert!(synthetic(&text).is_err());
    }
    let row = format!("[[{}1]]", open("1,"));
    let text = own()
        .to_string()
        .replacen("\"send\":[", &format!("\"send\":{row},\"old\":["), 1);
    assert!(!machine(&text));
}
