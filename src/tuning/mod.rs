//! Searches numbers of a species with which the life in a scene is as a designer wishes: tuning files, genes, wishes, the search and
//! the comparison with the present numbers.
//!
//! In: a tuning file, an editor of the site, reports of simulated lives. Out: candidates to simulate, and a verdict. Must not: run a
//! simulation, start a thread, read a clock, change a file.

mod comparison;
mod difference;
mod evolution;
mod file;
mod gene;
mod task;
mod wish;

pub use comparison::{Comparison, Verdict};
pub use difference::unified;
pub use evolution::Evolution;
pub use file::{GeneParams, TuningFile, WishParams};
pub use gene::Gene;
pub use task::Task;
pub use wish::Wish;
