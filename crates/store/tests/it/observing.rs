//! What programs ask for that watch servers or look at them, against Redis.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use corecast_store::ServerOptions;

use crate::client::Client;
use crate::servers::{Ours, Redis, options};

/// A number of `INFO stats`, which is asked for by a connection of its own.
pub(crate) fn counted(address: SocketAddr, name: &str) -> u64 {
    let info = Client::new(address).say("INFO stats");
    let mut fields = info.lines().filter_map(|it| it.split_once(':'));
    let found = fields.find(|it| it.0 == name);
    found
        .unwrap_or_else(|| panic!("{name}: {info}"))
        .1
        .parse()
        .unwrap()
}

#[test]
fn what_programs_ask_of_servers_is_answered_as_by_redis() {
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::start();
    let [mut ours, mut redis] = [ours.address, redis.address].map(Client::new);
    for protocol in ["HELLO 2", "HELLO 3"] {
        ours.say(protocol);
        redis.say(protocol);
        for words in [
            "CLIENT CACHING yes",
            "CLIENT CACHING",
            "CLIENT GETREDIR",
            "CLIENT GETREDIR 1",
            "CLIENT TRACKING off",
            "CLIENT TRACKING odd",
            "CLIENT TRACKING",
            "CLIENT TRACKINGINFO",
            "CLIENT UNBLOCK",
            "CLIENT UNBLOCK odd",
            "CLIENT UNBLOCK 99999",
            "CLIENT UNBLOCK 99999 timeout",
            "CLIENT UNBLOCK 99999 ERROR",
            "CLIENT UNBLOCK odd odd",
            "CLIENT UNBLOCK 99999 error 1",
            "CLIENT PAUSE",
            "CLIENT PAUSE odd",
            "CLIENT PAUSE -1",
            "CLIENT PAUSE 1 odd",
            "CLIENT PAUSE odd odd",
            "CLIENT PAUSE 1 all 1",
            "CLIENT PAUSE 1 write",
            "CLIENT PAUSE 1 ALL",
            "CLIENT PAUSE 0",
            "CLIENT UNPAUSE",
            "CLIENT UNPAUSE 1",
            "CONFIG GET tcp-keepalive",
            "CONFIG REWRITE",
            "CONFIG SET maxmemory 1000000 maxmemory 2000000",
            "CONFIG SET timeout odd timeout 1",
            "CONFIG REWRITE 1",
            "LATENCY",
            "LATENCY HISTORY get",
            "LATENCY HISTORY",
            "LATENCY HISTOGRAM nothing",
            "LATENCY LATEST",
            "LATENCY LATEST 1",
            "LATENCY RESET",
            "LATENCY RESET get",
            "LATENCY ODD",
            "MEMORY",
            "MEMORY ODD",
            "MEMORY USAGE",
            "MEMORY USAGE nothing",
            "MEMORY USAGE nothing SAMPLES",
            "MEMORY USAGE nothing SAMPLES 0",
            "MEMORY USAGE nothing SAMPLES -1",
            "MEMORY USAGE nothing SAMPLES odd",
            "MEMORY USAGE nothing ODD 1",
            "ROLE odd",
            "SLOWLOG",
            "SLOWLOG LEN",
            "SLOWLOG LEN 1",
            "SLOWLOG GET",
            "SLOWLOG GET 10",
            "SLOWLOG GET -1",
            "SLOWLOG GET -2",
            "SLOWLOG GET odd",
            "SLOWLOG GET 1 1",
            "SLOWLOG RESET",
            "TIME odd",
            "MULTI",
            "MEMORY USAGE nothing",
            "MEMORY USAGE",
            "EXEC",
        ] {
            assert_eq!(ours.say(words), redis.say(words), "{words}");
        }
    }
}

#[test]
fn a_servers_time_role_and_memory_are_told() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    let time = client.say("TIME");
    let words: Vec<&str> = time.split("\r\n").collect();
    let [seconds, micros] = [words[2], words[4]].map(|it| it.parse::<u64>().unwrap());
    assert!(words[0] == "*2" && seconds > 1_700_000_000 && micros < 1_000_000);
    let role = client.say("ROLE");
    assert!(role.starts_with("*3\r\n$6\r\nmaster\r\n:") && role.ends_with("\r\n*0\r\n"));
    client.say("SET short 1");
    client.call(&["SET", "long", &"x".repeat(1000)]);
    // In a transaction it is what is found at its place.
    for words in [
        "MULTI",
        "MEMORY USAGE short",
        "DEL short",
        "MEMORY USAGE short",
    ] {
        client.say(words);
    }
    assert_eq!(client.say("EXEC"), "*3\r\n:64\r\n:1\r\n$-1\r\n");
    let usage = client.say("MEMORY USAGE long");
    let usage: usize = usage.trim().trim_start_matches(':').parse().unwrap();
    assert!((1064..2200).contains(&usage), "{usage}");
    assert!(client.say("MEMORY HELP").contains("USAGE"));
}

