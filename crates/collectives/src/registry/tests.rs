//! Sizes behind names are what the names say.

use super::Selection;
use crate::{Algorithms, barrier, broadcast, entries};

/// Reads a size independently of the tables.
fn size(text: &str) -> usize {
    match text.split_at(text.len() - 1) {
        (number, "K") => number.parse::<usize>().unwrap() << 10,
        (number, "M") => number.parse::<usize>().unwrap() << 20,
        _ => text.parse().unwrap(),
    }
}

#[test]
fn names_say_the_sizes() {
    let mut with_sizes = 0;
    for entry in entries() {
        let Some(sizes) = entry.sizes else {
            continue;
        };
        with_sizes += 1;
        let values = sizes.kind.values();
        assert_eq!(sizes.names.len(), values.len());
        assert!(values.is_sorted_by(|a, b| a < b));
        for (name, value) in sizes.names.iter().zip(values) {
            let (base, text) = name.split_once(':').unwrap();
            assert_eq!((base, size(text)), (entry.name, *value));
            let mut asked = Algorithms::default();
            let operation = entry.collective.name();
            asked.ask(operation, &[(usize::MAX, Some(name))]).unwrap();
            assert_eq!(asked.asked(operation, 8).unwrap(), Some(*name));
        }
    }
    assert_eq!(with_sizes, 17);
}

#[test]
fn sizes_that_there_are_not_are_refused() {
    for (name, said) in [
        (
            "chain:33K",
            "no algorithm of broadcast is called 'chain:33K': take one of chain:4K, chain:8K, ",
        ),
        ("chain:", "is called 'chain:': take one of chain:4K"),
        ("chain:4K:4K", "is called 'chain:4K:4K'"),
        ("chain:4k", "is called 'chain:4k'"),
        (
            "messages:4K",
            "is called 'messages:4K': take one of messages, line, ",
        ),
        (":4K", "is called ':4K': take one of messages, line, "),
    ] {
        let error = name.parse::<Selection<broadcast::Algorithm>>().unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(said) && !error.contains('\n'),
            "{name}: {error}"
        );
    }
    let tree = barrier::Algorithm::Tree;
    assert_eq!(Selection::sized(tree, 2), None);
    assert_eq!(Selection::sized(barrier::Algorithm::MWay, 9), None);
    let three = Selection::sized(barrier::Algorithm::MWay, 3).unwrap();
    assert_eq!((three.name(), three.size()), ("m-way:3", Some(3)));
}
