//! Datagrams of this file are written with the library `rosc`; `scripts/verify` runs trackers that others wrote.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use glam::Vec2;
use parking_lot::Mutex;
use rosc::{OscBundle, OscMessage, OscPacket, OscTime, OscType, encoder};

use super::super::mutations::mutate;
use super::report::{BODIES_MAX, CHANNELS_MAX, EXPIRY, LATE, Report, Seen, Spot, Table};
use super::{OscUnit, OscVisitors, TrackReceiver, TrackerProtocol, augmenta, tuio};
use crate::control::TrackerStatus;
use crate::geometry::{Sighting, Surface};

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn message(address: &str, args: &[OscType]) -> OscMessage {
    OscMessage {
        addr: address.to_owned(),
        args: args.to_vec(),
    }
}

fn numbers(id: i32, values: &[f32]) -> Vec<OscType> {
    let values = values.iter().map(|value| OscType::Float(*value));
    std::iter::once(OscType::Int(id)).chain(values).collect()
}

/// The messages of a frame of TUIO 1.1 with one cursor.
fn cursor(frame: i32, id: i32, x: f32, y: f32) -> Vec<OscMessage> {
    let address = "/tuio/2Dcur";
    let mut set = vec!["set".into()];
    set.extend(numbers(id, &[x, y, 0.0, 0.0, 0.0]));
    vec![
        message(address, &["source".into(), "test".into()]),
        message(address, &["alive".into(), OscType::Int(id)]),
        message(address, &set),
        message(address, &["fseq".into(), OscType::Int(frame)]),
    ]
}

fn bytes(messages: Vec<OscMessage>) -> Vec<u8> {
    let content = messages.into_iter().map(OscPacket::Message).collect();
    let timetag = OscTime {
        seconds: 0,
        fractional: 1,
    };
    encoder::encode(&OscPacket::Bundle(OscBundle { timetag, content })).unwrap()
}

fn surface() -> Surface {
    Surface {
        width_m: 4.0,
        height_m: 3.0,
        ..Surface::default()
    }
}

fn visitors(table: &mut Table, now: Instant) -> Vec<Sighting> {
    let mut seen = Vec::new();
    table.write(&surface(), now, &mut seen);
    seen
}

fn apply(table: &mut Table, messages: &[OscMessage], now: Instant) -> Result<(), String> {
    for report in tuio::reports_of(messages)? {
        table.apply(PEER, &report, now)?;
    }
    Ok(())
}

#[test]
fn a_cursor_of_tuio_is_at_its_place_on_the_floor() {
    let (mut table, now) = (Table::default(), Instant::now());
    apply(&mut table, &cursor(1, 7, 0.75, 0.0), now).unwrap();
    let [visitor] = visitors(&mut table, now)[..] else {
        panic!("one visitor");
    };
    assert_eq!(visitor.position_m, Vec2::new(1.0, -1.5));
    assert_eq!(visitor.size_m, Vec2::ZERO);
    assert_eq!(visitor.key & 0xffff_ffff, 7);
}

#[test]
fn a_blob_of_tuio_has_a_size_and_is_used_instead_of_the_cursor() {
    let (mut table, now) = (Table::default(), Instant::now());
    let mut messages = cursor(1, 7, 0.5, 0.5);
    let mut set = vec!["set".into()];
    let values = [0.5, 0.5, 0.3, 0.1, 0.2, 0.02, 0.0, 0.0, 0.0, 0.0, 0.0];
    set.extend(numbers(3, &values));
    for args in [
        vec!["source".into(), "test".into()],
        vec!["alive".into(), OscType::Int(3)],
        set,
        vec!["fseq".into(), OscType::Int(1)],
    ] {
        messages.push(message("/tuio/2Dblb", &args));
    }
    apply(&mut table, &messages, now).unwrap();
    let [visitor] = visitors(&mut table, now)[..] else {
        panic!("one visitor");
    };
    assert!(visitor.size_m.distance(Vec2::new(0.4, 0.6)) < 1e-6);
    assert_eq!(visitor.angle, 0.3);
}

