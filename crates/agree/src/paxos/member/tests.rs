use super::*;
use crate::fault::{self, Fault};

/// Steps a member, and appends to the configuration log at once what it wants appended.
fn step(member: &mut Member<u32>, input: Input<u32>) -> Vec<Output<u32>> {
    let mut outputs = Vec::new();
    member.step(input, &mut outputs);
    let appends = |it: &Output<u32>| matches!(it, Output::Append { .. });
    if outputs.iter().any(appends) {
        member.step(Input::Appended, &mut outputs);
    }
    outputs
}

/// A member that restarts with nothing, and leads while only another one is waited for. It has proposed a command, which that one
/// has learned; it has not. Returns the floor that it then tells with its next command.
fn floor_of_a_leader_that_is_not_waited_for(fault: Option<Fault>) -> u64 {
    let (leader, other) = (1, 0);
    let mut member = Member::new(leader, 2);
    let configuration = Configuration {
        members: 1 << other,
        acceptor: other,
        ..first_configuration(2)
    };
    let position = 1;
    step(
        &mut member,
        Input::Configured {
            position,
            configuration,
        },
    );
    step(&mut member, Input::Lead);
    let message = Message::Promise {
        ballot: position + 1,
        accepted: Window::new(0),
    };
    let from = other;
    step(&mut member, Input::Received { from, message });
    assert!(member.leads());
    step(&mut member, Input::Propose(7));
    let message = Message::Learned { next: 1 };
    fault::with(fault, || {
        step(&mut member, Input::Received { from, message })
    });
    let told = step(&mut member, Input::Propose(8));
    let mut floors = told.iter().filter_map(|output| match output {
        Output::Send {
            message: Message::Accept { floor, .. },
            ..
        } => Some(*floor),
        _ => None,
    });
    floors.next_back().unwrap()
}

#[test]
fn a_leader_drops_nothing_that_it_lacks() {
    assert_eq!(floor_of_a_leader_that_is_not_waited_for(None), 0);
    let fault = Some(Fault::LeaderUnawaited);
    assert_eq!(floor_of_a_leader_that_is_not_waited_for(fault), 1);
}

/// A member that has learned nothing is told of an entry after many. Returns how many entries it has room for.
fn room_of_a_newcomer(fault: Option<Fault>) -> u64 {
    const FLOOR: u64 = 1_000_000;
    let mut member = Member::new(1, 2);
    let learn = |index| Input::Received {
        from: 0,
        message: Message::Learn {
            index,
            value: Some(7),
            floor: FLOOR,
        },
    };
    fault::with(fault, || {
        for index in [FLOOR + 3, FLOOR + 2, FLOOR] {
            let told = step(&mut member, learn(index));
            assert_eq!(told, [Output::Behind { floor: FLOOR }]);
        }
    });
    let room = member.kept();
    // It has kept what the snapshot lacks.
    let next = FLOOR + 2;
    let told = step(&mut member, Input::Installed { next });
    let delivered = |index| Output::Deliver {
        index,
        value: Some(7),
    };
    assert_eq!(told, [delivered(next), delivered(next + 1)]);
    room
}

#[test]
fn a_member_that_comes_late_has_no_room_for_what_was_dropped() {
    assert_eq!(room_of_a_newcomer(None), 4);
    assert!(room_of_a_newcomer(Some(Fault::RoomForDropped)) > 1_000_000);
}
