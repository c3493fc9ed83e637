//! What a connection chooses: protocol, password, name, replies; transactions between connections.

use std::io::Read;

use corecast_store::ServerOptions;

use crate::client::{Client, request};
use crate::durable::Folder;
use crate::replies::elements;
use crate::servers::{Ours, Redis, options};

#[test]
fn a_password_is_asked_for() {
    let ours = Ours::with(ServerOptions {
        password: Some("secret".to_owned()),
        ..options()
    });
    let mut client = Client::new(ours.address);
    assert_eq!(client.say("GET a"), "-NOAUTH Authentication required.\r\n");
    assert!(
        client
            .say("HELLO 3")
            .starts_with("-NOAUTH HELLO must be called")
    );
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    for guess in ["", "secre", "secrets", "SECRET"] {
        assert_eq!(client.say(&format!("AUTH {guess}")), wrong);
    }
    assert_eq!(client.say("AUTH nobody secret"), wrong);
    assert_eq!(client.say("GET a"), "-NOAUTH Authentication required.\r\n");
    assert_eq!(client.say("AUTH secret"), "+OK\r\n");
    assert_eq!(client.say("GET a"), "$-1\r\n");
    assert_eq!(client.say("RESET"), "+RESET\r\n");
    assert_eq!(client.say("GET a"), "-NOAUTH Authentication required.\r\n");
    assert!(
        client
            .say("HELLO 3 AUTH default secret SETNAME me")
            .starts_with("%7\r\n")
    );
    assert_eq!(client.say("CLIENT GETNAME"), "$2\r\nme\r\n");
    // A stranger may not have the server keep much.
    let mut stranger = Client::new(ours.address);
    stranger.send(b"*1000\r\n");
    let refusal = b"-ERR Protocol error: unauthenticated multibulk length\r\n";
    assert_eq!(stranger.reply(), refusal);
    assert_eq!(stranger.try_reply(), None);
}

#[test]
fn hello_chooses_the_protocol() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    assert!(
        client
            .say("HELLO")
            .starts_with("*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n")
    );
    assert_eq!(
        client.say("HELLO 4"),
        "-NOPROTO unsupported protocol version\r\n"
    );
    assert!(client.say("HELLO 3").starts_with("%7\r\n"));
    assert_eq!(client.say("GET a"), "_\r\n");
    assert!(client.say("CONFIG GET maxclients").starts_with("%1\r\n"));
    assert!(client.say("INFO server").starts_with('='));
    assert!(client.say("HELLO 2").starts_with("*14\r\n"));
    assert_eq!(client.say("GET a"), "$-1\r\n");
}

#[test]
fn replies_can_be_turned_off() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    for words in ["CLIENT REPLY OFF", "SET a 1", "PING", "NOTHING"] {
        let words: Vec<&str> = words.split(' ').collect();
        client.send(&request(&words));
    }
    assert_eq!(client.say("CLIENT REPLY ON"), "+OK\r\n");
    client.send(&request(&["CLIENT", "REPLY", "SKIP"]));
    client.send(&request(&["GET", "a"]));
    assert_eq!(client.say("INCR a"), ":2\r\n");
}