#[test]
fn tuio_2_joins_a_pointer_with_its_bounds() {
    let (mut table, now) = (Table::default(), Instant::now());
    let mut pointer = vec![OscType::Int(5), OscType::Int(0), OscType::Int(0)];
    pointer.extend([0.25, 0.5, 0.0, 0.0, 1.0].map(OscType::Float));
    let messages = [
        message(
            "/tuio2/frm",
            &[
                OscType::Int(12),
                OscType::Time(OscTime {
                    seconds: 9,
                    fractional: 0,
                }),
                OscType::Int(0),
                "kinect:0@0x1".into(),
            ],
        ),
        message("/tuio2/ptr", &pointer),
        message("/tuio2/bnd", &numbers(5, &[0.25, 0.5, 1.0, 0.1, 0.1, 0.01])),
        message("/tuio2/alv", &[OscType::Int(5)]),
    ];
    apply(&mut table, &messages, now).unwrap();
    let [visitor] = visitors(&mut table, now)[..] else {
        panic!("one visitor");
    };
    assert_eq!(visitor.position_m, Vec2::new(-1.0, 0.0));
    assert!(visitor.size_m.distance(Vec2::new(0.4, 0.3)) < 1e-6);
    assert_eq!(visitor.angle, 1.0);
    let left = [
        message("/tuio2/frm", &[OscType::Int(13), "kinect:0@0x1".into()]),
        message("/tuio2/alv", &[]),
    ];
    apply(&mut table, &left, now).unwrap();
    assert!(visitors(&mut table, now).is_empty());
}

#[test]
fn augmenta_reports_objects_with_their_box() {
    let mut args = [10, 3, 0].map(OscType::Int).to_vec();
    let values = [
        1.5, 0.25, 0.5, 0.0, 0.0, 0.0, 0.25, 0.5, 0.1, 0.2, 90.0, 1.8,
    ];
    args.extend(values.map(OscType::Float));
    let enter = message("/object/enter", &args);
    let (mut table, now) = (Table::default(), Instant::now());
    let scene = message("/scene", &[OscType::Int(10)]);
    for report in augmenta::reports_of(&[scene, enter]).unwrap() {
        table.apply(PEER, &report, now).unwrap();
    }
    let [visitor] = visitors(&mut table, now)[..] else {
        panic!("one visitor");
    };
    assert_eq!(visitor.position_m, Vec2::new(-1.0, 0.0));
    assert!(visitor.size_m.distance(Vec2::new(0.4, 0.6)) < 1e-6);
    assert!((visitor.angle + std::f32::consts::FRAC_PI_2).abs() < 1e-6);
    let leave = message("/object/leave", &args);
    for report in augmenta::reports_of(&[leave]).unwrap() {
        table.apply(PEER, &report, now).unwrap();
    }
    assert!(visitors(&mut table, now).is_empty());
    let short = message("/object/update", &args[..9]);
    assert!(
        augmenta::reports_of(&[short])
            .unwrap_err()
            .contains("without its 15 values")
    );
}

#[test]
fn late_doubled_and_lost_datagrams_move_nobody_back() {
    let (mut table, now) = (Table::default(), Instant::now());
    apply(&mut table, &cursor(50, 7, 0.5, 0.5), now).unwrap();
    let late = apply(&mut table, &cursor(48, 7, 0.1, 0.1), now);
    assert_eq!(late.unwrap_err(), LATE);
    apply(&mut table, &cursor(50, 7, 0.5, 0.5), now).unwrap();
    assert_eq!(visitors(&mut table, now)[0].position_m, Vec2::ZERO);
    // A tracker that was started again counts from the beginning.
    apply(&mut table, &cursor(4000, 7, 0.5, 0.5), now).unwrap();
    apply(&mut table, &cursor(1, 1, 0.5, 0.5), now).unwrap();
    assert_eq!(visitors(&mut table, now)[0].key & 0xffff_ffff, 1);
    // A frame without a count is taken.
    apply(&mut table, &cursor(-1, 1, 0.75, 0.5), now).unwrap();
    assert_eq!(visitors(&mut table, now)[0].position_m.x, 1.0);
}

