//! Judges the life in a pool: visitors that follow a program, staff who start rules, measurements of a run, and problems in words. Does not read a
//! clock.
//!
//! In: a simulation after each tick. Out: visitors and started rules for the next tick; a report of the run; a survey of many runs. Must not:
//! change the pool.

mod company;
mod contacts;
mod dwell;
mod figure;
mod flights;
mod histogram;
mod measures;
mod motion;
mod program;
mod recorder;
mod report;
mod staff;
mod survey;
mod variety;

pub use company::Company;
pub use figure::Figure;
pub use flights::Flights;
pub use measures::Halves;
pub use motion::Motion;
pub use program::{VisitorProgram, VisitorScript};
pub use recorder::{LifeRecorder, RunName};
pub use report::{ActionLife, LifeReport, NeedLife, RuleLife, SpeciesLife, Stillness};
pub use staff::StaffScript;
pub use survey::Survey;
