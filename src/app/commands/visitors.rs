//! `shoal visitors`: prints the counts of visitors.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use crate::operation::{
    CellTotal, CountStore, CountSums, CsvOptions, group_intervals, write_counts_csv,
};
use crate::records::counts_file;
use crate::runtime::{now, parse_date, text_output};
use crate::site;

/// `shoal visitors`.
#[derive(Debug, Args)]
pub(in crate::app) struct VisitorsArguments {
    /// Site file; default: the built-in demo site
    #[arg(value_name = "SITE.toml")]
    site: Option<PathBuf>,
    /// File with the counts; default: the file of the site
    #[arg(long, value_name = "FILE.sqlite")]
    file: Option<PathBuf>,
    /// First day, such as 2026-12-24; default: 7 days ago
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    from: Option<Date>,
    /// Last day; default: today
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    to: Option<Date>,
    /// Print every quarter of an hour as CSV
    #[arg(long)]
    csv: bool,
    /// Print the occupancy map as CSV: seconds in each cell of 10 cm
    #[arg(long, conflicts_with = "csv")]
    map: bool,
}

pub(in crate::app) fn visitors(arguments: &VisitorsArguments) -> anyhow::Result<ExitCode> {
    let site = site::load(arguments.site.as_deref(), None)?;
    let path = match &arguments.file {
        Some(file) => file.clone(),
        None => counts_file(&site),
    };
    if !path.exists() {
        bail!(
            "{}: nothing was counted yet; set counting.on = true in the site file, or name another file with --file",
            path.display()
        );
    }
    let zone = match site.file.schedule.time_zone.as_str() {
        "" => TimeZone::system(),
        name => TimeZone::get(name)?,
    };
    let today = zone.to_datetime(now()).date();
    let from = arguments.from.unwrap_or(today.saturating_sub(7.days()));
    let to = arguments.to.unwrap_or(today);
    let midnight = |date: Date| -> anyhow::Result<i64> {
        let begin = date.to_zoned_datetime(zone.clone());
        Ok(begin
            .context("the date is too far away")?
            .timestamp()
            .as_second())
    };
    let (begin, end) = (midnight(from)?, midnight(to.saturating_add(1.day()))?);
    let store = CountStore::open_to_read(&path)?;
    let mut out = text_output();
    if arguments.map {
        CellTotal::write_csv(&store.cells(begin, end)?, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let intervals = store.intervals(begin, end)?;
    let hide_below = site.file.counting.hide_below;
    let local = |unix_secs: i64| {
        let time = Timestamp::from_second(unix_secs).unwrap_or(Timestamp::MIN);
        let local = time.to_zoned_datetime(zone.clone());
        local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    };
    if arguments.csv {
        let options = CsvOptions {
            hide_below,
            local_time: &local,
        };
        write_counts_csv(&mut out, &intervals, &options)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "day         arrivals  mean stay  most at once")?;
    let day = |start: i64| -> String { local(start).chars().take(10).collect() };
    for interval in group_intervals(&intervals, day) {
        let line = day_line(&interval.sums, hide_below);
        writeln!(out, "{}  {line}", day(interval.start_unix_secs))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn day_line(sums: &CountSums, hide_below: u32) -> String {
    if sums.is_hidden(hide_below) {
        return format!("{:>8}", format!("<{hide_below}"));
    }
    let mean = sums.mean_dwell_secs();
    let mean = mean.map_or_else(|| "-".to_owned(), |secs| format!("{secs:.0} s"));
    format!("{:>8}  {mean:>9}  {:>12}", sums.arrivals, sums.peak)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::CountInterval;

    #[test]
    fn a_day_is_a_line_and_few_visitors_are_hidden() {
        let interval = |hour: i64, arrivals| CountInterval {
            start_unix_secs: hour * 3600,
            sums: CountSums {
                arrivals,
                departures: arrivals,
                dwell_secs: f64::from(arrivals) * 40.0,
                peak: arrivals,
                ..CountSums::default()
            },
        };
        let intervals = [interval(10, 3), interval(11, 5), interval(30, 2)];
        let days = group_intervals(&intervals, |secs| secs / 86_400);
        assert_eq!(days.len(), 2);
        assert_eq!(
            day_line(&days[0].sums, 5),
            "       8       40 s             5"
        );
        assert_eq!(day_line(&days[1].sums, 5), "      <5");
    }
}