#[test]
fn a_tracker_that_ends_leaves_nobody_behind() {
    let (mut table, now) = (Table::default(), Instant::now());
    apply(&mut table, &cursor(1, 7, 0.5, 0.5), now).unwrap();
    let alive = &cursor(2, 7, 0.5, 0.5);
    let repeated = [alive[0].clone(), alive[1].clone(), alive[3].clone()];
    let later = now + EXPIRY * 3 / 4;
    apply(&mut table, &repeated, later).unwrap();
    let after = now + EXPIRY * 5 / 4;
    assert_eq!(visitors(&mut table, after).len(), 1, "named again");
    assert!(visitors(&mut table, later + EXPIRY).is_empty());
}

#[test]
fn what_is_no_place_and_too_many_are_refused() {
    let (mut table, now) = (Table::default(), Instant::now());
    for (x, y) in [(f32::NAN, 0.5), (f32::INFINITY, 0.5), (0.5, 1e9)] {
        let refused = apply(&mut table, &cursor(1, 7, x, y), now);
        assert!(refused.unwrap_err().contains("numbers that no place has"));
    }
    assert!(visitors(&mut table, now).is_empty());
    let report = |count: i32, detail: u8, name: &str| Report {
        source: name.to_owned(),
        detail,
        seen: (0..count)
            .map(|id| Seen {
                id,
                at: Spot::default(),
                shape: None,
            })
            .collect(),
        ..Report::default()
    };
    let many = report(BODIES_MAX as i32 + 1, 1, "a");
    assert!(
        table
            .apply(PEER, &many, now)
            .unwrap_err()
            .contains("more than 128")
    );
    assert!(
        table
            .apply(PEER, &report(1, 1, &"n".repeat(65)), now)
            .is_err()
    );
    let names = (1..CHANNELS_MAX).map(|number| number.to_string());
    for name in names {
        table.apply(PEER, &report(1, 1, &name), now).unwrap();
    }
    let refused = table.apply(PEER, &report(1, 1, "z"), now);
    assert!(refused.unwrap_err().contains("more than 16 trackers"));
    // Those that are silent give their places back.
    table.apply(PEER, &report(1, 1, "z"), now + EXPIRY).unwrap();
}

#[test]
fn changed_datagrams_are_survived() {
    let mut enter = [10, 3, 0].map(OscType::Int).to_vec();
    enter.extend([0.5; 12].map(OscType::Float));
    let pointer = [
        message("/tuio2/frm", &[OscType::Int(12), "a".into()]),
        message("/tuio2/bnd", &numbers(5, &[0.25, 0.5, 1.0, 0.1, 0.1, 0.01])),
        message("/tuio2/alv", &[OscType::Int(5)]),
    ];
    let inputs = [
        bytes(cursor(1, 7, 0.5, 0.5)),
        bytes(pointer.to_vec()),
        bytes(vec![message("/object/update", &enter)]),
        bytes(vec![
            message("/au/frame/id", &[OscType::Int(4)]),
            message("/au/7/pos", &[0.5; 3].map(OscType::Float)),
            message("/au/7/box/size", &[0.5; 3].map(OscType::Float)),
            message("/au/frame/objList", &[OscType::Int(7)]),
        ]),
        bytes(vec![message("/p/7", &numbers(7, &[0.5, 0.5]))]),
    ];
    let mapped = mapping("address = \"/p/{id}\"\nx = 1\ny = 2\nradius = 3\nalive = \"/a\"");
    let (mut table, mut seen, now) = (Table::default(), Vec::new(), Instant::now());
    mutate(&inputs, |datagram| {
        let Ok(messages) = super::super::datagram::messages_of(datagram, 16_384, 400) else {
            return;
        };
        for reports in [
            tuio::reports_of(&messages),
            augmenta::reports_of(&messages),
            mapped.report_of(&messages).map(|report| vec![report]),
        ] {
            for report in reports.into_iter().flatten() {
                let _ = table.apply(PEER, &report, now);
            }
        }
        table.write(&surface(), now, &mut seen);
        assert!(seen.len() <= CHANNELS_MAX * BODIES_MAX);
        assert!(seen.iter().all(|sighting| sighting.position_m.is_finite()));
    });
}

