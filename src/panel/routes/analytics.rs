//! `GET /api/v1/analytics`: the counts of visitors, for charts and spreadsheets.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::links::VisitorCounts;
use super::super::state::Panel;
use crate::operation::{
    CountInterval, CountStore, CsvOptions, DWELL_LIMITS_SECS, group_intervals, write_counts_csv,
};
use crate::runtime::now;

/// Time before `to` that is shown if `from` is absent: a week, in seconds.
const DEFAULT_SECS: i64 = 7 * 86_400;
/// Largest number of intervals in an answer: some 2 MB. A year by hour has 8784, four years by day 1461.
const ROWS_MAX: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalyticsQuery {
    /// Begin: a date (its midnight at the pool) or a time with its offset.
    #[serde(default)]
    from: Option<String>,
    /// End, which does not belong to it; default: now.
    #[serde(default)]
    to: Option<String>,
    #[serde(default)]
    by: By,
    #[serde(default)]
    format: Format,
}

/// Length of the intervals.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum By {
    #[default]
    Quarter,
    Hour,
    Day,
}

impl By {
    /// Number of characters of a local time that all quarters of an interval share.
    fn shared_chars(self) -> usize {
        match self {
            Self::Quarter => 16,
            Self::Hour => 13,
            Self::Day => 10,
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Format {
    #[default]
    Json,
    Csv,
}

/// `GET /api/v1/analytics`.
pub(super) async fn analytics(
    State(panel): State<Arc<Panel>>,
    query: Result<Query<AnalyticsQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::bad_request(error.body_text()))?;
    let counts = panel.links.counts.clone().ok_or_else(|| {
        ApiError::new(
            axum::http::StatusCode::CONFLICT,
            "not_counted",
            "visitors are not counted; set counting.on = true in the site file, and restart Shoal",
        )
    })?;
    let name = panel.links.client.status().schedule.time_zone.clone();
    let zone = TimeZone::get(&name).unwrap_or_else(|_| TimeZone::system());
    let to = match query.to.as_deref() {
        Some(text) => time_of(text, &zone)?,
        None => now().as_second(),
    };
    let from = match query.from.as_deref() {
        Some(text) => time_of(text, &zone)?,
        None => to.saturating_sub(DEFAULT_SECS),
    };
    let answer = move |_: &Panel| {
        let rows = read(&counts, (from, to), query.by, &zone)?;
        match query.format {
            Format::Json => Ok(Json(describe(&rows, &counts, &zone)).into_response()),
            Format::Csv => csv(&rows, &counts, &zone),
        }
    };
    panel
        .run_blocking("the counts cannot be read", answer)
        .await
}

/// Reads a date or a time.
fn time_of(text: &str, zone: &TimeZone) -> Result<i64, ApiError> {
    let begin = |date: Date| date.to_zoned_datetime(zone.clone()).ok();
    let time = match text.parse::<Timestamp>() {
        Ok(time) => Some(time),
        Err(_) => text
            .parse::<Date>()
            .ok()
            .and_then(begin)
            .map(|zoned| zoned.timestamp()),
    };
    time.map(Timestamp::as_second).ok_or_else(|| {
        let shown: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
        ApiError::bad_request(format!(
            "\"{shown}\" is no time; give a date such as 2026-12-24, or a time such as 2026-12-24T09:00:00Z"
        ))
    })
}

/// Returns a time at the pool, with its offset.
fn local_time(zone: &TimeZone, unix_secs: i64) -> String {
    let time = Timestamp::from_second(unix_secs).unwrap_or(Timestamp::MIN);
    let local = time.to_zoned_datetime(zone.clone());
    local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn read(
    counts: &VisitorCounts,
    (from, to): (i64, i64),
    by: By,
    zone: &TimeZone,
) -> Result<Vec<CountInterval>, ApiError> {
    if !counts.file.exists() {
        return Ok(Vec::new());
    }
    let read = || CountStore::open_to_read(&counts.file)?.intervals(from, to);
    let quarters = read().map_err(|error| ApiError::unavailable(error.to_string()))?;
    // The offset tells the two equal hours apart in the night in which clocks go back.
    let key = |start: i64| -> (String, String) {
        let local = local_time(zone, start);
        let shared = local.chars().take(by.shared_chars()).collect();
        let offset = match by {
            By::Day => String::new(),
            By::Quarter | By::Hour => local.chars().skip(19).collect(),
        };
        (shared, offset)
    };
    let rows = group_intervals(&quarters, key);
    if rows.len() > ROWS_MAX {
        return Err(ApiError::bad_request(format!(
            "these are {} intervals, at most {ROWS_MAX} are answered; choose a shorter time, or by=hour or by=day",
            rows.len()
        )));
    }
    Ok(rows)
}

fn describe(rows: &[CountInterval], counts: &VisitorCounts, zone: &TimeZone) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            let from = local_time(zone, row.start_unix_secs);
            let sums = &row.sums;
            if sums.is_hidden(counts.hide_below) {
                return json!({"from": from, "is_hidden": true});
            }
            json!({
                "from": from, "is_hidden": false, "arrivals": sums.arrivals, "departures": sums.departures,
                "mean_stay_secs": sums.mean_dwell_secs(), "most_at_once": sums.peak,
                "visitor_secs": sums.visitor_secs, "stays": sums.dwell,
            })
        })
        .collect();
    json!({
        "time_zone": zone.iana_name(), "hide_below": counts.hide_below, "stay_limits_secs": DWELL_LIMITS_SECS,
        "intervals": rows,
    })
}

fn csv(
    rows: &[CountInterval],
    counts: &VisitorCounts,
    zone: &TimeZone,
) -> Result<Response, ApiError> {
    let mut text = Vec::new();
    let options = CsvOptions {
        hide_below: counts.hide_below,
        local_time: &|unix_secs| local_time(zone, unix_secs),
    };
    write_counts_csv(&mut text, rows, &options)
        .map_err(|_| ApiError::unavailable("the table cannot be written"))?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"visitors.csv\"",
        ),
    ];
    Ok((headers, text).into_response())
}
