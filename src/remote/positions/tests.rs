//! The receiver of TUIO and Augmenta in these tests decodes with the library `rosc`. The packets of PosiStageNet are compared with
//! bytes that follow from its document.

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Duration, Instant};

use glam::Vec2;
use rosc::{OscMessage, OscPacket, OscType, decoder};

use super::super::params::{PositionParams, RemoteParams};
use super::endpoint::PositionSender;
use super::place::{BYTES_MAX, Place, VISITORS_MAX, picture_m};
use super::tuio::Profile;
use super::{augmenta, psn};
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

fn place(visitor: &Visitor) -> Option<Place> {
    Place::of(visitor, &Surface::default())
}

/// Many visitors, who are all in the middle.
fn crowd() -> Vec<Place> {
    let of_id = |id| place(&visitor(id, 0.0, 0.0)).unwrap();
    (0..VISITORS_MAX as u32).map(of_id).collect()
}

#[test]
fn a_visitor_has_the_numbers_of_tuio() {
    let picture_m = picture_m(&Surface::default());
    let place = place(&visitor(7, 1.0, -1.5)).unwrap();
    let datagrams = Profile::Cursor.datagrams(&[place], picture_m, 12);
    let messages = messages(&datagrams[0]);
    let words: Vec<_> = messages.iter().map(word).collect();
    assert_eq!(words, ["source", "alive", "set", "fseq"]);
    assert!(messages.iter().all(|message| message.addr == "/tuio/2Dcur"));
    assert_eq!(messages[1].args[1], OscType::Int(7));
    let numbers = [0.75, 0.0, 0.2, 0.0, 0.0].map(OscType::Float);
    assert_eq!(messages[2].args[2..], numbers);
    assert_eq!(messages[3].args[1], OscType::Int(12));
    let blob = &super::tests::messages(&Profile::Blob.datagrams(&[place], picture_m, 12)[0])[2];
    assert_eq!(blob.args.len(), 13);
    assert_eq!(blob.args[5], OscType::Float(0.1), "width");
    assert_eq!(blob.args[7], OscType::Float(0.01), "area");
}

#[test]
fn who_is_outside_of_the_picture_or_no_number_is_not_sent() {
    for (x_m, z_m) in [
        (2.01, 0.0),
        (0.0, -1.6),
        (f32::NAN, 0.0),
        (f32::INFINITY, 0.0),
    ] {
        assert_eq!(place(&visitor(1, x_m, z_m)), None);
    }
    let id = place(&visitor(u32::MAX, 0.0, 0.0)).unwrap().id;
    assert!(id > 0, "{id}");
}

