//! `shoal schedule`: prints what the installation shows on the next days.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use jiff::civil::Date;

use crate::config::visible;
use crate::control::{PlanSource, PreviewDay};
use crate::operation::SchedulePlan;
use crate::runtime::{now, parse_date, text_output};
use crate::site;

/// `shoal schedule`.
#[derive(Debug, Args)]
pub(in crate::app) struct ScheduleArguments {
    /// Site file; default: the built-in demo site
    #[arg(value_name = "SITE.toml")]
    site: Option<PathBuf>,
    /// Number of days
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = clap::value_parser!(u16).range(1..=400))]
    days: u16,
    /// First day, such as 2026-12-24; default: today
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    from: Option<Date>,
    /// Print the days as one JSON array
    #[arg(long)]
    json: bool,
}

pub(in crate::app) fn schedule(arguments: &ScheduleArguments) -> anyhow::Result<ExitCode> {
    let site = site::load(arguments.site.as_deref(), None)?;
    let compiled = SchedulePlan::compile(&site.file.schedule);
    // `load` has checked the table.
    let plan = compiled.map_err(|problems| anyhow::anyhow!("schedule: {problems:?}"))?;
    let from = match arguments.from {
        Some(date) => plan.noon_of(date).context("--from is too far away")?,
        None => now(),
    };
    let days = plan.preview(from, arguments.days);
    let mut out = text_output();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&days)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !plan.is_planned() {
        writeln!(
            out,
            "No hours are planned: the pool is open around the clock."
        )?;
    }
    writeln!(out, "Time zone {}", plan.zone_name())?;
    for day in &days {
        writeln!(out, "{}", visible(&line(day)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a day as a line: date, hours with their states, and why.
fn line(day: &PreviewDay) -> String {
    let clock = |time: &str| time.get(11..16).unwrap_or_default().to_owned();
    let periods = day.periods.iter().map(|period| {
        let scene = period
            .scene
            .as_ref()
            .map_or(String::new(), |s| format!(" ({s})"));
        let to = match period.to.get(..10) == period.from.get(..10) {
            true => clock(&period.to),
            false => "24:00".to_owned(),
        };
        format!(
            "{}-{to} {}{scene}",
            clock(&period.from),
            period.state.name()
        )
    });
    let weekday = day.weekday.get(..3).unwrap_or_default();
    let mut line = format!(
        "{weekday} {}  {}",
        day.date,
        periods.collect::<Vec<_>>().join(", ")
    );
    if !matches!(day.source, PlanSource::Weekly | PlanSource::None) {
        line.push_str(&format!("  [{}", day.source.name()));
        if !day.name.is_empty() {
            line.push_str(&format!(": {}", day.name));
        }
        line.push(']');
    }
    let rules = day.rules.iter().filter(|rule| rule.is_lit);
    for rule in rules {
        line.push_str(&format!("  {} {:?}", clock(&rule.at), rule.rule));
    }
    if !day.note.is_empty() {
        line.push_str(&format!("  [{}]", day.note));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::ScheduleParams;

    #[test]
    fn a_day_is_a_line_with_hours_and_reason() {
        let params: ScheduleParams = toml::from_str(
            "time_zone = \"Europe/Berlin\"\n[[weekly]]\ndays = [\"sunday\"]\n\
             hours = [{ from = \"10:00\", to = \"18:00\", scene = \"reef\" }]\n\
             [[dates]]\ndate = \"2026-03-30\"\nname = \"Long night\"\nhours = [{ from = \"18:00\", to = \"02:00\" }]\n\
             [[events]]\nrule = \"feeding time\"\nat = [\"16:00\", \"23:00\"]\n",
        )
        .unwrap();
        let plan = SchedulePlan::compile(&params).unwrap();
        let days = plan.preview(plan.noon_of("2026-03-29".parse().unwrap()).unwrap(), 2);
        assert_eq!(
            line(&days[0]),
            "sun 2026-03-29  00:00-10:00 closed, 10:00-18:00 open (reef), 18:00-24:00 closed  16:00 \"feeding time\"  [the clocks change; this day has 23 hours]"
        );
        assert_eq!(
            line(&days[1]),
            "mon 2026-03-30  00:00-18:00 closed, 18:00-24:00 open  [date: Long night]  23:00 \"feeding time\""
        );
    }
}