/// Returns a receiver on a free port, its address and its status.
fn receiver(from: &[IpAddr]) -> (TrackReceiver, SocketAddr, Arc<Mutex<TrackerStatus>>) {
    let free = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let status = Arc::default();
    let protocol = TrackerProtocol::Tuio;
    let receiver = TrackReceiver::new(protocol, address, from, Arc::clone(&status));
    (receiver, address, status)
}

#[test]
fn visitors_come_over_the_network_from_named_machines_only() {
    let (mut receiver, address, status) = receiver(&[]);
    receiver.receive(Duration::from_millis(1)).unwrap();
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    sender
        .send_to(&bytes(cursor(1, 7, 0.5, 0.5)), address)
        .unwrap();
    sender.send_to(b"/other\0\0,\0\0\0", address).unwrap();
    let wait = Duration::from_secs(10);
    let mut seen = Vec::new();
    while seen.is_empty() || status.lock().received < 2 {
        receiver.receive(wait).unwrap();
        receiver.write(&surface(), &mut seen);
    }
    assert!(!receiver.is_silent());
    let found = status.lock().clone();
    assert_eq!((found.received, found.refused, found.late), (2, 1, 0));
    assert_eq!(found.last_peer, "127.0.0.1");
    assert!(found.last_problem.contains("/other is no message of TUIO"));
    let (mut strict, address, status) = self::receiver(&["10.0.0.9".parse().unwrap()]);
    strict.receive(Duration::from_millis(1)).unwrap();
    sender
        .send_to(&bytes(cursor(1, 7, 0.5, 0.5)), address)
        .unwrap();
    while status.lock().received < 1 {
        strict.receive(wait).unwrap();
    }
    strict.write(&surface(), &mut seen);
    assert!(seen.is_empty());
    assert!(status.lock().last_problem.contains("?from=ADDRESS"));
}

#[test]
fn an_address_that_is_in_use_is_an_error_and_used_when_it_is_free() {
    let (mut receiver, address, _status) = receiver(&[]);
    let other = UdpSocket::bind(address).unwrap();
    let error = receiver.receive(Duration::from_millis(1)).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    drop(other);
    receiver.receive(Duration::from_millis(1)).unwrap();
}

#[test]
fn augmenta_3_reports_objects_in_meters_and_lists_those_that_are_there() {
    let point = |values: [f32; 3]| values.map(OscType::Float).to_vec();
    let frame = |number: i32, ids: &[i32]| {
        vec![
            message("/au/frame/id", &[OscType::Int(number)]),
            message("/au/7/uid", &[OscType::Int(7)]),
            message("/au/7/pos", &point([3.0, 0.0, 3.0])),
            message("/au/7/box/size", &point([0.4, 1.7, 0.6])),
            message("/au/9/pos", &point([0.0, 0.0, 0.0])),
            message("/au/frame/numObj", &[OscType::Int(ids.len() as i32)]),
            message(
                "/au/frame/objList",
                &ids.iter().map(|id| OscType::Int(*id)).collect::<Vec<_>>(),
            ),
        ]
    };
    let (mut table, now) = (Table::default(), Instant::now());
    let mut take = |messages: &[OscMessage]| -> Result<Vec<Sighting>, String> {
        for report in augmenta::reports_of(messages)? {
            table.apply(PEER, &report, now)?;
        }
        Ok(visitors(&mut table, now))
    };
    let [one, other] = take(&frame(5, &[7, 9])).unwrap()[..] else {
        panic!("two visitors");
    };
    assert_eq!(one.position_m, Vec2::new(1.0, -1.5));
    assert_eq!(one.size_m, Vec2::new(0.4, 0.6));
    assert_eq!(other.position_m, Vec2::new(-2.0, 1.5));
    assert_eq!(other.size_m, Vec2::ZERO);
    assert_eq!(take(&frame(6, &[9])).unwrap().len(), 1, "7 is not listed");
    assert_eq!(take(&frame(5, &[7, 9])).unwrap_err(), LATE);
    assert_eq!(take(&frame(7, &[])).unwrap(), []);
    let scene = [message("/au/scene/size", &point([4.0, 0.0, 3.0]))];
    assert_eq!(take(&scene).unwrap(), []);
    let split = [message("/au/7/pos/x", &[OscType::Float(1.0)])];
    assert!(take(&split).unwrap_err().contains("split coordinates"));
    let nowhere = [message("/au/7/pos", &point([f32::NAN, 0.0, 0.0]))];
    assert!(take(&nowhere).unwrap_err().contains("no place"));
}

