//! Links on the loopback interface: which machine can read and write, and when a revocation holds.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::cluster::guard::Guard;
use crate::cluster::keyring::{KeyFolder, Keyring, NewKey};
use crate::cluster::zenoh_settings::settings;

/// Time in which machines that may take part have surely exchanged messages.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time in which a machine that may not take part tries.
const ATTEMPT: Duration = Duration::from_secs(3);

/// A hall: the first node has the authority.
struct Hall {
    state: Vec<tempfile::TempDir>,
    folders: Vec<KeyFolder>,
}

impl Hall {
    fn new(nodes: &[&str]) -> Self {
        let state = nodes.iter().map(|_| tempfile::tempdir().unwrap()).collect();
        let mut hall = Self {
            state,
            folders: Vec::new(),
        };
        for (index, node) in nodes.iter().enumerate() {
            let folder = KeyFolder::new(hall.state[index].path());
            if index == 0 {
                folder.create_hall("h", node, 0).unwrap();
            } else {
                let key = NewKey::make().unwrap();
                let admission = hall.folders[0].admit(node, &key.public_text(), 0).unwrap();
                folder.save_admission(&admission, &key).unwrap();
            }
            hall.folders.push(folder);
        }
        hall
    }

    /// The keys of a node with the newest list.
    fn keyring(&self, node: usize) -> Keyring {
        let mut keyring = self.folders[node].open().unwrap();
        let newest = self.folders[0].open().unwrap().signed_list();
        keyring.accept(&newest).unwrap();
        keyring
    }

    fn security(&self, node: usize) -> LinkSecurity {
        self.keyring(node).security()
    }
}

/// Returns an address with a free port.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

fn place(listen: &str, connect: &[&str]) -> LinkPlace {
    LinkPlace {
        hall: "h".to_owned(),
        listen: listen.to_owned(),
        connect: connect.iter().map(ToString::to_string).collect(),
        discovery: false,
    }
}

fn obedient(place: &LinkPlace, security: &LinkSecurity) -> ZenohLink {
    ZenohLink::open(place.clone(), security).unwrap()
}

/// A machine without access control of its own, and with changed settings.
fn hostile(place: &LinkPlace, security: &LinkSecurity, change: fn(&mut Value)) -> ZenohLink {
    let mut settings = settings(place, security);
    settings["access_control"] = json!({ "enabled": false });
    change(&mut settings);
    let config = zenoh::Config::from_json5(&settings.to_string()).unwrap();
    ZenohLink {
        place: place.clone(),
        session: RwLock::new(Some(zenoh::open(config).wait().unwrap())),
        subscriptions: Mutex::default(),
    }
}

/// What a link has received from other machines: the first letter, and when.
#[derive(Clone, Default)]
struct Received(Arc<Mutex<Vec<(u8, Instant)>>>);

impl Received {
    /// Reads everything.
    fn by(link: &dyn Link) -> Self {
        let received = Self::default();
        link.subscribe("**", received.note()).unwrap();
        received
    }

    fn note(&self) -> Receive {
        let received = self.clone();
        Box::new(move |_: &str, payload: &[u8]| {
            let letter = payload.first().copied().unwrap_or_default();
            received.0.lock().push((letter, Instant::now()));
        })
    }

    /// When a message with this letter came after `after`.
    fn first(&self, letter: u8, after: Instant) -> Option<Instant> {
        let received = self.0.lock();
        let mut fitting = received
            .iter()
            .filter(|(own, time)| *own == letter && *time > after);
        fitting.next().map(|(_, time)| *time)
    }
}

/// Whether the first machine hears the second one, and the second the first.
type Exchanged = [bool; 2];

/// Lets two machines talk until they hear each other, at the most for `longest`.
fn exchange(first: &ZenohLink, second: &ZenohLink, longest: Duration) -> Exchanged {
    let of = [Received::by(first), Received::by(second)];
    let begun = Instant::now();
    loop {
        first.publish("words", b"1").unwrap();
        second.publish("words", b"2").unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let had = |who: usize, letter| of[who].first(letter, begun).is_some();
        let exchanged = [had(0, b'2'), had(1, b'1')];
        if exchanged == [true; 2] || begun.elapsed() > longest {
            return exchanged;
        }
    }
}

/// The first node of the hall and a second machine: that one connects, and then the first one connects to it.
fn both_ways(
    hall: &Hall,
    second: impl Fn(&LinkPlace) -> ZenohLink,
    longest: Duration,
) -> [Exchanged; 2] {
    [true, false].map(|second_connects| {
        let (left, right) = (free_address(), free_address());
        let (of_first, of_second) = if second_connects {
            (place(&left, &[]), place(&right, &[&left]))
        } else {
            (place(&left, &[&right]), place(&right, &[]))
        };
        let second = second(&of_second);
        let first = obedient(&of_first, &hall.security(0));
        exchange(&first, &second, longest)
    })
}

#[test]
fn two_members_read_and_write() {
    let hall = Hall::new(&["left", "right"]);
    let security = hall.security(1);
    let exchanged = both_ways(&hall, |own| obedient(own, &security), PATIENCE);
    assert_eq!(exchanged, [[true; 2]; 2]);
}

#[test]
fn a_machine_without_a_key_can_neither_read_nor_write() {
    let hall = Hall::new(&["left"]);
    // It shows no certificate when it connects, and asks for none when it is connected to.
    let foreign = Hall::new(&["left", "right"]).security(1);
    let without = |own: &LinkPlace| {
        hostile(own, &foreign, |settings| {
            settings["transport"]["link"]["tls"]["enable_mtls"] = json!(false);
        })
    };
    assert_eq!(both_ways(&hall, without, ATTEMPT), [[false; 2]; 2]);
}

