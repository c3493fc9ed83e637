//! The header says what the code does: cbindgen writes it from the sources, and it is kept so.

use std::path::{Path, PathBuf};

/// Set to write the header instead of comparing it.
const WRITE: &str = "CORECAST_WRITE_HEADER";

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let (folders, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| path.is_dir());
    let below = folders.iter().filter(|folder| !folder.ends_with("bin"));
    let below = below.flat_map(|folder| sources(folder));
    files.into_iter().chain(below).collect()
}

/// The header of the sources as they are.
fn generated() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in sources(&here.join("src")) {
        builder = builder.with_src(source);
    }
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    let text = String::from_utf8(text).unwrap();
    // What only Rust calls `# Safety` is what the caller sees to.
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        match line.trim_end() {
            "// # Safety" => {
                lines.pop();
                lines.push("//");
                lines.push("// The caller sees to it that");
            }
            "//" if lines.last() == Some(&"// The caller sees to it that") => {}
            line => lines.push(line),
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_header_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/corecast.h");
    let generated = generated();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let mut pairs = kept.lines().zip(generated.lines()).enumerate();
    if let Some((number, (kept, generated))) = pairs.find(|(_, (a, b))| a != b) {
        panic!(
            "include/corecast.h, line {}: {kept:?} should be {generated:?}; write it anew: \
             {WRITE}=1 cargo test -p corecast-c --test header",
            number + 1
        );
    }
    assert_eq!(kept.len(), generated.len(), "write the header anew");
}

#[test]
fn every_function_says_which_threads_may_call_it() {
    let mut comment = String::new();
    let mut functions = 0;
    for line in generated().lines() {
        match line.strip_prefix("//") {
            Some(text) => comment += text,
            None => {
                let function = line.contains(" corecast_") && line.contains('(');
                if function && !line.starts_with([' ', 't']) {
                    functions += 1;
                    assert!(
                        comment.contains(" Threads: one") || comment.contains(" Threads: any"),
                        "no word about threads before {line:?}"
                    );
                }
                comment.clear();
            }
        }
    }
    assert!(functions > 50, "{functions} functions found");
}