fn mapping(text: &str) -> OscVisitors {
    toml::from_str(text).unwrap()
}

#[test]
fn any_messages_are_visitors_by_a_mapping() {
    let lidar = mapping(
        "address = \"/lidar/*/person{id}\"\nx = 1\ny = 2\nradius = 3\nunit = \"meters\"\norigin = [0.0, 1.0]\n\
         scale = [0.001, -0.001]\nalive = \"/lidar/*/ids\"\nframe = \"/lidar/*/frame\"",
    );
    assert_eq!(lidar.problems(), []);
    let frame = |number: i32| {
        [
            message("/lidar/a/frame", &[OscType::Int(number)]),
            message(
                "/lidar/a/person7",
                &[
                    "walks".into(),
                    OscType::Int(3000),
                    OscType::Double(3000.0),
                    OscType::Float(150.0),
                ],
            ),
            message("/lidar/a/ids", &[OscType::Float(7.0)]),
        ]
    };
    let (mut table, now) = (Table::default(), Instant::now());
    table
        .apply(PEER, &lidar.report_of(&frame(5)).unwrap(), now)
        .unwrap();
    let [visitor] = visitors(&mut table, now)[..] else {
        panic!("one visitor");
    };
    assert!(visitor.position_m.distance(Vec2::new(1.0, -1.5)) < 1e-5);
    assert!(visitor.size_m.distance(Vec2::splat(0.3)) < 1e-5);
    let late = table.apply(PEER, &lidar.report_of(&frame(4)).unwrap(), now);
    assert_eq!(late.unwrap_err(), LATE);
    let nobody = [message("/lidar/a/ids", &[])];
    table
        .apply(PEER, &lidar.report_of(&nobody).unwrap(), now)
        .unwrap();
    assert_eq!(visitors(&mut table, now), []);
    for (address, args, problem) in [
        (
            "/lidar/a/person7",
            vec![OscType::Int(1)],
            "without the arguments",
        ),
        (
            "/lidar/a/personX",
            vec![],
            "no address of remote.osc_visitors",
        ),
        (
            "/lidar/a/b/person7",
            vec![],
            "no address of remote.osc_visitors",
        ),
    ] {
        let refused = lidar.report_of(&[message(address, &args)]).unwrap_err();
        assert!(refused.contains(problem), "{refused}");
    }
    let plain = mapping("address = \"/pos\"\nid = 0\nx = 1\ny = 2\nleave = \"/left\"");
    let here = [message("/pos", &numbers(3, &[0.75, 0.5]))];
    table
        .apply(PEER, &plain.report_of(&here).unwrap(), now)
        .unwrap();
    assert_eq!(visitors(&mut table, now)[0].position_m, Vec2::new(1.0, 0.0));
    let left = [message("/left", &[OscType::Int(3)])];
    table
        .apply(PEER, &plain.report_of(&left).unwrap(), now)
        .unwrap();
    assert_eq!(visitors(&mut table, now), []);
}

#[test]
fn a_mapping_that_cannot_work_is_a_problem() {
    assert_eq!(OscVisitors::default().problems(), []);
    for (text, key) in [
        ("address = \"pos\"\nid = 2", "address"),
        ("address = \"/{id}/{id}\"", "address"),
        ("address = \"/pos\"", "id"),
        ("address = \"/{id}\"\nid = 2", "id"),
        ("address = \"/{id}\"\nx = 1", "x"),
        ("address = \"/{id}\"\nx = 32", "x"),
        ("address = \"/{id}\"\nscale = [1.0, 0.0]", "scale"),
        ("address = \"/{id}\"\norigin = [nan, 0.0]", "origin"),
        ("address = \"/{id}\"\nalive = \"ids\"", "alive"),
    ] {
        let problems = mapping(text).problems();
        let keys: Vec<_> = problems.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, [key], "{text}");
    }
    assert_eq!(mapping("unit = \"meters\"").unit, OscUnit::Meters);
}
