//! Visitors of a tracker whose network loses, doubles and delays datagrams, and that begins to count again: the fish never jump.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use crate::pools;
use glam::{Vec2, Vec3};
use shoal::geometry::Surface;
use shoal::remote::{TrackReceiver, TrackerProtocol};
use shoal::simulation::Simulation;
use shoal::vision::{SightedTracks, TrackingParams};
use shoal::world::Observation;

/// Returns a message of OSC with text and numbers.
fn message(address: &str, types: &str, texts: &[&str], numbers: &[[u8; 4]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in [address, types].iter().chain(texts) {
        bytes.extend(text.as_bytes());
        bytes.resize(bytes.len() + 4 - text.len() % 4, 0);
    }
    bytes.extend(numbers.as_flattened());
    bytes
}

/// Returns a frame of TUIO 1.1 with one cursor.
fn frame(number: i32, id: i32, at: Vec2) -> Vec<u8> {
    let (address, zero) = ("/tuio/2Dcur", [0; 4]);
    let numbers = [
        id.to_be_bytes(),
        at.x.to_be_bytes(),
        at.y.to_be_bytes(),
        zero,
        zero,
        zero,
    ];
    let messages = [
        message(address, ",si", &["alive"], &[id.to_be_bytes()]),
        message(address, ",sifffff", &["set"], &numbers),
        message(address, ",si", &["fseq"], &[number.to_be_bytes()]),
    ];
    let mut bytes = b"#bundle\0\0\0\0\0\0\0\0\x01".to_vec();
    for message in messages {
        bytes.extend((message.len() as i32).to_be_bytes());
        bytes.extend(message);
    }
    bytes
}

fn positions(pool: &Simulation) -> Vec<Vec3> {
    let bodies = pool.world().agents.bodies.iter();
    bodies.map(|body| body.position_m).collect()
}

#[test]
fn no_fish_jumps_with_the_visitors_of_a_bad_tracker() {
    let scene = pools::pool_with(vec![pools::species("salmon", 12)]);
    let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let free = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let status = Arc::default();
    let mut tracker = TrackReceiver::new(TrackerProtocol::Tuio, address, &[], Arc::clone(&status));
    tracker.receive(Duration::from_millis(1)).unwrap();
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let surface = Surface::default();
    let mut tracks = SightedTracks::new(&TrackingParams::default(), &surface);
    let (mut seen, mut observation) = (Vec::new(), Observation::default());
    let picture_m = Vec2::new(surface.width_m, surface.height_m);
    let boost_mps = pools::species("salmon", 1).motion.boost_mps;
    let (mut delayed, mut sent, mut ids) = (Vec::new(), 0, std::collections::BTreeSet::new());
    let (mut before, mut farthest_m, mut least_visible) = (positions(&pool), 0.0f32, 1);
    for tick in 0..900u64 {
        // A visitor walks in a circle at 1 m/s. After ten seconds the tracker was started again.
        let is_again = tick >= 600;
        if tick == 600 {
            delayed.clear();
        }
        let walked = Vec2::from_angle(tick as f32 / 60.0) * Vec2::new(0.25, 1.0 / 3.0) + 0.5;
        let bytes = frame(
            tick as i32 + if is_again { -599 } else { 1 },
            7 - 6 * i32::from(is_again),
            walked,
        );
        let mut send = |bytes: &[u8]| {
            sender.send_to(bytes, address).unwrap();
            sent += 1;
        };
        match tick {
            // Nothing arrives for half a second.
            400..430 => {}
            _ if tick % 5 == 3 => delayed.push(bytes),
            _ if tick % 11 == 4 => {}
            _ => send(&bytes),
        }
        if tick % 7 == 0 {
            for late in delayed.drain(..) {
                send(&late);
                send(&late);
            }
        }
        tracker.receive(Duration::from_millis(1)).unwrap();
        tracker.write(&surface, &mut seen);
        tracks.observe(&seen, tick as f64 / 60.0);
        observation.update(tick as f64 / 60.0, tracks.tracks());
        if tick > 0 {
            least_visible = least_visible.min(tracks.tracks().len());
        }
        for track in tracks.tracks() {
            ids.insert(track.id);
            let true_m = (walked - 0.5) * picture_m;
            // A datagram that comes late does not move the visitor back. While none come, it stands.
            let limit_m = if (400..450).contains(&tick) {
                0.7
            } else {
                0.25
            };
            assert!(
                track.foot_m.distance(true_m) < limit_m,
                "{tick}: {} of {true_m}",
                track.foot_m
            );
        }
        pool.run_tick(&observation);
        let now = positions(&pool);
        for (fish, was) in now.iter().zip(&before) {
            farthest_m = farthest_m.max(fish.distance(*was));
        }
        before = now;
    }
    let found = status.lock().clone();
    println!(
        "{sent} sent, {found:?}, {farthest_m:.4} m in a tick, {} ids",
        ids.len()
    );
    assert_eq!(found.received, sent);
    assert!(found.late > 50 && found.refused == 0, "{found:?}");
    assert_eq!(
        (least_visible, ids.len()),
        (1, 2),
        "another id only with the second start"
    );
    assert!(
        farthest_m <= boost_mps / 60.0 * 1.01,
        "{farthest_m} m in a tick"
    );
}
