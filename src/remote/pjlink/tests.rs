//! The projector in these tests is a program of its own on a socket, with the oddities that real ones are reported to have.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::super::mutations::mutate;
use super::super::params::RemoteProjector;
use super::codec;
use super::codec::{
    Greeting, Refusal, answer_to, digest, greeting_of, lamp_hours_of, parts_of, power_of, text_of,
};
use super::endpoint::ProjectorEndpoint;
use super::keeper::{Keeper, Seen};
use crate::control::{
    Board, Journal, ProjectorPower, ProjectorStatus, ScheduleStatus, Status, desk_queue,
};
use crate::runtime::{HangPolicy, Supervisor};

/// The example of the specification, section 5.1: the random number and the password of the digest.
#[test]
fn the_digest_is_that_of_the_specification() {
    assert_eq!(
        digest("498e4a67", "JBMIAProjectorLink"),
        "5d8409bc1c3fa39749434aa3a5c38682"
    );
}

#[test]
fn greetings_and_answers_are_read_in_any_case() {
    assert_eq!(greeting_of("PJLINK 0"), Ok(Greeting::Open));
    let locked = Ok(Greeting::Locked("498e4a67".to_owned()));
    assert_eq!(greeting_of("pjlink 1 498e4a67"), locked);
    for line in ["", "SSH-2.0-OpenSSH", "PJLINK", "PJLINK 1", "PJLINK ERRA"] {
        assert!(greeting_of(line).is_err(), "{line}");
    }
    assert_eq!(answer_to("POWR", "%1POWR=1"), Some(Ok("1")));
    assert_eq!(answer_to("POWR", "%1powr=ok"), Some(Ok("ok")));
    assert_eq!(answer_to("POWR", "%2POWR=1"), Some(Ok("1")));
    assert_eq!(answer_to("POWR", "%1powr=err3"), Some(Err(Refusal::NotNow)));
    let refused = Some(Err(Refusal::Password));
    assert_eq!(answer_to("POWR", "PJLINK ERRA"), refused);
    for line in ["%1INPT=31", "POWR", "=", "%=1", "%", "%é=1", "\u{0}\u{1}="] {
        assert_eq!(answer_to("POWR", line), None, "{line}");
    }
}

#[test]
fn values_are_read_and_nonsense_is_not_known() {
    assert_eq!(power_of("3"), ProjectorPower::Warming);
    assert_eq!(power_of("on"), ProjectorPower::Unknown);
    let parts: Vec<_> = parts_of("020010")
        .iter()
        .map(|part| (part.part, part.is_error))
        .collect();
    assert_eq!(parts, [("lamp", true), ("filter", false)]);
    assert!(parts_of("000000999").is_empty());
    assert_eq!(lamp_hours_of("1200 1 800 0"), Some(1200));
    assert_eq!(lamp_hours_of("99999999999 1"), None);
    assert_eq!(text_of(b"%1NAME=caf\xe9"), "%1NAME=café");
}

