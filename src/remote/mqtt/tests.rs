//! The broker of these tests knows the few packets that are needed; a real one is used by hand.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use super::super::mutations::mutate;
use super::messages::{self, words_of};
use super::{MqttEndpoint, MqttParams};
use crate::control::{
    Board, DeliveryStatus, DeskEvent, DeskEvents, EventKind, Journal, Outcome, Status, Trust,
    desk_queue,
};
use crate::runtime::{HangPolicy, Supervisor};

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A packet: its type with its flags, and its content.
type Packet = (u8, Vec<u8>);

/// A connection of a client, seen from the broker.
struct Peer {
    stream: TcpStream,
    /// What the client has subscribed to.
    topics: Vec<String>,
}

impl Peer {
    fn accept(listener: &TcpListener) -> Self {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream,
            topics: Vec::new(),
        }
    }

    fn read(&mut self) -> Packet {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).unwrap();
        let kind = byte[0];
        let (mut length, mut shift) = (0, 0);
        loop {
            self.stream.read_exact(&mut byte).unwrap();
            length |= usize::from(byte[0] & 0x7f) << shift;
            shift += 7;
            if byte[0] < 0x80 {
                break;
            }
        }
        let mut content = vec![0; length];
        self.stream.read_exact(&mut content).unwrap();
        (kind, content)
    }

    /// Answers packets until a message comes, and returns its topic, its payload and whether it is kept.
    fn message(&mut self) -> (String, String, bool) {
        loop {
            let (kind, content) = self.read();
            match kind >> 4 {
                1 => self.stream.write_all(&[0x20, 3, 0, 0, 0]).unwrap(),
                3 => {
                    let end = 2 + usize::from(u16::from_be_bytes([content[0], content[1]]));
                    let topic = String::from_utf8(content[2..end].to_vec()).unwrap();
                    self.stream
                        .write_all(&[0x40, 2, content[end], content[end + 1]])
                        .unwrap();
                    let rest = &content[end + 2..];
                    let payload = rest[1 + usize::from(rest[0])..].to_vec();
                    return (topic, String::from_utf8(payload).unwrap(), kind & 1 == 1);
                }
                8 => {
                    let length = usize::from(u16::from_be_bytes([content[3], content[4]]));
                    self.topics
                        .push(String::from_utf8(content[5..5 + length].to_vec()).unwrap());
                    self.stream
                        .write_all(&[0x90, 4, content[0], content[1], 0, 1])
                        .unwrap();
                }
                12 => self.stream.write_all(&[0xd0, 0]).unwrap(),
                14 => return (String::new(), "goodbye".to_owned(), false),
                other => panic!("a packet of type {other}"),
            }
        }
    }

    /// Returns the payload of the next message with this topic.
    fn payload(&mut self, topic: &str) -> String {
        loop {
            let (found, payload, _) = self.message();
            if found == topic {
                return payload;
            }
        }
    }

    fn publish(&mut self, topic: &str, payload: &str, is_kept: bool) {
        let mut content = (topic.len() as u16).to_be_bytes().to_vec();
        content.extend_from_slice(topic.as_bytes());
        content.push(0);
        content.extend_from_slice(payload.as_bytes());
        let head = [0x30 | u8::from(is_kept), content.len() as u8];
        self.stream
            .write_all(&[&head, content.as_slice()].concat())
            .unwrap();
    }
}

fn params(listener: &TcpListener) -> MqttParams {
    MqttParams {
        broker: format!("mqtt://{}", listener.local_addr().unwrap()),
        commands: true,
        ..MqttParams::default()
    }
}

/// A running endpoint, and what surrounds it.
struct Rig {
    supervisor: Supervisor,
    desk: DeskEvents,
    board: Arc<Board>,
    journal: Journal,
    status: Arc<Mutex<Option<DeliveryStatus>>>,
}

