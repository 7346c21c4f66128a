//! The report of one run: numbers, and what is wrong with them in words.

use std::fmt;

use serde::Serialize;

use super::company::{COMPANY_WITHIN_SECS, COUNTS_AFTER_SECS, Company, NEAR_M};
use super::dwell::{STILL_M, STILL_SECS};
use super::flights::{Flights, SHORT_SECS};
use super::measures::Halves;
use super::motion::Motion;
use super::program::VisitorProgram;
use crate::world::WantedMotion;

/// Largest number of touches per agent and minute. With more, agents look as if they did not perceive each other.
pub(super) const MAX_TOUCHES_PER_MIN: f64 = 3.0;
/// Smallest number of agents of a species whose share near a visitor is judged: one of few agents is already a large share.
pub(super) const CROWD_COUNT: f64 = 10.0;
/// Largest share of flights that are so short that they look like trembling.
const MAX_SHORT_SHARE: f64 = 0.05;
/// Flights per agent and minute from which their duration is judged.
const JUDGED_FLIGHTS_PER_MIN: f64 = 1.0;
/// Longest time for which the same agent should stay near a visitor.
const LONGEST_STAY_SECS: f64 = 180.0;
/// Shortest run whose occupancy is judged: in a shorter run few agents cannot reach all cells.
const OCCUPANCY_SECS: f64 = 300.0;
/// Entropy below which an occupancy map is reported: the species uses about a tenth of the picture.
const SMALL_OCCUPANCY: f64 = 0.5;

/// Report of one run.
#[derive(Clone, Debug, Serialize)]
pub struct LifeReport {
    /// Name of the scene.
    pub scene: String,
    /// Program of the visitors; `None` if they came from a file.
    pub program: Option<VisitorProgram>,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated time.
    pub simulated_secs: f64,
    /// Each species, and each named individual.
    pub species: Vec<SpeciesLife>,
    /// Number of caught prey.
    pub catches: u64,
    /// Number of meals without a hunt.
    pub meals: u64,
    /// The rules of the director.
    pub rules: Vec<RuleLife>,
    /// For each visitor who was the one standing longest from the moment of stopping: time until the first agent came near that was not
    /// near already, in seconds; 0 if only agents that were near already stayed, infinite (`null` in JSON) if there was none in 30 s.
    pub company_waits_secs: Vec<f64>,
    /// Problems of this run, in words.
    pub problems: Vec<String>,
}

/// Life of one species, or of one named individual.
#[derive(Clone, Debug, Serialize)]
pub struct SpeciesLife {
    /// Name of the species; for a named individual, its name and species.
    pub name: String,
    /// Name of the species.
    pub species: String,
    /// Mean number of agents.
    pub count: f64,
    /// Time in each need, the longest first.
    pub needs: Vec<NeedLife>,
    /// Time and executions of each action, the longest first.
    pub actions: Vec<ActionLife>,
    /// Agents that stay in one place.
    pub stillness: Stillness,
    /// Touches per agent and minute.
    pub touches_per_min: Halves,
    /// Mean speed.
    pub speed_mps: Halves,
    /// Entropy of the positions in the picture, as a share of the largest possible entropy.
    pub occupancy: Halves,
    /// Share of the time outside the picture.
    pub outside_share: f64,
    /// Variety of paths: 0 if each place is always crossed in the same direction, 1 if in all directions equally often.
    pub path_variety: Option<f64>,
    /// Share of the time in which an action lets it rest.
    pub rests_share: f64,
    /// Share of that time in which it hardly moves; `None` if it never rests. The rest of that time it swims to its place, sinks, or other
    /// agents push it.
    pub rests_still_share: Option<f64>,
    /// Number of flights between terraces.
    pub leaps: u64,
    /// Distance to the nearest visitor, while there are visitors.
    pub visitors: Option<VisitorDistance>,
    /// Company of a visitor who stands still.
    pub company: Option<Company>,
    /// The same as in the report of the run, for the agents of this species alone.
    pub company_waits_secs: Vec<f64>,
    /// Whether an action of the species leads it to visitors.
    pub approaches_visitors: bool,
    /// How it swims.
    pub motion: Motion,
    /// The limits of its motion without visitors, from the species file.
    #[serde(skip)]
    pub wanted: WantedMotion,
    /// Its flights.
    pub flights: Flights,
    /// Number of times that an agent left the picture with its whole body, per minute; all agents together.
    pub left_per_min: f64,
    /// Number of times that an agent came back into the picture, per minute; all agents together.
    pub returned_per_min: f64,
}

/// Share of the time for which a need was active.
#[derive(Clone, Debug, Serialize)]
pub struct NeedLife {
    /// Name of the need.
    pub name: String,
    /// Share of the agents' time.
    pub share: Halves,
}