/// Amid transactions, and around `RESET`.
#[test]
fn replies_are_left_out_where_redis_leaves_them_out() {
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::start();
    let cases: [&[&str]; 11] = [
        &["CLIENT REPLY SKIP", "RESET", "GET a"],
        &["CLIENT REPLY OFF", "RESET", "GET a"],
        &["CLIENT REPLY SKIP", "CLIENT REPLY SKIP", "GET a", "INCR a"],
        &["CLIENT REPLY SKIP", "CLIENT REPLY OFF", "GET a"],
        &[
            "MULTI",
            "INCR a",
            "CLIENT REPLY OFF",
            "INCR a",
            "CLIENT REPLY ON",
            "GET a",
            "EXEC",
        ],
        &[
            "MULTI",
            "INCR a",
            "CLIENT REPLY OFF",
            "INCR a",
            "PING",
            "EXEC",
            "GET a",
        ],
        &[
            "MULTI",
            "INCR a",
            "CLIENT REPLY SKIP",
            "GET a",
            "EXEC",
            "GET a",
            "PING",
        ],
        &[
            "CLIENT REPLY OFF",
            "MULTI",
            "INCR a",
            "CLIENT REPLY ON",
            "GET a",
            "EXEC",
        ],
        &["MULTI", "CLIENT REPLY SKIP", "EXEC", "EXEC", "PING"],
        &[
            "MULTI",
            "INCR a",
            "CLIENT REPLY OFF",
            "RESET",
            "INCR a",
            "EXEC",
            "DEL a",
        ],
        &[
            "CLIENT REPLY OFF",
            "MULTI",
            "ODD",
            "EXEC",
            "EXEC",
            "WATCH a",
            "SET a 1",
            "MULTI",
            "PING",
            "EXEC",
        ],
    ];
    for case in cases {
        let [ours, redis] = [ours.address, redis.address].map(|address| {
            let mut client = Client::new(address);
            client.say("DEL a");
            let end = ["CLIENT REPLY ON", "ECHO end", "QUIT"];
            let lines = case.iter().chain(&end).map(|it| format!("{it}\r\n"));
            client.send(lines.collect::<String>().as_bytes());
            let mut answer = Vec::new();
            client.stream.read_to_end(&mut answer).unwrap();
            answer.escape_ascii().to_string()
        });
        assert_eq!(ours, redis, "{case:?}");
    }
}

#[test]
fn a_transaction_runs_whole_or_not_at_all() {
    let ours = Ours::start();
    let (mut one, mut two) = (Client::new(ours.address), Client::new(ours.address));
    assert_eq!(one.say("SET a 1"), "+OK\r\n");
    assert_eq!(one.say("WATCH a b"), "+OK\r\n");
    assert_eq!(one.say("MULTI"), "+OK\r\n");
    for words in ["INCR a", "SELECT 1", "SET a x", "GET a", "PING", "INCR a"] {
        assert_eq!(one.say(words), "+QUEUED\r\n");
    }
    let replies = "*6\r\n:2\r\n+OK\r\n+OK\r\n$1\r\nx\r\n+PONG\r\n-ERR value is not an integer or out of range\r\n";
    assert_eq!(one.say("EXEC"), replies);
    assert_eq!(one.say("GET a"), "$1\r\nx\r\n");
    assert_eq!(one.say("SELECT 0"), "+OK\r\n");
    // Each of these changes a watched key, seen from the one that watches.
    for change in [
        "SET a 5",
        "DEL a",
        "SETNX b 1",
        "EXPIRE b 100",
        "RENAME b c",
        "FLUSHALL",
    ] {
        assert_eq!(one.say("MSET a 1"), "+OK\r\n");
        assert_eq!(one.say("WATCH a b"), "+OK\r\n");
        two.say(change);
        assert_eq!(one.say("MULTI"), "+OK\r\n");
        assert_eq!(one.say("SET d 1"), "+QUEUED\r\n");
        assert_eq!(one.say("EXEC"), "*-1\r\n", "{change}");
    }
    // A key that was made and removed again has changed as well; others have not.
    assert_eq!(one.say("WATCH e"), "+OK\r\n");
    two.say("SET e 1");
    two.say("DEL e");
    one.say("MULTI");
    assert_eq!(one.say("EXEC"), "*-1\r\n");
    assert_eq!(one.say("WATCH e"), "+OK\r\n");
    two.say("SET f 1");
    two.say("GET e");
    one.say("MULTI");
    assert_eq!(one.say("EXEC"), "*0\r\n");
    assert_eq!(one.say("EXISTS d"), ":0\r\n");
}