#[test]
fn a_key_of_another_authority_can_neither_read_nor_write() {
    let hall = Hall::new(&["left", "right"]);
    // The same names, and it trusts the authority of the hall.
    let mut foreign = Hall::new(&["left", "right"]).security(1);
    foreign.authority = hall.security(0).authority;
    let other = |own: &LinkPlace| hostile(own, &foreign, |_| {});
    assert_eq!(both_ways(&hall, other, ATTEMPT), [[false; 2]; 2]);
}

#[test]
fn a_revoked_key_can_neither_read_nor_write() {
    let hall = Hall::new(&["left", "right"]);
    let security = hall.security(1);
    hall.folders[0].revoke("right", 1).unwrap();
    let revoked = |own: &LinkPlace| hostile(own, &security, |_| {});
    assert_eq!(both_ways(&hall, revoked, ATTEMPT), [[false; 2]; 2]);
}

#[test]
fn plain_tcp_is_refused() {
    let hall = Hall::new(&["left", "right"]);
    let security = hall.security(1);
    let plain = |own: &LinkPlace| {
        hostile(own, &security, |settings| {
            settings["transport"]["link"]["protocols"] = json!(["tcp"]);
            let text = settings.to_string().replace("tls/127", "tcp/127");
            *settings = serde_json::from_str(&text).unwrap();
        })
    };
    assert_eq!(both_ways(&hall, plain, ATTEMPT), [[false; 2]; 2]);
}

/// Three members that are connected to each other. The key of the third is revoked where the authority is; it keeps its connections and
/// does not obey. Both others watch once a second.
#[test]
fn a_revoked_node_is_shut_out_by_all_nodes_within_five_seconds() {
    let hall = Hall::new(&["left", "right", "third"]);
    let (left, right, third) = (free_address(), free_address(), free_address());
    let links = [
        Arc::new(obedient(&place(&left, &[&right]), &hall.security(0))),
        Arc::new(obedient(&place(&right, &[&left]), &hall.security(1))),
    ];
    let security = hall.security(2);
    let revoked = hostile(&place(&third, &[&left, &right]), &security, |_| {});
    let of = [&links[0], &links[1]].map(|link| Received::by(link.as_ref()));
    let of_revoked = Received::by(&revoked);
    let mut guards: Vec<Guard> = links
        .iter()
        .zip(&hall.folders)
        .map(|(link, folder)| Guard::new(folder.open().unwrap(), link.clone()).unwrap())
        .collect();
    let speak = || {
        let _sent = links[0].publish("words", b"1");
        let _sent = links[1].publish("words", b"2");
        revoked.publish("words", b"3").unwrap();
        std::thread::sleep(Duration::from_millis(10));
    };

    let begun = Instant::now();
    let heard = |who: usize, letter, after| of[who].first(letter, after);
    while heard(0, b'3', begun).is_none() || heard(1, b'3', begun).is_none() {
        assert!(begun.elapsed() < PATIENCE);
        speak();
    }
    hall.folders[0].revoke("third", 1).unwrap();
    let (revoked_at, mut watched) = (Instant::now(), Instant::now());
    let mut changed = [None, None];
    while revoked_at.elapsed() < Duration::from_secs(8) {
        if watched.elapsed() >= Duration::from_secs(1) {
            watched = Instant::now();
            for (guard, changed) in guards.iter_mut().zip(&mut changed) {
                if guard.watch().unwrap() {
                    *changed = Some(revoked_at.elapsed());
                }
            }
        }
        speak();
    }
    let last = |received: &Received, letter| {
        let all = received.0.lock();
        let times = all.iter().filter(|(own, _)| *own == letter);
        times.map(|(_, time)| *time).max().unwrap()
    };
    let after = |time: Instant| time.saturating_duration_since(revoked_at).as_secs_f64();
    let written = [0, 1].map(|who| after(last(&of[who], b'3')));
    let read = [b'1', b'2'].map(|letter| after(last(&of_revoked, letter)));
    println!(
        "lists after {changed:?}; last written after {written:.2?} s, read after {read:.2?} s"
    );
    for secs in written.into_iter().chain(read) {
        assert!(secs < 5.0, "written {written:?} read {read:?}");
    }
    // The members still hear each other.
    let late = revoked_at + Duration::from_secs(7);
    assert!(heard(0, b'2', late).is_some() && heard(1, b'1', late).is_some());
    assert!(guards.iter().all(|guard| guard.keyring().is_member()));
}

/// Subscriptions work in the new session, and other nodes come back soon.
#[test]
fn a_renewed_link_keeps_its_subscriptions_and_is_back_soon() {
    let hall = Hall::new(&["left", "right"]);
    let (left, right) = (free_address(), free_address());
    let first = obedient(&place(&left, &[]), &hall.security(0));
    let second = obedient(&place(&right, &[&left]), &hall.security(1));
    assert_eq!(exchange(&first, &second, PATIENCE), [true; 2]);
    let of_first = Received::by(&first);
    let renewed = Instant::now();
    first.renew(&hall.security(0)).unwrap();
    let opened_secs = renewed.elapsed().as_secs_f64();
    while of_first.first(b'2', renewed).is_none() {
        assert!(renewed.elapsed() < PATIENCE);
        second.publish("words", b"2").unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    let back_secs = renewed.elapsed().as_secs_f64();
    println!("renewed in {opened_secs:.3} s; the other node is heard after {back_secs:.3} s");
    assert!(back_secs < 2.0, "{back_secs}");
    assert_eq!(exchange(&first, &second, PATIENCE), [true; 2]);
}
