//! `corecast install-docs`: manual pages and completions that have all commands, and that man and the shells read.

use std::path::Path;
use std::process::Command;

use crate::common::corecast;

/// The commands that `--help` lists.
fn commands() -> Vec<String> {
    let help = corecast(&["--help"]).text();
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// What `program` says of a file; `None` where it is not installed.
fn said(program: &str, words: &[&str], file: &Path) -> Option<String> {
    let output = Command::new(program)
        .args(words)
        .arg(file)
        .env("MANWIDTH", "200")
        .output();
    let Ok(output) = output else {
        println!("SKIPPED: there is no {program}");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && text.is_empty(),
        "{program} {}: {text}",
        file.display()
    );
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn every_command_has_a_page_and_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("usr");
    let listed = corecast(&["install-docs", "--prefix", prefix.to_str().unwrap()]).text();
    let commands = commands();
    assert!(
        commands.len() >= 11 && commands.contains(&"topo".to_owned()),
        "{commands:?}"
    );
    let pages = prefix.join("share/man/man1");
    for name in &commands {
        let page = pages.join(format!("corecast-{name}.1"));
        assert!(listed.contains(page.to_str().unwrap()), "{listed}");
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.contains(".SH OPTIONS"), "{name}: {text}");
        if let Some(shown) = said("man", &["-l"], &page) {
            assert!(
                shown.contains("--json") && shown.contains("--machine"),
                "{name}: {shown}"
            );
        }
    }
    let page = pages.join("corecast.1");
    let text = std::fs::read_to_string(&page).unwrap();
    for name in &commands {
        let escaped = name.replace('-', "\\-");
        assert!(
            text.contains(&format!("corecast\\-{escaped}")),
            "{name}: {text}"
        );
    }
    let scripts = [
        ("bash", "share/bash-completion/completions/corecast"),
        ("zsh", "share/zsh/site-functions/_corecast"),
        ("fish", "share/fish/vendor_completions.d/corecast.fish"),
    ];
    for (shell, path) in scripts {
        let path = prefix.join(path);
        let script = std::fs::read_to_string(&path).unwrap();
        for name in &commands {
            assert!(script.contains(name), "{shell}: {name}");
        }
        for hidden in ["session-rank", "doctor-reader"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
        said(shell, &["-n"], &path);
    }
    let count = std::fs::read_dir(pages).unwrap().count();
    assert_eq!(count, commands.len() + 1, "no other pages: {listed}");
}

#[test]
fn files_are_listed_as_json_and_a_bad_prefix_is_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().to_str().unwrap();
    let json = corecast(&["install-docs", "--prefix", prefix, "--json"]).json();
    assert_eq!(
        json["files"].as_array().unwrap().len(),
        commands().len() + 4
    );
    let line = corecast(&["install-docs", "--prefix", "/dev/null/x"]).refusal();
    assert!(line.contains("/dev/null/x"), "{line}");
}
