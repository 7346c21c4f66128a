//! Tests of the command line as a user sees it: exit codes, and messages that say what is wrong, where, and what to do.

use shoal_testing::assert_message;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn shoal(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shoal"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Returns standard error (messages for the user) and standard output (the report of `check`) as one text.
fn messages(output: &Output) -> String {
    let both = [&output.stderr[..], &output.stdout[..]];
    both.map(|text| String::from_utf8_lossy(text)).concat()
}

/// Asserts that a command failed with exit code 1 and without a panic, and that its message contains each of the words.
#[track_caller]
fn assert_rejected(output: &Output, words: &[&str]) {
    let errors = messages(output);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    for word in words {
        assert_message(&errors, &[word]);
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = PathBuf::from(self.path(name));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).unwrap();
        }
        std::fs::write(&path, content).unwrap();
        self.path(name)
    }
}

#[test]
fn help_names_every_command() {
    let output = shoal(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8_lossy(&output.stdout);
    for command in [
        "run",
        "demo",
        "track",
        "plan",
        "simulate",
        "life",
        "render",
        "calibrate",
        "check",
        "schema",
    ] {
        assert!(help.contains(command), "--help lacks {command}");
    }
}

#[test]
fn simulate_reports_the_life_in_a_scene_as_text_and_as_json() {
    let folder = Folder::new();
    let json = folder.path("report.json");
    let output = shoal(&[
        "simulate",
        "--scene",
        "nursery",
        "--visitors",
        "children",
        "--seconds",
        "2",
        "--report",
        "--report-json",
        &json,
    ]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
    for words in [
        "life: nursery, children, seed 1, 2 s simulated",
        "action stay_with_mother",
        "rule \"",
    ] {
        assert!(text.contains(words), "the report lacks '{words}':\n{text}");
    }
    let read: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(read["program"], "children");
    assert!(
        read["species"]
            .as_array()
            .is_some_and(|species| species.len() > 1)
    );
}

#[test]
fn life_names_the_problems_of_each_scene_and_rejects_an_unknown_scene() {
    let output = shoal(&[
        "life",
        "--scenes",
        "molecules",
        "--visitors",
        "none,still",
        "--seeds",
        "1",
        "--minutes",
        "0.1",
    ]);
    let text = String::from_utf8_lossy(&output.stdout);
    // In 6 s not every rule of the director begins.
    assert_eq!(output.status.code(), Some(1), "{}", messages(&output));
    assert!(text.contains("molecules      still"), "{text}");
    assert!(text.contains("never began in any run"), "{text}");
    assert_rejected(&shoal(&["life", "--scenes", "molecule"]), &["molecules"]);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for arguments in [
        &["swim"][..],
        &["simulate"],
        &["render", "--seconds", "1", "--size", "0x0", "--out", "x"],
        &[
            "calibrate",
            "p.csv",
            "--camera-size",
            "640",
            "--surface",
            "4x3",
            "--out",
            "c.toml",
        ],
        &["simulate", "--seconds", "nan", "--out", "-"],
    ] {
        let output = shoal(arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            messages(&output)
        );
    }
}

#[test]
fn a_camera_source_instead_of_the_site_file_is_explained() {
    let output = shoal(&["track", "file:walk.y4m", "--out", "-"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = messages(&output);
    assert!(errors.contains("behind --camera"), "{errors}");
}

#[test]
fn the_built_in_site_has_no_problems() {
    let output = shoal(&["check"]);
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
}

#[test]
fn an_invalid_site_is_rejected_with_all_its_problems() {
    let folder = Folder::new();
    let site = folder.write(
        "site.toml",
        "[surface]\nwidth_m = -3\nheigth_m = 2.0\n\n[simulation]\nseed = \"seven\"\n",
    );
    let output = shoal(&["check", &site]);
    assert_rejected(
        &output,
        &[
            "site.toml:2",
            "width_m",
            "-3",
            "site.toml:3",
            "heigth_m",
            "height_m",
            "site.toml:6",
            "seed",
        ],
    );
    assert_rejected(
        &shoal(&["simulate", &site, "--seconds", "1", "--out", "-"]),
        &["site.toml:2"],
    );
}

#[test]
fn an_unreadable_recording_is_rejected() {
    let folder = Folder::new();
    let out = folder.path("t.jsonl");
    let missing = format!("file:{}", folder.path("missing.y4m"));
    assert_rejected(
        &shoal(&["track", "--camera", &missing, "--fast", "--out", &out]),
        &["missing.y4m"],
    );
    let garbage = format!("file:{}", folder.write("garbage.y4m", [0xff; 300]));
    assert_rejected(
        &shoal(&["track", "--camera", &garbage, "--fast", "--out", &out]),
        &["garbage.y4m", "YUV4MPEG2"],
    );
    let empty = folder.path("empty");
    std::fs::create_dir(&empty).unwrap();
    assert_rejected(
        &shoal(&[
            "track",
            "--camera",
            &format!("file:{empty}"),
            "--fast",
            "--out",
            &out,
        ]),
        &["empty"],
    );
    assert_rejected(
        &shoal(&["track", "--camera", "gopher:7", "--fast", "--out", &out]),
        &["gopher", "file:"],
    );
    assert_rejected(
        &shoal(&[
            "track",
            "--camera",
            "command:no-such-program-here",
            "--fast",
            "--out",
            &out,
        ]),
        &["no-such-program-here"],
    );
}

#[test]
fn invalid_tracks_are_rejected_with_their_line() {
    let folder = Folder::new();
    let tracks = folder.write(
        "t.jsonl",
        "{\"frame\":0,\"time_secs\":0.0,\"shadows\":[]}\n{\"frame\":1,\n",
    );
    let output = shoal(&[
        "simulate",
        "--shadows",
        &tracks,
        "--seconds",
        "1",
        "--out",
        "-",
    ]);
    assert_rejected(&output, &["t.jsonl:2"]);
    let missing = folder.path("no.jsonl");
    assert_rejected(
        &shoal(&[
            "simulate",
            "--shadows",
            &missing,
            "--seconds",
            "1",
            "--out",
            "-",
        ]),
        &["no.jsonl"],
    );
}

#[test]
fn an_unknown_scene_is_rejected_with_the_known_ones() {
    assert_rejected(
        &shoal(&[
            "simulate",
            "--scene",
            "atlantis",
            "--seconds",
            "1",
            "--out",
            "-",
        ]),
        &["atlantis", "pool"],
    );
}

#[test]
fn the_site_file_is_not_blamed_for_a_scene_of_the_command_line() {
    let folder = Folder::new();
    let site = folder.path("site.toml");
    std::fs::write(&site, "scene = 'koi'\n").unwrap();
    let rejected = shoal(&["run", &site, "--headless", "--scene", "riff"]);
    assert_rejected(
        &rejected,
        &["--scene: there is no scene \"riff\"; existing: "],
    );
    let text = messages(&rejected);
    assert!(!text.contains("site.toml:"), "{text}");
}

#[test]
fn the_number_of_threads_does_not_change_a_run() {
    let folder = Folder::new();
    let tracks = folder.path("t.jsonl");
    let output = shoal(&[
        "track",
        "--camera",
        "synthetic:5",
        "--fast",
        "--seconds",
        "6",
        "--out",
        &tracks,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
    let lines = |threads: &str, seed: &str| {
        let output = shoal(&[
            "simulate",
            "--shadows",
            &tracks,
            "--seconds",
            "5",
            "--seed",
            seed,
            "--threads",
            threads,
            "--out",
            "-",
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
        output.stdout
    };
    let once = lines("1", "7");
    assert_eq!(once.iter().filter(|byte| **byte == b'\n').count(), 300);
    assert!(
        once.windows(12).any(|w| w == b"evade_shadow"),
        "no fish fled in five seconds"
    );
    assert!(once == lines("1", "7"), "a second run differs");
    assert!(once == lines("2", "7"), "a run with two threads differs");
    assert!(once != lines("1", "8"), "another seed gives the same run");
}

#[test]
fn a_shorter_recording_gives_the_same_tracks() {
    let folder = Folder::new();
    let track = |seconds: &str| {
        let out = folder.path(&format!("{seconds}.jsonl"));
        let output = shoal(&[
            "track",
            "--camera",
            "synthetic:9",
            "--fast",
            "--seconds",
            seconds,
            "--out",
            &out,
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
        std::fs::read_to_string(out).unwrap()
    };
    let (short, long) = (track("4"), track("8"));
    assert_eq!(short.lines().count(), 120);
    assert_message(&short, &["\"id\":"]);
    assert!(
        long.starts_with(&short),
        "later frames changed earlier tracks"
    );
}

#[test]
fn an_output_that_cannot_be_written_is_rejected() {
    let output = shoal(&[
        "simulate",
        "--seconds",
        "0.1",
        "--out",
        "/proc/no/such/place.jsonl",
    ]);
    assert_rejected(&output, &["/proc/no/such/place.jsonl"]);
}

#[test]
fn a_missing_graphics_adapter_is_reported_with_a_remedy() {
    let folder = Folder::new();
    let output = Command::new(env!("CARGO_BIN_EXE_shoal"))
        .args([
            "render",
            "--seconds",
            "0.1",
            "--size",
            "64x48",
            "--out",
            &folder.path("frames"),
        ])
        .env("VK_DRIVER_FILES", "/nowhere.json")
        .env("VK_ICD_FILENAMES", "/nowhere.json")
        .env("WGPU_BACKEND", "vulkan")
        .output()
        .unwrap();
    assert_rejected(&output, &["mesa-vulkan-drivers"]);
    assert!(!Path::new(&folder.path("frames/00000.png")).exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_missing_display_is_reported_with_a_remedy() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shoal"));
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    let output = command.arg("monitors").output();
    let output = output.unwrap();
    assert_rejected(
        &output,
        &["there is no display", "DISPLAY=:0 shoal monitors"],
    );
}

#[test]
fn a_missing_model_is_reported() {
    let folder = Folder::new();
    let site = folder.write("site.toml", "scene = \"one\"\n");
    folder.write("scenes/one.toml", "[population]\nghost = 1\n");
    folder.write(
        "species/ghost.toml",
        "[look]\nmodel = \"models/ghost.glb\"\n",
    );
    assert_rejected(
        &shoal(&["check", &site]),
        &["ghost.toml:2", "models/ghost.glb"],
    );
}

#[test]
fn the_plan_of_a_camera_in_the_book_is_what_the_program_prints() {
    let page = include_str!("../../docs/plan.md");
    let (_, example) = page.split_once("```text\n$ shoal plan ").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let (options, printed) = example.split_once('\n').unwrap();
    let arguments: Vec<&str> = ["plan"].into_iter().chain(options.split(' ')).collect();
    let output = shoal(&arguments);
    assert_eq!(String::from_utf8_lossy(&output.stdout), printed);
    assert_eq!(output.status.code(), Some(0));
}

/// A build with the feature says instead that the machine has no key of a hall.
#[test]
fn a_machine_that_cannot_be_a_node_of_a_hall_says_why() {
    let folder = Folder::new();
    let hall = "[cluster]\nhall = \"aquarium\"\n[[cluster.nodes]]\nname = \"left\"\naddress = \"127.0.0.1:7447\"\n";
    let site = folder.write("site.toml", hall);
    let reason = if cfg!(feature = "cluster") {
        "no key of a hall"
    } else {
        "shoal-cluster"
    };
    assert_rejected(&shoal(&["run", "--headless", &site]), &[reason]);
    let single = folder.write("single.toml", "scene = \"pool\"\n");
    let output = shoal(&["run", "--headless", "--role", "render", &single]);
    assert_rejected(&output, &["--role", "[cluster]"]);
}
