//! A hall: processes on this machine that are one pool.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use shoal::cluster::{Invitation, JoinCode, KeyFolder, join};
use shoal::records::state_folder;

use super::operation::{Running, text, wait_for};

/// A site with two nodes: `a` simulates, `b` has this role.
fn site(role_of_b: &str) -> String {
    let address = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().to_string()
    };
    format!(
        "scene = \"pool\"\n[simulation]\ntick_hz = 20.0\n[cluster]\nhall = \"test\"\ndelay_ms = 200\n\
         [[cluster.nodes]]\nname = \"a\"\nroles = [\"simulate\", \"track\"]\naddress = \"{}\"\n\
         [[cluster.nodes]]\nname = \"b\"\nroles = [\"{role_of_b}\"]\naddress = \"{}\"\n",
        address(),
        address()
    )
}

/// Makes the hall `test`, with keys of the node `a` beside the site in the folder `a`, and of `b` in the other one.
fn join_hall(a: &Path, b: &Path) {
    let [authority, joining] = [a, b].map(|site| {
        let state = state_folder(site);
        std::fs::create_dir_all(&state).unwrap();
        KeyFolder::new(&state)
    });
    authority.create_hall("test", "a", 0).unwrap();
    let code = JoinCode::make().unwrap();
    let mut invitation = Invitation::new("b", code.clone(), Instant::now());
    let (mut inside, mut outside) = UnixStream::pair().unwrap();
    let inviting = std::thread::spawn(move || {
        invitation
            .answer(&mut inside, &authority, (Instant::now(), 0))
            .unwrap();
    });
    join(&mut outside, &code, &joining).unwrap();
    inviting.join().unwrap();
}

/// Copies the keys of a node into the folder of a site.
fn copy_keys(from: &Path, to: &Path) {
    let [from, to] = [from, to].map(|folder| state_folder(folder).join("hall"));
    std::fs::create_dir_all(&to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

fn start(site: &str, prepare: impl FnOnce(&Path)) -> Running {
    Running::start(site, |folder, command| {
        prepare(folder);
        command.args(["--panel", "off"]);
    })
}

fn hall(node: &Running) -> Value {
    node.status()
        .map_or(Value::Null, |status| status["hall"].clone())
}

fn wait_stand(node: &Running, stand: &str) -> Value {
    wait_for(stand, || {
        Some(hall(node)).filter(|hall| hall["stand"] == stand)
    })
}

/// Compares the hashes of two nodes until `count` ticks were compared.
fn assert_same_run(a: &Running, b: &Running, count: usize) {
    let mut seen: [BTreeMap<u64, String>; 2] = Default::default();
    wait_for("equal hashes", || {
        for (node, seen) in [a, b].into_iter().zip(&mut seen) {
            let hall = hall(node);
            if let (Some(tick), Some(hash)) = (hall["hash_tick"].as_u64(), hall["hash"].as_str()) {
                assert_eq!(hall["is_equal"], true, "{hall}");
                seen.insert(tick, hash.to_owned());
            }
        }
        let both = seen[0].iter().filter(|(tick, _)| **tick > 0);
        let both = both.filter_map(|(tick, hash)| Some((tick, hash, seen[1].get(tick)?)));
        let compared: Vec<_> = both.collect();
        for (tick, a, b) in &compared {
            assert_eq!(a, b, "tick {tick}");
        }
        (compared.len() >= count).then_some(())
    });
}

/// Starts both nodes, and waits until `b` has the state of `a`.
fn start_hall(role_of_b: &str) -> (Running, Running) {
    let site = site(role_of_b);
    // Both keys are made before the first node starts, so `b` gets its own from a folder that is copied.
    let keys = tempfile::tempdir().unwrap();
    let [of_a, of_b] = ["a", "b"].map(|node| keys.path().join(node));
    join_hall(&of_a, &of_b);
    let a = start(&site, |folder| copy_keys(&of_a, folder));
    wait_stand(&a, "leads");
    let b = start(&site, |folder| copy_keys(&of_b, folder));
    wait_for("the state", || {
        Some(hall(&b))
            .filter(|hall| hall["stand"] == "follows" && hall["loads"].as_u64() >= Some(1))
    });
    (a, b)
}

#[test]
fn a_second_node_runs_the_same_ticks_and_leads_when_the_first_is_killed() {
    let (mut a, b) = start_hall("simulate");
    assert_same_run(&a, &b, 3);

    // A change at the leader reaches the follower; one at the follower is rejected with the name of the leader.
    let turbid = |value: &str| {
        format!(
            r#"{{"command":"edit","edits":[{{"document":{{"kind":"site"}},"path":"fish.speed","change":{{"do":"set","value":{value}}}}}]}}"#
        )
    };
    let refused = b.ctl(&["send", &turbid("1.2")]);
    assert!(!refused.status.success());
    assert!(text(&refused).contains("follows a"), "{}", text(&refused));
    let changed = a.ctl(&["scene", "reef"]);
    assert!(changed.status.success(), "{}", text(&changed));
    wait_for("the scene", || b.status().filter(|s| s["scene"] == "reef"));
    assert_same_run(&a, &b, 3);

    // The leader dies as in a power cut.
    let before = hall(&b);
    a.child.kill().unwrap();
    let killed = Instant::now();
    a.child.wait().unwrap();
    let led = wait_stand(&b, "leads");
    let took = killed.elapsed();
    println!("takeover after {:.2} s", took.as_secs_f64());
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(led["epoch"].as_u64() > before["epoch"].as_u64());
    let status = b.status().unwrap();
    assert_eq!(status["scene"], "reef");
    assert!(status["tick"].as_u64() > before["hash_tick"].as_u64());

    // It comes back, and follows the node that leads now.
    a.kill_and_start();
    wait_for("the state", || {
        Some(hall(&a)).filter(|hall| hall["leader"] == "b" && hall["loads"].as_u64() >= Some(1))
    });
    wait_for("the scene", || a.status().filter(|s| s["scene"] == "reef"));
    assert_same_run(&b, &a, 3);
}

/// Sends a signal to a node.
fn signal(node: &Running, name: &str) {
    let number = node.child.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &number]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn the_fish_of_a_lost_node_swim_on_and_follow_again_with_the_state_of_the_leader() {
    let (a, b) = start_hall("render");
    assert_same_run(&a, &b, 2);
    let loads = hall(&b)["loads"].as_u64();
    signal(&a, "STOP");
    let lost = wait_for("a lost node", || {
        let status = b.status()?;
        (status["hall"]["is_adrift"] == true && status["hall"]["stand"] == "alone")
            .then_some(status)
    });
    let tick = lost["tick"].as_u64();
    wait_for("fish that swim on", || {
        b.status().filter(|status| status["tick"].as_u64() > tick)
    });
    signal(&a, "CONT");
    wait_for("the state", || {
        Some(hall(&b)).filter(|hall| hall["stand"] == "follows" && hall["loads"].as_u64() > loads)
    });
    assert_same_run(&a, &b, 2);
}
