//! The other machine in these tests is the library `rosc` on a socket of its own.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rosc::{OscBundle, OscMessage, OscPacket, OscTime, OscType, decoder, encoder};

use super::super::datagram;
use super::super::mutations::mutate;
use super::super::params::OscParams;
use super::endpoint::OscEndpoint;
use super::endpoint::{BYTES_MAX, MESSAGES_MAX};
use super::report::{event_message, state_messages};
use super::words::{Wish, wish_of};
use crate::control::{
    Board, DeskEvent, DeskEvents, EventKind, FloorPlace, Journal, Outcome, RuleStatus,
    ShowControlStatus, Status, Trust, desk_queue,
};
use crate::runtime::{HangPolicy, Supervisor};

fn message(addr: &str, args: Vec<OscType>) -> OscMessage {
    OscMessage {
        addr: addr.to_owned(),
        args,
    }
}

fn bytes(packet: &OscPacket) -> Vec<u8> {
    encoder::encode(packet).unwrap()
}

fn bundle(content: Vec<OscPacket>) -> OscPacket {
    OscPacket::Bundle(OscBundle {
        timetag: OscTime {
            seconds: 0,
            fractional: 1,
        },
        content,
    })
}

#[test]
fn addresses_and_arguments_are_words() {
    for (addr, args, words) in [
        ("/shoal/scene", vec!["reef".into()], Some("scene reef")),
        ("/shoal/scene/reef", vec![], Some("scene reef")),
        (
            "/shoal/scene/reef",
            vec![OscType::Float(1.0)],
            Some("scene reef"),
        ),
        ("/shoal/scene/reef", vec![OscType::Float(0.0)], None),
        ("/shoal/calm", vec![OscType::Int(0)], None),
        // The answer of another Shoal.
        ("/shoal/reply", vec!["calm".into(), "applied".into()], None),
        ("/shoal/calm", vec![OscType::Bool(true)], Some("calm")),
        ("/shoal/dark", vec!["10min".into()], Some("dark 10min")),
        (
            "/shoal/event",
            vec!["the shark".into()],
            Some("event the shark"),
        ),
        ("/shoal/scene", vec![OscType::Int(7)], Some("scene 7")),
    ] {
        let found = match wish_of(&message(addr, args.clone())) {
            Ok(Wish::Command(_, words)) => Some(words),
            Ok(Wish::Nothing) => None,
            Ok(Wish::Subscribe(port)) => panic!("{addr} {port:?}"),
            Err(error) => panic!("{addr} {args:?}: {error}"),
        };
        assert_eq!(found.as_deref(), words, "{addr} {args:?}");
    }
}

#[test]
fn unknown_addresses_and_rights_beyond_an_operator_are_refused() {
    for (addr, args, part) in [
        (
            "/composition/layers/1",
            vec![],
            "does not begin with /shoal/",
        ),
        ("/shoal/explode", vec![], "`explode` is no command"),
        ("/shoal/undo", vec![], "needs an administrator"),
        (
            "/shoal/restart/camera",
            vec![OscType::Int(1)],
            "needs an administrator",
        ),
        (
            "/shoal/scene",
            vec![OscType::Blob(vec![0; 4])],
            "neither a text nor a number",
        ),
        (
            "/shoal/scene",
            vec![OscType::Float(f32::NAN)],
            "neither a text nor a number",
        ),
        ("/shoal/dark", vec!["10".into()], "is no time"),
    ] {
        let Err(error) = wish_of(&message(addr, args)) else {
            panic!("{addr} was taken");
        };
        assert!(error.contains(part), "{addr}: {error}");
    }
}

fn messages_of(datagram: &[u8]) -> Result<Vec<OscMessage>, String> {
    datagram::messages_of(datagram, BYTES_MAX, MESSAGES_MAX)
}

#[test]
fn hostile_datagrams_are_refused_before_they_are_decoded() {
    let calm = || OscPacket::Message(message("/shoal/calm", vec![]));
    assert_eq!(messages_of(&bytes(&calm())).unwrap().len(), 1);
    assert_eq!(
        messages_of(&bytes(&bundle(vec![calm(), calm()])))
            .unwrap()
            .len(),
        2
    );
    let deep = bytes(&bundle(vec![bundle(vec![calm()])]));
    assert_eq!(messages_of(&deep).unwrap_err(), "a bundle in a bundle");
    let arrays = format!("/shoal/calm\0,{}\0\0\0", "[".repeat(1400));
    assert_eq!(messages_of(arrays.as_bytes()).unwrap_err(), "an array");
    let many = bytes(&bundle(
        (0..65)
            .map(|_| OscPacket::Message(message("/a", vec![])))
            .collect(),
    ));
    assert!(messages_of(&many).unwrap_err().contains("over 64 messages"));
    assert!(
        messages_of(&[0; 1473])
            .unwrap_err()
            .contains("over 1472 bytes")
    );
    let valid = bytes(&bundle(vec![
        calm(),
        OscPacket::Message(message("/shoal/scene", vec!["reef".into()])),
        OscPacket::Message(message("/shoal/dark", vec![OscType::Float(1.0)])),
    ]));
    mutate(&[valid, many, arrays.into_bytes()], |datagram| {
        for message in messages_of(datagram).into_iter().flatten() {
            let _ = wish_of(&message);
        }
    });
}

