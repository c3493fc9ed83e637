//! Teams of processes go on when some of them are killed: without them, or with others in their places. Each process is
//! this test program again, and a variable says which part it plays.

use crate::common::binomial;
use crate::own_process::{Kept, WATCHDOG};
use corecast_collectives::operator::Sum;
use corecast_process::{Address, EnterError, Places, ProcessGroup, Survivors};
use corecast_team::{Failure, Member, Options, Team};
use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

const PART: &str = "CORECAST_TEST_PART";

/// A process that plays a part, and what it prints.
struct Player {
    child: Kept,
    said: BufReader<ChildStdout>,
}

impl Player {
    fn start(part: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "survivors::part", "--nocapture"])
            .env(PART, part)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self {
            child: Kept(child),
            said,
        }
    }

    /// Reads until a line that begins with `word`, and returns the rest of that line.
    fn says(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let bytes = self.said.read_line(&mut line).unwrap();
            assert!(bytes > 0, "the process has ended before it said {word:?}");
            // The test harness writes before it on the first line.
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
        }
    }

    fn ends_well(mut self) {
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        let status = self.child.0.wait().unwrap();
        assert!(status.success(), "{status}: {rest}");
    }
}

/// Works until something fails; returns how many operations have succeeded.
fn work(member: &mut Member) -> (u64, Failure) {
    let mut succeeded = 0;
    loop {
        if succeeded == 300 {
            println!("begun");
        }
        let mut data = [succeeded + member.rank() as u64; 20];
        let ended = match succeeded % 3 {
            0 => member.barrier(),
            1 => member.allreduce(&mut data, Sum),
            _ => member.broadcast(succeeded as usize % member.size(), &mut data),
        };
        match ended {
            Ok(()) => succeeded += 1,
            Err(failure) => return (succeeded, failure),
        }
    }
}

/// Goes on with `team`, and returns the next one with the ranks that have gone on.
fn go_on(team: &Team, succeeded: &[u64], places: Places, dies: &str) -> (Team, Vec<usize>) {
    loop {
        let survivors = Survivors::agree(team, &[], places, WATCHDOG).unwrap();
        if dies == "voted" {
            kill_self();
        }
        // What this process says of its own ranks is what has been seen here.
        let progress = survivors.progress();
        for (rank, succeeded) in team.ranks().iter().zip(succeeded) {
            let ended = progress[*rank].ended.as_ref().unwrap();
            assert_eq!(ended.completed, *succeeded);
            assert_eq!(ended.failed.len(), 1);
        }
        let completed = survivors.ranks().iter().map(|&rank| {
            let ended = progress[rank].ended.as_ref();
            ended.expect("it has said so before it came").completed
        });
        // A broadcast's root is ahead, by one operation of all in a row that need nobody else's.
        let (least, most) = (completed.clone().min(), completed.max());
        assert!(most <= least.map(|least| least + 2), "{least:?} {most:?}");
        let (ranks, size) = (survivors.ranks().to_vec(), survivors.size());
        let options = Options::default();
        if let Some(next) = survivors.enter(|| binomial(size), &options).unwrap() {
            return (next, ranks);
        }
    }
}

fn kill_self() -> ! {
    // SAFETY: the call takes no pointers.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    unreachable!("the signal cannot be caught")
}

/// Plays the part that a variable names, in another process of this program.
#[test]
fn part() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let words: Vec<&str> = part.split(' ').collect();
    let [dies, name, size, ranks, places] = words[..] else {
        return;
    };
    let address = Address::Name(name.to_owned());
    let size = size.parse().unwrap();
    let ranks: Vec<Option<usize>> = ranks.split(',').map(|rank| rank.parse().ok()).collect();
    let options = Options {
        join_limit: WATCHDOG,
        ..Options::default()
    };
    let team = ProcessGroup::enter(&address, size, &ranks, || binomial(size), &options).unwrap();
    if dies == "newcomer" {
        return finish(&team, &(0..size).collect::<Vec<_>>());
    }
    let ended = team.run(work);
    // Whoever is killed while it writes the first failure leaves one that nobody can read.
    let is_lost = matches!(
        ended[0].1,
        Failure::PeerLost { .. } | Failure::Corrupt { .. }
    );
    assert!(is_lost, "{ended:?}");
    println!("failed");
    if dies == "failed" {
        kill_self();
    }
    let succeeded: Vec<u64> = ended.iter().map(|(succeeded, _)| *succeeded).collect();
    let places = match places {
        "closed" => Places::Closed,
        _ => Places::Refilled,
    };
    let (next, members) = go_on(&team, &succeeded, places, dies);
    let late = Survivors::agree(&team, &[], places, Duration::ZERO);
    assert!(matches!(late, Err(EnterError::Succeeded)));
    println!("next {members:?}");
    finish(&next, &members);
}

