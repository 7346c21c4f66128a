//! The reports of `shoal check` (all problems of a site's files) and `shoal schema` (the schema of every kind of file).

use std::fmt;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::files::{SceneFile, SiteFile, SpeciesFile};
use super::load::load_and_check;
use crate::calibration::Calibration;
use crate::config::{Problem, schema_of, visible};

/// All problems and warnings of a site's files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReport {
    /// The checked site: the path of its file, or `built-in demo`.
    pub site: String,
    /// Problems. If there is at least one, the site cannot run.
    pub problems: Vec<Problem>,
    /// Warnings: values that are allowed, but probably a mistake.
    pub warnings: Vec<Problem>,
}

impl CheckReport {
    /// Whether the site can run.
    pub fn is_good(&self) -> bool {
        self.problems.is_empty()
    }

    /// The last line of the report: how many problems and warnings there are.
    pub fn summary(&self) -> String {
        let count = |n: usize, what: &str| match n {
            0 => format!("no {what}s"),
            1 => format!("1 {what}"),
            n => format!("{n} {what}s"),
        };
        // Warnings that follow from a problem are not looked for.
        let warnings = match (self.is_good(), self.warnings.len()) {
            (false, 0) => "mend this first; warnings are shown after that".to_owned(),
            (_, number) => count(number, "warning"),
        };
        let problems = count(self.problems.len(), "problem");
        format!("{}: {problems}, {warnings}", visible(&self.site))
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "error: {problem}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        f.write_str(&self.summary())
    }
}

/// Checks a site file with all scenes and species beside it, their models and the calibration. `None` checks the
/// built-in demo.
pub fn check_report(site: Option<&Path>) -> CheckReport {
    let (_, warnings, problems) = load_and_check(site, None);
    CheckReport {
        site: site.map_or_else(
            || "built-in demo".to_owned(),
            |path| path.display().to_string(),
        ),
        problems: problems.0,
        warnings: warnings.0,
    }
}

/// Returns the JSON Schema of each kind of file, by its name: `site`, `scene`, `species`, `calibration`.
pub fn schemas() -> Value {
    json!({
        "site": schema_of::<SiteFile>(),
        "scene": schema_of::<SceneFile>(),
        "species": schema_of::<SpeciesFile>(),
        "calibration": schema_of::<Calibration>(),
    })
}
