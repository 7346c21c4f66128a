//! The stream and the pictures.

use shoal_testing::assert_message;
use std::time::Instant;

use super::client::{Received, StreamClient, wait_until};
use super::*;
use crate::control::{AgentsLine, TrackLine, VisitorLine};
use crate::panel::RawPicture;

#[test]
fn a_client_gets_what_it_subscribes_to() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let undo = || json!({"command": "undo"});
    admin.post("/api/v1/commands", undo());
    admin.post("/api/v1/commands", undo());
    let mut stream = StreamClient::open(&admin, &[]).unwrap();
    stream.send("explode");
    assert!(stream.text("error")["message"].is_string());
    stream.subscribe(&["nothing"], None);
    assert_message(
        stream.text("error")["message"].as_str().unwrap(),
        &["allowed: status"],
    );
    stream.subscribe(&["status", "events"], Some(1));
    assert!(stream.text("status")["status"]["revision"].is_u64());
    assert_eq!(stream.text("event")["event"]["number"], 2);
    admin.post("/api/v1/commands", undo());
    let event = stream.text("event");
    assert_eq!(
        (&event["event"]["number"], &event["event"]["event"]),
        (&json!(3), &json!("command_applied"))
    );
    // A number from before a restart of the program.
    stream.subscribe(&["events"], Some(1_000_000));
    // Texts are read one after the other, so the subscription holds when the next text is answered.
    stream.send("explode");
    stream.text("error");
    admin.post("/api/v1/commands", undo());
    assert_eq!(stream.text("event")["event"]["number"], 4);
}

/// A fixed bug: each small message let the server encode all events and send them, as often as a client wanted.
#[test]
fn a_client_that_subscribes_without_an_end_gets_the_events_few_times() {
    let server = TestServer::start();
    let admin = server.admin();
    for id in 0..100 {
        let kind = EventKind::VisitorArrived { id };
        server.board.events.push(kind, String::new(), 0.0);
    }
    let mut stream = StreamClient::open(&admin, &[]).unwrap();
    let begun = Instant::now();
    // The same ones again are ignored, other ones wait.
    for after in [0, 0, 0, 0, 0, 0, 0, 0, 1, 2] {
        stream.subscribe(&["events"], Some(after));
    }
    let mut numbers = Vec::new();
    while numbers.len() < 100 + 99 + 98 {
        numbers.push(stream.text("event")["event"]["number"].as_u64().unwrap());
    }
    assert!(
        numbers
            .iter()
            .copied()
            .eq((1..=100).chain(2..=100).chain(3..=100))
    );
    // The texts were read one after the other, with a pause after each. No slow machine makes this shorter.
    assert!(begun.elapsed() >= Duration::from_millis(9 * 190));
}

#[test]
fn stages_work_only_for_what_somebody_watches() {
    let server = TestServer::start();
    let admin = server.admin();
    let views = server.views.clone();
    let is_due = || {
        let now = Instant::now();
        [
            views.agents.is_due(now),
            views.tracks.is_due(now),
            views.outlines.is_due(now),
            views.camera.is_due(now),
        ]
    };
    std::thread::sleep(Duration::from_millis(120));
    assert_eq!(is_due(), [false; 4]);
    let mut stream = StreamClient::open(&admin, &[]).unwrap();
    stream.subscribe(&["agents", "tracks", "outlines"], None);
    wait_until("the wish for agents", || {
        (is_due() == [true, true, true, false]).then_some(())
    });
    let now = Instant::now();
    views.agents.fill(now, |agents| {
        *agents = AgentsLine {
            tick: 7,
            ..AgentsLine::default()
        };
    });
    views.tracks.fill(now, |tracks| {
        *tracks = TrackLine {
            frame: 8,
            ..TrackLine::default()
        };
    });
    views.outlines.fill(now, |outlines| outlines.frame = 9);
    assert_eq!(stream.text("agents")["tick"], 7);
    assert_eq!(stream.text("tracks")["frame"], 8);
    assert_eq!(stream.text("outlines")["frame"], 9);
    drop(stream);
    wait_until("the end of the wish", || {
        (is_due() == [false; 4]).then_some(())
    });
}

