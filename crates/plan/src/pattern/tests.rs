use super::*;

#[test]
fn names_are_read_back() {
    for (name, pattern) in Pattern::PLAIN {
        assert_eq!(name.parse(), Ok(pattern));
        assert_eq!(pattern.to_string(), name);
    }
    assert_eq!("knomial:4".parse(), Ok(Pattern::Knomial { radix: 4 }));
    assert_eq!(
        "dissemination".parse(),
        Ok(Pattern::Dissemination { radix: 2 })
    );
    assert_eq!(
        "dissemination:3".parse(),
        Ok(Pattern::Dissemination { radix: 3 })
    );
    assert_eq!(Pattern::Knomial { radix: 4 }.to_string(), "knomial:4");
    let levels = "levels:binomial/planned/flat";
    assert_eq!(levels.parse::<Pattern>().unwrap().to_string(), levels);
    assert_eq!(
        "levels:binomial/binomial/binomial".parse(),
        Ok(Pattern::Levels(LevelShapes::BINOMIAL))
    );
}

#[test]
fn bad_names_are_quoted() {
    for (text, part) in [
        (
            "heap",
            "\"heap\" is unknown: use one of best, optimal, smelt, binary",
        ),
        ("", "\"\" is unknown"),
        ("binary:2", "\"binary:2\" is unknown"),
        ("knomial", "at least 2"),
        ("knomial:", "at least 2"),
        ("knomial:0", "at least 2"),
        ("knomial:1", "is \"chain\""),
        ("knomial:-3", "\"knomial:-3\""),
        ("dissemination:1", "at least 2"),
        (
            "levels:flat/square/flat",
            "\"levels:flat/square/flat\": write the shapes of the three levels",
        ),
        (
            "knomial:99999999999999999999",
            "at least 2, and no greater than a team can be",
        ),
    ] {
        let error = text.parse::<Pattern>().unwrap_err().to_string();
        assert!(error.contains(part), "{error:?} lacks {part:?}");
    }
}

#[test]
fn patterns_are_text_in_json() {
    let json = serde_json::to_string(&Pattern::Knomial { radix: 3 }).unwrap();
    assert_eq!(json, "\"knomial:3\"");
    assert_eq!(
        serde_json::from_str::<Pattern>(&json).unwrap().radix(),
        Some(3)
    );
    assert!(serde_json::from_str::<Pattern>("\"knomial:1\"").is_err());
}