/// Share of the time for which an action was executed, and how often it began.
#[derive(Clone, Debug, Serialize)]
pub struct ActionLife {
    /// Name of the action.
    pub name: String,
    /// Share of the agents' time.
    pub share: Halves,
    /// Number of times that an agent began to execute the action.
    pub executions: u64,
    /// Whether the action can be executed at all: its weight is greater than 0 or the director can raise it, and the species has
    /// the relation that it acts on.
    pub is_on: bool,
}

/// Agents that stay within 10 cm (root mean square) for 30 s, although no action lets them rest.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stillness {
    /// Share of the agents' time.
    pub share: f64,
    /// Number of times that an agent became still.
    pub episodes: u64,
    /// Longest duration.
    pub longest_secs: f64,
    /// Id of the agent that was still longest.
    pub longest_agent: u32,
    /// Position of this agent.
    pub longest_at_m: [f32; 3],
    /// Active need of this agent.
    pub longest_need: String,
    /// Actions of this agent.
    pub longest_actions: Vec<String>,
}

/// Distance of a species to the nearest visitor, while there are visitors.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct VisitorDistance {
    /// Mean distance from the edge of the shadow; 0 under the shadow.
    pub mean_m: f64,
    /// Smallest distance; negative under the shadow.
    pub nearest_m: f64,
    /// Share of the agents' time under a shadow.
    pub under_share: f64,
}

/// What one rule of the director did.
#[derive(Clone, Debug, Serialize)]
pub struct RuleLife {
    /// Name of the rule.
    pub name: String,
    /// Whether only a command starts the rule.
    pub by_hand: bool,
    /// Number of times that the rule began.
    pub begins: u64,
    /// Times at which it began, since the pool was created; the first 20.
    pub begins_at_secs: Vec<f64>,
    /// Time for which its effect was active.
    pub on_secs: f64,
}

impl RuleLife {
    /// Largest number of beginnings whose times are kept.
    pub(super) const TIMES_MAX: usize = 20;
    /// Largest number of beginnings that the text names.
    const NAMED_MAX: usize = 5;

    /// Returns the times at which the rule began, as text.
    fn beginnings(&self) -> String {
        let named = self.begins_at_secs.iter().take(Self::NAMED_MAX);
        let named: Vec<String> = named.map(|secs| format!("{secs:.1}")).collect();
        let more = if self.begins as usize > named.len() {
            " …"
        } else {
            ""
        };
        format!("began at {} s{more}", named.join(", "))
    }
}

impl LifeReport {
    /// Scene, program and seed, to name the run in a message.
    pub fn run(&self) -> String {
        let program = self
            .program
            .map_or("recorded visitors", VisitorProgram::name);
        format!("{}, {program}, seed {}", self.scene, self.seed)
    }

    /// Returns what is wrong with this run, in words.
    pub(super) fn find_problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        for species in &self.species {
            species.find_problems(self.simulated_secs, &mut found);
        }
        let joins = |species: &SpeciesLife| species.approaches_visitors;
        if self.species.iter().any(joins) {
            let alone = self
                .company_waits_secs
                .iter()
                .filter(|wait| wait.is_infinite());
            let alone = alone.count();
            if alone > 0 {
                found.push(format!(
                    "{alone} of {} still visitors had no fish within {NEAR_M} m in their first {COMPANY_WITHIN_SECS} s",
                    self.company_waits_secs.len()
                ));
            }
            let judged = self.species.iter().filter(|s| joins(s));
            let judged = judged.filter_map(|s| s.company.map(|c| (s, c)));
            let best = judged.min_by(|(_, a), (_, b)| a.deserted.total_cmp(&b.deserted));
            if let Some((species, company)) = best
                && company.deserted > 0.0
            {
                found.push(format!(
                    "a visitor who had stood for {COUNTS_AFTER_SECS} s was alone too often: no species always had {:.0} % of \
                     its agents near; the best, {}, had fewer for {:.0} % of the time",
                    Company::MIN_SHARE * 100.0,
                    species.name,
                    company.deserted * 100.0
                ));
            }
        }
        found
    }
}

impl SpeciesLife {
    /// Whether the species has enough agents for its share near a visitor to mean something.
    pub(super) fn is_judged_as_crowd(&self) -> bool {
        self.count >= CROWD_COUNT
    }

