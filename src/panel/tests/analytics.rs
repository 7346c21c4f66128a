//! The counts of visitors, and the devices of the machine.

use shoal_testing::assert_message;
use std::collections::BTreeMap;

use super::*;
use crate::control::ScheduleStatus;
use crate::operation::{CountStore, CountSums};

/// Arrivals and departures of a quarter, each with a stay of 40 s.
fn quarter(arrivals: u32) -> CountSums {
    let mut dwell = [0; 9];
    dwell[3] = arrivals;
    CountSums {
        arrivals,
        departures: arrivals,
        dwell_secs: f64::from(arrivals) * 40.0,
        dwell,
        peak: 2,
        visitor_secs: 60.0,
        ..CountSums::default()
    }
}

/// A server whose pool is in Berlin, with the visitors of two days.
fn server_with_counts() -> (TestServer, Client) {
    let server = TestServer::start();
    let admin = server.admin();
    let mut pending = BTreeMap::new();
    // 2026-03-28 23:00 UTC is midnight in Berlin; the clocks go forward two hours later.
    let midnight = 1_774_738_800;
    for (quarter_number, arrivals) in [(0, 3), (1, 4), (40, 9), (95, 2)] {
        pending.insert(midnight + quarter_number * 900, quarter(arrivals));
    }
    let mut store = CountStore::open(&server.folder.path().join("visitors.sqlite")).unwrap();
    store.add(&pending).unwrap();
    server.board.publish(Status {
        schedule: ScheduleStatus {
            time_zone: "Europe/Berlin".to_owned(),
            ..ScheduleStatus::default()
        },
        ..status()
    });
    (server, admin)
}

#[test]
fn counts_are_added_up_by_the_hours_and_days_of_the_pool() {
    let (_server, mut admin) = server_with_counts();
    let range = "from=2026-03-29&to=2026-03-31";
    let quarters = admin.get(&format!("/api/v1/analytics?{range}")).json;
    assert_eq!(quarters["time_zone"], "Europe/Berlin");
    let starts: Vec<&str> = quarters["intervals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["from"].as_str().unwrap())
        .collect();
    assert_eq!(
        starts,
        [
            "2026-03-29T00:00:00+01:00",
            "2026-03-29T00:15:00+01:00",
            // Ten hours later, of which one does not exist.
            "2026-03-29T11:00:00+02:00",
            "2026-03-30T00:45:00+02:00",
        ]
    );
    let hours = admin
        .get(&format!("/api/v1/analytics?{range}&by=hour"))
        .json;
    let hours = hours["intervals"].as_array().unwrap();
    assert_eq!(hours.len(), 3);
    assert_eq!(
        (&hours[0]["arrivals"], &hours[0]["stays"][3]),
        (&json!(7), &json!(7))
    );
    assert_eq!(hours[0]["mean_stay_secs"], 40.0);
    // Two visitors are fewer than the site shows.
    assert_eq!(
        hours[2],
        json!({"from": "2026-03-30T00:45:00+02:00", "is_hidden": true})
    );
    let days = admin.get(&format!("/api/v1/analytics?{range}&by=day")).json;
    assert_eq!(days["intervals"][0]["arrivals"], 16);
    assert_eq!(days["intervals"].as_array().unwrap().len(), 2);

    let table = admin.get(&format!("/api/v1/analytics?{range}&by=day&format=csv"));
    assert_eq!(
        table.header("content-type"),
        Some("text/csv; charset=utf-8")
    );
    let text = String::from_utf8(table.body).unwrap();
    assert_message(&text, &["\n2026-03-29T00:00:00+01:00,16,16,40.0,2,"]);
    // A time with its offset, in which the plus sign is encoded.
    let part = "/api/v1/analytics?from=2026-03-29T11:00:00%2B02:00&to=2026-03-29T10:00:00Z";
    assert_eq!(admin.get(part).json["intervals"][0]["arrivals"], 9);
}

#[test]
fn a_wrong_time_is_explained_and_an_empty_file_has_no_counts() {
    let server = TestServer::start();
    let mut admin = server.admin();
    for query in [
        "from=yesterday",
        "from=2026-13-01",
        "by=year",
        "fro=2026-01-01",
        "to=",
    ] {
        let answer = admin.get(&format!("/api/v1/analytics?{query}"));
        assert_eq!(
            (answer.status, answer.code()),
            (400, "bad_request"),
            "{query}"
        );
    }
    // Nothing was counted yet, so there is no file.
    assert_eq!(admin.get("/api/v1/analytics").json["intervals"], json!([]));
}

#[test]
fn cameras_and_monitors_are_listed_or_the_reason_why_not() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let cameras = admin.get("/api/v1/cameras");
    assert_eq!(cameras.json["cameras"][0]["source"], "v4l2:0");
    let monitors = admin.get("/api/v1/monitors");
    assert_eq!((monitors.status, monitors.code()), (503, "unavailable"));
    assert_eq!(monitors.json["error"]["message"], "there is no display");
}