#[test]
fn what_differs_for_ten_minutes_is_a_fault_and_mains_off_at_night_is_none() {
    let begin = Instant::now();
    let at = |secs: u64| begin + Duration::from_secs(secs);
    let answered = |power, was_ordered| Seen::Answered { power, was_ordered };
    let status = ProjectorStatus::default();
    let mut keeper = Keeper::default();
    assert!(keeper.is_due(true, at(0)));
    keeper.take(&answered(ProjectorPower::Off, true), at(0));
    assert!(!keeper.is_due(true, at(59)));
    assert!(keeper.is_due(true, at(60)));
    keeper.take(&answered(ProjectorPower::Warming, false), at(60));
    assert_eq!(keeper.problem(&status, at(599)), None);
    let problem = keeper.problem(&status, at(600)).unwrap();
    assert!(problem.contains("not come on for 10 min"), "{problem}");
    keeper.take(&answered(ProjectorPower::On, false), at(610));
    assert_eq!(keeper.problem(&status, at(2000)), None);
    // Then it is called every five minutes.
    assert!(!keeper.is_due(true, at(909)));
    assert!(keeper.is_due(true, at(910)));
    keeper.take(&Seen::Silent, at(910));
    assert_eq!(keeper.problem(&status, at(1500)), None);
    assert!(keeper.problem(&status, at(1510)).unwrap().contains("mains"));
    // The pool closes.
    assert!(keeper.is_due(false, at(1520)));
    keeper.take(&Seen::Silent, at(1520));
    assert_eq!(keeper.problem(&status, at(9000)), None);
    // A fixed fault: one that refuses orders was taken for one without mains, and stayed on all night.
    keeper.take(&Seen::NoPjlink, at(8000));
    let problem = keeper.problem(&status, at(9000)).unwrap();
    assert!(
        problem.contains("PJLink switched on") && problem.contains("may still be on"),
        "{problem}"
    );
    keeper.take(&Seen::Silent, at(8500));
    assert!(keeper.is_due(false, at(9000)));
    keeper.take(&answered(ProjectorPower::On, true), at(9000));
    assert!(
        keeper
            .problem(&status, at(9600))
            .unwrap()
            .contains("not gone off")
    );
}

#[test]
fn a_wrong_password_is_tried_every_ten_minutes_and_no_faster() {
    let begin = Instant::now();
    let at = |secs: u64| begin + Duration::from_secs(secs);
    let mut keeper = Keeper::default();
    assert!(keeper.is_due(true, at(0)));
    keeper.take(&Seen::PasswordRefused, at(0));
    let problem = keeper.problem(&ProjectorStatus::default(), at(1)).unwrap();
    assert!(problem.contains("password"), "{problem}");
    assert!(!keeper.is_due(false, at(300)), "a change of what is wanted");
    assert!(keeper.is_due(false, at(600)));
}

/// How a projector behaves.
#[derive(Clone, Default)]
struct Manners {
    password: Option<&'static str>,
    /// Answers in lower case, ends lines with a line feed, and has a name in Latin-1.
    is_odd: bool,
    /// Sends these bytes instead of a greeting.
    garbage: Option<&'static [u8]>,
    /// Says that it is off for ever.
    is_stuck: bool,
}

/// What a projector was asked, and its power and input.
#[derive(Default)]
struct Seat {
    power: Option<char>,
    input: String,
    asked: Vec<String>,
}

struct Rig {
    seat: Arc<Mutex<Seat>>,
    status: Arc<Mutex<Vec<ProjectorStatus>>>,
    board: Arc<Board>,
    journal: Journal,
    supervisor: Supervisor,
}

fn answer(seat: &mut Seat, manners: &Manners, command: &str, value: &str) -> String {
    seat.asked.push(format!("{command} {value}"));
    let power = seat.power.unwrap_or('0');
    match (command, value) {
        ("POWR", "?") => power.to_string(),
        ("POWR", order) => {
            if !manners.is_stuck {
                seat.power = order.chars().next();
            }
            "OK".into()
        }
        // What is in standby does not answer these.
        _ if power != '1' => "ERR3".into(),
        ("INPT", "?") if seat.input.is_empty() => "11".into(),
        ("INPT", "?") => seat.input.clone(),
        ("INPT", input) => {
            seat.input = input.to_owned();
            "OK".into()
        }
        ("ERST", _) => "010002".into(),
        ("LAMP", _) => "1234 1".into(),
        ("INF1", _) => "Maker".into(),
        ("INF2", _) => "Modèle".into(),
        _ => "ERR1".into(),
    }
}

