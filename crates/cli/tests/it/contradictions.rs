//! Of two options that contradict each other none is dropped: the command refuses both, and names them.

use std::process::Command;

use crate::common::corecast;

#[test]
fn no_option_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let file = crate::common::file(folder.path(), "m.json", crate::common::TWO_THREADS);
    for (line, first, second) in [
        ("topo -i core:2 --svg - --json", "--svg -", "--json"),
        ("topo -i core:2 --svg - --csv", "--svg -", "--csv"),
        ("topo --csv --json", "--csv", "--json"),
        ("probe --svg - --json", "--svg -", "--json"),
        ("probe --svg - --csv", "--svg -", "--csv"),
        ("probe --output - --csv", "--output -", "--csv"),
        ("probe --output - --svg -", "--output -", "--svg -"),
        ("probe --deep --csv", "--deep", "--csv"),
        ("probe --deep --basis batch", "--deep", "--basis"),
        ("probe --deep -i MACHINE --threads 2", "--threads", "shown"),
        ("probe --deep -i MACHINE --subset 1", "--subset", "shown"),
        (
            "probe --deep -i MACHINE --time-limit 3",
            "--time-limit",
            "shown",
        ),
        (
            "probe --deep -i MACHINE --output /tmp/x",
            "--output",
            "shown",
        ),
        (
            "plan -i core:2 --pattern binary --seed 1",
            "--seed",
            "binary",
        ),
        ("plan -i core:2 --svg - --dot -", "--svg", "--dot"),
        ("explain --op barrier --size 8 --root 1", "--root", "--size"),
        (
            "explain --op barrier --size 8 --ranks 2 --threads 0",
            "--ranks",
            "--threads",
        ),
        ("explain --op barrier --processes", "--size", "required"),
        (
            "sim -i core:2 --compare --pattern binary",
            "--pattern",
            "--compare",
        ),
        (
            "sim -i core:2 --compare --machines core:3",
            "--machine",
            "--machines",
        ),
        ("sim -i core:2 --compare --svg -", "--compare", "--svg"),
        ("sim -i core:2 --svg - --json", "--svg -", "--json"),
        (
            "sim -i core:2 --timeline - --json",
            "--timeline -",
            "--json",
        ),
        ("sim -i core:2 --timeline - --svg -", "--timeline", "--svg"),
        ("bench --size 8", "--size", "barrier"),
        ("bench --op barrier --start window", "--start", "barrier"),
        ("bench --op barrier --cache cold", "--cache", "barrier"),
        ("bench --op fork_join --size 8", "--size", "fork_join"),
        ("bench --op fork_join --probe", "--probe", "fork_join"),
        ("bench --op message --cache cold", "--cache", "message"),
        (
            "bench --op message --patterns binary",
            "--patterns",
            "message",
        ),
        (
            "bench --op reduce --pinning unpinned --probe",
            "--probe",
            "unpinned",
        ),
        ("bench --unpinned --pinning both", "--unpinned", "--pinning"),
        (
            "bench --op message --algorithms tuned",
            "--algorithms tuned",
            "--op message",
        ),
        (
            "bench --patterns smelt --algorithms all",
            "--patterns smelt",
            "--algorithms all",
        ),
        ("bench --osu --json", "--osu", "--json"),
        ("bench --overheads --op reduce", "--overheads", "--op"),
        ("bench --app streamcluster --cache cold", "--app", "--cache"),
        ("bench --points 3", "--app", "required"),
        ("tune --op barrier --size 8", "--size", "barrier"),
        ("tune --threads 0,1 --ranks 2", "--threads", "--ranks"),
        ("tune --pinned --unpinned", "--pinned", "--unpinned"),
        ("bench --op reduce --sync loose --osu", "--sync", "--osu"),
        ("tune --dry-run --check", "--dry-run", "--check"),
        ("report -i core:2 --quick", "--quick", "--machine"),
        ("report -i core:2 --no-peers", "--no-peers", "--machine"),
        ("report --from MACHINE --quick", "--from", "--quick"),
        ("run -n 2 --pin -- true", "--ranks", "--pin"),
        ("run --json -- true", "--json", "--explain"),
        ("doctor -i core:2", "--machine", "core:2"),
        (
            "install-docs --prefix /tmp/x -i core:2",
            "install-docs",
            "-i",
        ),
    ] {
        let line = line.replace("MACHINE", &file);
        let words: Vec<&str> = line.split(' ').collect();
        let said = corecast(&words).refusal();
        assert!(
            said.contains(first) && said.contains(second),
            "{line}: {said}"
        );
    }
}

#[test]
fn a_bad_request_in_the_environment_is_refused_by_whoever_makes_teams() {
    for line in [
        "--quick",
        "explain",
        "explain --op allreduce --size 8",
        "bench --quick --no-peers",
        "bench --quick --no-peers --algorithms built-in",
        "tune --dry-run",
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(line.split(' '))
            .env("XDG_CACHE_HOME", "/nonexistent/corecast-tests")
            .env("CORECAST_ALGO", "allreduce=gossip")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(output.stdout.is_empty(), "{line}");
        assert_eq!(said.matches('\n').count(), 1, "{line}: {said}");
        assert!(
            said.contains("CORECAST_ALGO") && said.contains("gossip"),
            "{line}: {said}"
        );
    }
}
