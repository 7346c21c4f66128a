//! The packets of these tests are made of the tables 4-1, 5-1 and 6-1 of ANSI E1.31-2018.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::super::mutations::mutate;
use super::super::params::SacnParams;
use super::SacnEndpoint;
use super::codec::{BYTES_MAX, Data, Sources, data_of};
use super::fixture::Fixture;
use crate::control::{DeskEvent, Journal, Outcome, ShowControlStatus, desk_queue};
use crate::runtime::{HangPolicy, Supervisor};

const SENDER: [u8; 16] = *b"one sender's CID";

/// A packet of data for universe 1.
fn packet(sequence: u8, priority: u8, options: u8, channels: &[u8]) -> Vec<u8> {
    let count = channels.len() as u16 + 1;
    let mut bytes = vec![0, 0x10, 0, 0];
    bytes.extend(b"ASC-E1.17\0\0\0");
    bytes.extend((0x7000 | (109 + count)).to_be_bytes());
    bytes.extend([0, 0, 0, 4]);
    bytes.extend(SENDER);
    bytes.extend((0x7000 | (87 + count)).to_be_bytes());
    bytes.extend([0, 0, 0, 2]);
    let mut name = [0; 64];
    name[..4].copy_from_slice(b"desk");
    bytes.extend(name);
    bytes.extend([priority, 0, 0, sequence, options, 0, 1]);
    bytes.extend((0x7000 | (10 + count)).to_be_bytes());
    bytes.extend([2, 0xa1, 0, 0, 0, 1]);
    bytes.extend(count.to_be_bytes());
    bytes.push(0);
    bytes.extend(channels);
    bytes
}

#[test]
fn a_packet_has_the_channels_of_its_universe() {
    let full = packet(7, 100, 0, &[9; 512]);
    assert_eq!(full.len(), BYTES_MAX);
    let data = data_of(&full).unwrap().unwrap();
    assert_eq!((data.sender, data.sequence), (SENDER, 7));
    assert_eq!(
        (data.priority, data.universe, data.is_last),
        (100, 1, false)
    );
    assert_eq!(data.channels, [9; 512]);
    let preview = packet(7, 100, 0x80, &[1]);
    assert_eq!(data_of(&preview), Ok(None));
    assert!(
        data_of(&packet(7, 100, 0x40, &[1]))
            .unwrap()
            .unwrap()
            .is_last
    );
    let mut priorities = packet(7, 100, 0, &[1]);
    priorities[125] = 0xdd;
    assert_eq!(
        data_of(&priorities),
        Ok(None),
        "priorities for each channel"
    );
    let mut discovery = full.clone();
    discovery[21] = 8;
    assert_eq!(data_of(&discovery), Ok(None));
    for length in 0..full.len() {
        assert!(data_of(&full[..length]).is_err(), "{length}");
    }
}

/// Lengths that contradict each other: a known decoder panics on these two.
#[test]
fn lengths_that_contradict_each_other_are_refused() {
    let mut short = packet(1, 100, 0, &[1, 2, 3]);
    short[17] = 10;
    assert!(data_of(&short).is_err());
    short.truncate(22);
    assert!(data_of(&short).is_err());
    let inputs = [packet(1, 100, 0, &[1, 2, 3]), packet(2, 100, 0, &[0; 512])];
    mutate(&inputs, |datagram| {
        if let Ok(Some(data)) = data_of(datagram) {
            assert!(data.channels.len() <= 512);
        }
    });
}

