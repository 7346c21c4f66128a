//! The receiver in these tests decodes with the library `rosc`.

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Duration, Instant};

use glam::Vec2;
use rosc::{OscMessage, OscPacket, OscType, decoder};

use super::super::params::TuioParams;
use super::codec::{BYTES_MAX, Cursor, Profile, VISITORS_MAX};
use super::endpoint::TuioSender;
use crate::geometry::{Surface, Visitor};
use crate::runtime::{HangPolicy, Latest, Supervisor};

fn messages(datagram: &[u8]) -> Vec<OscMessage> {
    assert!(datagram.len() <= BYTES_MAX, "{}", datagram.len());
    let (_, OscPacket::Bundle(bundle)) = decoder::decode_udp(datagram).unwrap() else {
        panic!("no bundle");
    };
    let message = |packet| match packet {
        OscPacket::Message(message) => message,
        OscPacket::Bundle(_) => panic!("a bundle in a bundle"),
    };
    bundle.content.into_iter().map(message).collect()
}

fn word(message: &OscMessage) -> &str {
    match &message.args[0] {
        OscType::String(word) => word,
        other => panic!("{other:?}"),
    }
}

fn visitor(id: u32, x_m: f32, z_m: f32) -> Visitor {
    Visitor {
        id,
        foot_m: Vec2::new(x_m, z_m),
        velocity_mps: Vec2::new(0.8, 0.0),
        radius_m: 0.2,
        area_m2: 0.12,
        ..Visitor::default()
    }
}

#[test]
fn a_visitor_has_the_numbers_of_tuio() {
    let picture_m = Vec2::new(4.0, 3.0);
    let cursor = Cursor::of(&visitor(7, 1.0, -1.5), picture_m).unwrap();
    let datagrams = Profile::Cursor.datagrams(&[cursor], 12);
    let messages = messages(&datagrams[0]);
    let words: Vec<_> = messages.iter().map(word).collect();
    assert_eq!(words, ["source", "alive", "set", "fseq"]);
    assert!(messages.iter().all(|message| message.addr == "/tuio/2Dcur"));
    assert_eq!(messages[1].args[1], OscType::Int(7));
    let numbers = [0.75, 0.0, 0.2, 0.0, 0.0].map(OscType::Float);
    assert_eq!(messages[2].args[2..], numbers);
    assert_eq!(messages[3].args[1], OscType::Int(12));
    let blob = &super::tests::messages(&Profile::Blob.datagrams(&[cursor], 12)[0])[2];
    assert_eq!(blob.args.len(), 13);
    assert_eq!(blob.args[5], OscType::Float(0.1), "width");
    assert_eq!(blob.args[7], OscType::Float(0.01), "area");
}

#[test]
fn who_is_outside_of_the_picture_or_no_number_is_not_sent() {
    let picture_m = Vec2::new(4.0, 3.0);
    for (x_m, z_m) in [
        (2.01, 0.0),
        (0.0, -1.6),
        (f32::NAN, 0.0),
        (f32::INFINITY, 0.0),
    ] {
        assert_eq!(Cursor::of(&visitor(1, x_m, z_m), picture_m), None);
    }
    let id = Cursor::of(&visitor(u32::MAX, 0.0, 0.0), picture_m)
        .unwrap()
        .id;
    assert!(id > 0, "{id}");
}

#[test]
fn many_visitors_are_several_bundles_that_each_name_all_ids() {
    let cursor = |id| Cursor {
        id,
        ..Cursor::default()
    };
    let cursors: Vec<_> = (0..VISITORS_MAX as i32).map(cursor).collect();
    for profile in [Profile::Cursor, Profile::Blob] {
        let mut set = 0;
        let datagrams = profile.datagrams(&cursors, 3);
        assert!(datagrams.len() > 1);
        for datagram in &datagrams {
            let messages = messages(datagram);
            assert_eq!(messages[1].args.len(), VISITORS_MAX + 1);
            assert_eq!(messages.last().unwrap().args[1], OscType::Int(3));
            set += messages
                .iter()
                .filter(|message| word(message) == "set")
                .count();
        }
        assert_eq!(set, VISITORS_MAX);
    }
    let none = messages(&Profile::Cursor.datagrams(&[], 1)[0]);
    assert_eq!(none.len(), 3, "source, no ids, the frame");
}

#[test]
fn the_visitors_of_a_camera_are_sent_and_end_with_it() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let params = TuioParams {
        send_to: vec![receiver.local_addr().unwrap().to_string()],
    };
    let slot: Arc<Latest<Vec<Visitor>>> = Arc::default();
    let status = Arc::default();
    let mut sender = TuioSender::new(
        &params,
        &Surface::default(),
        Arc::clone(&slot),
        Arc::clone(&status),
    )
    .unwrap();
    let mut supervisor = Supervisor::new(Arc::default());
    supervisor
        .start("tuio", HangPolicy::WaitAtEnd, move |heartbeat| {
            // Without a socket nothing arrives, and the test fails.
            let _socket = sender.run(heartbeat);
        })
        .unwrap();
    slot.put(&mut vec![visitor(5, 0.0, 0.0)]);
    let begun = Instant::now();
    let mut buffer = [0; 2048];
    let (mut was_there, mut last_frame) = (false, 0);
    // It appears, and after the last frame of the camera it is gone, without a word of anybody.
    loop {
        assert!(begun.elapsed() < Duration::from_secs(20));
        let count = receiver.recv(&mut buffer).unwrap();
        let messages = messages(&buffer[..count]);
        let OscType::Int(frame) = messages.last().unwrap().args[1] else {
            panic!("{messages:?}");
        };
        assert!(frame >= last_frame, "{frame} after {last_frame}");
        last_frame = frame;
        match messages[1].args.len() {
            1 if was_there => break,
            count => was_there |= count == 2,
        }
    }
    assert!(status.lock().as_ref().unwrap().delivered > 2);
    supervisor.shut_down().unwrap();
}
