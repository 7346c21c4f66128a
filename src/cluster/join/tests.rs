use std::net::{TcpListener, TcpStream};
use std::thread;

use super::*;

/// What one side of a test connection says at the end.
type Outcomes = (Result<(), JoinError>, Result<Admission, JoinError>);

fn code(text: &str) -> JoinCode {
    text.parse().unwrap()
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (other, _) = listener.accept().unwrap();
    for stream in [&one, &other] {
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
    }
    (one, other)
}

/// Two machines: the first has the authority.
struct Machines {
    _state: [tempfile::TempDir; 2],
    folders: [KeyFolder; 2],
    invitation: Invitation,
    made: Instant,
}

impl Machines {
    fn new() -> Self {
        let state = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let folders = [
            KeyFolder::new(state[0].path()),
            KeyFolder::new(state[1].path()),
        ];
        folders[0].create_hall("aquarium", "left", 0).unwrap();
        let made = Instant::now();
        Self {
            _state: state,
            folders,
            invitation: Invitation::new("right", code("K7QM-2XHB"), made),
            made,
        }
    }

    /// One attempt to join, `age` after the invitation.
    fn attempt(&mut self, typed: &str, age: Duration) -> Outcomes {
        let (mut joiner, mut inviter) = pair();
        let (typed, folder) = (code(typed), self.folders[1].clone());
        let joins = thread::Builder::new()
            .spawn(move || join(&mut joiner, &typed, &folder))
            .unwrap();
        let now = (self.made + age, 10);
        let answered = self.invitation.answer(&mut inviter, &self.folders[0], now);
        drop(inviter);
        (answered, joins.join().unwrap())
    }

    /// Names of the members by the list of the authority.
    fn members(&self) -> Vec<String> {
        self.folders[0].open().unwrap().members().allowed()
    }
}

fn refusal(outcomes: &Outcomes) -> Refusal {
    match outcomes {
        (Err(JoinError::Refused(one)), Err(JoinError::Refused(other))) if one == other => *one,
        (inviter, joiner) => panic!("{:?} {:?}", inviter, joiner.as_ref().err()),
    }
}

#[test]
fn a_machine_with_the_code_joins_and_its_key_never_leaves_it() {
    let mut machines = Machines::new();
    // As a technician types it.
    let (answered, joined) = machines.attempt("k7qm2xhb", Duration::from_secs(599));
    answered.unwrap();
    assert_eq!(joined.unwrap().name(), "right");
    assert_eq!(machines.members(), ["left/1", "right/2"]);
    let keyring = machines.folders[1].open().unwrap();
    assert!(keyring.is_member());
    assert_eq!((keyring.hall(), keyring.node()), ("aquarium", "right"));
    assert!(!machines.folders[1].has_authority());
}

#[test]
fn a_used_code_is_refused() {
    let mut machines = Machines::new();
    machines.attempt("K7QM-2XHB", Duration::ZERO).0.unwrap();
    machines.folders[1].forget().unwrap();
    let second = machines.attempt("K7QM-2XHB", Duration::ZERO);
    assert_eq!(refusal(&second), Refusal::Used);
    assert_eq!(machines.members().len(), 2);
}

#[test]
fn a_code_of_ten_minutes_is_refused() {
    let mut machines = Machines::new();
    let late = machines.attempt("K7QM-2XHB", Duration::from_secs(600));
    assert_eq!(refusal(&late), Refusal::Expired);
    assert_eq!(machines.members(), ["left/1"]);
}

#[test]
fn three_wrong_codes_lock_the_right_one() {
    let mut machines = Machines::new();
    for expected in [Refusal::WrongCode, Refusal::WrongCode, Refusal::Locked] {
        let wrong = machines.attempt("K7QM-2XHC", Duration::ZERO);
        assert_eq!(refusal(&wrong), expected);
    }
    let right = machines.attempt("K7QM-2XHB", Duration::ZERO);
    assert_eq!(refusal(&right), Refusal::Locked);
    assert_eq!(machines.members(), ["left/1"]);
    assert!(machines.folders[1].check_free().is_ok());
}

