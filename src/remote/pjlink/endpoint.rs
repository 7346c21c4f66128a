//! The thread that calls a projector. Each has its own, so a slow one does not delay another.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::super::params::RemoteProjector;
use super::codec::{
    Greeting, LINE_MAX, Refusal, answer_to, digest, greeting_of, lamp_hours_of, parts_of, power_of,
    request, shown, text_of,
};
use super::keeper::{Keeper, REFUSES_CONNECTION, Seen, damage, needs_order};
use crate::control::{DeskClient, Journal, ProjectorPower, ProjectorStatus};
use crate::runtime::{Fault, Heartbeat};

/// Time between two looks at what is wanted.
const STEP_INTERVAL: Duration = Duration::from_millis(500);
/// Longest time for a connection.
const CONNECT_TIME: Duration = Duration::from_secs(4);
/// Longest time for a whole call.
const CALL_TIME: Duration = Duration::from_secs(20);
/// Port to which a machine is woken.
const WAKE_PORT: u16 = 9;

/// Switches a projector of a site by PJLink, and watches it, from the start of the program to its end.
pub struct ProjectorEndpoint {
    projector: Projector,
    client: DeskClient,
    status: Arc<Mutex<Vec<ProjectorStatus>>>,
    /// Index of the projector in `status`.
    index: usize,
    /// Active while the projector is not as it is wanted.
    power: Fault,
    /// Active while a part of the projector reports an error.
    parts: Fault,
}

struct Projector {
    params: RemoteProjector,
    address: SocketAddr,
    keeper: Keeper,
    answered: Option<Instant>,
}

/// Why a call ended early.
enum CallError {
    Refused(Refusal),
    Silent(String),
    NoPjlink,
}

impl From<io::Error> for CallError {
    fn from(error: io::Error) -> Self {
        Self::Silent(match error.kind() {
            ErrorKind::ConnectionRefused => return Self::NoPjlink,
            ErrorKind::WouldBlock | ErrorKind::TimedOut => "it does not answer".to_owned(),
            ErrorKind::UnexpectedEof => "it ends the connection".to_owned(),
            _ => error.to_string(),
        })
    }
}

impl ProjectorEndpoint {
    /// Returns the endpoints of a site, one for each projector.
    pub fn all(
        params: &[RemoteProjector],
        client: &DeskClient,
        status: &Arc<Mutex<Vec<ProjectorStatus>>>,
        journal: &Journal,
    ) -> Vec<Self> {
        let mut endpoints = Vec::new();
        for params in params {
            let Some(address) = params.socket() else {
                continue;
            };
            let mut statuses = status.lock();
            endpoints.push(Self {
                projector: Projector {
                    address,
                    params: params.clone(),
                    keeper: Keeper::default(),
                    answered: None,
                },
                client: client.clone(),
                status: Arc::clone(status),
                index: statuses.len(),
                power: journal.fault("remote.projectors"),
                parts: journal.fault("remote.projector_parts"),
            });
            statuses.push(ProjectorStatus {
                name: params.name.clone(),
                address: address.to_string(),
                ..ProjectorStatus::default()
            });
        }
        endpoints
    }

    /// Works until the program ends.
    pub fn run(&mut self, heartbeat: &Heartbeat) {
        while heartbeat.sleep(STEP_INTERVAL) {
            let schedule = &self.client.status().schedule;
            // Before the schedule has decided, nothing is wanted.
            if schedule.local_time.is_empty() {
                continue;
            }
            let status = self.step(schedule.projectors_on);
            self.report(&status);
            if let Some(place) = self.status.lock().get_mut(self.index) {
                *place = status;
            }
        }
    }

    fn step(&mut self, wants_on: bool) -> ProjectorStatus {
        let statuses = self.status.lock();
        let mut status = statuses.get(self.index).cloned().unwrap_or_default();
        drop(statuses);
        status.is_wanted_on = wants_on;
        let projector = &mut self.projector;
        if projector.keeper.is_due(wants_on, Instant::now()) {
            let seen = projector.call(wants_on, &mut status);
            let now = Instant::now();
            if matches!(seen, Seen::Answered { .. }) {
                projector.answered = Some(now);
            }
            projector.keeper.take(&seen, now);
        }
        status.answered_secs_ago = projector
            .answered
            .map(|answered| answered.elapsed().as_secs());
        status
    }

