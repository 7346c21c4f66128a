//! How well the installation is: findings with a colour, and their sentence.

use serde::{Deserialize, Serialize};

/// The colour of a finding, or of the whole installation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthLevel {
    /// Green: as wanted, also if the pool is closed and opens by itself.
    #[default]
    Well,
    /// Amber: the pool works, but not as on a usual day, or not without a person.
    Attention,
    /// Red: visitors see that something is wrong.
    Fault,
}

/// Something that differs from a usual open pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// Name for programs and translations: of a fault, of a stage with `stage.` before it, or of a state such as `closed`.
    pub name: String,
    /// Its colour.
    pub level: HealthLevel,
    /// Whether it says why the picture is black or stands still. Then it is the first finding.
    pub is_show: bool,
    /// The finding in a sentence.
    pub sentence: String,
    /// Details for a technician.
    pub detail: String,
    /// Date and time of its begin in UTC, ISO 8601; empty if it is no fault.
    pub since: String,
    /// Duration so far.
    pub for_secs: f64,
    /// Of a fault that comes and goes and is not present now: time since it was, and time after which it is over.
    pub away_secs: Option<[f64; 2]>,
    /// Time at which it ends by itself, local time; `None` if it does not, or if that is unknown.
    pub until: Option<String>,
}

/// All findings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HealthStatus {
    /// The highest colour of all findings.
    pub level: HealthLevel,
    /// The most important first; none in a usual open pool.
    pub findings: Vec<Finding>,
}

impl HealthStatus {
    /// Returns the findings in one sentence: why the picture is dark, and the most important problem.
    pub fn sentence(&self) -> String {
        let show = self.findings.iter().find(|finding| finding.is_show);
        let mut problems = self.findings.iter().filter(|finding| !finding.is_show);
        let first = problems.next();
        let begin = match (first, show.map(|finding| finding.level)) {
            (None, None | Some(HealthLevel::Well)) => Some("All is well.".to_owned()),
            _ => None,
        };
        let more = match problems.count() {
            0 => None,
            count => Some(format!("(and {count} more)")),
        };
        let parts = [
            begin,
            show.map(|finding| finding.sentence.clone()),
            first.map(|finding| finding.sentence.clone()),
            more,
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