fn serve(listener: &TcpListener, manners: &Manners, seat: &Mutex<Seat>) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { return };
        let random = "0a1b2c3d";
        let greeting = match manners.password {
            Some(_) => format!("PJLINK 1 {random}\r"),
            None => "PJLINK 0\r".to_owned(),
        };
        let greeting = manners.garbage.unwrap_or(greeting.as_bytes());
        if stream.write_all(greeting).is_err() {
            continue;
        }
        let mut is_locked = manners.password.is_some();
        let mut line = Vec::new();
        let mut byte = [0];
        while stream.read(&mut byte).is_ok_and(|count| count == 1) {
            if byte != *b"\r" {
                line.extend(byte);
                continue;
            }
            let mut text = String::from_utf8(std::mem::take(&mut line)).unwrap();
            if is_locked {
                let expected = digest(random, manners.password.unwrap());
                match text.strip_prefix(&expected) {
                    Some(rest) => text = rest.to_owned(),
                    None => {
                        let _gone = stream.write_all(b"PJLINK ERRA\r");
                        break;
                    }
                }
                is_locked = false;
            }
            let rest = text.strip_prefix("%1").unwrap();
            let (command, value) = rest.split_once(' ').unwrap();
            let value = answer(&mut seat.lock(), manners, command, value);
            let answer = match manners.is_odd {
                true => {
                    let text = format!("%1{command}={value}\r\n").to_lowercase();
                    text.chars().map(|c| u8::try_from(c).unwrap()).collect()
                }
                false => format!("%1{command}={value}\r").into_bytes(),
            };
            if stream.write_all(&answer).is_err() {
                break;
            }
        }
    }
}

impl Rig {
    fn start(manners: Manners, password: Option<&str>) -> Self {
        Self::start_behind(Vec::new(), manners, password)
    }

    /// Starts with other projectors that are named before this one.
    fn start_behind(
        others: Vec<RemoteProjector>,
        manners: Manners,
        password: Option<&str>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seat: Arc<Mutex<Seat>> = Arc::default();
        let shared = Arc::clone(&seat);
        std::thread::spawn(move || serve(&listener, &manners, &shared));
        let (client, _desk, board) = desk_queue();
        let journal = Journal::new(Arc::clone(&board));
        let mut params = others;
        params.push(RemoteProjector {
            name: "left".into(),
            address,
            password: password.map(str::to_owned),
            input: Some("31".into()),
            wake: None,
        });
        let status: Arc<Mutex<Vec<ProjectorStatus>>> = Arc::default();
        let mut supervisor = Supervisor::new(Arc::default());
        for mut endpoint in ProjectorEndpoint::all(&params, &client, &status, &journal) {
            supervisor
                .start("projectors", HangPolicy::WaitAtEnd, move |heartbeat| {
                    endpoint.run(heartbeat);
                })
                .unwrap();
        }
        Self {
            seat,
            status,
            board,
            journal,
            supervisor,
        }
    }

    fn want(&self, projectors_on: bool) {
        self.board.publish(Status {
            schedule: ScheduleStatus {
                local_time: "2026-11-27T10:00".into(),
                projectors_on,
                ..ScheduleStatus::default()
            },
            ..Status::default()
        });
    }

