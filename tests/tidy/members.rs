//! The packages of the workspace, as cargo tells them.

use std::process::Command;

use serde_json::Value;

/// A package of the workspace.
pub(crate) struct Member {
    pub(crate) name: String,
    /// Relative to the workspace's folder.
    pub(crate) folder: String,
    /// The root files of its libraries and programs; its tests and examples are not among them.
    pub(crate) roots: Vec<String>,
    /// Other packages of the workspace that it is built from. Dependencies of its tests are not among them.
    pub(crate) uses: Vec<String>,
}

/// All packages of the workspace.
pub(crate) fn members() -> Vec<Member> {
    let root = crate::root();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(&root)
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {text}");
    let all: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let relative = |path: &Value| {
        let path = std::path::Path::new(path.as_str().expect("a path"));
        let path = path.strip_prefix(&root).expect("inside of the workspace");
        path.to_string_lossy().into_owned()
    };
    let packages = list(&all["packages"]);
    let names: Vec<String> = packages.iter().map(|it| text_of(&it["name"])).collect();
    let member = |package: &Value| {
        let manifest = relative(&package["manifest_path"]);
        let targets = list(&package["targets"]).iter().filter(|target| {
            let kinds = list(&target["kind"]);
            let is = |kind: &str| kinds.iter().any(|it| it == kind);
            !is("test") && !is("example") && !is("bench") && !is("custom-build")
        });
        let uses = list(&package["dependencies"]).iter();
        let uses = uses.filter(|it| it["kind"] != "dev");
        let uses = uses.map(|it| text_of(&it["name"]));
        Member {
            name: text_of(&package["name"]),
            folder: manifest.trim_end_matches("/Cargo.toml").to_owned(),
            roots: targets
                .map(|target| relative(&target["src_path"]))
                .collect(),
            uses: uses.filter(|name| names.contains(name)).collect(),
        }
    };
    packages.iter().map(member).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text_of(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
