//! The sound of a running installation, on ALSA's device that writes to a file, and without a device.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::operation::{Running, text, wait_for};

const SITE: &str = "scene = \"cascade\"\n[sound]\nvolume_db = -6.0\n";

/// Lets ALSA write into a file in `folder`. It has no clock, so it takes samples as fast as they come.
fn play_into_file(folder: &Path, command: &mut Command) {
    let file = folder.join("played.raw");
    let device = format!(
        "pcm.!default {{ type file slave.pcm \"null\" file \"{}\" format \"raw\" }}\n",
        file.display()
    );
    std::fs::write(folder.join(".asoundrc"), device).unwrap();
    command.env("HOME", folder);
}

fn sound(running: &Running) -> Option<Value> {
    running.status().map(|status| status["sound"].clone())
}

#[cfg(feature = "sound")]
#[test]
fn a_device_plays_and_obeys_and_every_change_can_be_undone() {
    let running = Running::start(SITE, play_into_file);
    wait_for("a device that plays", || {
        let sound = sound(&running)?;
        (sound["device"] != "" && sound["peak_db"].as_f64()? > -60.0).then_some(())
    });
    let site = || std::fs::read_to_string(running.file("site.toml")).unwrap();
    for (words, key, value) in [
        (&["sound", "-20"][..], "volume_db", "-20.0"),
        (&["sound", "mute"], "mute", "true"),
    ] {
        let answer = running.ctl(words);
        assert!(answer.status.success(), "{}", text(&answer));
        assert!(site().contains(&format!("{key} = {value}")), "{}", site());
    }
    wait_for("silence", || {
        let sound = sound(&running)?;
        (sound["is_muted"] == true && sound["peak_db"].as_f64()? < -110.0).then_some(())
    });
    let refused = text(&running.ctl(&["sound", "test"]));
    assert!(refused.contains("sound.mute = false"), "{refused}");
    assert!(running.ctl(&["undo"]).status.success());
    wait_for("sound again", || {
        let sound = sound(&running)?;
        (sound["is_muted"] == false && sound["peak_db"].as_f64()? > -80.0).then_some(())
    });
    assert!(running.ctl(&["sound", "test", "right"]).status.success());
    let refused = text(&running.ctl(&["sound", "test", "top"]));
    assert!(refused.contains("`left`, `right`"), "{refused}");
    let status = text(&running.ctl(&["status"]));
    assert!(status.contains("2 loudspeakers, -20 dB"), "{status}");
    drop(running);
}

#[test]
fn a_machine_without_a_device_says_so_and_has_no_fault() {
    let running = Running::start(SITE, |folder, command| {
        let none = "pcm.!default { type hw card 31 }\n";
        std::fs::write(folder.join(".asoundrc"), none).unwrap();
        command.env("HOME", folder);
    });
    let status = wait_for("the first attempt", || {
        let status = running.status()?;
        (status["sound"]["problem"] != "").then_some(status)
    });
    assert_eq!(status["sound"]["device"], "");
    let faults = status["faults"].as_array().unwrap();
    assert!(
        faults.iter().all(|fault| fault["name"] != "sound"),
        "{faults:?}"
    );
}
