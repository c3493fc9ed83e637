//! Smelt's public machine database.

use crate::references::machine_database;
use corecast_model::MachineFile;

#[test]
fn the_public_machines_are_read() {
    let Some(folder) = machine_database() else {
        return;
    };
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("measured-trees.json") || path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let file = MachineFile::from_json(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(
            MachineFile::from_json(&file.to_json()).unwrap(),
            file,
            "{path:?}"
        );
        seen += 1;
    }
    assert_eq!(seen, 7);
}