/// An endpoint with a desk that the test answers for, and a machine beside it.
struct Rig {
    supervisor: Supervisor,
    desk: DeskEvents,
    board: Arc<Board>,
    status: Arc<Mutex<ShowControlStatus>>,
    journal: Journal,
    machine: UdpSocket,
}

impl Rig {
    /// Starts the endpoint on a free port. The machine is known if `is_known`.
    fn start(is_known: bool) -> Self {
        let machine = UdpSocket::bind("127.0.0.1:0").unwrap();
        machine
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let free = UdpSocket::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let params = OscParams {
            listen: Some(free.to_string()),
            from: if is_known {
                vec![]
            } else {
                vec!["192.0.2.7".into()]
            },
            send_to: vec![machine.local_addr().unwrap().to_string()],
        };
        let (client, desk, board) = desk_queue();
        let journal = Journal::new(Arc::clone(&board));
        let status: Arc<Mutex<ShowControlStatus>> = Arc::default();
        let fault = journal.fault("remote.osc");
        let mut endpoint = OscEndpoint::new(&params, client, Arc::clone(&status), fault).unwrap();
        let mut supervisor = Supervisor::new(Arc::new(AtomicBool::new(false)));
        supervisor
            .start("osc", HangPolicy::WaitAtEnd, move |heartbeat| {
                endpoint.run(heartbeat);
                Ok(())
            })
            .unwrap();
        machine.connect(free).unwrap();
        Self {
            supervisor,
            desk,
            board,
            status,
            journal,
            machine,
        }
    }

    fn send(&self, packet: &OscPacket) {
        let _nobody_yet = self.machine.send(&bytes(packet));
    }

    /// Returns the next message with this address.
    fn wait_for(&self, addr: &str) -> OscMessage {
        let begun = Instant::now();
        let mut buffer = [0; 2000];
        while begun.elapsed() < Duration::from_secs(20) {
            let Ok(length) = self.machine.recv(&mut buffer) else {
                continue;
            };
            if let (_, OscPacket::Message(message)) =
                decoder::decode_udp(&buffer[..length]).unwrap()
                && message.addr == addr
            {
                return message;
            }
        }
        panic!("no message {addr}");
    }
}

#[test]
fn a_command_reaches_the_desk_and_its_reply_the_machine() {
    let rig = Rig::start(true);
    rig.wait_for("/shoal/state");
    rig.send(&OscPacket::Message(message(
        "/shoal/scene",
        vec!["reef".into()],
    )));
    let Ok(DeskEvent::Request(incoming)) = rig.desk.recv_timeout(Duration::from_secs(20)) else {
        panic!("no request");
    };
    assert_eq!(incoming.request.command.summary(), "reef");
    assert_eq!(incoming.request.source.to_string(), "remote OSC 127.0.0.1");
    assert_eq!(incoming.request.trust, Trust::Role);
    incoming.answer(
        1,
        Outcome::Applied {
            tick: 1,
            notes: vec![],
            unsaved: None,
        },
    );
    let reply = rig.wait_for("/shoal/reply");
    assert_eq!(
        reply.args,
        ["scene reef".into(), "applied".into()] as [OscType; 2]
    );
    rig.send(&OscPacket::Message(message("/shoal/undo", vec![])));
    let reply = rig.wait_for("/shoal/reply");
    assert!(
        reply.args[1]
            .clone()
            .string()
            .unwrap()
            .contains("administrator")
    );
    let status = rig.status.lock().clone();
    assert_eq!((status.commands, status.refused), (1, 1), "{status:?}");
    rig.supervisor.shut_down().unwrap();
}

