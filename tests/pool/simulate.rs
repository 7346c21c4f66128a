//! Tests of the command `simulate`, which reads recorded shadows and writes the agents of each tick as JSON lines.

use crate::pools;

use shoal::app::{SimulateOptions, simulate};
use shoal::control::AgentsLine;
use shoal::runtime::StopFlag;

fn lines_of(options: &SimulateOptions) -> Vec<AgentsLine> {
    simulate(options, &StopFlag::default()).unwrap();
    let text = std::fs::read_to_string(options.out.as_ref().unwrap()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn fish_flee_from_a_recorded_visitor() {
    let folder = tempfile::tempdir().unwrap();
    let shadows = folder.path().join("t.jsonl");
    let tracks: String = (0..90)
        .map(|frame| {
            let time = f64::from(frame) / 30.0;
            let x = -2.0 + time * 1.2;
            format!(
                "{{\"frame\":{frame},\"time_secs\":{time},\"shadows\":[{{\"id\":1,\"x_m\":{x},\"z_m\":0.0,\"foot_m\":[{x},0.0],\
                 \"radius_m\":0.3,\"vx_mps\":1.2,\"vz_mps\":0.0,\"area_m2\":0.28,\"age_secs\":{time},\"still_secs\":0.0,\"contour_m\":[]}}]}}\n"
            )
        })
        .collect();
    std::fs::write(&shadows, tracks).unwrap();
    let options = SimulateOptions {
        scene: pools::pool(),
        simulation: pools::run(5, 1),
        shadows: Some(shadows),
        seconds: 4.0,
        every: 6,
        out: Some(folder.path().join("a.jsonl")),
        report: None,
        visitors: None,
        why: false,
        save_state: None,
        load_state: None,
        commands: None,
    };
    let lines = lines_of(&options);
    assert_eq!(lines.len(), 40);
    assert_eq!((lines[0].tick, lines[0].time_secs), (6, 0.1));
    assert_eq!(lines[0].agents.len(), 59);
    assert!(lines[28].time_secs < 2.96 && lines[28].shadows.len() == 1);
    assert!(
        lines[30].shadows.is_empty(),
        "a visitor remains after the end of its track"
    );
    let fleeing = |line: &AgentsLine| {
        let flees = |actions: &[String]| actions.iter().any(|name| name == "evade_shadow");
        line.agents
            .iter()
            .filter(|agent| flees(&agent.actions))
            .count()
    };
    assert!(lines[..29].iter().map(fleeing).sum::<usize>() > 20);
    assert_eq!(lines[30..].iter().map(fleeing).sum::<usize>(), 0);
    let again = SimulateOptions {
        out: Some(folder.path().join("b.jsonl")),
        simulation: pools::run(5, 2),
        ..options
    };
    assert_eq!(lines_of(&again), lines, "a run with two threads differs");
}

#[test]
fn an_invalid_track_is_rejected_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let shadows = folder.path().join("t.jsonl");
    std::fs::write(
        &shadows,
        "{\"frame\":0,\"time_secs\":0.0,\"shadows\":[]}\nshadows\n",
    )
    .unwrap();
    let options = SimulateOptions {
        scene: pools::pool(),
        simulation: pools::run(1, 1),
        shadows: Some(shadows),
        seconds: 1.0,
        every: 1,
        out: Some(folder.path().join("a.jsonl")),
        report: None,
        visitors: None,
        why: false,
        save_state: None,
        load_state: None,
        commands: None,
    };
    let error = simulate(&options, &StopFlag::default()).unwrap_err();
    assert!(format!("{error:#}").contains(".jsonl:2: "), "{error:#}");
}