/// A machine in the middle that has an authority of its own, but not the code, answers the joining one.
#[test]
fn an_inviter_with_another_authority_and_without_the_code_is_refused() {
    let mut other_hall = Machines::new();
    other_hall.invitation = Invitation::new("right", code("AAAA-AAAA"), other_hall.made);
    let (answered, joined) = other_hall.attempt("K7QM-2XHB", Duration::ZERO);
    assert!(matches!(
        answered,
        Err(JoinError::Refused(Refusal::WrongCode))
    ));
    assert!(joined.is_err());
    assert!(other_hall.folders[1].check_free().is_ok());
}

/// Passes frames from one machine to the other, and changes the one with the number `changed`.
fn relay(mut from: TcpStream, mut to: TcpStream, changed: Option<usize>) {
    for number in 0.. {
        let Ok((kind, mut contents)) = receive(&mut from) else {
            return;
        };
        if changed == Some(number) {
            let last = contents.last_mut().unwrap();
            *last ^= 1;
        }
        if send(&mut to, kind, &contents).is_err() {
            return;
        }
    }
}

/// An attempt to join through a machine in the middle.
fn through_the_middle(machines: &mut Machines, changed: [Option<usize>; 2]) -> Outcomes {
    let ((mut joiner, left), (right, mut inviter)) = (pair(), pair());
    let folder = machines.folders[1].clone();
    let joins = thread::spawn(move || join(&mut joiner, &code("K7QM-2XHB"), &folder));
    let (left_again, right_again) = (left.try_clone().unwrap(), right.try_clone().unwrap());
    let there = thread::spawn(move || relay(left, right, changed[0]));
    let back = thread::spawn(move || relay(right_again, left_again, changed[1]));
    let now = (machines.made, 10);
    let folder = machines.folders[0].clone();
    let answered = machines.invitation.answer(&mut inviter, &folder, now);
    drop(inviter);
    let joined = joins.join().unwrap();
    drop((there, back));
    (answered, joined)
}

#[test]
fn a_machine_in_the_middle_that_changes_any_message_prevents_the_join() {
    // From the joining machine: exchange, public key, confirmation. From the authority: exchange, certificate, end.
    for (side, number) in (0..2).flat_map(|side| (0..3).map(move |number| (side, number))) {
        let mut machines = Machines::new();
        let mut changed = [None, None];
        changed[side] = Some(number);
        let (answered, joined) = through_the_middle(&mut machines, changed);
        assert!(joined.is_err(), "{side} {number}");
        assert!(machines.folders[1].check_free().is_ok(), "{side} {number}");
        // The authority cannot know that its very last message did not arrive.
        if (side, number) != (1, 2) {
            assert!(answered.is_err(), "{side} {number}");
            assert_eq!(machines.members(), ["left/1"], "{side} {number}");
        }
    }
}

#[test]
fn a_machine_in_the_middle_that_only_listens_learns_no_key() {
    let mut machines = Machines::new();
    let (answered, joined) = through_the_middle(&mut machines, [None, None]);
    answered.unwrap();
    joined.unwrap();
}

#[test]
fn a_machine_that_sends_nonsense_or_nothing_uses_no_attempt() {
    let mut machines = Machines::new();
    for nonsense in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0; 400], &[255; 400]] {
        let (mut joiner, mut inviter) = pair();
        joiner.write_all(nonsense).unwrap();
        drop(joiner);
        let now = (machines.made, 10);
        let folder = machines.folders[0].clone();
        let answered = machines.invitation.answer(&mut inviter, &folder, now);
        assert!(answered.is_err());
    }
    assert_eq!(machines.invitation.refusal(machines.made), None);
    machines.attempt("K7QM-2XHB", Duration::ZERO).1.unwrap();
}

#[test]
fn codes_are_random_and_read_as_they_are_shown() {
    let codes: Vec<JoinCode> = (0..50).map(|_| JoinCode::make().unwrap()).collect();
    for (index, one) in codes.iter().enumerate() {
        assert!(&code(&one.to_string()) == one);
        assert!(codes[..index].iter().all(|other| other != one));
    }
    for wrong in ["", "K7QM-2XH", "K7QM-2XHBA", "K7QM-2XH0", "K7QM-2XHÄ"] {
        assert!(wrong.parse::<JoinCode>().is_err(), "{wrong}");
    }
}