/// Each command finds what those before it have left, those on the session too.
#[test]
fn commands_of_a_transaction_see_their_place_in_it() {
    let folder = Folder::new("place-in-a-transaction");
    let with_log = || ServerOptions {
        dir: Some(folder.0.clone()),
        ..options()
    };
    let ours = Ours::with(with_log());
    let mut client = Client::new(ours.address);
    client.say("SET a 1");
    client.say("MULTI");
    for words in [
        "GET none",
        "HELLO 3",
        "GET none",
        "HELLO 4",
        "HELLO 2 AUTH nobody x",
        "GET none",
        "INFO keyspace",
        "SET b 2 EX 1000",
        "INFO keyspace",
        "FLUSHALL",
        "INFO keyspace",
        "HELLO 2",
        "GETDEL none",
        "SET c 3",
    ] {
        assert_eq!(client.say(words), "+QUEUED\r\n");
    }
    let reply = client.say("EXEC");
    let replies = elements(reply.as_bytes()).unwrap();
    let replies = replies.iter().map(|it| String::from_utf8_lossy(it));
    let replies: Vec<_> = replies.collect();
    let nulls = [0, 2, 5, 12].map(|it| &*replies[it]);
    assert_eq!(nulls, ["$-1\r\n", "_\r\n", "_\r\n", "$-1\r\n"]);
    assert!(replies[6].contains("db0:keys=1,expires=0,"), "{reply}");
    assert!(replies[8].contains("db0:keys=2,expires=1,"), "{reply}");
    assert!(!replies[10].contains("db0"), "{reply}");
    assert_eq!(client.say("GET none"), "$-1\r\n");
    // What the log has of it is read again.
    drop(ours);
    let ours = Ours::with(with_log());
    assert_eq!(Client::new(ours.address).say("KEYS *"), "*1\r\n$1\r\nc\r\n");
}

/// Others that are made, or removed as they were, do not matter, however many.
#[test]
fn keys_that_are_not_there_are_watched_by_themselves() {
    let ours = Ours::start();
    let (mut one, mut two) = (Client::new(ours.address), Client::new(ours.address));
    for round in 0..20 {
        let keys = |from: usize| (from..from + 500).map(move |key| format!("{round}:{key}"));
        let make = |from| {
            keys(from)
                .map(|key| format!(" {key} 1"))
                .collect::<String>()
        };
        let remove = |from| keys(from).map(|key| format!(" {key}")).collect::<String>();
        two.say(&format!("MSET{}", make(0)));
        assert_eq!(one.say(&format!("WATCH lock:{round}")), "+OK\r\n");
        two.say(&format!("MSET{}", make(1000)));
        two.say(&format!("DEL{}", remove(0)));
        one.say("MULTI");
        one.say("SET done 1");
        assert_eq!(one.say("EXEC"), "*1\r\n+OK\r\n", "round {round}");
    }
}

#[test]
fn clients_are_listed_and_killed() {
    let ours = Ours::start();
    let (mut one, mut two) = (Client::new(ours.address), Client::new(ours.address));
    assert_eq!(two.say("CLIENT SETNAME second"), "+OK\r\n");
    let id = two.say("CLIENT ID");
    let id = id.trim_start_matches(':').trim();
    let list = one.say("CLIENT LIST");
    assert!(
        list.contains(&format!("id={id} ")) && list.contains("name=second"),
        "{list}"
    );
    // Redis shows a client as often as it is asked for.
    let once = one.say(&format!("CLIENT LIST ID {id} 1000000 {id}"));
    assert_eq!(once.matches("cmd=client|id ").count(), 1, "{once}");
    assert_eq!(one.say(&format!("CLIENT KILL ID {id}")), ":1\r\n");
    assert_eq!(two.try_reply(), None);
    assert_eq!(one.say("CLIENT KILL 1.2.3.4:5"), "-ERR No such client\r\n");
}

/// The names of all fields of a client, and the values of those that do not depend on the server.
fn fields(line: &str) -> Vec<(String, String)> {
    let same = [
        "name", "flags", "db", "sub", "psub", "ssub", "multi", "qbuf", "obl", "oll", "omem",
        "events", "cmd", "user", "redir", "resp",
    ];
    let line = line.lines().find(|it| it.starts_with("id=")).unwrap();
    let field = |word: &str| {
        let (name, value) = word.split_once('=').unwrap();
        let value = if same.contains(&name) { value } else { "" };
        (name.to_owned(), value.to_owned())
    };
    line.split(' ').map(field).collect()
}

