//! The checker: histories made by hand, thousands of small ones against brute force, large ones, and what threads recorded.

use crate::counters::{Counters, Set};
use corecast_agree::linearizability::{
    Call, Model, Recorder, Registers, Request, check, read_history, write_history,
};
use corecast_agree::{Options, Reads, Replicated};

type Response = Option<Vec<u8>>;
type History = Vec<Call<Request, Response>>;

fn call(
    client: u64,
    begin: u64,
    end: u64,
    request: Request,
    response: Option<&str>,
) -> Call<Request, Response> {
    let returned = Some((end, response.map(|text| text.as_bytes().to_vec())));
    Call {
        client,
        begin,
        returned,
        request,
    }
}

fn set(value: &str) -> Request {
    Request::set(b"k", value.as_bytes())
}

fn get() -> Request {
    Request::get(b"k")
}

fn swap(expected: Option<&str>, value: &str) -> Request {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let (key, value) = (b"k".to_vec(), Some(bytes(value)));
    Request::CompareAndSwap {
        key,
        expected: expected.map(bytes),
        value,
    }
}

fn never_returned(begin: u64, request: Request) -> Call<Request, Response> {
    Call {
        client: 9,
        begin,
        returned: None,
        request,
    }
}

#[test]
fn histories_with_an_order() {
    let histories: [&[Call<Request, Response>]; 7] = [
        &[],
        // One after the other.
        &[
            call(1, 0, 1, set("a"), None),
            call(2, 2, 3, get(), Some("a")),
        ],
        // A read that overlaps a write finds the old value or the new one.
        &[
            call(1, 0, 5, set("a"), None),
            call(2, 1, 2, get(), None),
            call(2, 3, 4, get(), Some("a")),
        ],
        // Two writes overlap, and readers agree on their order.
        &[
            call(1, 0, 9, set("a"), None),
            call(2, 0, 9, set("b"), None),
            call(3, 1, 2, get(), Some("b")),
            call(4, 3, 4, get(), Some("a")),
        ],
        // What touches at one instant overlaps.
        &[call(1, 0, 3, set("a"), None), call(2, 3, 4, get(), None)],
        // A write that never returned is seen late, or never.
        &[
            never_returned(0, set("a")),
            call(1, 5, 6, get(), None),
            call(1, 7, 8, get(), Some("a")),
            never_returned(2, set("b")),
        ],
        // Of two that compare one wins.
        &[
            call(1, 0, 5, swap(None, "a"), Some("a")),
            call(2, 0, 5, swap(None, "a"), None),
        ],
    ];
    for history in histories {
        assert_eq!(check::<Registers>(history), Ok(()), "{history:?}");
    }
}

#[test]
fn histories_without_an_order() {
    let histories: [(&[Call<Request, Response>], usize); 6] = [
        // A read misses a write that had returned.
        (
            &[call(1, 0, 1, set("a"), None), call(2, 2, 3, get(), None)],
            1,
        ),
        // A read goes back.
        (
            &[
                call(1, 0, 9, set("a"), None),
                call(2, 1, 2, get(), Some("a")),
                call(2, 3, 4, get(), None),
            ],
            2,
        ),
        // Two readers see two writes in different orders.
        (
            &[
                call(1, 0, 1, set("a"), None),
                call(1, 2, 9, set("b"), None),
                call(3, 3, 4, get(), Some("b")),
                call(4, 5, 6, get(), Some("a")),
            ],
            3,
        ),
        // A value that nobody wrote.
        (&[call(1, 0, 1, get(), Some("a"))], 0),
        // A write that never returned was seen, and then not.
        (
            &[
                never_returned(0, set("a")),
                call(1, 1, 2, get(), Some("a")),
                call(1, 3, 4, get(), None),
            ],
            2,
        ),
        // Both that compare win.
        (
            &[
                call(1, 0, 5, swap(None, "a"), None),
                call(2, 0, 6, swap(None, "b"), None),
            ],
            1,
        ),
    ];
    for (history, stuck) in histories {
        let why = check::<Registers>(history).unwrap_err();
        assert_eq!(why.stuck, stuck, "{history:?}");
        assert!(
            why.to_string().starts_with("not linearizable: of "),
            "{why}"
        );
    }
    // Another key is another part.
    let mut other = vec![call(5, 0, 1, Request::set(b"other", b"x"), None)];
    other.extend_from_slice(histories[0].0);
    assert_eq!(check::<Registers>(&other).unwrap_err().calls, [1, 2]);
}