/// Runs some operations over the next team.
fn finish(next: &Team, members: &[usize]) {
    let size = next.size();
    next.run(|member| {
        for round in 0..50 {
            let mut data = [round + member.rank() as u64; 40];
            member.allreduce(&mut data, Sum).unwrap();
            let sum: u64 = (0..size as u64).map(|rank| round + rank).sum();
            assert_eq!(data, [sum; 40], "of {members:?}");
            let root = round as usize % size;
            assert_eq!(member.broadcast_value(root, member.rank()), Ok(root));
        }
    });
}

/// Starts processes with these parts, one rank each, and waits until all work.
fn start(test: &str, parts: &[&str], places: &str) -> (String, Vec<Player>) {
    let name = format!("survivors-{test}-{}", std::process::id());
    let size = parts.len();
    let start = |(rank, part)| Player::start(&format!("{part} {name} {size} {rank} {places}"));
    let mut players: Vec<Player> = parts.iter().enumerate().map(start).collect();
    for player in &mut players {
        player.says("begun");
    }
    (name, players)
}

/// Checks that all of these go on together, as `count` ranks.
fn all_go_on(mut players: Vec<Player>, count: usize) {
    let members: Vec<String> = players
        .iter_mut()
        .map(|player| player.says("next"))
        .collect();
    assert!(
        members.iter().all(|other| *other == members[0]),
        "{members:?}"
    );
    assert_eq!(members[0].split(',').count(), count, "{members:?}");
    players.into_iter().for_each(Player::ends_well);
}

#[test]
fn a_team_goes_on_without_those_that_were_killed() {
    for killed in 1..3 {
        let (_, mut players) = start(&format!("killed-{killed}"), &["lives"; 4], "closed");
        players.truncate(4 - killed);
        all_go_on(players, 4 - killed);
    }
}

#[test]
fn a_survivor_may_be_killed_before_or_after_it_votes() {
    for dies in ["failed", "voted"] {
        let (_, mut players) = start(dies, &["lives", "lives", dies, "lives"], "closed");
        players.pop();
        let mut dies = players.pop().unwrap();
        dies.says("failed");
        all_go_on(players, 2);
    }
}

#[test]
fn another_process_takes_the_place_of_one_that_was_killed() {
    let (name, mut players) = start("refilled", &["lives"; 3], "refilled");
    players.pop();
    for player in &mut players {
        player.says("failed");
    }
    let newcomer = Player::start(&format!("newcomer {name} 3 2 refilled"));
    all_go_on(players, 2);
    newcomer.ends_well();
}

#[test]
fn two_ranks_of_a_process_go_on_together() {
    let name = format!("survivors-pairs-{}", std::process::id());
    let start = |ranks| Player::start(&format!("lives {name} 6 {ranks} closed"));
    let mut players: Vec<Player> = ["0,5", "1,4", "2,3"].map(start).into();
    players
        .iter_mut()
        .for_each(|player| drop(player.says("begun")));
    players.pop();
    all_go_on(players, 4);
}

#[test]
fn teams_that_cannot_go_on_say_so() {
    let limit = Duration::from_millis(20);
    let threads = Team::new(binomial(2).unwrap()).unwrap();
    let refused = Survivors::agree(&threads, &[], Places::Closed, limit);
    assert!(matches!(refused, Err(EnterError::OneProcess)));

    let fd = ProcessGroup::found(&binomial(2).unwrap(), &Options::default()).unwrap();
    let team = ProcessGroup::attach(&fd, &[0, 1], &Options::default()).unwrap();
    let refused = Survivors::agree(&team, &[], Places::Refilled, limit);
    assert!(matches!(refused, Err(EnterError::NoAddress)));
    let member = team.join(1).unwrap();
    let refused = Survivors::agree(&team, &[], Places::Closed, limit);
    assert!(matches!(refused, Err(EnterError::Joined { rank: 1 })));
    drop(member);
    let leaves = Survivors::agree(&team, &[0, 1], Places::Closed, limit);
    assert!(matches!(leaves, Err(EnterError::AllLeave)));

    let fd = ProcessGroup::found(&binomial(2).unwrap(), &Options::default()).unwrap();
    let team = ProcessGroup::attach(&fd, &[0, 1], &Options::default()).unwrap();
    // Rank 0 leaves of its own will.
    let survivors = Survivors::agree(&team, &[0], Places::Closed, limit).unwrap();
    assert_eq!((survivors.ranks(), survivors.size()), (&[1][..], 1));
    let next = survivors
        .enter(|| binomial(1), &Options::default())
        .unwrap();
    assert_eq!(next.expect("nobody else can end").size(), 1);
}