#[test]
fn clients_are_shown_in_the_words_of_redis() {
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::start();
    let [ours, redis] = [ours.address, redis.address].map(|address| {
        let mut other = Client::new(address);
        let id = other.say("CLIENT ID");
        let id = id.trim_start_matches(':').trim().to_owned();
        let mut client = Client::new(address);
        let mut list = || client.say(&format!("CLIENT LIST ID {id}"));
        let mut lines = vec![];
        for words in [
            "SELECT 3",
            "HELLO 3 SETNAME other",
            "HELLO 3 SETNAME a\tb zz",
            "GET a",
            "CLIENT GETNAME",
            "CLIENT NO-EVICT ON",
            "MULTI",
            "SET a 1",
            "ODD",
            "DISCARD",
            "RESET",
            "CLIENT NO-EVICT OFF",
        ] {
            other.say(words);
            lines.push(list());
        }
        lines.push(client.say("CLIENT INFO"));
        lines.push(client.say("client list type NORMAL"));
        let said = [
            "CLIENT LIST TYPE replica",
            "CLIENT LIST TYPE odd",
            "CLIENT LIST TYPE",
            "CLIENT LIST ODD 1",
            "CLIENT LIST ID",
            "CLIENT LIST ID 0",
            "CLIENT LIST ID x",
            "CLIENT LIST ID 1000000",
            "CLIENT KILL ID str",
            "CLIENT KILL ID x y",
            "CLIENT KILL TYPE x y",
            "CLIENT KILL SKIPME YES y",
            "CLIENT KILL TYPE odd",
            "CLIENT KILL TYPE pubsub",
            "CLIENT KILL USER nobody",
            "CLIENT KILL LADDR 1.2.3.4:5",
            "CLIENT KILL SKIPME maybe",
            &format!("CLIENT KILL USER default ID {id} TYPE normal LADDR {address}"),
        ]
        .map(|words| client.say(words));
        assert_eq!(other.try_reply(), None);
        let lines: Vec<_> = lines.iter().map(|it| fields(it)).collect();
        client.say("MULTI");
        client.say("CLIENT INFO");
        let amid = fields(&client.say("EXEC"));
        let amid = amid
            .into_iter()
            .filter(|(name, _)| ["flags", "multi"].contains(&name.as_str()));
        let amid: Vec<_> = amid.collect();
        (lines, (said, amid))
    });
    assert_eq!(ours.1, redis.1, "in the order of the list above");
    let info = ours.0.len() - 2;
    for (at, (ours, redis)) in ours.0.iter().zip(&redis.0).enumerate() {
        if at == info {
            // There are clients which refuse a field that Redis has not.
            assert_eq!(ours, redis);
            continue;
        }
        let [.., replica] = &ours[..] else { panic!() };
        assert_eq!(
            (&replica.0[..], &ours[..redis.len()]),
            ("replica", &redis[..])
        );
    }
}

/// As in Redis, whose options hold one by one.
#[test]
fn what_hello_names_before_it_is_refused_holds() {
    let ours = Ours::with(ServerOptions {
        password: Some("secret".to_owned()),
        ..options()
    });
    let mut client = Client::new(ours.address);
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    assert_eq!(client.say("HELLO 3 SETNAME me AUTH default guess"), wrong);
    assert_eq!(
        client.say("HELLO 3 AUTH default secret ODD"),
        "-ERR Syntax error in HELLO option 'ODD'\r\n"
    );
    assert_eq!(client.say("CLIENT GETNAME"), "$2\r\nme\r\n");
    assert_eq!(client.say("HELLO 3 AUTH default guess SETNAME a"), wrong);
    assert_eq!(
        client.say("HELLO 4 SETNAME a"),
        "-NOPROTO unsupported protocol version\r\n"
    );
    assert_eq!(
        client.say("HELLO 3 SETNAME b SETNAME a\tb"),
        "-ERR Client names cannot contain spaces, newlines or special characters.\r\n"
    );
    assert_eq!(client.say("CLIENT GETNAME"), "$1\r\nb\r\n");
    assert_eq!(client.say("GET a"), "$-1\r\n");
}

