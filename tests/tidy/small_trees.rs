//! The search for circles over small crates: it finds what it must, and nothing else.

use crate::circles::groups;
use crate::modules::{Crate, Sources};

/// The groups of files that a crate of these files has, as names without `src/`; the first one is the root.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&[&str]]) {
    let path = |name: &str| format!("src/{name}");
    let sources: Sources = files
        .iter()
        .map(|(name, text)| (path(name), (*text).to_owned()))
        .collect();
    let all = Crate::read(&sources, &path(files[0].0));
    let name = |file: &usize| all.files[*file].trim_start_matches("src/").to_owned();
    let named = |group: &std::collections::BTreeSet<usize>| {
        let mut names: Vec<String> = group.iter().map(name).collect();
        names.sort();
        names
    };
    let found: Vec<Vec<String>> = groups(&all).iter().map(named).collect();
    assert_eq!(found, expected);
}

#[test]
fn files_that_import_downwards_are_no_circle() {
    check(
        &[
            ("lib.rs", "mod a; mod b; pub fn all() -> a::A { a::A }"),
            ("a.rs", "use crate::b::B; pub struct A; pub type C = B;"),
            ("b.rs", "pub struct B; impl B { pub fn b(&self) {} }"),
        ],
        &[],
    );
}

#[test]
fn a_circle_of_two_is_found() {
    check(
        &[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "use super::a::A; pub struct B(Box<A>);"),
        ],
        &[&["a.rs", "b.rs"]],
    );
}

#[test]
fn a_circle_of_three_is_found_once() {
    check(
        &[
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            (
                "a.rs",
                "use crate::{b::B, d::D}; pub struct A(B, D); pub fn make() {}",
            ),
            ("b.rs", "use crate::c::*; pub struct B(C);"),
            ("c.rs", "pub struct C; fn c() { crate::a::make() }"),
            ("d.rs", "pub struct D;"),
        ],
        &[&["a.rs", "b.rs", "c.rs"]],
    );
}

#[test]
fn a_re_export_hides_no_circle_and_makes_none() {
    // By the names of the root, of which neither file has one.
    check(
        &[
            (
                "lib.rs",
                "mod a; mod b; pub use a::A; pub use b::B as Other;",
            ),
            ("a.rs", "use crate::Other; pub struct A(Other);"),
            ("b.rs", "use crate::A; pub struct B(Box<A>);"),
        ],
        &[&["a.rs", "b.rs"]],
    );
    check(
        &[
            (
                "lib.rs",
                "mod a; mod b; pub use a::A; pub use b::B as Other;",
            ),
            ("a.rs", "use crate::Other; pub struct A(Other);"),
            ("b.rs", "pub struct B;"),
        ],
        &[],
    );
}

#[test]
fn a_parent_counts_by_its_own_code() {
    let child = "use super::Shape; pub fn draw(_: Shape) {}";
    // The parent's function uses the child, which uses the parent's type.
    check(
        &[
            ("lib.rs", "mod a;"),
            (
                "a.rs",
                "mod b; pub struct Shape; fn all() { b::draw(Shape) }",
            ),
            ("a/b.rs", child),
        ],
        &[&["a.rs", "a/b.rs"]],
    );
    // A parent that declares and re-exports is a façade.
    check(
        &[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b; pub use b::draw; pub struct Shape;"),
            ("a/b.rs", child),
        ],
        &[],
    );
}

#[test]
fn imports_for_methods_and_in_macros_count() {
    check(
        &[
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "use crate::b::Draw; pub struct A; fn a(it: A) { it.draw() }",
            ),
            (
                "b.rs",
                "pub trait Draw { fn draw(&self) { assert!(crate::a::A == 1) } }",
            ),
        ],
        &[&["a.rs", "b.rs"]],
    );
}

#[test]
fn tests_may_look_at_everything() {
    check(
        &[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            (
                "b.rs",
                "pub struct B; #[cfg(test)] mod tests { use crate::a::A; fn t() -> A { loop {} } }
                 #[cfg(all(test, not(miri)))] use crate::a::A;",
            ),
        ],
        &[],
    );
}

#[test]
fn a_function_that_is_called_as_a_module_is_another_thing() {
    check(
        &[
            (
                "lib.rs",
                "mod build; mod team; pub fn team() -> team::Team { build::build() }",
            ),
            (
                "build.rs",
                "use crate::team::Team; pub fn build() -> Team { Team }",
            ),
            ("team.rs", "pub struct Team;"),
        ],
        &[],
    );
}