    fn wait_for(&self, is_there: impl Fn(&ProjectorStatus) -> bool) -> ProjectorStatus {
        let begun = Instant::now();
        loop {
            let status = self.status.lock().last().unwrap().clone();
            if is_there(&status) {
                return status;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{status:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_projector_follows_the_schedule_and_says_how_it_is() {
    let rig = Rig::start(
        Manners {
            password: Some("secret"),
            ..Manners::default()
        },
        Some("secret"),
    );
    // Before the schedule has decided, nothing is switched.
    std::thread::sleep(Duration::from_millis(700));
    assert!(rig.seat.lock().asked.is_empty());
    rig.want(true);
    rig.wait_for(|status| status.is_wanted_on && status.power == ProjectorPower::Off);
    assert_eq!(rig.seat.lock().power, Some('1'));
    rig.want(false);
    let status = rig.wait_for(|status| status.power == ProjectorPower::On && !status.is_wanted_on);
    assert_eq!(status.problem, "");
    assert_eq!(rig.seat.lock().power, Some('0'));
    rig.seat.lock().power = Some('1');
    rig.want(true);
    let status = rig.wait_for(|status| status.lamp_hours.is_some());
    assert_eq!(status.model, "Maker Modèle");
    assert_eq!(
        (status.errors, status.warnings),
        (vec!["other".to_owned()], vec!["lamp".to_owned()])
    );
    assert_eq!(rig.seat.lock().input, "31");
    let begun = Instant::now();
    while rig.journal.faults().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(rig.journal.faults()[0].name, "remote.projector_parts");
    let detail = rig.journal.faults()[0].detail.clone();
    assert!(
        detail.contains("left") && detail.contains("other"),
        "{detail}"
    );
    rig.supervisor.shut_down().unwrap();
}

#[test]
fn a_projector_with_odd_manners_is_understood() {
    let manners = Manners {
        is_odd: true,
        ..Manners::default()
    };
    let rig = Rig::start(manners, None);
    rig.seat.lock().power = Some('1');
    rig.want(true);
    let status = rig.wait_for(|status| status.lamp_hours.is_some());
    assert_eq!(status.model, "maker modèle");
    rig.supervisor.shut_down().unwrap();
}

#[test]
fn a_wrong_or_missing_password_and_nonsense_are_said() {
    let locked = Manners {
        password: Some("secret"),
        ..Manners::default()
    };
    let garbage = |bytes| Manners {
        garbage: Some(bytes),
        ..Manners::default()
    };
    const NOISE: [u8; 2000] = [0xff; 2000];
    for (manners, password, problem) in [
        (locked.clone(), Some("wrong"), "password"),
        (locked, None, "password"),
        (garbage(b"SSH-2.0-x\x1b[31m\r\n"), None, "no projector"),
        (garbage(&NOISE), None, "something else"),
        (garbage(b"PJLINK 2 1234\r"), None, "class 1"),
    ] {
        let rig = Rig::start(manners, password);
        rig.want(true);
        let status = rig.wait_for(|status| !status.problem.is_empty());
        assert!(status.problem.contains(problem), "{status:?}");
        assert!(!status.problem.contains('\u{1b}'), "{status:?}");
        assert!(rig.seat.lock().asked.is_empty());
        rig.supervisor.shut_down().unwrap();
    }
}

#[test]
fn a_projector_that_is_stuck_is_ordered_once_in_a_minute() {
    let manners = Manners {
        is_stuck: true,
        ..Manners::default()
    };
    let rig = Rig::start(manners, None);
    rig.want(true);
    rig.wait_for(|status| status.answered_secs_ago == Some(2));
    assert_eq!(rig.seat.lock().asked, ["POWR ?", "POWR 1"]);
    rig.supervisor.shut_down().unwrap();
}

/// A fixed bug: a projector that took the connection and stayed silent delayed those behind it by up to 24 s.
#[test]
fn a_silent_projector_does_not_delay_the_next_one() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = RemoteProjector {
        name: "silent".into(),
        address: silent.local_addr().unwrap().to_string(),
        ..RemoteProjector::default()
    };
    let rig = Rig::start_behind(vec![other], Manners::default(), None);
    rig.want(true);
    rig.wait_for(|status| status.answered_secs_ago.is_some());
    let first = rig.status.lock()[0].clone();
    assert_eq!(
        (first.name.as_str(), first.problem.as_str()),
        ("silent", ""),
        "still called"
    );
    drop(silent);
    rig.supervisor.shut_down().unwrap();
}

#[test]
fn changed_answers_are_survived() {
    let lines = [
        &b"PJLINK 1 498e4a67"[..],
        b"PJLINK 0",
        b"PJLINK ERRA",
        b"%1POWR=1",
        b"%1ERST=000012",
        b"%1LAMP=12345 1 99 0",
        b"%1INF1=Caf\xe9",
    ];
    mutate(&lines.map(<[u8]>::to_vec), |line| {
        let text = codec::text_of(line);
        let _ = codec::greeting_of(&text);
        for command in ["POWR", "ERST", "LAMP", "INF1"] {
            if let Some(Ok(value)) = codec::answer_to(command, &text) {
                codec::power_of(value);
                codec::parts_of(value);
                codec::lamp_hours_of(value);
            }
        }
        assert!(!codec::shown(&text).contains('\n'));
    });
}
