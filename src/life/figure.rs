//! The figures of a report that can be named: one number for a species in one run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::company::COMPANY_WITHIN_SECS;
use super::program::VisitorProgram;
use super::report::{LifeReport, SpeciesLife};

/// A figure of a species in the report of a run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Median polarization: 1 if all agents have the same heading.
    Polarization,
    /// Median angle between the heading of an agent and the mean heading of its three nearest mates, in degrees.
    LocalHeadingDeg,
    /// Median distance to the nearest mate, in body lengths.
    MateBl,
    /// Median speed, in body lengths per second.
    SpeedBl,
    /// Mean speed, in m/s.
    SpeedMps,
    /// Median turn rate, in degrees per second.
    #[serde(rename = "turn_50_dps")]
    Turn50Dps,
    /// Turn rate that is exceeded in a tenth of the time, in degrees per second.
    #[serde(rename = "turn_90_dps")]
    Turn90Dps,
    /// Share of the ways of 2 s that are straight.
    StraightShare,
    /// Bursts per second.
    BurstsPerSec,
    /// Share of the time in which an agent becomes slower.
    SlowingShare,
    /// Changes of the turning side per second.
    FlipsPerSec,
    /// Variety of paths: 0 if each place is always crossed in the same direction, 1 if in all directions.
    PathVariety,
    /// How evenly the picture is used: 1 if the agents are everywhere equally often.
    Occupancy,
    /// Share of the time outside the picture.
    OutsideShare,
    /// Touches per agent and minute.
    TouchesPerMin,
    /// Share of the time in which an action lets an agent rest.
    RestsShare,
    /// Flights per agent and minute.
    FlightsPerMin,
    /// Median duration of a flight, in seconds.
    FlightSecs,
    /// Share of the flights that are shorter than 0.3 s.
    FlightShortShare,
    /// Median distance to the shadow at which an agent begins to flee, in meters.
    FlightBeginsM,
    /// Median time until a fleeing agent is faster than its cruise speed, in seconds.
    FlightStartSecs,
    /// Median distance between the places at which a flight from a visitor begins and ends, in meters.
    FlightWayM,
    /// Mean distance to the nearest shadow, in meters.
    VisitorM,
    /// Share of the time under a shadow.
    UnderShadowShare,
    /// Mean time until the first agent comes near a visitor who stands still, in seconds; 30 if none comes.
    CompanyWaitSecs,
    /// Mean share of the species near a visitor who has stood for a minute.
    CompanyShare,
    /// Largest share of the species near a visitor who has stood for a minute.
    CompanyMaxShare,
    /// Share of the time with less than 3 % of the species near a visitor who has stood for a minute.
    CompanyDesertedShare,
}

impl Figure {
    /// All figures.
    pub const ALL: [Self; 28] = [
        Self::Polarization,
        Self::LocalHeadingDeg,
        Self::MateBl,
        Self::SpeedBl,
        Self::SpeedMps,
        Self::Turn50Dps,
        Self::Turn90Dps,
        Self::StraightShare,
        Self::BurstsPerSec,
        Self::SlowingShare,
        Self::FlipsPerSec,
        Self::PathVariety,
        Self::Occupancy,
        Self::OutsideShare,
        Self::TouchesPerMin,
        Self::RestsShare,
        Self::FlightsPerMin,
        Self::FlightSecs,
        Self::FlightShortShare,
        Self::FlightBeginsM,
        Self::FlightStartSecs,
        Self::FlightWayM,
        Self::VisitorM,
        Self::UnderShadowShare,
        Self::CompanyWaitSecs,
        Self::CompanyShare,
        Self::CompanyMaxShare,
        Self::CompanyDesertedShare,
    ];

    /// Name of the figure in files.
    pub fn name(self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            _ => String::new(),
        }
    }

    /// Says which visitors the figure needs, if it has no value with the visitors of a program.
    pub fn lacks(self, program: VisitorProgram) -> Option<&'static str> {
        let stands = [
            Self::CompanyShare,
            Self::CompanyMaxShare,
            Self::CompanyDesertedShare,
        ];
        let visited = [
            Self::FlightBeginsM,
            Self::FlightStartSecs,
            Self::FlightWayM,
            Self::VisitorM,
            Self::UnderShadowShare,
            Self::CompanyWaitSecs,
        ];
        if stands.contains(&self) && program != VisitorProgram::Still {
            return Some(
                "it needs a visitor who stands for more than a minute: visitors = \"still\"",
            );
        }
        (visited.contains(&self) && program == VisitorProgram::None)
            .then_some("it needs visitors, for example visitors = \"walkers\"")
    }

    /// Returns the value for a species in a run, without its named individuals. `None` if there was nothing to measure.
    pub fn value(self, report: &LifeReport, species: &str) -> Option<f64> {
        let life = report.species.iter().find(|own| own.name == species)?;
        self.of(life).filter(|value| value.is_finite())
    }

    fn of(self, life: &SpeciesLife) -> Option<f64> {
        let (motion, flights) = (&life.motion, &life.flights);
        match self {
            Self::Polarization => motion.polarization,
            Self::LocalHeadingDeg => motion.local_heading_deg,
            Self::MateBl => motion.mate_bl,
            Self::SpeedBl => motion.speed_bl,
            Self::SpeedMps => Some(life.speed_mps.whole),
            Self::Turn50Dps => motion.turn_50_dps,
            Self::Turn90Dps => motion.turn_90_dps,
            Self::StraightShare => motion.straight_share,
            Self::BurstsPerSec => motion.bursts_per_sec,
            Self::SlowingShare => motion.slowing_share,
            Self::FlipsPerSec => motion.flips_per_sec,
            Self::PathVariety => life.path_variety,
            Self::Occupancy => Some(life.occupancy.whole),
            Self::OutsideShare => Some(life.outside_share),
            Self::TouchesPerMin => Some(life.touches_per_min.whole),
            Self::RestsShare => Some(life.rests_share),
            Self::FlightsPerMin => Some(flights.per_min),
            Self::FlightSecs => flights.secs,
            Self::FlightShortShare => flights.short_share,
            Self::FlightBeginsM => flights.begins_m,
            Self::FlightStartSecs => flights.start_secs,
            Self::FlightWayM => flights.way_m,
            Self::VisitorM => life.visitors.map(|visitors| visitors.mean_m),
            Self::UnderShadowShare => life.visitors.map(|visitors| visitors.under_share),
            Self::CompanyWaitSecs => {
                let waits = life.company_waits_secs.iter();
                let sum: f64 = waits.map(|wait| wait.min(COMPANY_WITHIN_SECS)).sum();
                let count = life.company_waits_secs.len();
                (count > 0).then(|| sum / count as f64)
            }
            Self::CompanyShare => life.company.map(|company| company.mean_share),
            Self::CompanyMaxShare => life.company.map(|company| company.max_share),
            Self::CompanyDesertedShare => life.company.map(|company| company.deserted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_name_of_its_own_and_says_which_visitors_it_needs() {
        let mut names: Vec<String> = Figure::ALL.iter().map(|figure| figure.name()).collect();
        assert!(names.contains(&"turn_90_dps".to_owned()), "{names:?}");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), Figure::ALL.len());
        let lacks = |figure: Figure| {
            VisitorProgram::ALL.map(|program| u8::from(figure.lacks(program).is_some()))
        };
        assert_eq!(lacks(Figure::Polarization), [0; 6]);
        assert_eq!(lacks(Figure::CompanyWaitSecs), [1, 0, 0, 0, 0, 0]);
        assert_eq!(lacks(Figure::CompanyShare), [1, 0, 1, 1, 1, 1]);
    }
}