#[test]
fn info_has_what_tools_read() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    let info = client.say("INFO");
    let fields: BTreeMap<&str, &str> = info.lines().filter_map(|it| it.split_once(':')).collect();
    let number = |name: &str| {
        let text = fields.get(name).unwrap_or_else(|| panic!("{name}: {info}"));
        text.parse::<u64>().unwrap()
    };
    // `redis-cli --stat` shows the lowest number there is for what is not told.
    for name in [
        "connected_clients",
        "blocked_clients",
        "total_commands_processed",
        "total_connections_received",
        "instantaneous_ops_per_sec",
        "total_net_input_bytes",
        "total_net_output_bytes",
        "rejected_connections",
        "expired_keys",
        "evicted_keys",
        "keyspace_hits",
        "keyspace_misses",
        "rdb_bgsave_in_progress",
        "aof_rewrite_in_progress",
        "uptime_in_days",
    ] {
        number(name);
    }
    assert!(number("used_memory") > 0 && number("used_memory_peak") >= number("used_memory"));
    assert!(number("total_system_memory") > number("used_memory"));
    // Queues of jobs refuse servers that forget keys.
    assert_eq!(fields["maxmemory_policy"], "noeviction");
    assert_eq!(fields["rdb_last_bgsave_status"], "ok");
    let id = fields["run_id"];
    assert!(id.len() == 40 && id.bytes().all(|it| it.is_ascii_hexdigit()));
}

/// Two replicas, whose event loops count for themselves.
#[test]
fn keys_that_are_found_are_counted_as_by_redis() {
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::with(ServerOptions {
        replicas: 2,
        ..options()
    });
    let addresses = [ours.address, redis.address];
    let mut clients = addresses.map(|it| [Client::new(it), Client::new(it)]);
    let counts = |address| {
        let names = ["keyspace_hits", "keyspace_misses", "expired_keys"];
        names.map(|it| counted(address, it))
    };
    for words in [
        "SET there 1",
        "GET there",
        "GET nothing",
        "MGET there nothing there",
        "EXISTS there nothing",
        "TOUCH there nothing",
        "TYPE there",
        "TTL there",
        "PTTL nothing",
        "EXPIRETIME there",
        "STRLEN there",
        "GETRANGE there 0 1",
        "GETRANGE there odd 1",
        "SUBSTR nothing 0 1",
        "MEMORY USAGE there",
        "GETSET there 2",
        "GETDEL nothing",
        "GETEX there",
        "GETEX there EX 0",
        "SET there 3 GET",
        "SET there 3 NX",
        "SET nothing 3 XX GET",
        "COPY there other",
        "COPY nothing other",
        "APPEND there x",
        "SETRANGE there 0 5",
        "INCR count",
        "DEL count",
        "RENAME there again",
        "EXPIRE again 100",
        "PERSIST again",
        "KEYS *",
        "SCAN 0",
        "RANDOMKEY",
        "WATCH again",
        "MULTI",
        "GET again",
        "GET nothing",
        "SET again 4",
        "EXEC",
        "DBSIZE",
        "FLUSHALL",
        "GET again",
        "CONFIG RESETSTAT",
        "GET again",
        "SET again 1",
        "GET again",
    ] {
        for [first, second] in &mut clients {
            first.say(words);
            // Its replica is the other one.
            if words == "GET again" {
                second.say("EXISTS again nothing");
            }
        }
        let [our, redis] = addresses.map(counts);
        assert_eq!(our, redis, "{words}");
    }
}

#[test]
fn keys_that_expire_are_counted() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    let expired = || counted(ours.address, "expired_keys");
    client.say("SET one 1 PX 1");
    client.say("SET two 1 PX 1");
    client.say("SELECT 3");
    client.say("SET three 1 PX 1");
    client.say("SET four 1 EX 1000");
    // One of them may be found by this, the others are looked for.
    client.say("SET three 2");
    while expired() < 2 {
        sleep(Duration::from_millis(5));
    }
    // What a client removes has not expired.
    client.say("EXPIRE four 0");
    client.say("FLUSHALL");
    let found = expired();
    assert!((2..=3).contains(&found), "{found}");
    // A transaction finds what there is at its place.
    client.say("MULTI");
    client.say("INFO stats");
    let reply = client.say("EXEC");
    assert!(
        reply.contains(&format!("expired_keys:{found}\r\n")),
        "{reply}"
    );
    client.say("CONFIG RESETSTAT");
    assert_eq!(expired(), 0);
}
