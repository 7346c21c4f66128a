use shoal_testing::rows;

use super::*;
use crate::operation::ScheduleParams;

/// Compiles a plan in a time zone. The rest of its table is TOML. Hours are short there: `{10:00-18:00 23:00-24:00=dark}`.
fn plan(zone: &str, rest: &str) -> SchedulePlan {
    let mut text = format!("time_zone = '{zone}'\n");
    for (index, part) in rest.split(['{', '}']).enumerate() {
        if index % 2 == 0 {
            text += part;
            continue;
        }
        let hours = part.split_whitespace().map(|item| {
            let (times, state) = item.split_once('=').unwrap_or((item, "open"));
            let (from, to) = times.split_once('-').unwrap();
            format!("{{ from = '{from}', to = '{to}', state = '{state}' }},")
        });
        text += &format!("[{}]", hours.collect::<String>());
    }
    SchedulePlan::compile(&toml::from_str(&text).unwrap()).unwrap()
}

/// A plan with the same hours on every day.
fn daily(zone: &str, hours: &str) -> SchedulePlan {
    let days = "'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'";
    plan(
        zone,
        &format!("[[weekly]]\ndays = [{days}]\nhours = {{{hours}}}\n"),
    )
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Returns the states of a local date as "HH:MM±offset state", one for each change.
fn day(plan: &SchedulePlan, date: &str) -> String {
    let date: Date = date.parse().unwrap();
    let shown = plan.preview(plan.instant(date, 0), 1).remove(0);
    let part = |p: &PreviewPeriod| format!("{} {}", &p.from[11..16], p.state.name());
    let parts: Vec<_> = shown.periods.iter().map(part).collect();
    parts.join(", ")
}

/// Zone, hours of every day, first date, and the changes in UTC after the start of that date.
const TRANSITIONS: &str = "
# No change of the clocks.
Europe/Berlin | 10:00-18:00 | 2026-06-10 | 10T08:00 open, 10T16:00 closed, 11T08:00 open
# The clocks go forward at 02:00: the change at 02:30 happens at 03:00.
Europe/Berlin | 02:30-05:00 | 2026-03-29 | 29T01:00 open, 29T03:00 closed, 30T00:30 open
# Hours that lie in the gap do not happen.
Europe/Berlin | 02:10-02:50 | 2026-03-29 | 30T00:10 open, 30T00:50 closed, 31T00:10 open
# Hours that end in the gap end at its end.
Europe/Berlin | 22:00-02:30 | 2026-03-28 | 28T01:30 closed, 28T21:00 open, 29T01:00 closed
# The clocks go back at 03:00: 02:30 occurs twice, the first one counts.
Europe/Berlin | 02:30-05:00 | 2026-10-25 | 25T00:30 open, 25T04:00 closed, 26T01:30 open
Europe/Berlin | 22:00-02:30 | 2026-10-24 | 24T00:30 closed, 24T20:00 open, 25T00:30 closed
# Hours that begin before and end after the change are an hour longer or shorter on the clock of a visitor.
America/New_York | 01:30-03:30 | 2026-11-01 | 01T05:30 open, 01T08:30 closed, 02T06:30 open
America/New_York | 01:30-03:30 | 2026-03-08 | 08T06:30 open, 08T07:30 closed, 09T05:30 open
# Half an hour, on the southern half of the earth.
Australia/Lord_Howe | 02:15-04:00 | 2026-10-04 | 03T15:30 open, 03T17:00 closed, 04T15:15 open
Australia/Lord_Howe | 01:45-04:00 | 2026-04-05 | 04T14:45 open, 04T17:30 closed, 05T15:15 open
# Midnight does not exist: the day begins at 01:00.
America/Santiago | 00:00-06:00=dark 10:00-18:00 | 2026-09-06 | 06T04:00 dark, 06T09:00 closed, 06T13:00 open
Africa/Cairo | 00:00-24:00=dark | 2026-04-24 | 
# Offsets of a quarter of an hour.
Asia/Kathmandu | 10:00-18:00 | 2026-01-01 | 01T04:15 open, 01T12:15 closed, 02T04:15 open
Pacific/Chatham | 02:45-05:00 | 2026-09-27 | 26T14:00 open, 26T15:15 closed, 27T13:00 open
# The day 2011-12-30 does not exist.
Pacific/Apia | 10:00-18:00 | 2011-12-29 | 29T20:00 open, 30T04:00 closed, 30T20:00 open
Pacific/Apia | 22:00-02:00 | 2011-12-29 | 29T12:00 closed, 30T08:00 open, 30T10:00 closed
# The offset changes for Ramadan.
Africa/Casablanca | 02:30-05:00 | 2026-02-15 | 15T01:30 open, 15T05:00 closed, 16T02:30 open
# The end of a year, of a leap day, of a day.
Europe/Berlin | 20:00-02:00 | 2026-12-31 | 31T01:00 closed, 31T19:00 open, 01T01:00 closed
Europe/Berlin | 10:00-18:00 | 2028-02-29 | 29T09:00 open, 29T17:00 closed, 01T09:00 open
Europe/Berlin | 18:00-24:00 00:00-06:00=dark | 2026-06-10 | 09T22:00 dark, 10T04:00 closed, 10T16:00 open
";

#[test]
fn changes_of_the_clocks() {
    for [zone, text, date, wanted] in rows(TRANSITIONS) {
        let plan = daily(&zone, &text);
        let begin = plan.instant(date.parse().unwrap(), 0);
        let mut now = begin.saturating_sub(SignedDuration::from_nanos(1)).unwrap();
        let mut found = Vec::new();
        while found.len() < 3 {
            let Some((at, state)) = plan.at(now).next else {
                break;
            };
            assert!(at > now, "{zone} {text}");
            assert_eq!(plan.at(at).state, state, "{zone} {text} {at}");
            found.push(format!("{} {}", &at.to_string()[8..16], state.name()));
            now = at;
        }
        assert_eq!(found.join(", "), wanted, "{zone} {text} {date}");
    }
}

/// A walk from change to change meets the same changes as the preview, over a change of the clocks in every zone.
#[test]
fn changes_and_preview_agree_in_zones_with_odd_shifts() {
    for zone in [
        "Europe/Berlin",
        "Australia/Lord_Howe",
        "America/Santiago",
        "Africa/Cairo",
    ] {
        let plan = daily(zone, "00:30-02:20=dark 02:20-03:10=attract 22:50-23:40");
        let begin = time("2026-03-20T12:00:00Z");
        let mut last = plan.at(begin).state;
        let mut from_preview = Vec::new();
        for period in plan
            .preview(begin, 40)
            .into_iter()
            .flat_map(|day| day.periods)
        {
            if period.from > plan.local(begin) && period.state != last {
                from_preview.push((period.from, period.state));
            }
            last = period.state;
        }
        let mut now = begin;
        for change in &from_preview {
            let (at, state) = plan.at(now).next.unwrap();
            assert_eq!((plan.local(at), state), *change, "{zone}");
            now = at;
        }
        assert!(
            from_preview.len() > 39 * 5 - 3,
            "{zone}: {}",
            from_preview.len()
        );
    }
}

#[test]
fn a_date_beats_a_day_of_every_year_and_that_beats_the_weekday() {
    let plan = plan(
        "Europe/Berlin",
        "[[weekly]]
        days = ['tuesday', 'thursday', 'friday']
        hours = {10:00-18:00}
        [[yearly]]
        date = '12-24'
        last = '01-01'
        name = 'Christmas'
        [[dates]]
        date = '2026-12-29'
        name = 'Long night'
        hours = {18:00-02:00}",
    );
    for [date, states] in rows(
        "2026-12-22 | 00:00 closed, 10:00 open, 18:00 closed
        2026-12-23 | 00:00 closed
        2026-12-24 | 00:00 closed
        2026-12-29 | 00:00 closed, 18:00 open
        # Hours belong to the day on which they begin.
        2026-12-30 | 00:00 open, 02:00 closed
        # The date applies in its year only, the holiday in every year.
        2027-12-29 | 00:00 closed
        2027-01-01 | 00:00 closed
        2027-01-05 | 00:00 closed, 10:00 open, 18:00 closed",
    ) {
        assert_eq!(day(&plan, &date), states, "{date}");
    }
    let now = plan.at(time("2026-12-29T20:00:00Z"));
    assert_eq!(
        (now.state, now.reason.as_str()),
        (ShowState::Open, "date \"Long night\"")
    );
    assert_eq!(plan.local(now.since.unwrap()), "2026-12-29T18:00:00+01:00");
    assert_eq!(plan.local(now.next.unwrap().0), "2026-12-30T02:00:00+01:00");
    let days = plan.preview(time("2026-12-24T10:00:00Z"), 21);
    let sources: Vec<PlanSource> = days.iter().map(|d| d.source).collect();
    assert_eq!(days.len(), 21);
    assert_eq!(
        sources[..6],
        [[PlanSource::Yearly; 5].as_slice(), &[PlanSource::Date]].concat()
    );
    assert_eq!(sources[12], PlanSource::Weekly);
}

#[test]
fn without_hours_the_pool_is_always_open() {
    let plan = SchedulePlan::compile(&ScheduleParams::default()).unwrap();
    let now = plan.at(time("2026-06-01T03:00:00Z"));
    assert_eq!((now.state, now.next), (ShowState::Open, None));
    assert!(!plan.is_planned() && plan.wants_power(time("2026-06-01T03:00:00Z")));
}

/// A fixed bug: a plan with one closed date also closed the pool on all other days.
#[test]
fn a_single_date_closes_no_other_day() {
    let plan = plan(
        "Europe/Berlin",
        "[[dates]]
        date = '2026-05-01'
        [[dates]]
        date = '2026-05-03'
        hours = {18:00-02:00}",
    );
    let days: Vec<String> = (1..=5)
        .map(|n| day(&plan, &format!("2026-05-{n:02}")))
        .collect();
    let wanted = [
        "00:00 closed",
        "00:00 open",
        "00:00 closed, 18:00 open",
        "00:00 open",
        "00:00 open",
    ];
    assert_eq!(days, wanted);
    let now = plan.at(time("2026-04-30T10:00:00Z"));
    assert_eq!(
        (now.state, now.reason.as_str()),
        (ShowState::Open, "nothing planned")
    );
    assert_eq!(plan.local(now.next.unwrap().0), "2026-05-01T00:00:00+02:00");
    assert_eq!(plan.at(time("2026-06-01T10:00:00Z")).next, None);
}

#[test]
fn projectors_are_on_some_time_before_and_after_the_hours() {
    let plan = plan(
        "UTC",
        "projectors.on_before_secs = 120
        projectors.off_after_secs = 300
        [[weekly]]
        days = ['monday']
        hours = {10:00-12:00 12:00-13:00=dark 14:00-14:01=closed}",
    );
    for (clock, is_on) in [
        ("09:57:59", false),
        ("09:58:00", true),
        ("11:00:00", true),
        ("12:30:00", true),
        ("13:04:59", true),
        ("13:05:01", false),
        ("14:00:30", false),
    ] {
        let at = time(&format!("2026-06-01T{clock}Z"));
        assert_eq!(plan.wants_power(at), is_on, "{clock}");
    }
}

#[test]
fn days_with_another_length_are_remarked() {
    for [zone, date, note] in rows(
        "Europe/Berlin | 2026-03-29 | the clocks change; this day has 23 hours
        Europe/Berlin | 2026-10-25 | the clocks change; this day has 25 hours
        Australia/Lord_Howe | 2026-10-04 | the clocks change; this day has 23 h 30 min
        Pacific/Apia | 2011-12-30 | the time zone skips this day
        Europe/Berlin | 2026-03-30 |",
    ) {
        let plan = daily(&zone, "10:00-11:00");
        let date: Date = date.parse().unwrap();
        let day = plan.preview_day(date, &plan.periods_of_days(date, 0, 1));
        assert_eq!(day.note, note, "{zone} {date}");
        assert_eq!(day.periods.is_empty(), note.contains("skips"));
    }
}

/// Table, path of the problem, and a part of its message.
const WRONG: &str = "
time_zone = 'Berlin' | time_zone | no time zone
[[weekly]]\\ndays = [] | weekly[0].days | no weekday
[[weekly]]\\ndays = ['monday', 'monday'] | weekly[0].days[1] | listed twice
[[weekly]]\\ndays = ['monday']\\n[[weekly]]\\ndays = ['monday'] | weekly[1].days[0] | listed twice
[[dates]]\\ndate = '12-24' | dates[0].date | [[schedule.yearly]]
[[yearly]]\\ndate = '2026-12-24' | yearly[0].date | [[schedule.dates]]
[[dates]]\\ndate = '2026-02-29' | dates[0].date | no date
[[dates]]\\ndate = '2026-12-24'\\nlast = '2026-12-23' | dates[0].last | at or after
[[dates]]\\ndate = '2026-01-01'\\nlast = '2029-12-23' | dates[0].last | at most
[[dates]]\\ndate = '2026-01-01'\\nlast = '2026-01-03'\\n[[dates]]\\ndate = '2026-01-02' | dates[1].date | already in dates[0]
[[yearly]]\\ndate = '12-24'\\nlast = '01-02'\\n[[yearly]]\\ndate = '01-01' | yearly[1].date | already in yearly[0]
[[weekly]]\\ndays = ['monday']\\nhours = [{from = '9:30', to = '10:00'}] | weekly[0].hours[0].from | no time
[[weekly]]\\ndays = ['monday']\\nhours = [{from = '09:60', to = '24:01'}] | weekly[0].hours[0].to | no time
[[weekly]]\\ndays = ['monday']\\nhours = [{from = '09:30', to = '09:30'}] | weekly[0].hours[0].from | empty
[[weekly]]\\ndays = ['monday']\\nhours = [{from = '24:00', to = '09:30'}] | weekly[0].hours[0].from | empty
[[weekly]]\\ndays = ['monday']\\nhours = [{from = '22:00', to = '02:00'}, {from = '23:00', to = '24:00'}] | weekly[0].hours[1].from | overlap
";

#[test]
fn wrong_tables_are_rejected_with_path_and_reason() {
    for [toml, path, part] in rows(WRONG) {
        let params: ScheduleParams = toml::from_str(&toml).unwrap();
        let problems = params.problems();
        let found = problems
            .iter()
            .any(|(p, message)| *p == path && message.contains(&part));
        assert!(found, "{toml}: {problems:?}");
    }
    for toml in [
        "[[weekly]]\ndate = \"2026-12-24\"",
        "[[dates]]\ndays = [\"monday\"]",
    ] {
        assert!(toml::from_str::<ScheduleParams>(toml).is_err(), "{toml}");
    }
}

/// Plan, time, the end "tomorrow" and whether the plan opens then, and the time from which the picture is lit. UTC, in June.
const ENDS: &str = "
daily | 10:00-18:00 | 01T17:00 | 02T10:00 opens | 01T17:00
daily | 10:00-18:00 | 01T19:00 | 02T10:00 opens | 02T10:00
# Dark is no opening, and the hours over midnight are none of the next day.
daily | 08:00-10:00=dark 10:00-18:00 | 01T19:00 | 02T10:00 opens | 02T10:00
daily | 20:00-02:00 | 01T21:00 | 02T20:00 opens | 01T21:00
daily | 00:00-24:00 | 01T21:00 | 02T06:00 | 01T21:00
# Only a date is planned: the next morning is no opening.
date | 2026-06-10 | 01T21:00 | 02T06:00 | 01T21:00
date | 2026-06-02 | 01T21:00 | 03T00:00 opens | 01T21:00
none | | 01T21:00 | 02T06:00 | 01T21:00
never | | 01T21:00 | 02T06:00 | -
";

/// A fixed bug: "until the next opening: 06:00" was offered although the plan opens later, or although nothing is planned.
#[test]
fn tomorrow_and_the_next_light_are_those_of_the_plan() {
    for row in rows::<5>(ENDS) {
        let [kind, hours, at, tomorrow, lit] = row.each_ref().map(String::as_str);
        let plan = match kind {
            "daily" => daily("UTC", hours),
            "date" => plan("UTC", &format!("[[dates]]\ndate = '{hours}'\n")),
            "none" => plan("UTC", ""),
            _ => daily("UTC", "08:00-09:00=closed"),
        };
        let at = time(&format!("2026-06-{at}:00Z"));
        let shown = |time: Timestamp| plan.local(time)[8..16].to_owned();
        let (time, opens) = plan.tomorrow(at);
        let said = shown(time) + if opens { " opens" } else { "" };
        assert_eq!(said, tomorrow, "{row:?}");
        let said = plan.lit_from(at).map_or("-".to_owned(), shown);
        assert_eq!(said, lit, "{row:?}");
    }
}

/// A fixed bug: in November, the list of days ended before Christmas.
#[test]
fn days_with_a_plan_of_their_own_follow_the_next_days() {
    let rest = "[[yearly]]\ndate = '12-24'\nlast = '12-26'\nname = 'Christmas'\n[[dates]]\ndate = '2026-12-01'\n";
    let plan = plan("Europe/Berlin", rest);
    let days = plan.special_days(time("2026-11-27T12:00:00Z"), 21);
    let shown: Vec<&str> = days.iter().map(|day| day.date.as_str()).collect();
    assert_eq!(shown, ["2026-12-24", "2026-12-25", "2026-12-26"]);
    assert!(days.iter().all(|day| day.name == "Christmas"));
}

/// A fixed bug: each date had a copy of its hours, so that a long list of dates took more than a gigabyte.
#[test]
fn the_dates_of_an_item_share_its_hours_and_their_number_is_limited() {
    let item = |year: i32, hours: usize| {
        let times = (0..hours).map(|n| {
            let clock = |minutes: usize| format!("{:02}:{:02}", minutes / 60, minutes % 60);
            format!(
                "{{ from = \"{}\", to = \"{}\" }}",
                clock(3 * n),
                clock(3 * n + 2)
            )
        });
        let times: Vec<String> = times.collect();
        format!(
            "[[dates]]\ndate = \"{year}-01-01\"\nlast = \"{}-01-20\"\nhours = [{}]\n",
            year + 1,
            times.join(", ")
        )
    };
    let read = |text: &str| -> ScheduleParams { toml::from_str(text).unwrap() };
    let plan = SchedulePlan::compile(&read(&item(2026, 400))).unwrap();
    let hours = |date: &str| plan.day(date.parse().unwrap()).hours;
    assert_eq!(hours("2026-01-01").len(), 400);
    assert!(std::ptr::eq(hours("2026-01-01"), hours("2027-01-20")));
    let years: String = (0..11).map(|n| item(2026 + 2 * n, 1)).collect();
    let problems = read(&years).problems();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].0, "dates[10].last");
    assert!(problems[0].1.contains("more than 4000 days"));
}