/// Redis compares words, and shows them, up to a zero.
#[test]
fn words_end_at_a_zero_as_in_redis() {
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::start();
    let [ours, redis] = [ours.address, redis.address].map(|address| {
        let mut client = Client::new(address);
        [
            "SET k v NX\0a",
            "SET k v XX\0 EX\0a 100",
            "SET k v GET\0 KEEPTTL\0",
            "SET k v \0EX 1",
            "GETEX k PERSIST\0x",
            "EXPIRE k 100 NX\0",
            "EXPIRE k 100 odd\0x",
            "EXPIRE k 100 odd\r\n",
            "EXPIRE k 100 \nodd\n\nx",
            "SCAN 0 COUNT\0 10 TYPE string\0 MATCH\0a k*",
            "COPY k l REPLACE\0",
            "FLUSHDB ASYNC\0x",
            "CLIENT \0z",
            "CLIENT odd\0z",
            "CLIENT LIST TYPE pubsub\0x",
            "CLIENT LIST TYPE odd\0x",
            "CLIENT KILL USER a\0b",
            "CLIENT KILL USER default\0",
            "CLIENT KILL SKIPME yes\0 ID 88888888",
            "CLIENT NO-EVICT ON\0",
            "CONFIG SET a\0b c",
            "CONFIG ODD\0",
            "COMMAND LIST FILTERBY MODULE\0 x",
            "COMMAND \0",
            "HELLO 3 a\0b",
            "HELLO 3 SETNAME\0x a\tb",
            "\0 a\0b c",
        ]
        .map(|words| (words, client.say(words)))
    });
    assert_eq!(ours, redis);
}

/// What clients ask before they use a command, or to know whether the server is one of many.
#[test]
fn clients_learn_what_there_is_as_from_redis() {
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::start();
    let [ours, redis] = [ours.address, redis.address].map(|address| {
        let mut client = Client::new(address);
        [
            "COMMAND LIST FILTERBY PATTERN incr*",
            "command list filterby pattern INCRBY?LOAT",
            "COMMAND LIST FILTERBY PATTERN nothing",
            "COMMAND LIST FILTERBY MODULE any",
            "COMMAND LIST FILTERBY ACLCAT nothing",
            "COMMAND LIST FILTERBY ACLCAT @write",
            "COMMAND LIST FILTERBY",
            "COMMAND LIST FILTERBY PATTERN",
            "COMMAND LIST FILTERBY PATTERN a b",
            "COMMAND LIST FILTERBY ODD a",
            "COMMAND LIST odd",
            "INFO cluster",
        ]
        .map(|words| {
            let reply = client.say(words);
            // Redis lists them in any order.
            let mut lines: Vec<String> = reply.lines().map(str::to_owned).collect();
            lines.sort();
            (words, lines)
        })
    });
    assert_eq!(ours, redis);
}

#[test]
fn commands_are_listed_by_category() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    let list = client.say("COMMAND LIST FILTERBY ACLCAT Write");
    assert!(
        list.contains("\r\nappend\r\n") && !list.contains("\r\nget\r\n"),
        "{list}"
    );
}

#[test]
fn people_can_type() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    client.send(b"set key \"two words\"\r\nget key\nPING\r\n\r\n");
    assert_eq!(client.reply(), b"+OK\r\n");
    assert_eq!(client.reply(), b"$9\r\ntwo words\r\n");
    assert_eq!(client.reply(), b"+PONG\r\n");
    client.send(b"get \"open\r\n");
    let refusal = b"-ERR Protocol error: unbalanced quotes in request\r\n";
    assert_eq!(client.reply(), refusal);
    assert_eq!(client.try_reply(), None);
}