    /// Begins or ends the faults.
    fn report(&mut self, status: &ProjectorStatus) {
        let power = self.projector.keeper.problem(status, Instant::now());
        for (fault, problem) in [(&mut self.power, power), (&mut self.parts, damage(status))] {
            match problem {
                None => fault.clear(),
                Some(problem) => {
                    fault.raise(&problem);
                }
            }
        }
    }
}

impl Projector {
    /// Calls the projector: asks for its power, orders what is wanted, and asks how it is. One that does not answer is woken.
    fn call(&self, wants_on: bool, status: &mut ProjectorStatus) -> Seen {
        let mut seen = None;
        let result = Call::begin(self.address, self.params.password.as_deref())
            .and_then(|mut call| self.talk(&mut call, wants_on, status, &mut seen));
        match (result, seen) {
            (Ok(()), Some(seen)) => {
                status.problem.clear();
                seen
            }
            // The power is known, so only a part of the answers is missing.
            (Err(CallError::Silent(problem)), Some(seen)) => {
                status.problem = problem;
                seen
            }
            (Err(CallError::Refused(Refusal::Password)), _) => {
                Refusal::Password.reason().clone_into(&mut status.problem);
                status.power = ProjectorPower::Unknown;
                Seen::PasswordRefused
            }
            (Err(CallError::Refused(refusal)), _) => {
                refusal.reason().clone_into(&mut status.problem);
                status.power = ProjectorPower::Unknown;
                Seen::Silent
            }
            (Err(CallError::Silent(problem)), None) => {
                status.problem = problem;
                status.power = ProjectorPower::Unknown;
                if wants_on && let Some(hardware) = self.params.hardware_address() {
                    wake(hardware, self.address);
                }
                Seen::Silent
            }
            (Err(CallError::NoPjlink), seen) => {
                REFUSES_CONNECTION.clone_into(&mut status.problem);
                status.power = ProjectorPower::Unknown;
                seen.unwrap_or(Seen::NoPjlink)
            }
            (Ok(()), None) => Seen::Silent,
        }
    }

    fn talk(
        &self,
        call: &mut Call,
        wants_on: bool,
        status: &mut ProjectorStatus,
        seen: &mut Option<Seen>,
    ) -> Result<(), CallError> {
        let power = match call.ask("POWR", "?") {
            Ok(value) => power_of(&value),
            // Some answer so while they warm up or cool down.
            Err(CallError::Refused(Refusal::NotNow)) => ProjectorPower::Unknown,
            Err(error) => return Err(error),
        };
        status.power = power;
        let was_ordered = needs_order(power, wants_on);
        *seen = Some(Seen::Answered { power, was_ordered });
        let refused = |error: CallError, what: &str| match error {
            CallError::Refused(refusal) if refusal != Refusal::Password => {
                CallError::Silent(format!("{what}: {}", refusal.reason()))
            }
            error => error,
        };
        if was_ordered {
            let order = if wants_on { "1" } else { "0" };
            tracing::info!(
                "projector {}: switched {}",
                status.name,
                if wants_on { "on" } else { "off" }
            );
            call.ask("POWR", order)
                .map_err(|error| refused(error, "switching"))?;
            // It may be silent while it warms up. The rest is asked with the next call.
            return Ok(());
        }
        if power == ProjectorPower::On
            && let Some(input) = &self.params.input
            && call
                .ask_if_known("INPT", "?")?
                .is_none_or(|now| now != *input)
        {
            call.ask("INPT", input)
                .map_err(|error| refused(error, &format!("input {input}")))?;
        }
        if let Some(parts) = call.ask_if_known("ERST", "?")? {
            let of = |is_error| {
                let parts = parts_of(&parts).into_iter();
                let parts = parts.filter(move |part| part.is_error == is_error);
                parts.map(|part| part.part.to_owned()).collect()
            };
            (status.errors, status.warnings) = (of(true), of(false));
        }
        if let Some(lamp) = call.ask_if_known("LAMP", "?")? {
            status.lamp_hours = lamp_hours_of(&lamp);
        }
        if status.model.is_empty() {
            let maker = call.ask_if_known("INF1", "?")?.unwrap_or_default();
            let product = call.ask_if_known("INF2", "?")?.unwrap_or_default();
            status.model = shown(&format!("{maker} {product}"));
        }
        Ok(())
    }
}

