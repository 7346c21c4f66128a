//! Waits for a program that a site names, for a limited time.

use std::process::Child;
use std::time::{Duration, Instant};

/// Time between two looks at the program.
const STEP: Duration = Duration::from_millis(20);

/// Waits until the program ends, at most for `limit`. Then it is ended.
///
/// # Errors
/// If the program fails or takes too long: what it did, as the rest of a sentence that begins with its name.
pub fn wait_for_program(child: &mut Child, limit: Duration) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("failed: {status}")),
            Ok(None) if begun.elapsed() < limit => std::thread::sleep(STEP),
            _ => {
                let _gone = child.kill().and_then(|()| child.wait());
                return Err(format!(
                    "did not end within {} s and was ended",
                    limit.as_secs()
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let reason = wait_for_program(&mut child, Duration::from_millis(50)).unwrap_err();
        assert!(reason.contains("did not end"), "{reason}");
        assert!(child.try_wait().unwrap().is_some());
    }
}
