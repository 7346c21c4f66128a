//! `shoal cluster`: machines of a hall as folders, and its commands as processes.

use std::path::Path;
use std::process::{Command, Output};

fn cluster(words: &[&str], state: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shoal"));
    command.arg("cluster").args(words);
    command.arg("--state").arg(state);
    command
}

fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[cfg(not(feature = "cluster"))]
#[test]
fn a_build_without_clusters_refuses_their_commands() {
    let state = tempfile::tempdir().unwrap();
    let output = cluster(&["init", "--hall", "h", "--node", "a"], state.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = text(&output);
    assert!(text.contains("built without clusters"), "{text}");
    assert!(std::fs::read_dir(state.path()).unwrap().next().is_none());
}

#[cfg(feature = "cluster")]
mod with_clusters {
    use std::io::{BufRead as _, BufReader};
    use std::net::TcpListener;
    use std::process::{Child, Stdio};

    use super::*;

    fn run(words: &[&str], state: &Path) -> (bool, String) {
        let output = cluster(words, state).output().unwrap();
        (output.status.success(), text(&output))
    }

    /// An invitation that waits, its code and the address of it.
    struct Invitation {
        process: Child,
        code: String,
        address: String,
    }

    impl Invitation {
        fn of(name: &str, state: &Path) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port().to_string();
            drop(listener);
            let mut process = cluster(&["invite", name, "--port", &port], state)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            let code = first.strip_prefix("Code: ").unwrap().to_owned();
            // The rest is read until the process ends, so that it never waits for this one.
            std::thread::spawn(move || lines.count());
            Self {
                process,
                code,
                address: format!("127.0.0.1:{port}"),
            }
        }
    }

    impl Drop for Invitation {
        fn drop(&mut self) {
            let _ended = self.process.kill();
            let _code = self.process.wait();
        }
    }

    #[test]
    fn a_machine_joins_with_the_code_once_and_is_revoked() {
        let state = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let [left, right, third] = [0, 1, 2].map(|index| state[index].path());
        assert!(run(&["init", "--hall", "h", "--node", "left"], left).0);
        let mut invitation = Invitation::of("right", left);
        let (code, address) = (invitation.code.clone(), invitation.address.clone());
        let (joined, text) = run(&["join", &code, &address], right);
        assert!(joined, "{text}");
        assert!(text.contains("the node `right` of the hall `h`"), "{text}");
        assert!(invitation.process.wait().unwrap().success());
        // The code is used, and its command has ended.
        let (joined, text) = run(&["join", &code, &address], third);
        assert!(!joined && text.contains("nothing answers"), "{text}");
        for state in [left, right] {
            let (_, text) = run(&["list"], state);
            assert!(text.contains("left") && text.contains("right"), "{text}");
        }
        // Only where the authority is.
        assert!(!run(&["revoke", "left"], right).0);
        assert!(run(&["revoke", "right"], left).0);
        let (_, text) = run(&["list"], left);
        assert!(text.contains("revoked"), "{text}");
        // The name can be used again.
        let again = Invitation::of("right", left);
        let (joined, text) = run(&["join", &again.code, &again.address], third);
        assert!(joined, "{text}");
    }

    #[test]
    fn three_wrong_codes_end_the_invitation() {
        let state = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [left, right] = [0, 1].map(|index| state[index].path());
        assert!(run(&["init", "--hall", "h", "--node", "left"], left).0);
        let mut invitation = Invitation::of("right", left);
        for expected in ["the code is wrong", "the code is wrong", "locked"] {
            let (joined, text) = run(&["join", "AAAA-AAAA", &invitation.address], right);
            assert!(!joined && text.contains(expected), "{text}");
        }
        assert!(!invitation.process.wait().unwrap().success());
        let (_, text) = run(&["list"], left);
        assert!(!text.contains("right"), "{text}");
        assert!(std::fs::read_dir(right).unwrap().next().is_none());
    }
}
