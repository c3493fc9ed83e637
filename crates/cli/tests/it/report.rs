//! `corecast report`: the files that it writes, and their layout in a browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{corecast, corecast_in};
use serde_json::{Value, json};

/// The name of the entrants that play the peers.
const PEER: &str = "somebody else";

/// A page of a machine with 16 threads. Its races were run here, with some entrants called peers, as
/// `report` would have run them there.
fn report() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let written = corecast(&[
        "-i",
        "builtin:sandybridge-2x8",
        "report",
        "--json",
        "-o",
        text(folder.path()),
    ])
    .json();
    let page = PathBuf::from(written["pages"][0].as_str().unwrap());
    let kept = page.with_extension("json");
    let mut data: Value = serde_json::from_str(&std::fs::read_to_string(&kept).unwrap()).unwrap();
    let mut races = Vec::new();
    for (ranks, sizes) in [(2, "8,4K"), (3, "8")] {
        for operation in ["broadcast", "allreduce"] {
            let ranks = ranks.to_string();
            let line = [
                "bench",
                "--json",
                "--quick",
                "--no-peers",
                "--op",
                operation,
                "--ranks",
                &ranks,
                "--size",
                sizes,
            ];
            let cache = folder.path().join("cache");
            let said = corecast_in(&cache, &line).json();
            match said["comparisons"].as_array() {
                Some(many) => races.extend(many.iter().cloned()),
                None => races.push(said),
            }
        }
    }
    for race in &mut races {
        let entries = race["entries"].as_array_mut().unwrap();
        let ours = entries
            .iter()
            .find(|entry| entry["role"] == "corecast" && entry["ns_per_op"].is_object());
        let mut peer = ours.unwrap().clone();
        for part in ["median", "min", "max", "p10", "p90"] {
            peer["ns_per_op"][part] = json!(2.0 * peer["ns_per_op"][part].as_f64().unwrap());
        }
        (peer["role"], peer["name"]) = (json!("peer"), json!(PEER));
        peer["ratio_to_best_peer"] = json!({"median":1.0,"interval":{"low":1.0,"high":1.0,"coverage":0.95},"of_medians":1.0,"pairs":9});
        for entry in entries
            .iter_mut()
            .filter(|entry| entry["role"] == "corecast")
        {
            entry["ratio_to_best_peer"] = json!({"median":0.5,"interval":{"low":0.4,"high":0.6,"coverage":0.95},"of_medians":0.5,"pairs":9});
        }
        entries.push(peer);
        entries.push(json!({"name":"<nobody>","role":"peer","setting":"","status":"skipped","reason":"it is not & cannot be here","batch":0,"misses":0}));
    }
    data["comparisons"] = Value::Array(races);
    std::fs::write(&kept, data.to_string()).unwrap();
    let again = corecast(&[
        "report",
        "--from",
        text(&kept),
        "--json",
        "-o",
        text(folder.path()),
    ])
    .json();
    assert_eq!(again["pages"][0].as_str(), Some(text(&page)));
    (folder, page)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn pictures(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "svg"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn a_report_is_a_page_its_data_and_its_pictures() {
    let (folder, page) = report();
    let html = std::fs::read_to_string(&page).unwrap();
    for part in [
        "<h2>Against others</h2>",
        "<h2>By size</h2>",
        "<h2>By ranks</h2>",
        "<h2>Plans</h2>",
        "<h2>The machine</h2>",
        "Of 6 races against peers",
        "is faster in 6,",
        "broadcast of 4 KiB, 2 ranks",
        PEER,
        "Xeon E5-2660",
        "it is not &amp; cannot be here",
    ] {
        assert!(html.contains(part), "no {part:?} in the page");
    }
    assert!(!html.contains("<nobody>") && !html.contains("<script"));
    // The page loads nothing.
    for fetched in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!html.contains(fetched), "{fetched}");
    }
    let pictures = pictures(folder.path());
    for name in [
        "peers",
        "size-broadcast",
        "ranks-allreduce",
        "plan-broadcast",
        "costs",
        "machine",
    ] {
        let of_name = |path: &&PathBuf| text(path).ends_with(&format!("-{name}.svg"));
        let path = pictures
            .iter()
            .find(of_name)
            .unwrap_or_else(|| panic!("no {name}.svg"));
        let svg = std::fs::read_to_string(path).unwrap();
        roxmltree::Document::parse(&svg).unwrap();
    }
    assert_eq!(html.matches("<figure").count(), pictures.len());
    let index = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    let link = format!("href=\"{}\"", page.file_name().unwrap().to_str().unwrap());
    assert!(index.contains(&link), "{index}");
}

