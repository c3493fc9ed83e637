//! Every member of the workspace has what its package needs: a readme, both licences, and metadata without addresses.

use super::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The categories of the registry that packages here may use.
const CATEGORIES: &[&str] = &[
    "algorithms",
    "command-line-utilities",
    "concurrency",
    "development-tools::ffi",
    "development-tools::profiling",
    "hardware-support",
    "science",
    "simulation",
    "visualization",
];

fn workspace() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = all["packages"].as_array().unwrap().clone();
    assert!(packages.len() > 10, "{} members", packages.len());
    packages
}

fn words(list: &Value) -> Vec<&str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}

/// The properties that a package lacks, one text each.
fn lacks(package: &Value) -> Vec<String> {
    let mut lacks = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            lacks.push(format!("{}: {what}", package["name"].as_str().unwrap()));
        }
    };
    let folder = Path::new(package["manifest_path"].as_str().unwrap());
    let folder = folder.parent().unwrap();
    let name = package["name"].as_str().unwrap();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();

    must(package["readme"] == "README.md", "`readme = \"README.md\"`");
    let readme = read(&folder.join("README.md"));
    must(
        readme.starts_with(&format!("# {name}\n")) && readme.lines().count() > 8,
        "a README.md that begins with the package's name and says what it is and for whom",
    );
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let whole = read(&root().join(licence));
        must(
            !whole.is_empty() && read(&folder.join(licence)) == whole,
            &format!("{licence}, a link to that of the repository"),
        );
    }
    must(
        package["license"] == "MIT OR Apache-2.0",
        "`license.workspace = true`",
    );
    must(
        package["rust_version"].is_string(),
        "`rust-version.workspace = true`",
    );
    must(
        !words(&package["authors"]).is_empty(),
        "`authors.workspace = true`",
    );
    let description = package["description"].as_str().unwrap_or_default();
    must(
        (20..=120).contains(&description.len()) && !description.ends_with('.'),
        "a description of 20 to 120 letters without a full stop",
    );
    let keywords = words(&package["keywords"]);
    let is_keyword = |word: &&str| {
        word.len() <= 20
            && word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_+".contains(c))
    };
    must(
        (1..=5).contains(&keywords.len()) && keywords.iter().all(is_keyword),
        "one to five keywords of at most 20 letters",
    );
    let categories = words(&package["categories"]);
    must(
        !categories.is_empty() && categories.iter().all(|word| CATEGORIES.contains(word)),
        "categories that the registry knows",
    );
    for place in ["repository", "homepage", "documentation"] {
        must(
            package[place].is_null(),
            &format!("no `{place}`: it would name a place that is not there"),
        );
    }
    must(
        words(&package["metadata"]["docs"]["rs"]["targets"]).contains(&"x86_64-unknown-linux-gnu"),
        "`[package.metadata.docs.rs]` with its targets",
    );
    for dependency in package["dependencies"].as_array().unwrap() {
        must(
            dependency["path"].is_null() || dependency["req"] != "*",
            &format!("a version beside the path of {}", dependency["name"]),
        );
    }
    lacks
}

#[test]
fn every_member_can_be_packaged() {
    let lacking: Vec<String> = workspace().iter().flat_map(lacks).collect();
    assert!(
        lacking.is_empty(),
        "packages lack:\n  {}",
        lacking.join("\n  ")
    );
}

#[test]
fn all_members_have_one_version_of_rust() {
    let packages = workspace();
    let versions: BTreeSet<_> = packages
        .iter()
        .map(|p| p["rust_version"].as_str())
        .collect();
    assert_eq!(versions.len(), 1, "{versions:?}");
    let version = versions.into_iter().next().flatten().unwrap();
    for document in ["README.md", "CONTRIBUTING.md"] {
        let text = super::text(document);
        assert!(
            text.contains(&format!("Rust {version}")),
            "{document} does not say Rust {version}"
        );
    }
}

#[test]
fn what_is_published_depends_on_published_packages() {
    let packages = workspace();
    let private = |package: &&Value| package["publish"] == serde_json::json!([]);
    let names: BTreeSet<&str> = packages
        .iter()
        .filter(private)
        .filter_map(|package| package["name"].as_str())
        .collect();
    assert!(names.contains("corecast-site"), "{names:?}");
    for package in packages.iter().filter(|package| !private(package)) {
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            assert!(
                !names.contains(name),
                "{} depends on {name}",
                package["name"]
            );
        }
    }
}
