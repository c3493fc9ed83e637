//! Tests that the header is what cbindgen writes from the sources, and that it declares everything once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

/// The variable that makes the test write the header instead of comparing it.
const WRITE: &str = "CORECAST_WRITE_HEADER";

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The header of the current sources. cbindgen gets `lib.rs` alone, because it follows the modules from there
/// and would read other given files twice.
fn generated() -> &'static str {
    static GENERATED: OnceLock<String> = OnceLock::new();
    GENERATED.get_or_init(|| {
        let config = cbindgen::Config::from_file(here().join("cbindgen.toml")).unwrap();
        let builder = cbindgen::Builder::new().with_config(config);
        let bindings = builder.with_src(here().join("src/lib.rs")).generate();
        let mut text = Vec::new();
        bindings.unwrap().write(&mut text);
        in_words_of_c(&String::from_utf8(text).unwrap())
    })
}

/// Rewrites the `# Safety` sections of Rust for callers in C.
fn in_words_of_c(text: &str) -> String {
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
    let path = here().join("include/corecast.h");
    let generated = generated();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, generated).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let mut pairs = kept.lines().zip(generated.lines()).enumerate();
    if let Some((number, (kept, generated))) = pairs.find(|(_, (a, b))| a != b) {
        panic!(
            "include/corecast.h, line {}: {kept:?} should be {generated:?}; write it anew: \
             {WRITE}=1 cargo test -p corecast-c --test c header",
            number + 1
        );
    }
    assert_eq!(kept.len(), generated.len(), "write the header anew");
}

/// A declaration of the header, and the comment before it.
#[derive(Debug)]
struct Declaration {
    comment: String,
    code: String,
}

impl Declaration {
    /// The function that this declares.
    fn function(&self) -> Option<&str> {
        let head = self.code.split('(').next()?;
        let name = head.rsplit([' ', '*']).next()?;
        let is_function = self.code.contains('(')
            && !self.code.starts_with("typedef")
            && !self.code.starts_with("extern");
        (is_function && name.starts_with("corecast_")).then_some(name)
    }

    /// The constant that this declares.
    fn constant(&self) -> Option<&str> {
        let rest = self.code.strip_prefix("extern const ")?;
        rest.rsplit(' ').next()
    }

    /// The type that this declares.
    fn type_name(&self) -> Option<&str> {
        let rest = self.code.strip_prefix("typedef ")?;
        match rest.split_once("(*") {
            Some((_, pointer)) => pointer.split(')').next(),
            None => rest.rsplit(' ').next(),
        }
    }
}

/// The declarations of the header, in order. Preprocessor lines are left out, and braces are not split.
fn declarations(header: &str) -> Vec<Declaration> {
    let mut found = Vec::new();
    let (mut comment, mut code, mut depth) = (String::new(), String::new(), 0usize);
    let header = &header[header.find("*/").expect("the comment at the top") + 2..];
    for line in header.lines() {
        let (before, said) = line.split_once("//").unwrap_or((line, ""));
        let statement = before.trim();
        if depth == 0 && code.is_empty() {
            if statement.starts_with('#') || statement == "extern \"C\" {" || statement == "}" {
                comment.clear();
                continue;
            }
            if statement.is_empty() {
                match line.trim().starts_with("//") {
                    true => comment += said,
                    false => comment.clear(),
                }
                continue;
            }
        }
        depth += statement.matches('{').count();
        depth -= statement.matches('}').count();
        if !code.is_empty() && !statement.is_empty() {
            code.push(' ');
        }
        code += statement;
        if depth == 0 && code.ends_with(';') {
            let code = std::mem::take(&mut code).trim_end_matches(';').to_owned();
            let comment = std::mem::take(&mut comment);
            found.push(Declaration { comment, code });
        }
    }
    assert!(code.is_empty(), "{code:?} has no end");
    found
}

/// The number of declarations of each name.
fn counts<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}

/// Collects the functions and constants that the sources in `folder` export to C.
fn exported(folder: &Path, functions: &mut BTreeSet<String>, constants: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            exported(&path, functions, constants);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let name = |rest: &str| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            rest[..end.unwrap()].to_owned()
        };
        for part in text.split("#[unsafe(no_mangle)]").skip(1) {
            if let Some((_, rest)) = part.split_once("pub static ")
                && part.find("pub static") < Some(part.find("fn ").unwrap_or(usize::MAX))
            {
                constants.insert(name(rest));
            } else {
                let (_, rest) = part.split_once("extern \"C\" fn ").expect("a function");
                functions.insert(name(rest));
            }
        }
    }
}

#[test]
fn everything_is_declared_exactly_once() {
    let declarations = declarations(generated());
    let functions = counts(declarations.iter().filter_map(Declaration::function));
    let constants = counts(declarations.iter().filter_map(Declaration::constant));
    let types = counts(declarations.iter().filter_map(Declaration::type_name));
    for (name, times) in functions.iter().chain(&constants).chain(&types) {
        assert_eq!(*times, 1, "{name} is declared {times} times");
    }
    // Every declaration is one of these, so all are counted.
    let sorts = functions.len() + constants.len() + types.len();
    assert_eq!(sorts, declarations.len(), "{declarations:#?}");

    let (mut expected_functions, mut expected_constants) = Default::default();
    let sources = here().join("src");
    exported(&sources, &mut expected_functions, &mut expected_constants);
    let declared: BTreeSet<String> = functions.keys().map(|&name| name.to_owned()).collect();
    assert_eq!(declared, expected_functions);
    let declared: BTreeSet<String> = constants.keys().map(|&name| name.to_owned()).collect();
    assert_eq!(declared, expected_constants);
    assert!(expected_functions.len() > 80 && expected_constants.len() == 7);
}

#[test]
fn a_second_declaration_is_found() {
    let twice = "/* */\nvoid corecast_a(int b);\n\n// Says.\ntypedef struct corecast_b_t {\n  int c; // Of it.\n} \
                 corecast_b_t;\nvoid corecast_a(int b,\n                int c);\n";
    let declarations = declarations(twice);
    let functions = counts(declarations.iter().filter_map(Declaration::function));
    assert_eq!(functions, BTreeMap::from([("corecast_a", 2)]));
    assert_eq!(declarations[1].type_name(), Some("corecast_b_t"));
    assert_eq!(declarations[1].comment, " Says.");
}

#[test]
fn every_function_says_which_threads_may_call_it() {
    for declaration in declarations(generated()) {
        if let Some(function) = declaration.function() {
            let comment = &declaration.comment;
            assert!(
                comment.contains(" Threads: one") || comment.contains(" Threads: any"),
                "no word about threads before {function}"
            );
        }
        assert!(
            !declaration.comment.is_empty(),
            "{} has no comment",
            declaration.code
        );
    }
}