impl Rig {
    fn start(params: &MqttParams) -> Self {
        let (client, desk, board) = desk_queue();
        let mut status = Status {
            scene: "reef".to_owned(),
            ..Status::default()
        };
        status.visitors.now = 3;
        board.publish(status);
        let journal = Journal::new(Arc::clone(&board));
        let delivery = Arc::default();
        let fault = journal.fault("remote.mqtt");
        let mut endpoint = MqttEndpoint::new(params, client, Arc::clone(&delivery), fault).unwrap();
        let mut supervisor = Supervisor::new(Arc::default());
        supervisor
            .start("mqtt", HangPolicy::WaitAtEnd, move |heartbeat| {
                endpoint.run(heartbeat).unwrap();
            })
            .unwrap();
        Self {
            supervisor,
            desk,
            board,
            journal,
            status: delivery,
        }
    }
}

#[test]
fn state_events_commands_and_the_end_go_through_the_broker() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let rig = Rig::start(&params(&listener));
    let mut peer = Peer::accept(&listener);
    let online = peer.message();
    let expected = |name: &str, payload: &str, is_kept: bool| {
        (format!("shoal/{name}"), payload.to_owned(), is_kept)
    };
    assert_eq!(online, expected("availability", "online", true));
    let (topic, state, is_kept) = peer.message();
    assert_eq!((topic.as_str(), is_kept), ("shoal/state", true));
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(
        (&state["scene"], &state["visitors"]),
        (&"reef".into(), &3.into())
    );

    rig.journal.add(EventKind::VisitorArrived { id: 7 });
    let arrived: Value =
        serde_json::from_str(&peer.payload("shoal/event/visitor_arrived")).unwrap();
    assert_eq!(arrived["id"], 7);
    rig.board.publish(Status::default());
    assert!(peer.payload("shoal/state").contains("\"visitors\":0"));

    peer.publish("shoal/command", "scene deep blue", false);
    // The endpoint has to acknowledge nothing, so the desk is asked meanwhile.
    let Ok(DeskEvent::Request(incoming)) = rig.desk.recv_timeout(PATIENCE) else {
        panic!("no request");
    };
    assert_eq!(incoming.request.command.summary(), "deep blue");
    assert_eq!(incoming.request.source.to_string(), "remote MQTT 127.0.0.1");
    assert_eq!(incoming.request.trust, Trust::Role);
    incoming.answer(
        1,
        Outcome::Applied {
            tick: 1,
            notes: vec![],
            unsaved: None,
        },
    );
    let reply = peer.payload("shoal/reply");
    assert_eq!(reply, r#"{"command":"scene deep blue","result":"applied"}"#);
    for (command, is_kept, part) in [
        ("undo", false, "needs an administrator"),
        ("explode", false, "is no command"),
        ("calm", true, "a kept command"),
    ] {
        peer.publish("shoal/command", command, is_kept);
        let reply = peer.payload("shoal/reply");
        assert!(reply.contains(part), "{command}: {reply}");
    }
    assert_eq!(peer.topics, ["shoal/command"]);
    assert!(rig.desk.try_recv().is_err());
    let status = rig.status.lock().clone().unwrap();
    assert!(status.delivered > 5 && status.failed == 0, "{status:?}");

    let end = std::thread::spawn(move || rig.supervisor.shut_down());
    assert_eq!(peer.payload("shoal/availability"), "offline");
    assert_eq!(peer.payload(""), "goodbye");
    end.join().unwrap().unwrap();
}

#[test]
fn a_broker_that_is_away_is_a_fault_until_it_is_back() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let params = params(&listener);
    let address = listener.local_addr().unwrap();
    drop(listener);
    let rig = Rig::start(&params);
    let names = || {
        let page = rig.board.events.after(0, Duration::from_secs(1));
        let name = |event: &crate::control::Event| match &event.kind {
            EventKind::FaultBegan { fault, .. } => Some(format!("{fault} began")),
            EventKind::FaultEnded { fault, .. } => Some(format!("{fault} ended")),
            _ => None,
        };
        page.events.iter().filter_map(name).collect::<Vec<_>>()
    };
    while !names().contains(&"remote.mqtt began".to_owned()) {}
    while rig.status.lock().as_ref().unwrap().failed == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    // A message of this time is lost, and counted.
    rig.journal.add(EventKind::Test);
    let listener = TcpListener::bind(address).unwrap();
    let mut peer = Peer::accept(&listener);
    assert_eq!(peer.payload("shoal/availability"), "online");
    peer.payload("shoal/state");
    let status = rig.status.lock().clone().unwrap();
    assert!(
        status.dropped > 0 && status.last_problem.is_empty(),
        "{status:?}"
    );
    drop(peer);
    rig.supervisor.shut_down().unwrap();
}