#[test]
fn the_source_with_the_highest_priority_counts_and_the_first_of_equal_ones() {
    let (mut sources, now) = (Sources::default(), Instant::now());
    let data = |sender: u8, priority: u8, sequence: u8| Data {
        sender: [sender; 16],
        priority,
        sequence,
        universe: 1,
        is_last: false,
        channels: &[],
    };
    assert_eq!(sources.take(&data(1, 100, 250), now), Ok(true));
    assert_eq!(sources.take(&data(2, 100, 1), now), Ok(false));
    assert_eq!(sources.take(&data(3, 120, 1), now), Ok(true));
    assert_eq!(sources.take(&data(1, 100, 251), now), Ok(false));
    for (sequence, is_late) in [(251, true), (240, true), (3, false), (231, false)] {
        let taken = sources.take(&data(1, 100, sequence), now);
        assert_eq!(taken.is_err(), is_late, "{sequence}");
    }
    // The best one ends, the first one is silent.
    let last = Data {
        is_last: true,
        ..data(3, 120, 2)
    };
    let later = now + Duration::from_secs(2);
    assert_eq!(sources.take(&data(2, 100, 2), later), Ok(false));
    assert_eq!(sources.take(&last, later), Ok(false));
    let after = now + Duration::from_millis(2600);
    assert_eq!(sources.take(&data(2, 100, 3), after), Ok(true));
    for sender in 4..=10 {
        assert_eq!(sources.take(&data(sender, 1, 1), after), Ok(false));
    }
    assert!(sources.take(&data(11, 1, 1), after).is_err());
}

fn params() -> SacnParams {
    SacnParams {
        scenes: vec!["reef".into(), "koi".into()],
        events: vec!["shark".into()],
        ..SacnParams::default()
    }
}

#[test]
fn a_channel_that_stays_in_another_band_is_a_command() {
    let (mut fixture, begun) = (Fixture::new(&params()), Instant::now());
    let mut at = |millis: u64, values: [u8; 3]| {
        let now = begun + Duration::from_millis(millis);
        fixture.set(values, now);
        let commands = fixture.commands(now);
        commands
            .iter()
            .map(|words| words.join(" "))
            .collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(at(0, [0, 25, 15]), none);
    assert_eq!(
        at(200, [0, 25, 15]),
        ["scene koi"],
        "the event was there before"
    );
    assert_eq!(at(300, [0, 29, 0]), none, "the same band");
    assert_eq!(at(500, [0, 29, 0]), none);
    assert_eq!(at(600, [0, 29, 10]), none);
    assert_eq!(at(700, [0, 29, 12]), none, "not settled");
    assert_eq!(at(760, [0, 29, 12]), ["event shark"]);
    // A fader that is moved over two scenes.
    assert_eq!(at(800, [0, 15, 12]), none);
    assert_eq!(at(900, [0, 5, 12]), none);
    assert_eq!(at(1100, [0, 5, 12]), none, "0 to 9 mean nothing");
    assert_eq!(at(1200, [35, 255, 255]), none);
    assert_eq!(
        at(1400, [35, 255, 255]),
        ["dark"],
        "no such scene and event"
    );
}

#[test]
fn channels_reach_the_desk_as_commands_and_its_refusal_is_shown() {
    let free = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let params = SacnParams {
        listen: Some(address.to_string()),
        channel: 2,
        ..params()
    };
    let (client, desk, board) = desk_queue();
    let journal = Journal::new(board);
    let status: Arc<Mutex<ShowControlStatus>> = Arc::default();
    let fault = journal.fault("remote.sacn");
    let mut endpoint = SacnEndpoint::new(&params, client, Arc::clone(&status), fault).unwrap();
    let mut supervisor = Supervisor::new(Arc::new(AtomicBool::new(false)));
    supervisor
        .start("sacn", HangPolicy::WaitAtEnd, move |heartbeat| {
            endpoint.run(heartbeat);
            Ok(())
        })
        .unwrap();
    let machine = UdpSocket::bind("127.0.0.1:0").unwrap();
    let begun = Instant::now();
    let mut sequence = 0;
    let incoming = loop {
        assert!(begun.elapsed() < Duration::from_secs(20));
        sequence += 1;
        let _nobody_yet = machine.send_to(&packet(sequence, 100, 0, &[99, 0, 10, 0]), address);
        if let Ok(DeskEvent::Request(incoming)) = desk.recv_timeout(Duration::from_millis(30)) {
            break incoming;
        }
    };
    assert_eq!(incoming.request.command.summary(), "reef");
    assert_eq!(incoming.request.source.to_string(), "remote sACN");
    incoming.answer(1, Outcome::Rejected { problems: vec![] });
    machine.send_to(b"noise", address).unwrap();
    while status.lock().refused < 2 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    let found = status.lock().clone();
    assert_eq!(found.commands, 1);
    assert_eq!(found.last_peer, machine.local_addr().unwrap().to_string());
    supervisor.shut_down().unwrap();
}