#[test]
fn an_index_lists_all_machines_and_leaves_out_what_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let output = ["-o", text(folder.path())];
    for machine in [
        "builtin:sandybridge-2x8",
        "synthetic:package:2 core:4",
        "core:1",
    ] {
        corecast(&[&["-i", machine, "report"][..], &output].concat()).text();
    }
    std::fs::write(
        folder.path().join("odd.json"),
        "{\"kind\":\"else\",\"schema\":1}",
    )
    .unwrap();
    let run = corecast(&[&["-i", "core:2", "report"][..], &output].concat());
    assert_eq!(run.output.status.code(), Some(0));
    let said = String::from_utf8_lossy(&run.output.stderr).into_owned();
    assert!(
        said.contains("odd.json") && said.contains("\"else\""),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    let index = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    assert_eq!(index.matches("<tr><th scope").count(), 4, "{index}");
    let error = corecast(&["report", "--from", text(&folder.path().join("odd.json"))]);
    assert_eq!(error.output.status.code(), Some(2));
}

/// A script that measures the page's layout: widths, text outside of its picture, dead links, ids that occur twice.
const RULER: &str = r#"<script>
const all = [...document.querySelectorAll('figure svg')];
const outside = all.flatMap(svg => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(text => {
    const own = text.getBoundingClientRect();
    return own.width > 0 && (own.left < box.left - 2 || own.right > box.right + 2 || own.top < box.top - 2 || own.bottom > box.bottom + 2);
  }).map(text => text.textContent.trim() + ' in ' + svg.closest('figure').id);
});
const found = {
  width: document.documentElement.scrollWidth, window: window.innerWidth,
  figures: all.length,
  flat: all.filter(svg => { const box = svg.getBoundingClientRect(); return box.width < 100 || box.height < 20; }).length,
  outside,
  dead: [...document.querySelectorAll('a[href^="\#"]')].filter(a => !document.getElementById(a.hash.slice(1))).length,
  twice: [...document.querySelectorAll('[id]')].map(e => e.id).filter((id, at, ids) => ids.indexOf(id) != at),
  rows: document.querySelectorAll('tbody tr').length,
  ink: getComputedStyle(document.body).color, back: getComputedStyle(document.body).backgroundColor,
};
const said = document.createElement('pre');
said.id = 'ruler';
said.textContent = JSON.stringify(found);
document.body.append(said);
</script>"#;

#[test]
fn a_page_looks_right_in_a_browser() {
    let Some(browser) = browser() else {
        assert!(
            std::env::var("CORECAST_REQUIRE_PEERS").is_err(),
            "CORECAST_REQUIRE_PEERS is set, and neither chromium nor chrome is installed"
        );
        return println!("SKIPPED: neither chromium nor chrome is installed");
    };
    let (folder, page) = report();
    let ruled = folder.path().join("ruled.html");
    let html = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&ruled, html.replace("</body>", &format!("{RULER}</body>"))).unwrap();
    let count = pictures(folder.path()).len();
    for (width, dark) in [(1280, false), (390, false), (800, true)] {
        let found = look(&browser, folder.path(), &ruled, width, dark);
        let what = format!("{width} pixels wide: {found}");
        assert_eq!(found["figures"], count, "{what}");
        assert_eq!(
            (&found["flat"], &found["dead"]),
            (&json!(0), &json!(0)),
            "{what}"
        );
        assert_eq!(found["outside"], json!([]), "{what}");
        assert_eq!(found["twice"], json!([]), "{what}");
        assert!(found["rows"].as_u64() > Some(12), "{what}");
        // Wide parts scroll by themselves, and the page does not scroll sideways.
        assert!(
            found["width"].as_u64() <= found["window"].as_u64(),
            "{what}"
        );
        assert_ne!(found["ink"], found["back"], "{what}");
        assert_eq!(found["back"] == "rgb(255, 255, 255)", !dark, "{what}");
    }
}

fn browser() -> Option<PathBuf> {
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let mut all = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.find(|path| path.is_file())
}

/// The measurements of [`RULER`] for a page in a window of this width.
fn look(browser: &Path, folder: &Path, page: &Path, width: u32, dark: bool) -> Value {
    let profile = folder.join(format!("profile-{width}"));
    let mut command = Command::new(browser);
    command
        // The browser's sandbox refuses root, which users of containers are.
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", text(&profile)))
        .arg(format!("--window-size={width},1000"));
    if dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    }
    let output = command
        .arg(format!("file://{}", text(page)))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let begin = "<pre id=\"ruler\">";
    let Some(at) = dom.find(begin) else {
        panic!(
            "no ruler in {dom}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    let rest = &dom[at + begin.len()..];
    let said = &rest[..rest.find("</pre>").unwrap()];
    let said = said
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&said).unwrap()
}