/// Answers all orders of all calls that returned and some that did not, one by one.
fn brute_force(history: &History) -> bool {
    fn any_order(history: &History, order: &mut Vec<usize>) -> bool {
        let all_there = |call: &usize| order.contains(call);
        let returned = (0..history.len()).filter(|&call| history[call].returned.is_some());
        if returned.clone().all(|call| all_there(&call)) && explains(history, order) {
            return true;
        }
        (0..history.len()).any(|call| {
            if order.contains(&call) {
                return false;
            }
            order.push(call);
            let found = any_order(history, order);
            order.pop();
            found
        })
    }
    fn explains(history: &History, order: &[usize]) -> bool {
        let ends_before = |a: usize, b: usize| {
            history[a]
                .returned
                .as_ref()
                .is_some_and(|(end, _)| *end < history[b].begin)
        };
        let in_time = (0..order.len()).all(|place| {
            order[place + 1..]
                .iter()
                .all(|&later| !ends_before(later, order[place]))
        });
        let mut value: Response = None;
        in_time
            && order.iter().all(|&call| {
                let before = value.clone();
                let answer = match &history[call].request {
                    Request::Get { .. } => before,
                    Request::Set { value: new, .. } => {
                        value.clone_from(new);
                        None
                    }
                    Request::Swap { value: new, .. } => {
                        value.clone_from(new);
                        before
                    }
                    Request::CompareAndSwap {
                        expected,
                        value: new,
                        ..
                    } => {
                        if value == *expected {
                            value.clone_from(new);
                        }
                        before
                    }
                };
                history[call]
                    .returned
                    .as_ref()
                    .is_none_or(|(_, response)| *response == answer)
            })
    }
    any_order(history, &mut Vec::new())
}

/// A small history of one key, with few values, so that about half of them have an order.
fn random_history(random: &mut fastrand::Rng) -> History {
    let value = |random: &mut fastrand::Rng| match random.u8(0..3) {
        0 => None,
        value => Some(vec![value]),
    };
    (0..random.u64(1..=5))
        .map(|client| {
            let key = b"k".to_vec();
            let new = value(random);
            let (request, response) = match random.u8(0..4) {
                0 => (Request::Get { key }, value(random)),
                1 => (Request::Set { key, value: new }, None),
                2 => (Request::Swap { key, value: new }, value(random)),
                _ => {
                    let expected = value(random);
                    let request = Request::CompareAndSwap {
                        key,
                        expected,
                        value: new,
                    };
                    (request, value(random))
                }
            };
            let begin = random.u64(0..12);
            let returned = (random.u8(0..5) > 0).then(|| (begin + random.u64(0..6), response));
            Call {
                client,
                begin,
                returned,
                request,
            }
        })
        .collect()
}

#[test]
fn small_histories_are_judged_as_by_brute_force() {
    let mut random = fastrand::Rng::with_seed(22);
    let mut judged = [0, 0];
    for _ in 0..4_000 {
        let history = random_history(&mut random);
        let expected = brute_force(&history);
        let found = check::<Registers>(&history);
        assert_eq!(found.is_ok(), expected, "{history:?}");
        judged[usize::from(expected)] += 1;
    }
    assert!(judged.iter().all(|&count| count > 500), "{judged:?}");
}

/// Twenty clients call at once over and over, so that choices are many: each is tried once.
#[test]
fn overlapping_calls_take_no_exponential_time() {
    let mut history = History::new();
    for round in 0..12 {
        let begin = round * 100;
        for client in 0..10 {
            let value = format!("{round}.{client}");
            history.push(call(client, begin, begin + 50, set(&value), None));
            history.push(call(
                client + 10,
                begin + 60,
                begin + 90,
                get(),
                Some(&format!("{round}.7")),
            ));
        }
    }
    assert_eq!(check::<Registers>(&history), Ok(()));
    let last = history.len() - 1;
    history[last] = call(1, 9_000, 9_001, get(), Some("3.7"));
    assert_eq!(check::<Registers>(&history).unwrap_err().stuck, last);
}

