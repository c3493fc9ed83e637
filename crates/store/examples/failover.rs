//! How long writes stall when replicas that are processes are killed.
//!
//! `cargo run --release -p corecast-store --example failover -- 200` kills the leader, the acceptor, both, or another replica, 200 times,
//! and writes at once to one that lives: it prints how long that write takes, and one beforehand. With a folder and `always`, `everysec` or
//! `no` behind the number it keeps what is written there, and the replica that writes the log is killed as well.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use corecast_store::{ProcessServer, Replica, ServerOptions};
use corecast_wire::ending::not_outliving;
use rustix::process::{Pid, Signal, kill_process};

const REPLICAS: usize = 3;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let role = std::env::args().nth(1);
    match role.as_deref() {
        Some("server") => serve(std::env::args().skip(2)),
        Some("replica") => {
            let replica = Replica::inherited()?;
            let number = replica.number();
            let told = || println!("serving {number} {}", std::process::id());
            Ok(replica.run(told)?)
        }
        Some(count) => measure(count.parse()?, std::env::args().skip(2).collect()),
        None => measure(8, Vec::new()),
    }
}

/// This program again.
fn again(role: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(role);
    command
}

fn serve(mut folder: impl Iterator<Item = String>) -> Result<(), Failure> {
    let dir = folder.next().map(PathBuf::from);
    let when = folder.next().map(|it| it.parse());
    let options = ServerOptions {
        port: 0,
        replicas: REPLICAS,
        dir,
        append_fsync: when.transpose()?.unwrap_or_default(),
        ..ServerOptions::default()
    };
    let server = ProcessServer::bind(options)?;
    println!("address {}", server.address());
    Ok(server.run(|| again("replica"), |_, _| ())?)
}

fn measure(count: usize, folder: Vec<String>) -> Result<(), Failure> {
    let mut command = again("server");
    command.args(&folder);
    let mut server = not_outliving(command.stdout(Stdio::piped()), Signal::KILL).spawn()?;
    let out = server.stdout.take().ok_or("it says nothing")?;
    let mut lines = BufReader::new(out).lines();
    let first = lines.next().ok_or("it has ended")??;
    let address: SocketAddr = first
        .strip_prefix("address ")
        .ok_or("no address")?
        .parse()?;
    let mut pids = [0; REPLICAS];
    wait_for(&mut lines, &mut pids)?;
    let mut kinds = vec!["the leader", "the acceptor", "both", "another replica"];
    kinds.extend((!folder.is_empty()).then_some("the one that writes"));
    for victims in kinds {
        let (mut quiet, mut stalled) = (Vec::new(), Vec::new());
        for _ in 0..count.div_ceil(4) {
            let (mut client, own, [leader, acceptor, writer]) = connect_to_whole(address)?;
            let other = (0..REPLICAS).find(|it| ![leader, acceptor].contains(it));
            let chosen = match victims {
                "the leader" => vec![leader],
                "the acceptor" => vec![acceptor],
                "both" => vec![leader, acceptor],
                "the one that writes" => vec![writer],
                _ => other.into_iter().collect(),
            };
            // A client of a replica that lives.
            if chosen.contains(&own) {
                client = connect_to_other(address, &chosen)?;
            }
            quiet.push(set(&mut client)?);
            for victim in &chosen {
                kill_process(
                    Pid::from_raw(pids[*victim]).ok_or("no process")?,
                    Signal::KILL,
                )?;
                pids[*victim] = 0;
            }
            stalled.push(set(&mut client)?);
            wait_for(&mut lines, &mut pids)?;
        }
        println!(
            "{victims} killed: a write takes {}; before {}",
            told(&mut stalled),
            told(&mut quiet)
        );
    }
    server.kill()?;
    server.wait()?;
    Ok(())
}

/// Waits until all replicas serve.
fn wait_for(
    lines: &mut Lines<BufReader<ChildStdout>>,
    pids: &mut [i32; REPLICAS],
) -> Result<(), Failure> {
    while pids.contains(&0) {
        let line = lines.next().ok_or("it has ended")??;
        let mut words = line.split(' ').skip(1).map(str::parse::<i32>);
        if let (Some(Ok(number)), Some(Ok(pid))) = (words.next(), words.next()) {
            pids[number as usize] = pid;
        }
    }
    Ok(())
}

/// A client with the number of its replica, and those of the ones that lead, accept, and write the log, if there is one.
fn connect(address: SocketAddr) -> Result<(TcpStream, usize, [usize; 3]), Failure> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.write_all(b"INFO replication\r\n")?;
    let mut text = String::new();
    let mut bytes = [0; 1024];
    let number = |text: &str, name: &str| -> Option<usize> {
        let rest = text.split_once(name)?.1;
        rest.split_once('\r')?.0.parse().ok()
    };
    loop {
        let numbers = ["replica:", "leader:", "acceptor:"].map(|name| number(&text, name));
        if let [Some(own), Some(leader), Some(acceptor)] = numbers {
            let writer = number(&text, "log_writer:").unwrap_or(leader);
            return Ok((stream, own, [leader, acceptor, writer]));
        }
        let length = stream.read(&mut bytes)?;
        text.push_str(std::str::from_utf8(&bytes[..length])?);
        if length == 0 {
            return Err("it has ended the connection".into());
        }
    }
}

/// The same once another one accepts than the one that leads: where only one lived for a moment it does both.
fn connect_to_whole(address: SocketAddr) -> Result<(TcpStream, usize, [usize; 3]), Failure> {
    loop {
        let found = connect(address)?;
        let [leader, acceptor, _] = found.2;
        if leader != acceptor {
            return Ok(found);
        }
    }
}

/// A client of a replica that is none of these.
fn connect_to_other(address: SocketAddr, not: &[usize]) -> Result<TcpStream, Failure> {
    loop {
        let (client, own, _) = connect(address)?;
        if !not.contains(&own) {
            return Ok(client);
        }
    }
}

fn set(client: &mut TcpStream) -> Result<Duration, Failure> {
    let begun = Instant::now();
    client.write_all(b"SET key value\r\n")?;
    let mut reply = [0; 5];
    client.read_exact(&mut reply)?;
    match &reply {
        b"+OK\r\n" => Ok(begun.elapsed()),
        other => Err(format!("{:?}", String::from_utf8_lossy(other)).into()),
    }
}

fn told(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100];
    format!("{:.2?}, at most {:.2?} in 99 of 100", at(50), at(99))
}