/// Fills a slot with pictures while it is due, until `stop`.
pub(super) fn show_pictures(
    slot: &crate::panel::LiveSlot<RawPicture>,
    bytes: usize,
    stop: &AtomicBool,
) {
    let mut level = 0_u8;
    while !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        if slot.is_due(now) {
            level = level.wrapping_add(1);
            slot.fill(now, |picture| {
                (picture.width_px, picture.height_px) = (64, 48);
                // Only the camera's picture has a step.
                picture.step = if bytes == 1 { 3 } else { 0 };
                picture.frame = if bytes == 1 { 77 } else { 0 };
                picture.pixels.clear();
                picture.pixels.resize(64 * 48 * bytes, level);
            });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn pictures_of_camera_and_outputs_are_jpeg() {
    let mut server = TestServer::start();
    let mut admin = server.admin();
    assert_eq!(admin.get("/api/v1/output/1.jpg").status, 404);
    assert_eq!(admin.get("/api/v1/output/x").status, 404);
    server.show_pictures();
    for path in [
        "/api/v1/camera.jpg",
        "/api/v1/mask.jpg",
        "/api/v1/output/0.jpg",
    ] {
        let answer = admin.get(path);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some("image/jpeg"))
        );
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let step = (!path.contains("output")).then_some("3");
        assert_eq!(answer.header("x-picture-step"), step, "{path}");
        let picture = image::load_from_memory(&answer.body).unwrap();
        assert_eq!((picture.width(), picture.height()), (64, 48));
    }
    let mut stream = StreamClient::open(&admin, &[]).unwrap();
    stream.subscribe(&["camera", "mask", "output/0"], None);
    let mut seen = [0; 3];
    while seen.iter().any(|count| *count < 3) {
        let Some(Received::Binary(message)) = stream.next() else {
            panic!("no picture");
        };
        assert!(
            matches!(message[..4], [1 | 3, 0, 3, 77] | [2, 0, 0, 0]),
            "{:?}",
            &message[..4]
        );
        assert!(image::load_from_memory(&message[4..]).is_ok());
        seen[usize::from(message[0]) - 1] += 1;
    }
}

#[test]
fn a_stage_without_pictures_is_not_available() {
    let server = TestServer::start();
    let answer = server.admin().get("/api/v1/camera.jpg");
    assert_eq!((answer.status, answer.code()), (503, "unavailable"));
}

/// The report of all agents was made ten times a second as long as a client had subscribed to it, even if that client read nothing.
#[test]
fn a_client_that_does_not_read_costs_the_simulation_nothing() {
    let server = TestServer::start();
    let admin = server.admin();
    let agents = Arc::clone(&server.views.agents);
    let shadow = VisitorLine {
        id: 1,
        x_m: 0.0,
        z_m: 0.0,
        foot_m: [0.0; 2],
        radius_m: 0.3,
        vx_mps: 0.0,
        vz_mps: 0.0,
        area_m2: 0.3,
        age_secs: 1.0,
        still_secs: 0.0,
        agitation_mps: 0.0,
        contour_m: vec![[0.123_456, 0.654_321]; 100_000],
        on_surface: true,
    };
    let fill = || {
        let line = AgentsLine {
            shadows: vec![shadow.clone()],
            ..AgentsLine::default()
        };
        agents.fill(Instant::now(), |shown| *shown = line);
    };
    let mut slow = StreamClient::open(&admin, &[]).unwrap();
    slow.subscribe(&["agents"], None);
    // The buffers of the connection take some of these reports of 2 MB each.
    let mut last = Instant::now();
    wait_until("the end of the wish for agents", || {
        if agents.is_due(Instant::now()) {
            fill();
            last = Instant::now();
        }
        (last.elapsed() > Duration::from_secs(1)).then_some(())
    });
    let mut quick = StreamClient::open(&admin, &[]).unwrap();
    quick.subscribe(&["agents"], None);
    wait_until("a report for the client that reads", || {
        agents.is_due(Instant::now()).then(fill)
    });
    assert!(quick.text("agents")["shadows"].is_array());
    drop(slow);
}

#[test]
fn a_client_that_does_not_read_does_not_slow_others_down() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let slow: Vec<StreamClient> = (0..19)
        .map(|_| {
            let mut stream = StreamClient::open(&admin, &[]).unwrap();
            stream.subscribe(&["status", "events"], None);
            stream
        })
        .collect();
    let mut quick = StreamClient::open(&admin, &[]).unwrap();
    quick.subscribe(&["events"], Some(0));
    for number in 1..=50 {
        assert_eq!(
            admin
                .post("/api/v1/commands", json!({"command": "undo"}))
                .status,
            200
        );
        assert_eq!(quick.text("event")["event"]["number"], number);
    }
    drop(slow);
}