#[test]
fn histories_are_lines_of_json() {
    let mut random = fastrand::Rng::with_seed(7);
    let history: History = (0..50).flat_map(|_| random_history(&mut random)).collect();
    let mut text = Vec::new();
    write_history(&history, &mut text).unwrap();
    assert_eq!(
        read_history::<Request, Response>(&text[..]).unwrap(),
        history
    );
    let documented = r#"{"client":1,"begin":120,"end":180,"request":{"op":"get","key":[107]},"response":[118]}

{"client":2,"begin":130,"request":{"op":"set","key":[107],"value":[118]}}"#;
    let read = read_history::<Request, Response>(documented.as_bytes()).unwrap();
    let expected = [
        call(1, 120, 180, get(), Some("v")),
        Call {
            client: 2,
            ..never_returned(130, set("v"))
        },
    ];
    assert_eq!(read, expected);
    for (text, why) in [
        ("\nhello", "line 2 of the history is no call: "),
        (
            r#"{"client":1,"begin":5,"end":4,"request":{"op":"get","key":[]}}"#,
            "line 1 of the history: the call begins at 5 and ends at 4",
        ),
    ] {
        let error = read_history::<Request, Response>(text.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(why), "{error}");
    }
}

/// The model of `Counters`.
struct CountersModel;

/// What a client of `Counters` asks for: a key, and a value where it sets.
#[derive(Clone, Copy)]
struct Asked(u64, Option<u64>);

impl Model for CountersModel {
    type Request = Asked;
    type Response = u64;
    type State = u64;
    type Part = u64;

    fn part(asked: &Asked) -> u64 {
        asked.0
    }

    fn apply(state: &u64, asked: &Asked, response: Option<&u64>) -> Option<u64> {
        let fits = response.is_none_or(|response| response == state);
        fits.then(|| asked.1.unwrap_or(*state))
    }
}

fn record(options: Options, threads: u64, is_stale: bool) -> Vec<Call<Asked, u64>> {
    let replicas = options.replicas;
    let counters = Replicated::new(options, Counters::default());
    let clock = Recorder::new();
    let mut history = Vec::new();
    std::thread::scope(|scope| {
        let recorded: Vec<_> = (0..threads)
            .map(|thread| {
                let mut recorder = clock.for_client(thread);
                let mut handle = counters.handle(thread as usize % replicas).unwrap();
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(thread);
                    for number in 0..1_500 {
                        let key = random.u64(0..3);
                        if random.u8(0..3) == 0 {
                            let value = thread * 10_000 + number + 1;
                            recorder.call(Asked(key, Some(value)), || {
                                handle.write(Set(key, value, None))
                            });
                        } else if is_stale {
                            recorder.call(Asked(key, None), || handle.read_within(u64::MAX, &key));
                        } else {
                            recorder.call(Asked(key, None), || handle.read(&key));
                        }
                    }
                    recorder.into_calls()
                })
            })
            .collect();
        history.extend(
            recorded
                .into_iter()
                .flat_map(|thread| thread.join().unwrap()),
        );
    });
    history
}

/// While the designs of reads race they change from time to time.
const ALL_READS: [Reads; 3] = [Reads::Watermark, Reads::Stable, Reads::Raced];

#[test]
fn what_threads_see_of_replicas_has_an_order() {
    for reads in ALL_READS {
        for (replicas, threads, log_len) in [(2, 2, 1 << 16), (2, 4, 1 << 16), (3, 3, 128)] {
            let options = Options {
                replicas,
                log_len,
                reads,
                ..Options::default()
            };
            let history = record(options, threads, false);
            let checked = check::<CountersModel>(&history);
            assert!(
                checked.is_ok(),
                "{options:?}, {threads} threads: {checked:?}"
            );
        }
    }
}

/// Reads that may be stale have no such order, and the checker finds that out.
#[test]
fn stale_reads_are_found() {
    let options = Options {
        replicas: 2,
        ..Options::default()
    };
    let found = (0..20).any(|_| check::<CountersModel>(&record(options, 2, true)).is_err());
    assert!(found, "reads without bound were never stale");
}