#[test]
fn many_visitors_are_several_bundles_that_each_name_all_ids() {
    let picture_m = picture_m(&Surface::default());
    let places = crowd();
    for profile in [Profile::Cursor, Profile::Blob] {
        let mut set = 0;
        let datagrams = profile.datagrams(&places, picture_m, 3);
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
    let none = messages(&Profile::Cursor.datagrams(&[], picture_m, 1)[0]);
    assert_eq!(none.len(), 3, "source, no ids, the frame");
}

#[test]
fn the_visitors_of_a_camera_are_sent_and_end_with_it() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let params = RemoteParams {
        tuio: PositionParams {
            send_to: vec![receiver.local_addr().unwrap().to_string()],
        },
        ..RemoteParams::default()
    };
    let slot: Arc<Latest<Vec<Visitor>>> = Arc::default();
    let status: Arc<parking_lot::Mutex<Vec<_>>> = Arc::default();
    let mut sender = PositionSender::new(
        &params,
        &Surface::default(),
        Arc::clone(&slot),
        Arc::clone(&status),
    )
    .unwrap();
    let mut supervisor = Supervisor::new(Arc::default());
    supervisor
        .start("positions", HangPolicy::WaitAtEnd, move |heartbeat| {
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
    assert!(status.lock()[0].delivered > 2);
    supervisor.shut_down().unwrap();
}

/// The bytes follow from the tables of "PosiStageNet Protocol description v2.03": one visitor with the id 7.
#[test]
fn a_visitor_has_the_bytes_of_posistagenet() {
    let place = place(&visitor(7, 1.0, -1.5)).unwrap();
    let header = psn::Header {
        time_us: 0x0102_0304,
        frame: 12,
    };
    let head = [4, 3, 2, 1, 0, 0, 0, 0, 2, 0, 12, 1];
    let mut data = vec![0x55, 0x67, 64, 0x80, 0, 0, 12, 0];
    data.extend(head);
    data.extend([1, 0, 44, 0x80, 7, 0, 40, 0x80]);
    let float = |data: &mut Vec<u8>, values: &[f32]| {
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    };
    data.extend([0, 0, 12, 0]);
    float(&mut data, &[1.0, 0.0, 1.5]);
    data.extend([1, 0, 12, 0]);
    float(&mut data, &[0.8, 0.0, -0.0]);
    data.extend([3, 0, 4, 0]);
    float(&mut data, &[1.0]);
    assert_eq!(psn::data(&[place], header), [data]);
    let mut info = vec![0x56, 0x67, 46, 0x80, 0, 0, 12, 0];
    info.extend(head);
    info.extend(b"\x01\0\x05\0Shoal\x02\0\x11\x80\x07\0\x0d\x80\0\0\x09\0visitor 7");
    assert_eq!(psn::info(&[place], header), [info]);
    let empty = psn::data(&[], header);
    assert_eq!(empty[0][20..], [1, 0, 0, 0x80]);
    let many = psn::data(&crowd(), header);
    assert!(many.len() > 1);
    for packet in &many {
        assert!(packet.len() <= BYTES_MAX);
        assert_eq!(usize::from(packet[19]), many.len(), "packets of the frame");
    }
    let trackers: usize = many.iter().map(|packet| (packet.len() - 24) / 44).sum();
    assert_eq!(trackers, VISITORS_MAX);
    assert!(
        psn::info(&crowd(), header)
            .iter()
            .all(|packet| packet.len() <= BYTES_MAX)
    );
}

#[test]
fn a_visitor_has_the_messages_of_augmenta() {
    let picture_m = picture_m(&Surface::default());
    let place = place(&visitor(7, 1.0, -1.5)).unwrap();
    let messages = messages(&augmenta::frame(&[place], picture_m, 12)[0]);
    let found: Vec<_> = (messages.iter())
        .map(|message| (message.addr.as_str(), message.args.as_slice()))
        .collect();
    let floats = |values: [f32; 3]| values.map(OscType::Float).to_vec();
    let expected = [
        ("/au/frame/id", vec![OscType::Int(12)]),
        ("/au/7/uid", vec![OscType::Int(7)]),
        ("/au/7/pos", floats([3.0, 0.0, 3.0])),
        ("/au/7/box/pos", floats([2.0, 0.0, 1.5])),
        ("/au/7/box/size", floats([0.4, 0.0, 0.4])),
        ("/au/frame/numObj", vec![OscType::Int(1)]),
        ("/au/frame/objList", vec![OscType::Int(7)]),
    ];
    assert_eq!(found.len(), expected.len());
    for ((address, args), (wanted, values)) in found.into_iter().zip(&expected) {
        assert_eq!((address, args), (*wanted, values.as_slice()));
    }
    let scene = super::tests::messages(&augmenta::scene(picture_m)[0]);
    assert_eq!(scene[0].args, floats([4.0, 0.0, 3.0]));
    let many = augmenta::frame(&crowd(), picture_m, 3);
    assert!(many.len() > 1);
    for datagram in &many {
        assert!(datagram.len() <= 1432, "{}", datagram.len());
        let messages = super::tests::messages(datagram);
        assert_eq!(messages.last().unwrap().args.len(), VISITORS_MAX);
    }
}
