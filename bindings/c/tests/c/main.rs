//! The C and C++ programs in `tests/programs` and `examples`, compiled without a warning against an installed
//! library and run.

mod common;
mod header;
mod install;
mod readme;

use common::{C, CPP, Compiler, corecast, examples, run, skipped, there_is};
use std::path::Path;

/// The programs in C, each with a test of its own: valgrind runs one thread at a time.
macro_rules! c_programs {
    ($($name:ident),*) => {
        const C_PROGRAMS: &[&str] = &[$(stringify!($name)),*];

        mod programs_in_c_and_under_valgrind {
            $(
                #[test]
                fn $name() {
                    super::programs(&super::C[0], &[stringify!($name)], super::C_PROGRAMS);
                }
            )*
        }
    };
}

c_programs!(
    collectives,
    misuse,
    synced,
    cancel,
    flight,
    barrier,
    queue,
    processes
);

const CPP_PROGRAMS: &[&str] = &["teams", "flight", "synced", "barrier", "queue"];

/// The examples and their output. `barrier_race.cpp` measures, and is compiled only.
const EXAMPLES: &[(&str, &str)] = &[
    ("01_operators", "sum 6, largest 3, concatenated 0123\n"),
    ("02_synced", "2 of 2 were there\n"),
    ("03_cancel", "2 of 3 were told: cancelled\n"),
    ("04_queue", "1 4 9 16 25\n"),
];

/// Builds programs and runs them, those in `under_valgrind` once more under it.
fn programs(compiler: &Compiler, names: &[&str], under_valgrind: &[&str]) {
    if !there_is(compiler.name) {
        return skipped(compiler.name, "its programs are not compiled");
    }
    let has_valgrind = under_valgrind.is_empty() || there_is("valgrind");
    if !has_valgrind {
        skipped("valgrind", "nothing is run under it");
    }
    for name in names {
        let program = compiler.build(name);
        run(&mut corecast(&program));
        if has_valgrind && under_valgrind.contains(name) {
            let mut valgrind = corecast("valgrind");
            valgrind.args(["-q", "--error-exitcode=9", "--fair-sched=yes"]);
            valgrind.args(["--leak-check=full", "--errors-for-leak-kinds=definite"]);
            valgrind.arg(program);
            if *name == "collectives" {
                valgrind.arg("3");
            }
            run(&mut valgrind);
        }
    }
}

#[test]
fn programs_in_c_by_clang() {
    programs(&C[1], C_PROGRAMS, &[]);
}

/// Operations in flight write to buffers of the body, so valgrind looks at them.
#[test]
fn programs_in_cpp_and_under_valgrind() {
    programs(&CPP[0], CPP_PROGRAMS, &["flight"]);
}

#[test]
fn programs_in_cpp_by_clang() {
    programs(&CPP[1], CPP_PROGRAMS, &[]);
}

