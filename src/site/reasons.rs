//! Problems of documents as the reasons of a rejection, for clients.

use crate::config::{Problem, Problems, visible};
use crate::control::{Reason, reason_code};

/// Largest number of reasons for a rejection.
const REASONS_MAX: usize = 50;

/// Returns the reasons of a rejection, at most `REASONS_MAX`.
pub fn reasons(problems: &Problems) -> Vec<Reason> {
    let reason = |p: &Problem| Reason {
        file: visible(&p.file).into_owned(),
        line: p.line,
        path: visible(&p.path).into_owned(),
        message: p.message.clone(),
        code: reason_code(&p.message).to_owned(),
    };
    problems.0.iter().take(REASONS_MAX).map(reason).collect()
}