    fn find_problems(&self, simulated_secs: f64, found: &mut Vec<String>) {
        let name = &self.name;
        let still = &self.stillness;
        if still.episodes > 0 {
            let [x, y, z] = still.longest_at_m;
            found.push(format!(
                "{name}: {} times an agent stayed within {STILL_M} m for {STILL_SECS} s without an action that rests; \
                 longest {:.0} s (agent {} at {x:.2}, {y:.2}, {z:.2}, need \"{}\", actions {}); if it is meant to rest, give \
                 it the action rest",
                still.episodes,
                still.longest_secs,
                still.longest_agent,
                still.longest_need,
                still.longest_actions.join(" + ")
            ));
        }
        self.find_motion_problems(found);
        let touches = self.touches_per_min.whole;
        if touches > MAX_TOUCHES_PER_MIN {
            found.push(format!(
                "{name}: {touches:.1} touches per agent and minute, more than {MAX_TOUCHES_PER_MIN}; it does not avoid \
                 other agents, or too weakly or too late"
            ));
        }
        // An animal that lies for most of the time is not everywhere.
        let is_small = self.occupancy.whole < SMALL_OCCUPANCY && self.rests_share < 0.5;
        if is_small && self.count >= 0.5 && simulated_secs >= OCCUPANCY_SECS {
            found.push(format!(
                "{name}: uses only a small part of the picture (entropy {:.2} of 1, {:.0} % of the time outside)",
                self.occupancy.whole,
                self.outside_share * 100.0
            ));
        }
        let Some(company) = self.company else {
            return;
        };
        if self.is_judged_as_crowd() && company.crowded > 0.0 {
            found.push(format!(
                "{name}: up to {:.0} % of the species near one still visitor, more than {:.0} % for {:.0} % of the time (at the same \
                 place without a visitor: {:.0} %)",
                company.max_share * 100.0,
                Company::MAX_SHARE * 100.0,
                company.crowded * 100.0,
                company.crowded_by_chance * 100.0
            ));
        }
        if company.longest_stay_secs > LONGEST_STAY_SECS {
            found.push(format!(
                "{name}: the company of a still visitor does not change: one agent stayed for {:.0} s, longer than {LONGEST_STAY_SECS} s",
                company.longest_stay_secs
            ));
        }
    }
}

impl SpeciesLife {
    /// Compares the motion with the limits of the species. With visitors only trembling is judged: a flight may be wild. The same is
    /// true for fish that tour terraces: on a planned route they swim steadily and one by one.
    fn find_motion_problems(&self, found: &mut Vec<String>) {
        let name = &self.name;
        let flights = &self.flights;
        let short = flights.short_share.unwrap_or(0.0);
        if short > MAX_SHORT_SHARE && flights.per_min >= JUDGED_FLIGHTS_PER_MIN {
            found.push(format!(
                "{name}: {:.0} % of its flights are shorter than {SHORT_SECS} s, more than {:.0} %; it trembles: raise minimum_secs of \
                 the need that flees",
                short * 100.0,
                MAX_SHORT_SHARE * 100.0
            ));
        }
        if self.visitors.is_some() || self.leaps > 0 {
            return;
        }
        let (is, wanted) = (&self.motion, &self.wanted);
        let most = [
            (
                "turns at",
                is.turn_90_dps,
                wanted.turn_90_dps_max,
                "degrees per second in a tenth of the time",
            ),
            (
                "changes its side",
                is.flips_per_sec,
                wanted.flips_per_sec_max,
                "times per second",
            ),
            (
                "differs by",
                is.local_heading_deg,
                wanted.local_heading_deg_max,
                "degrees from the heading of its nearest mates",
            ),
        ];
        for (verb, value, limit, unit) in most {
            if let (Some(value), Some(limit)) = (value, limit.map(f64::from))
                && value > limit
            {
                found.push(format!(
                    "{name}: {verb} {value:.2} {unit}, more than {limit:.2}"
                ));
            }
        }
        let least = [
            (
                "straight ways are",
                is.straight_share,
                wanted.straight_share_min,
                "of all",
            ),
            (
                "has",
                is.bursts_per_sec,
                wanted.bursts_per_sec_min,
                "bursts per second",
            ),
            (
                "becomes slower",
                is.slowing_share,
                wanted.slowing_share_min,
                "of the time",
            ),
            (
                "polarization is",
                is.polarization,
                wanted.polarization_min,
                "in its school",
            ),
        ];
        for (verb, value, limit, unit) in least {
            if let (Some(value), Some(limit)) = (value, limit.map(f64::from))
                && value < limit
            {
                found.push(format!(
                    "{name}: {verb} {value:.2} {unit}, less than {limit:.2}"
                ));
            }
        }
    }
}

impl fmt::Display for LifeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "life: {}, {:.0} s simulated",
            self.run(),
            self.simulated_secs
        )?;
        for species in &self.species {
            write!(f, "{species}")?;
        }
        writeln!(f, "  catches {}, meals {}", self.catches, self.meals)?;
        for rule in &self.rules {
            let state = match (rule.begins, rule.by_hand) {
                (0, true) => "not started (by hand only)".to_owned(),
                (0, false) => "never".to_owned(),
                (n, _) => format!("{n} times, {:.0} s; {}", rule.on_secs, rule.beginnings()),
            };
            writeln!(f, "  rule \"{}\": {state}", rule.name)?;
        }
        if self.problems.is_empty() {
            writeln!(f, "  no problems")?;
        }
        for problem in &self.problems {
            writeln!(f, "  problem: {problem}")?;
        }
        Ok(())
    }
}

