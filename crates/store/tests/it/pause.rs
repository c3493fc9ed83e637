//! `CLIENT PAUSE`: commands that wait.

use corecast_store::ServerOptions;

use crate::client::{Client, request};
use crate::servers::{Ours, options};

/// Waits until so many clients have a command that waits.
fn wait_for(client: &mut Client, waiting: usize) {
    let line = format!("blocked_clients:{waiting}\r\n");
    while !client.say("INFO clients").contains(&line) {
        std::thread::yield_now();
    }
}

#[test]
fn writes_wait_until_a_pause_is_ended() {
    let ours = Ours::with(ServerOptions {
        replicas: 2,
        ..options()
    });
    let [mut first, mut second, mut third, mut fourth] =
        [(); 4].map(|()| Client::new(ours.address));
    for words in ["MULTI", "SET c 1"] {
        third.say(words);
    }
    assert_eq!(first.say("CLIENT PAUSE 100000 WRITE"), "+OK\r\n");
    // What does not write goes on, as do transactions of reads, and what is refused for its words.
    let all = ["GET a", "SET a 1", "GET a", "INCR a"];
    let all = all.map(|it| request(&it.split(' ').collect::<Vec<_>>()));
    second.send(&all.concat());
    assert_eq!(second.reply(), b"$-1\r\n");
    third.send(&request(&["EXEC"]));
    fourth.send(b"SET d 1\r\n");
    wait_for(&mut first, 3);
    for (words, reply) in [
        ("MULTI", "+OK\r\n"),
        ("GET a", "+QUEUED\r\n"),
        ("EXEC", "*1\r\n$-1\r\n"),
        (
            "SET a",
            "-ERR wrong number of arguments for 'set' command\r\n",
        ),
        ("EXISTS a c d", ":0\r\n"),
        ("CLIENT UNPAUSE", "+OK\r\n"),
    ] {
        assert_eq!(first.say(words), reply, "{words}");
    }
    assert_eq!(
        [(); 3].map(|()| second.reply()),
        [&b"+OK\r\n"[..], b"$1\r\n1\r\n", b":2\r\n"]
    );
    assert_eq!(third.reply(), b"*1\r\n+OK\r\n");
    assert_eq!(fourth.reply(), b"+OK\r\n");
    wait_for(&mut first, 0);
}

#[test]
fn a_pause_of_all_commands_ends_by_its_time() {
    let ours = Ours::start();
    let [mut first, mut second] = [(); 2].map(|()| Client::new(ours.address));
    first.send(
        &[
            request(&["CLIENT", "PAUSE", "30"]),
            // As in Redis it is made no shorter, and this waits too.
            request(&["CLIENT", "UNPAUSE"]),
        ]
        .concat(),
    );
    assert_eq!(first.reply(), b"+OK\r\n");
    assert_eq!(second.say("PING"), "+PONG\r\n");
    assert_eq!(first.reply(), b"+OK\r\n");
}

#[test]
fn a_client_that_waits_can_be_cut_off_and_leave() {
    let ours = Ours::start();
    let [mut first, mut second] = [(); 2].map(|()| Client::new(ours.address));
    let id = second.say("CLIENT ID");
    let id = id.trim().trim_start_matches(':');
    first.say("CLIENT PAUSE 100000 WRITE");
    second.send(&request(&["SET", "a", "1"]));
    wait_for(&mut first, 1);
    let listed = first.say(&format!("CLIENT LIST ID {id}"));
    assert!(listed.contains(" flags=b "), "{listed}");
    assert_eq!(first.say(&format!("CLIENT KILL ID {id}")), ":1\r\n");
    assert_eq!(second.try_reply(), None);
    wait_for(&mut first, 0);
    // What waits does not run either if its client leaves.
    let mut third = Client::new(ours.address);
    third.send(&request(&["SET", "a", "1"]));
    wait_for(&mut first, 1);
    drop(third);
    wait_for(&mut first, 0);
    first.say("CLIENT UNPAUSE");
    assert_eq!(first.say("EXISTS a"), ":0\r\n");
}
