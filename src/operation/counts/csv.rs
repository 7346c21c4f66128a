//! Writes counts as a table for spreadsheets.

use std::io::{self, Write};

use super::counter::DWELL_LIMITS_SECS;
use super::store::{CellTotal, CountInterval};

/// How the table is written.
pub struct CsvOptions<'a> {
    /// A number of visitors below this one is shown as `<5` (with this number).
    pub hide_below: u32,
    /// Returns a time as local time.
    pub local_time: &'a dyn Fn(i64) -> String,
}

/// Writes one line per interval.
///
/// # Errors
/// When the output cannot be written.
pub fn write_counts_csv(
    out: &mut dyn Write,
    intervals: &[CountInterval],
    options: &CsvOptions<'_>,
) -> io::Result<()> {
    write!(
        out,
        "start,arrivals,departures,mean_stay_secs,most_at_once,visitor_minutes"
    )?;
    let mut from = 0;
    for limit in DWELL_LIMITS_SECS {
        write!(out, ",stay_{from}_to_{limit}_secs")?;
        from = limit;
    }
    writeln!(out, ",stay_from_{from}_secs")?;
    for interval in intervals {
        let sums = &interval.sums;
        let start = (options.local_time)(interval.start_unix_secs);
        if sums.is_hidden(options.hide_below) {
            let few = format!("<{}", options.hide_below);
            let empty = ",".repeat(DWELL_LIMITS_SECS.len() + 3);
            writeln!(out, "{start},{few},{few}{empty},")?;
            continue;
        }
        let mean = sums.mean_dwell_secs();
        let mean = mean.map_or_else(String::new, |secs| format!("{secs:.1}"));
        write!(
            out,
            "{start},{},{},{mean},{},{:.1}",
            sums.arrivals,
            sums.departures,
            sums.peak,
            sums.visitor_secs / 60.0
        )?;
        for count in sums.dwell {
            write!(out, ",{count}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

impl CellTotal {
    /// Writes one line per cell: its corner next to the origin of the floor, and the time in it.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn write_csv(cells: &[Self], out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "x_m,z_m,secs")?;
        for cell in cells {
            let [x, z] = [cell.x_dm, cell.z_dm].map(|dm| f64::from(dm) / 10.0);
            writeln!(out, "{x:.1},{z:.1},{:.1}", cell.secs)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::counter::CountSums;
    use super::*;

    #[test]
    fn few_visitors_are_hidden_if_the_site_asks_for_it() {
        let interval = |start: i64, arrivals| CountInterval {
            start_unix_secs: start,
            sums: CountSums {
                arrivals,
                departures: 2,
                dwell_secs: 50.0,
                dwell: [1, 0, 0, 1, 0, 0, 0, 0, 0],
                peak: 2,
                visitor_secs: 90.0,
                ..CountSums::default()
            },
        };
        let table = |hide_below| {
            let mut out = Vec::new();
            let intervals = [interval(900, 7), interval(1800, 3)];
            let options = CsvOptions {
                hide_below,
                local_time: &|start| format!("t{start}"),
            };
            write_counts_csv(&mut out, &intervals, &options).unwrap();
            String::from_utf8(out).unwrap()
        };
        let lines: Vec<String> = table(5).lines().map(str::to_owned).collect();
        assert_eq!(lines[1], "t900,7,2,25.0,2,1.5,1,0,0,1,0,0,0,0,0");
        assert_eq!(lines[2], "t1800,<5,<5,,,,,,,,,,,,");
        let columns = |line: &String| line.matches(',').count();
        assert!(lines.iter().all(|line| columns(line) == columns(&lines[0])));
        assert!(table(0).contains("t1800,3,2,25.0"));
    }
}