impl SpeciesLife {
    fn write_motion(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let (motion, flights) = (&self.motion, &self.flights);
        writeln!(
            f,
            "    motion: {} body lengths/s; turns {} | {} degrees/s (half | tenth of the time); straight {}; bursts {}/s; slowing {}; \
             changes of side {}/s; variety of paths {}; nearest mate {} body lengths, heading {} degrees off; polarization {}",
            text(motion.speed_bl, 2),
            text(motion.turn_50_dps, 0),
            text(motion.turn_90_dps, 0),
            text(motion.straight_share, 2),
            text(motion.bursts_per_sec, 2),
            text(motion.slowing_share, 2),
            text(motion.flips_per_sec, 2),
            text(self.path_variety, 2),
            text(motion.mate_bl, 2),
            text(motion.local_heading_deg, 0),
            text(motion.polarization, 2)
        )?;
        writeln!(
            f,
            "    flights {:.1} per agent and minute, {} s each, {} % shorter than {SHORT_SECS} s; from a visitor: begin at {} m, fast after \
             {} s (a tenth after {} s), {} m far; leaves the picture {:.1} and comes back {:.1} times a minute",
            flights.per_min,
            text(flights.secs, 2),
            text(flights.short_share.map(|share| share * 100.0), 0),
            text(flights.begins_m, 2),
            text(flights.start_secs, 2),
            text(flights.start_90_secs, 2),
            text(flights.way_m, 2),
            self.left_per_min,
            self.returned_per_min
        )
    }
}

impl fmt::Display for SpeciesLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| share * 100.0;
        let halves = |v: Halves, digits: usize| {
            format!(
                "{:.digits$} ({:.digits$} | {:.digits$})",
                v.whole, v.first, v.second
            )
        };
        let in_percent = |v: Halves| {
            let times = |v: f64| v * 100.0;
            let v = Halves {
                whole: times(v.whole),
                first: times(v.first),
                second: times(v.second),
            };
            format!("{} %", halves(v, 1))
        };
        writeln!(
            f,
            "  {} (mean {:.1} agents), whole run (first half | second half):",
            self.name, self.count
        )?;
        for need in &self.needs {
            writeln!(f, "    need   {:<22} {}", need.name, in_percent(need.share))?;
        }
        for action in self.actions.iter().filter(|action| action.executions > 0) {
            writeln!(
                f,
                "    action {:<22} {}, {} executions",
                action.name,
                in_percent(action.share),
                action.executions
            )?;
        }
        let never = self.actions.iter().filter(|action| action.executions == 0);
        let never: Vec<String> = never
            .map(|action| match action.is_on {
                true => action.name.clone(),
                false => format!("{} (switched off)", action.name),
            })
            .collect();
        if !never.is_empty() {
            writeln!(f, "    never executed: {}", never.join(", "))?;
        }
        writeln!(
            f,
            "    speed {} m/s; touches {} per agent and minute; occupancy {}; outside {:.1} %; leaps {}",
            halves(self.speed_mps, 2),
            halves(self.touches_per_min, 1),
            halves(self.occupancy, 2),
            percent(self.outside_share),
            self.leaps
        )?;
        self.write_motion(f)?;
        let still = &self.stillness;
        writeln!(
            f,
            "    an action lets it rest {:.1} % of the time, and it lies still in {} of that; still without rest {:.1} %, {} times, longest {:.0} s",
            percent(self.rests_share),
            (self.rests_still_share)
                .map_or("–".to_owned(), |share| format!("{:.1} %", percent(share))),
            percent(still.share),
            still.episodes,
            still.longest_secs
        )?;
        if let Some(visitors) = &self.visitors {
            writeln!(
                f,
                "    visitors: mean distance {:.2} m, nearest {:.2} m, {:.1} % of the time under a shadow",
                visitors.mean_m,
                visitors.nearest_m,
                percent(visitors.under_share)
            )?;
        }
        if let Some(company) = &self.company {
            writeln!(
                f,
                "    near the still visitor: {:.0} % of the species on average, {:.0} to {:.0} %, more than {:.0} % for {:.0} % of the \
                 time; {} different agents, longest stay {:.0} s; there without a visitor: {:.0} % on average, more than {:.0} % \
                 for {:.0} % of the time",
                percent(company.mean_share),
                percent(company.min_share),
                percent(company.max_share),
                percent(Company::MAX_SHARE),
                percent(company.crowded),
                company.members,
                company.longest_stay_secs,
                percent(company.mean_share_by_chance),
                percent(Company::MAX_SHARE),
                percent(company.crowded_by_chance)
            )?;
        }
        Ok(())
    }
}