/// A connection to a projector.
struct Call {
    stream: TcpStream,
    ends: Instant,
    /// Bytes behind the last line.
    rest: Vec<u8>,
    /// Digest that stands before the first command.
    digest: String,
}

impl Call {
    fn begin(address: SocketAddr, password: Option<&str>) -> Result<Self, CallError> {
        let stream = TcpStream::connect_timeout(&address, CONNECT_TIME)?;
        let mut call = Self {
            stream,
            ends: Instant::now() + CALL_TIME,
            rest: Vec::new(),
            digest: String::new(),
        };
        let greeting = call.line()?;
        call.digest = match greeting_of(&greeting).map_err(CallError::Silent)? {
            Greeting::Open => String::new(),
            Greeting::Locked(random) => match password {
                Some(password) => digest(&random, password),
                None => return Err(CallError::Refused(Refusal::Password)),
            },
        };
        Ok(call)
    }

    /// Sends a command and returns the value of its answer.
    fn ask(&mut self, command: &str, parameter: &str) -> Result<String, CallError> {
        let line = std::mem::take(&mut self.digest) + &request(command, parameter);
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write_all(line.as_bytes())?;
        loop {
            // Class 2 may send something else between.
            let line = self.line()?;
            if let Some(answer) = answer_to(command, &line) {
                return answer.map(str::to_owned).map_err(CallError::Refused);
            }
        }
    }

    /// Like [`Self::ask`]; `None` if the projector does not know the command or cannot answer now.
    fn ask_if_known(
        &mut self,
        command: &str,
        parameter: &str,
    ) -> Result<Option<String>, CallError> {
        match self.ask(command, parameter) {
            Ok(value) => Ok(Some(value)),
            Err(CallError::Refused(Refusal::Password)) => {
                Err(CallError::Refused(Refusal::Password))
            }
            Err(CallError::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn left(&self) -> io::Result<Duration> {
        match self.ends.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ErrorKind::TimedOut.into()),
            left => Ok(left),
        }
    }

    /// Reads a line. Some projectors end it with a line feed behind the carriage return.
    fn line(&mut self) -> Result<String, CallError> {
        let mut bytes = [0; LINE_MAX];
        loop {
            let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
            if let Some(end) = self.rest.iter().position(is_end) {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                let line = text_of(line.get(..end).unwrap_or_default());
                if !line.is_empty() {
                    return Ok(line);
                }
                continue;
            }
            if self.rest.len() > LINE_MAX {
                let problem = "something else than PJLink answers there";
                return Err(CallError::Silent(problem.to_owned()));
            }
            self.stream.set_read_timeout(Some(self.left()?))?;
            match self.stream.read(&mut bytes)? {
                0 => return Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
                count => self.rest.extend(bytes.iter().take(count)),
            }
        }
    }
}

/// Sends the datagram that wakes a machine: six times 255, and its hardware address sixteen times.
fn wake(hardware: [u8; 6], address: SocketAddr) {
    let mut datagram = vec![0xff; 6];
    (0..16).for_each(|_| datagram.extend(hardware));
    let send = || -> io::Result<()> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.set_broadcast(true)?;
        for to in [Ipv4Addr::BROADCAST.into(), address.ip()] {
            // A network without broadcasts is no reason to leave out the other.
            let _unsent = socket.send_to(&datagram, (to, WAKE_PORT));
        }
        Ok(())
    };
    if let Err(error) = send() {
        tracing::warn!("{address} cannot be woken: {error}");
    }
}
