//! What is told of commands, against Redis.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::client::Client;
use crate::replies::elements;
use crate::servers::{Ours, Redis, is_there};

/// The texts of a reply that is a list of them.
fn names(reply: &str) -> BTreeSet<String> {
    let found = elements(reply.as_bytes()).unwrap();
    let name = |it: &Vec<u8>| {
        let text = String::from_utf8(it.clone()).unwrap();
        text.lines().nth(1).unwrap().to_owned()
    };
    found.iter().map(name).collect()
}

#[test]
fn commands_are_described_as_by_redis() {
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::start();
    let [mut ours, mut redis] = [ours.address, redis.address].map(Client::new);
    let all = names(&ours.say("COMMAND LIST"));
    let theirs = names(&redis.say("COMMAND LIST"));
    // These came with Redis 7.2.
    let newer: Vec<&String> = all.difference(&theirs).collect();
    assert_eq!(newer, ["client|no-touch", "client|setinfo"]);
    for protocol in ["HELLO 2", "HELLO 3"] {
        ours.say(protocol);
        redis.say(protocol);
        for name in all.intersection(&theirs) {
            let [our, their] = [&mut ours, &mut redis].map(|client| {
                let reply = client.say(&format!("COMMAND INFO {name}"));
                let [entry] = &elements(reply.as_bytes()).unwrap()[..] else {
                    panic!("{name}: {reply}");
                };
                let mut parts = elements(entry).unwrap();
                // Redis has more subcommands, and says more of keys that may be used in two ways.
                let subcommands = parts.pop().unwrap();
                if ["set", "getex"].contains(&name.as_str()) {
                    parts.pop();
                }
                let parts = parts.iter().map(|it| String::from_utf8_lossy(it));
                let parts: Vec<String> = parts.map(|it| it.into_owned()).collect();
                (parts, subcommands[..1].to_owned())
            });
            assert_eq!(our, their, "{name}");
        }
        for words in [
            "COMMAND INFO nosuch",
            "COMMAND INFO nosuch|list client|nosuch |list get|x",
            "COMMAND GETKEYS",
            "COMMAND GETKEYS get",
            "COMMAND GETKEYS nosuch",
            "COMMAND GETKEYS nosuch x",
            "COMMAND GETKEYS get a b",
            "COMMAND GETKEYS ping a",
            "COMMAND GETKEYS mset a 1 b 2",
            "COMMAND GETKEYS memory usage a",
            "COMMAND GETKEYS memory help a",
            "COMMAND GETKEYS memory nosuch",
            "COMMAND GETKEYSANDFLAGS get",
            "COMMAND GETKEYSANDFLAGS get a",
            "COMMAND GETKEYSANDFLAGS get a b",
            "COMMAND GETKEYSANDFLAGS nosuch a",
            "COMMAND GETKEYSANDFLAGS ping a",
            "COMMAND GETKEYSANDFLAGS mset a 1 b 2",
            "COMMAND GETKEYSANDFLAGS rename a b",
            "COMMAND GETKEYSANDFLAGS getex a",
            "COMMAND GETKEYSANDFLAGS set a get",
            "COMMAND GETKEYSANDFLAGS set a 1 ex 10 get",
            "COMMAND GETKEYSANDFLAGS memory usage a",
            "COMMAND DOCS nosuch client|nosuch",
        ] {
            assert_eq!(ours.say(words), redis.say(words), "{words}");
        }
    }
}

#[test]
fn categories_of_access_lists_have_the_commands_that_they_have_in_redis() {
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::start();
    let [mut ours, mut redis] = [ours.address, redis.address].map(Client::new);
    let all = names(&redis.say("COMMAND LIST"));
    let all: BTreeSet<String> = names(&ours.say("COMMAND LIST"))
        .intersection(&all)
        .cloned()
        .collect();
    for category in [
        "keyspace",
        "READ",
        "write",
        "string",
        "list",
        "admin",
        "fast",
        "slow",
        "dangerous",
        "connection",
        "transaction",
        "nosuch",
    ] {
        let words = format!("COMMAND LIST FILTERBY ACLCAT {category}");
        let [our, their] = [&mut ours, &mut redis].map(|it| names(&it.say(&words)));
        let [our, their] = [our, their].map(|it| &it & &all);
        assert_eq!(our, their, "{category}");
    }
}

/// What `redis-cli` shows of a command's words.
fn help(port: u16, words: &str) -> String {
    let mut cli = Command::new("timeout")
        .args(["120", "redis-cli", "-p", &port.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut typed = cli.stdin.take().unwrap();
    writeln!(typed, "help {words}").unwrap();
    drop(typed);
    let output = cli.wait_with_output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let line = shown.lines().find(|it| !it.trim().is_empty());
    line.unwrap_or_default().to_owned()
}

#[test]
fn redis_cli_shows_the_words_of_commands() {
    if !is_there("redis-cli") {
        return;
    }
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::start();
    for words in [
        "set",
        "getex",
        "mset",
        "del",
        "expire",
        "scan",
        "copy",
        "hello",
        "ping",
        "multi",
        "client list",
        "command list",
        "config set",
    ] {
        let [our, their] = [ours.address, redis.address].map(|it| help(it.port(), words));
        assert_eq!(our, their);
    }
}
