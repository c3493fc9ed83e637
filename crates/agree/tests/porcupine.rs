//! A second opinion on the checker of linearizability, where Go is installed: on random histories it says what the checker
//! porcupine says of the same lines of JSON. The program that calls porcupine is `porcupine/main.go`.

use corecast_agree::linearizability::{Call, Registers, Request, check, write_history};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

type Value = Option<Vec<u8>>;
type History = Vec<Call<Request, Value>>;

/// What a client could ask for of one of few keys.
fn random_request(random: &mut fastrand::Rng) -> Request {
    let key = vec![random.u8(0..3)];
    let value = |random: &mut fastrand::Rng| random.bool().then(|| vec![random.u8(0..3)]);
    match random.u8(0..4) {
        0 | 1 => Request::Get { key },
        2 if random.bool() => Request::Set {
            key,
            value: value(random),
        },
        2 => Request::Swap {
            key,
            value: value(random),
        },
        _ => Request::CompareAndSwap {
            key,
            expected: value(random),
            value: value(random),
        },
    }
}

/// Up to five clients whose calls overlap, some of which never return. They are answered by a store that runs each call at some
/// instant, of which `lies` answers in a hundred are wrong.
fn random_history(random: &mut fastrand::Rng, lies: u8) -> History {
    let mut history = History::new();
    let mut instants = Vec::new();
    for client in 0..random.u64(2..=5) {
        let mut now = random.u64(0..10);
        for _ in 0..random.u64(2..=12) {
            let begin = now;
            let instant = begin + random.u64(0..30);
            let end = instant + random.u64(0..30);
            instants.push((instant, random.u32(..), history.len()));
            history.push(Call {
                client,
                begin,
                returned: Some((end, None)),
                request: random_request(random),
            });
            now = end + random.u64(1..10);
        }
    }
    // Of calls at one instant any may be the first.
    instants.sort_unstable();
    let mut store = std::collections::HashMap::<Vec<u8>, Vec<u8>>::new();
    for (_, _, place) in instants {
        let call = &mut history[place];
        let key = call.request.key().to_vec();
        let before = store.get(&key).cloned();
        let never_runs = random.u8(0..20) == 0;
        let (mut answer, after) = match &call.request {
            Request::Get { .. } => (before.clone(), before),
            Request::Set { value, .. } => (None, value.clone()),
            Request::Swap { value, .. } => (before, value.clone()),
            Request::CompareAndSwap {
                expected, value, ..
            } if before == *expected => (before, value.clone()),
            Request::CompareAndSwap { .. } => (before.clone(), before),
        };
        if never_runs || random.u8(0..20) == 0 {
            call.returned = None;
        }
        if !never_runs {
            match after {
                Some(value) => store.insert(key, value),
                None => store.remove(&key),
            };
        }
        if let Some((_, response)) = &mut call.returned {
            if random.u8(0..100) < lies {
                answer = random.bool().then(|| vec![random.u8(0..3)]);
            }
            *response = answer;
        }
    }
    history
}

/// Builds the program that calls porcupine, whose sources the first build fetches.
fn built() -> Result<PathBuf, String> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("porcupine");
    let built = Command::new("go")
        .args(["build", "-mod=readonly", "-buildvcs=false", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/porcupine"))
        .output()
        .map_err(|error| format!("go: {error}"))?;
    let why = String::from_utf8_lossy(&built.stderr);
    match built.status.success() {
        true => Ok(program),
        false => Err(format!("go build: {}", why.trim())),
    }
}

/// Porcupine's verdicts.
fn judged(program: &Path, histories: &[History]) -> Vec<bool> {
    let mut text = Vec::new();
    for history in histories {
        write_history(history, &mut text).unwrap();
        text.push(b'\n');
    }
    let mut judge = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = judge.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(&text).unwrap());
    let output = judge.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line == "true").collect()
}

#[test]
fn porcupine_judges_alike() {
    let program = match built() {
        Ok(program) => program,
        Err(why) => {
            assert!(
                std::env::var("CORECAST_REQUIRE_PEERS").as_deref() != Ok("1"),
                "CORECAST_REQUIRE_PEERS=1, but {why}"
            );
            return println!("SKIPPED: a second opinion on the checker of linearizability: {why}");
        }
    };
    let mut random = fastrand::Rng::with_seed(131);
    let histories: Vec<History> = (0..800)
        .map(|number| random_history(&mut random, [0, 3, 10, 40][number % 4]))
        .collect();
    let second = judged(&program, &histories);
    assert_eq!(second.len(), histories.len());
    let mut verdicts = [0, 0];
    for (number, (history, second)) in histories.iter().zip(second).enumerate() {
        let own = check::<Registers>(history);
        assert_eq!(own.is_ok(), second, "{own:?} of {history:#?}");
        assert!(second || number % 4 != 0, "nothing was answered wrong");
        verdicts[usize::from(second)] += 1;
    }
    println!("{verdicts:?} histories without and with an order");
    assert!(verdicts.iter().all(|&count| count > 250), "{verdicts:?}");
}