#[test]
fn home_assistant_learns_what_the_pool_has() {
    let params = MqttParams {
        topic: "hall/pool".to_owned(),
        commands: true,
        discovery: Some("homeassistant".to_owned()),
        ..MqttParams::default()
    };
    let scenes = ["reef".to_owned(), "koi".to_owned()];
    let messages = messages::announcement(&params, &scenes, "1.0");
    let topics: Vec<_> = messages
        .iter()
        .map(|message| message.topic.as_str())
        .collect();
    let names = [
        "sensor/hall_pool/visitors",
        "sensor/hall_pool/visitors_today",
        "sensor/hall_pool/sentence",
        "binary_sensor/hall_pool/fault",
        "select/hall_pool/scene",
        "switch/hall_pool/dark",
    ];
    assert_eq!(
        topics,
        names.map(|name| format!("homeassistant/{name}/config"))
    );
    let select: Value = serde_json::from_str(&messages[4].payload).unwrap();
    assert_eq!(select["options"], serde_json::json!(["reef", "koi"]));
    assert_eq!(select["command_topic"], "hall/pool/command");
    assert!(messages.iter().all(|message| message.is_kept));
    // Who may not command gets no buttons.
    let only_shown = MqttParams {
        commands: false,
        ..params
    };
    assert_eq!(messages::announcement(&only_shown, &scenes, "1.0").len(), 4);
    assert!(messages::announcement(&MqttParams::default(), &scenes, "1.0").is_empty());
}

#[test]
fn words_of_a_command_are_bounded_and_names_may_have_spaces() {
    assert_eq!(words_of(b" dark 10 min ").unwrap(), ["dark", "10", "min"]);
    assert_eq!(
        words_of(b"event the shark").unwrap(),
        ["event", "the shark"]
    );
    assert!(words_of(&[0xff]).unwrap_err().contains("no text"));
    assert!(words_of(&[b'a'; 257]).unwrap_err().contains("over 256"));
    let inputs = ["scene deep blue", "dark 10min", "event \u{e4}"].map(Into::into);
    mutate(&inputs, |payload| {
        if let Ok(words) = words_of(payload) {
            let _ = super::super::commands::command_of(&words);
        }
    });
}

#[test]
fn a_broker_has_an_address_and_topics_have_plain_names() {
    let wrong = |change: fn(&mut MqttParams)| {
        let mut params = MqttParams {
            broker: "mqtts://broker.example".to_owned(),
            ..MqttParams::default()
        };
        change(&mut params);
        let problems = params.problems();
        problems.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    assert!(wrong(|_| {}).is_empty());
    assert!(MqttParams::default().problems().is_empty());
    assert_eq!(wrong(|p| p.broker = "192.168.1.30".into()), ["broker"]);
    assert_eq!(
        wrong(|p| p.broker = "mqtt://ada:s3cret@b".into()),
        ["broker"]
    );
    assert_eq!(wrong(|p| p.password = Some("x".into())), ["password"]);
    assert_eq!(wrong(|p| p.topic = "a/#".into()), ["topic"]);
    assert_eq!(wrong(|p| p.discovery = Some("/a".into())), ["discovery"]);
    let of = |broker: &str| MqttParams {
        broker: broker.to_owned(),
        ..MqttParams::default()
    };
    let ports = ["mqtt://b", "mqtts://b", "mqtt://[::1]:9"].map(|b| of(b).address().unwrap());
    assert_eq!(ports.each_ref().map(|a| a.port), [1883, 8883, 9]);
    assert_eq!(ports[2].host, "::1");
}
