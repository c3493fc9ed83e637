//! The list of the papers' tables leads to what there is.

use corecast_validation::sections::papers::{TABLES, TablePlace};
use std::path::Path;

#[test]
fn tables_of_the_papers_are_where_the_list_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = std::fs::read_to_string(root.join("docs/validation.md")).unwrap();
    let exists = |file: &str| assert!(root.join(file).is_file(), "{file}");
    for table in TABLES {
        match table.place {
            TablePlace::Section(title) => {
                assert!(document.contains(&format!("\n## {title}\n")), "{title}");
            }
            TablePlace::Elsewhere { file, .. } => exists(file),
            TablePlace::Nowhere(why) => {
                let named = why.split('`').skip(1).step_by(2);
                named.filter(|name| name.ends_with(".md")).for_each(exists);
            }
        }
    }
}

#[test]
fn tables_are_numbered_without_a_gap() {
    for pair in TABLES.windows(2) {
        let expected = match pair[0].paper == pair[1].paper {
            true => pair[0].number + 1,
            false => 1,
        };
        assert_eq!(pair[1].number, expected, "{}", pair[1].paper);
    }
}
