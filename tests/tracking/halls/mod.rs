//! What halls do to an infrared camera: each case works, or is a named fault with advice. A small part of the cases runs in
//! every test; `scripts/verify vision` runs all of them with several seeds and prints a table.

mod bodies;
mod cases;
mod hall;
mod light;
mod people;

use cases::{CASES, Case};
use hall::{Hall, Outcome};

use shoal::vision::VisionFault;

use crate::recordings::report_figure;

/// Seeds of the runs in `scripts/verify vision`, and of the one run in every test.
const SEEDS: std::ops::Range<u64> = 101..104;

fn run(case: &Case, seed: u64) -> Outcome {
    let mut hall = Hall::new(case.fps);
    (case.prepare)(&mut hall);
    hall.run(seed, case.secs, case.draw)
}

/// Returns what is wrong with an outcome, as texts.
fn problems(case: &Case, outcome: &Outcome) -> Vec<String> {
    let mut problems = Vec::new();
    let mut at_most = |what: &str, got: f64, limit: f64| {
        if got > limit {
            problems.push(format!("{what} {got:.1} > {limit:.1}"));
        }
    };
    let limits = &case.limits;
    at_most("false for", outcome.longest_false_secs, limits.false_secs);
    at_most("lost for", outcome.longest_lost_secs, limits.lost_secs);
    at_most(
        "on a thing for",
        outcome.on_thing_secs,
        limits.on_thing_secs,
    );
    at_most(
        "a thing has a visitor's id for",
        outcome.thing_has_id_secs,
        1.0,
    );
    if outcome.area_m2 < limits.area_m2 {
        problems.push(format!("{:.1} m² < {} m²", outcome.area_m2, limits.area_m2));
    }
    if outcome.ids > limits.ids {
        problems.push(format!("{} ids > {}", outcome.ids, limits.ids));
    }
    if let Some((name, by_secs)) = case.fault {
        let reported = outcome.faults.iter().find(|fault| fault.0 == name);
        if reported.is_none_or(|(_, secs)| *secs > by_secs) {
            problems.push(format!("{name} not reported by {by_secs} s: {reported:?}"));
        }
    }
    problems
}

fn describe(outcome: &Outcome) -> String {
    let Outcome {
        longest_false_secs,
        false_secs,
        longest_lost_secs,
        found,
        ids,
        on_thing_secs,
        thing_has_id_secs,
        faults,
        last,
        area_m2,
        foot_m,
    } = outcome;
    format!(
        "false {longest_false_secs:.1} ({false_secs:.1} in all) lost {longest_lost_secs:.1} found {found:.3} ids {ids} thing \
         {on_thing_secs:.0} (with id {thing_has_id_secs:.1}) area {area_m2:.1} foot {:.0} mm faults {faults:?} last {:?}",
        1000.0 * foot_m,
        last.iter().map(VisionFault::name).collect::<Vec<_>>()
    )
}

#[test]
fn small_cases_of_halls_work_or_are_named_faults() {
    for case in CASES.into_iter().flatten().filter(|case| case.is_small) {
        let outcome = run(case, SEEDS.start);
        let problems = problems(case, &outcome);
        assert!(
            problems.is_empty(),
            "{}: {problems:?}; {}",
            case.name,
            describe(&outcome)
        );
    }
}

/// Runs all cases and prints the share of the seeds that meet the limits of each.
#[test]
fn verify_vision_halls() {
    if std::env::var_os("SHOAL_VERIFY").is_none() {
        eprintln!("SKIPPED: the cases of halls run only with SHOAL_VERIFY=1 (minutes)");
        return;
    }
    let only = std::env::var("SHOAL_ROWS").unwrap_or_default();
    let mut misses = Vec::new();
    for case in CASES
        .into_iter()
        .flatten()
        .filter(|case| case.name.contains(&only))
    {
        let mut met = 0;
        for seed in SEEDS {
            let outcome = run(case, seed);
            let problems = problems(case, &outcome);
            met += u32::from(problems.is_empty());
            println!(
                "{}, seed {seed}: {}; {}",
                case.name,
                problems.join(", "),
                describe(&outcome)
            );
        }
        let count = SEEDS.count() as f64;
        misses.extend(report_figure(
            &format!("hall: {}: share of the runs", case.name),
            f64::from(met) / count,
            1.0,
            true,
        ));
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}