/// The names of the files in a folder with this ending, without the ending.
fn names(folder: &Path, ending: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn no_program_is_forgotten() {
    let sorted = |names: &[&str]| {
        let mut names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        names.sort();
        names
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    assert_eq!(names(&folder, "c"), sorted(C_PROGRAMS));
    assert_eq!(names(&folder, "cpp"), sorted(CPP_PROGRAMS));
    let mut all: Vec<&str> = EXAMPLES.iter().map(|&(name, _)| name).collect();
    assert_eq!(names(&examples(), "c"), sorted(&all));
    all.push("barrier_race");
    assert_eq!(names(&examples(), "cpp"), sorted(&all));
}

#[test]
fn examples_say_what_they_should() {
    for compiler in C.iter().chain(CPP).filter(|found| there_is(found.name)) {
        for &(name, said) in EXAMPLES {
            let program = compiler.build_example(name);
            assert_eq!(run(&mut corecast(&program)), said, "{name}");
        }
    }
    for compiler in CPP.iter().filter(|found| there_is(found.name)) {
        compiler.build_example("barrier_race");
    }
}

/// A program that was linked at a fixed address has copies of the built-in operators.
#[test]
fn operators_are_found_from_a_fixed_address() {
    for compiler in C.iter().filter(|found| there_is(found.name)) {
        let program = compiler.build_with("collectives", &["-fno-pie", "-no-pie"]);
        run(corecast(&program).arg("3"));
    }
}

/// The program in docs/c.md in a language.
fn on_the_page(language: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/c.md");
    let page = std::fs::read_to_string(page).unwrap();
    let fence = format!("```{language}\n");
    let begin = page.find(&fence).expect("a program") + fence.len();
    let length = page[begin..].find("```").expect("its end");
    page[begin..begin + length].to_owned()
}

#[test]
fn the_page_is_right() {
    for (compilers, language, said) in [
        (C, "c", "the ranks' sum is 6\n"),
        (CPP, "cpp", "2 3 2\n2 phases\n"),
    ] {
        for compiler in compilers {
            if there_is(compiler.name) {
                let program = compiler.build_text(&on_the_page(language));
                assert_eq!(run(&mut corecast(&program)), said);
            }
        }
    }
}

#[test]
fn the_headers_alone_are_enough() {
    for compiler in C
        .iter()
        .chain(CPP)
        .filter(|compiler| there_is(compiler.name))
    {
        compiler.check("#include <corecast.h>\nint main(void) { return 0; }\n");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/corecast");
    let parts = names(&folder, "hpp");
    let mut found = CPP.iter().filter(|compiler| there_is(compiler.name));
    for compiler in found.clone() {
        compiler.check("#include <corecast.hpp>\nint main() { return 0; }\n");
    }
    // Both compilers use one standard library, so what a part includes is enough for both or for neither.
    if let Some(compiler) = found.next() {
        for part in &parts {
            let text = format!("#include <corecast/{part}.hpp>\nint main() {{ return 0; }}\n");
            compiler.check(&text);
        }
    }
}

#[test]
fn a_function_that_does_not_fit_is_no_operator() {
    let program = |operators: [&str; 2]| {
        let each = operators.iter().enumerate().map(|(at, operator)| {
            format!(
                "void f{at}(corecast::member &member, long (&data)[2]) {{\n  \
                 member.allreduce(data, {operator});\n}}\n"
            )
        });
        each.fold("#include <corecast.hpp>\n".to_owned(), |text, one| {
            text + &one
        })
    };
    for compiler in CPP.iter().filter(|compiler| there_is(compiler.name)) {
        compiler.check(&program([
            "corecast::sum",
            "corecast::make_operator<long>([](long a, long) { return a; })",
        ]));
        let said = compiler.check_fails(&program([
            "[](long a) { return a; }",
            "corecast::make_operator<int>([](int a, int) { return a; })",
        ]));
        for words in ["one element of two", "elements of another type"] {
            assert!(said.contains(words), "{said}");
        }
    }
}

/// In flight, a buffer or an operator that ends with the call is refused by the compiler. Views, functions that
/// capture nothing, and all that a call waits for may be temporaries.
#[test]
fn temporaries_are_not_in_flight() {
    // Elements of a type of its own for each call, so that each is refused by itself.
    let program = |caller: &str, calls: &[String]| {
        let opening = "#include <corecast.hpp>\n#include <vector>\n\
            template <int> struct element { long value; };\n\
            template <int N> std::vector<element<N>> make();\n";
        let each = calls.iter().enumerate().map(|(at, call)| {
            format!(
                "void f{at}(corecast::{caller} &on, std::vector<element<{at}>> &data, long by) {{\n  \
                 using T = element<{at}>;\n  const auto made = &make<{at}>;\n  \
                 auto sum = [](T a, T b) {{ return T{{a.value + b.value}}; }};\n  \
                 auto weigh = [by](T a, T b) {{ return T{{by * (a.value + b.value)}}; }};\n  \
                 static_cast<void>(made), static_cast<void>(sum), static_cast<void>(weigh);\n  \
                 static_cast<void>(data);\n  {call};\n}}\n"
            )
        });
        each.fold(opening.to_owned(), |text, one| text + &one)
    };
    let refused = [
        "on.broadcast(0, made())",
        "on.broadcast(0, std::move(data))",
        "on.allreduce(data, [by](T a, T b) { return T{by * (a.value + b.value)}; })",
        "on.allreduce(data, corecast::make_operator<T>(weigh))",
        "on.allreduce(data, corecast::ordered{weigh})",
        "on.allreduce(made(), sum)",
        "on.reduce(0, made(), sum)",
        "on.scan(made(), sum)",
        "on.exscan(made(), sum)",
        "on.gather(0, made(), data)",
        "on.scatter(0, data, made())",
        "on.allgather(made(), data)",
        "on.alltoall(data, made())",
        "on.gatherv(0, made(), data, {})",
        "on.scatterv(0, made(), {}, data)",
        "on.allgatherv(made(), data, {})",
        "on.alltoallv(made(), {}, data, {})",
        "on.reduce_scatter(made(), data, sum)",
        "on.reduce_scatterv(data, {}, made(), sum)",
        "on.reduce_scatter(data, data, std::move(weigh))",
    ];
    let taken = [
        "on.allreduce(std::span(data), sum)",
        "on.allreduce(data, [](T a, T b) { return T{a.value + b.value}; })",
        "on.allreduce(data, weigh)",
        "auto own = corecast::make_operator<T>(weigh); on.allreduce(data, own)",
    ];
    let named = |calls: &[&str]| -> Vec<String> {
        let named = calls.iter().map(|call| format!("auto request = {call}"));
        named.collect()
    };
    for compiler in CPP.iter().filter(|found| there_is(found.name)) {
        compiler.check(&program(
            "flight",
            &taken.map(|call| format!("{call}.wait()")),
        ));
        // A call that waits ends before its arguments do.
        compiler.check(&program("member", &refused.map(str::to_owned)));
        // Compilers stop at some number of errors.
        for some in refused.chunks(10) {
            let said = compiler.check_fails(&program("flight", &named(some)));
            let told = said.matches("failed: in flight: ").count()
                + said.matches("failed due to requirement").count();
            assert_eq!(told, some.len(), "{some:?}: {said}");
        }
        let deleted = [
            "auto request = on.barrier(); auto copy = request",
            "auto one = corecast::team(2).join(0)",
        ];
        let said = compiler.check_fails(&program("flight", &deleted.map(str::to_owned)));
        let errors = said.lines().filter(|line| line.contains("error: "));
        let told = errors.filter(|line| line.contains("delete")).count();
        assert_eq!(told, deleted.len(), "{said}");
    }
}