/// A fixed bug: two instances answered each other's answers forever, after one datagram with the sender of the other.
#[test]
fn the_answer_of_another_instance_is_not_answered() {
    let rig = Rig::start(true);
    rig.wait_for("/shoal/state");
    let answer = vec!["nothing".into(), "no command".into()];
    rig.send(&OscPacket::Message(message("/shoal/reply", answer)));
    rig.send(&OscPacket::Message(message("/shoal/explode", vec![])));
    let reply = rig.wait_for("/shoal/reply");
    assert_eq!(reply.args[0], OscType::from("/shoal/explode"));
    assert_eq!(rig.status.lock().refused, 1);
    rig.supervisor.shut_down().unwrap();
}

#[test]
fn what_is_shown_and_what_happens_is_sent() {
    let rig = Rig::start(true);
    rig.wait_for("/shoal/state");
    rig.board.publish(Status {
        scene: "reef".into(),
        ..Status::default()
    });
    let begun = Instant::now();
    while rig.wait_for("/shoal/scene").args != ["reef".into()] as [OscType; 1] {
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    rig.journal.add(EventKind::VisitorLeft {
        id: 3,
        stayed_secs: 2.5,
    });
    let left = rig.wait_for("/shoal/visitor/left");
    assert_eq!(left.args, [OscType::Int(3), OscType::Double(2.5)]);
    rig.supervisor.shut_down().unwrap();
}

#[test]
fn a_machine_that_is_not_listed_is_counted_and_gets_no_answer() {
    let rig = Rig::start(false);
    rig.wait_for("/shoal/state");
    rig.send(&OscPacket::Message(message("/shoal/calm", vec![])));
    let begun = Instant::now();
    while rig.status.lock().refused == 0 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(rig.desk.try_recv().is_err());
    assert!(rig.status.lock().last_problem.contains("remote.osc.from"));
    rig.supervisor.shut_down().unwrap();
}

/// The page names every message that Shoal sends, and no other.
#[test]
fn the_page_names_every_message() {
    let at = FloorPlace::new(0.5, -1.0);
    let (id, species) = (1, String::from("shark"));
    let events = [
        EventKind::VisitorArrived { id },
        EventKind::VisitorLeft {
            id,
            stayed_secs: 1.0,
        },
        EventKind::VisitorStands { id, at },
        EventKind::VisitorStamps { id, at },
        EventKind::HuntBegan {
            id,
            species: species.clone(),
            at,
        },
        EventKind::PreyCaught {
            id,
            species: species.clone(),
            prey: 2,
            prey_species: species.clone(),
            at,
        },
        EventKind::FishLeapt { id, species, at },
        EventKind::RuleBegan {
            rule: String::new(),
        },
        EventKind::RuleEnded {
            rule: String::new(),
            lasted_secs: 1.0,
        },
        EventKind::FaultBegan {
            fault: String::new(),
            detail: String::new(),
        },
        EventKind::FaultEnded {
            fault: String::new(),
            lasted_secs: 1.0,
            count: 1,
        },
        EventKind::Test,
    ];
    let status = Status {
        director: vec![RuleStatus::default()],
        ..Status::default()
    };
    let mut sent: BTreeSet<String> = (events.iter().filter_map(event_message))
        .map(|message| message.addr)
        .collect();
    sent.extend(
        state_messages(&status)
            .into_iter()
            .map(|message| message.addr),
    );
    let page = include_str!("../../../docs/protocols.md");
    let (_, table) = page.split_once("### From Shoal").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let named: BTreeSet<String> = rows
        .filter_map(|row| Some(row.split_once('`')?.0.to_owned()))
        .collect();
    assert_eq!(sent, named);
}

#[test]
fn a_machine_that_subscribes_gets_the_state() {
    let rig = Rig::start(true);
    let desk = UdpSocket::bind("127.0.0.1:0").unwrap();
    let screen = UdpSocket::bind("127.0.0.1:0").unwrap();
    screen
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let port = i32::from(screen.local_addr().unwrap().port());
    let subscribe =
        |args: Vec<OscType>| bytes(&OscPacket::Message(message("/shoal/subscribe", args)));
    let shoal = rig.machine.peer_addr().unwrap();
    rig.wait_for("/shoal/state");
    desk.send_to(&subscribe(vec![OscType::Int(70_000)]), shoal)
        .unwrap();
    desk.send_to(&subscribe(vec![OscType::Int(port)]), shoal)
        .unwrap();
    let mut buffer = [0; 2000];
    loop {
        let length = screen.recv(&mut buffer).unwrap();
        let (_, OscPacket::Message(message)) = decoder::decode_udp(&buffer[..length]).unwrap()
        else {
            panic!("no message");
        };
        if message.addr == "/shoal/state" {
            break;
        }
    }
    assert_eq!(rig.status.lock().refused, 1, "no port");
}
