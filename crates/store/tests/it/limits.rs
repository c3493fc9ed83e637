//! Limits on connections.

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use corecast_store::{ProcessServer, Server, ServerOptions};

use crate::client::Client;
use crate::servers::{Ours, options};

#[test]
fn no_more_clients_than_allowed() {
    let ours = Ours::with(ServerOptions {
        clients_max: 2,
        ..options()
    });
    let mut one = Client::new(ours.address);
    let mut two = Client::new(ours.address);
    assert_eq!(one.say("PING") + &two.say("PING"), "+PONG\r\n+PONG\r\n");
    let mut three = Client::new(ours.address);
    assert_eq!(three.reply(), b"-ERR max number of clients reached\r\n");
    assert_eq!(three.try_reply(), None);
    // Once one has left there is room again, when the server has noticed it.
    drop(two);
    let served = |_| {
        let mut client = Client::new(ours.address);
        client.send(b"PING\r\n");
        client.try_reply() == Some(b"+PONG\r\n".to_vec())
    };
    assert!((0..1000).any(served));
    assert_eq!(one.say("CONFIG SET maxclients 10"), "+OK\r\n");
    let mut more = [0; 5].map(|_| Client::new(ours.address));
    assert!(more.iter_mut().all(|it| it.say("PING") == "+PONG\r\n"));
}

#[test]
fn settings_out_of_range_change_nothing() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    let failed = |about: &str, why: &str| {
        format!("-ERR CONFIG SET failed (possibly related to argument '{about}') - {why}\r\n")
    };
    let between =
        |least: &str, most: &str| format!("argument must be between {least} and {most} inclusive");
    let (timeout, clients) = (between("0", "2147483647"), between("1", "4294967295"));
    for (words, answer) in [
        ("timeout 2147483648", failed("timeout", &timeout)),
        ("timeout -1", failed("timeout", &timeout)),
        ("maxclients 0", failed("maxclients", &clients)),
        (
            "timeout 7 maxclients 4294967296",
            failed("maxclients", &clients),
        ),
        (
            "timeout x",
            failed("timeout", "argument couldn't be parsed into an integer"),
        ),
        (
            "timeout 7 TIMEOUT 8",
            failed("timeout", "duplicate parameter"),
        ),
        (
            "databases 17",
            failed("databases", "can't set immutable config"),
        ),
        (
            "timeout x nosuch 1",
            "-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'\r\n".to_owned(),
        ),
    ] {
        assert_eq!(
            client.say(&format!("CONFIG SET {words}")),
            answer,
            "{words}"
        );
    }
    assert_eq!(
        client.say("CONFIG GET TimeOut"),
        "*2\r\n$7\r\nTimeOut\r\n$1\r\n0\r\n"
    );
    assert_eq!(client.say("CONFIG SET timeout 2147483647"), "+OK\r\n");
    assert!(client.say("CONFIG GET timeou*").ends_with("2147483647\r\n"));
}

#[test]
fn idle_clients_are_cut_off() {
    let ours = Ours::with(ServerOptions {
        idle_max: Some(Duration::from_secs(1)),
        ..options()
    });
    let mut client = Client::new(ours.address);
    assert_eq!(client.say("PING"), "+PONG\r\n");
    assert_eq!(client.try_reply(), None);
}

/// A server on all addresses, without a password, serves clients of this machine only.
#[test]
fn protected_mode_turns_others_away() {
    let ours = Ours::with(ServerOptions {
        bind: "0.0.0.0".parse().unwrap(),
        ..options()
    });
    let port = ours.address.port();
    let mut near = Client::new(([127, 0, 0, 1], port).into());
    assert_eq!(near.say("PING"), "+PONG\r\n");
    // From an address of this machine that is not the loopback's, a client is as one of another machine.
    let Some(own) = own_address() else {
        eprintln!("SKIPPED: this machine has no address but the loopback's");
        return;
    };
    let mut text = String::new();
    let mut far = TcpStream::connect((own, port)).unwrap();
    let _ = far.read_to_string(&mut text);
    assert!(text.starts_with("-DENIED "), "{text}");
}

/// The address from which this machine would send to others. Nothing is sent.
fn own_address() -> Option<std::net::IpAddr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_loopback()).then_some(own)
}

#[test]
fn options_out_of_range_are_refused() {
    let refused = |options: ServerOptions| Server::bind(options).unwrap_err().to_string();
    let none = ServerOptions {
        replicas: 0,
        ..options()
    };
    assert_eq!(refused(none), "0 replicas: 1 to 64 are possible");
    let empty = ServerOptions {
        password: Some(String::new()),
        ..options()
    };
    assert!(refused(empty).starts_with("the password is empty"));
}

/// Each of these would begin again after a second if there were no room for it.
#[test]
fn hundreds_may_come_before_the_first_is_accepted() {
    const CLIENTS: usize = 300;
    let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
    if allowed.trim().parse::<usize>().unwrap() < CLIENTS {
        eprintln!("SKIPPED: net.core.somaxconn is {allowed}");
        return;
    }
    let threads = Server::bind(options()).unwrap();
    let processes = ProcessServer::bind(options()).unwrap();
    // Neither runs.
    for address in [threads.address(), processes.address()] {
        let connect = |_| TcpStream::connect_timeout(&address, Duration::from_secs(60));
        let clients: Result<Vec<TcpStream>, _> = (0..CLIENTS).map(connect).collect();
        clients.unwrap();
    }
}
