//! The tuning file of a designer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{self, Problems, Spans};
use crate::life::{Figure, VisitorProgram};

/// A tuning file: which numbers of which species may change, and what is wished for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TuningFile {
    /// Site file, relative to this file. Without it, the built-in demo site.
    #[serde(default)]
    pub site: Option<String>,
    /// Scene that is simulated.
    pub scene: String,
    /// Species whose numbers change. It must live in the scene.
    pub species: String,
    /// Programs of the visitors. A wish without visitors of its own concerns the mean over all of them.
    #[serde(default = "no_visitors")]
    #[schemars(length(min = 1, max = 6))]
    pub visitors: Vec<VisitorProgram>,
    /// Simulated minutes of each run. Higher measures better and takes longer.
    #[serde(default = "minutes")]
    #[schemars(range(min = 0.2, max = 120.0))]
    pub minutes: f64,
    /// Number of runs of each candidate and program. All candidates of a generation have the same seeds, and each generation has
    /// others. Higher measures better and takes longer.
    #[serde(default = "seeds")]
    #[schemars(range(min = 1, max = 100))]
    pub seeds: u64,
    /// Number of generations, each with 4 + 3 ln(number of genes) candidates. Higher finds more and takes longer.
    #[serde(default = "generations")]
    #[schemars(range(min = 1, max = 1000))]
    pub generations: u32,
    /// Number of other seeds with which the present and the found numbers are compared. Higher makes the errors smaller.
    #[serde(default = "check_seeds")]
    #[schemars(range(min = 2, max = 1000))]
    pub check_seeds: u64,
    /// The numbers that may change.
    #[schemars(length(min = 1, max = 30))]
    pub genes: Vec<GeneParams>,
    /// What is wished for.
    #[schemars(length(min = 1, max = 30))]
    pub wishes: Vec<WishParams>,
}

fn no_visitors() -> Vec<VisitorProgram> {
    vec![VisitorProgram::None]
}

fn minutes() -> f64 {
    3.0
}

fn seeds() -> u64 {
    2
}

fn generations() -> u32 {
    12
}

fn check_seeds() -> u64 {
    8
}

/// A number of the species that may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneParams {
    /// Path of the key in the species file: `actions.school.weight`.
    pub key: String,
    /// Smallest value. Without it, a quarter of the present value, but at least what the key allows.
    #[serde(default)]
    #[schemars(range(min = -1e12, max = 1e12))]
    pub from: Option<f64>,
    /// Largest value. Without it, four times the present value, but at most what the key allows.
    #[serde(default)]
    #[schemars(range(min = -1e12, max = 1e12))]
    pub to: Option<f64>,
}

/// A wish: the wanted range of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WishParams {
    /// The figure of the report of `shoal life`.
    pub figure: Figure,
    /// Smallest wanted value.
    #[serde(default)]
    #[schemars(range(min = -1e6, max = 1e6))]
    pub at_least: Option<f64>,
    /// Largest wanted value.
    #[serde(default)]
    #[schemars(range(min = -1e6, max = 1e6))]
    pub at_most: Option<f64>,
    /// Program of the visitors with which it is measured. Without it, the mean over all programs of the file.
    #[serde(default)]
    pub visitors: Option<VisitorProgram>,
    /// Species that is measured. Without it, the species that is tuned. Another one can be protected by this.
    #[serde(default)]
    pub species: Option<String>,
    /// Importance. A wish with 2 counts twice.
    #[serde(default = "importance")]
    #[schemars(range(min = 0.01, max = 100.0))]
    pub importance: f64,
}

fn importance() -> f64 {
    1.0
}

impl TuningFile {
    /// Parses a tuning file.
    ///
    /// # Errors
    /// All problems of the text with their positions.
    pub fn parse(text: &str, file: &str) -> Result<(Self, Spans), Problems> {
        config::parse(text, file)
    }
}
