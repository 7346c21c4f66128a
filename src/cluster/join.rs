//! How a machine joins a hall: the authority's machine shows a code, and the new node proves that it knows it.
//!
//! The code is never sent. It authenticates a key exchange (`pake.rs`), and everything after it is sealed with the exchanged key, so a
//! machine in the middle without the code can neither read nor change a message, whatever certificate it has. Frames: `P` key exchange,
//! `S` sealed, `R` refusal. The private key of the node never leaves it.

use std::fmt;
use std::io::{self, Read, Write};
use std::str::FromStr;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::key_error::KeyError;
use super::keyring::{Admission, KeyFolder, NewKey};
use super::pake::{Exchange, Side};
use super::sealed::{Seal, receive, send};

/// Time for which a code can be used.
pub const CODE_LIFETIME: Duration = Duration::from_secs(600);
/// Number of wrong attempts after which a code can no longer be used.
const WRONG_CODES_MAX: u8 = 3;
/// First bytes of a join. Another version of the protocol has another number.
const GREETING: &[u8] = b"shoal join 1\n";
/// Letters of a code: none that is easily confused with another.
const CODE_LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// Number of letters of a code: 40 random bits.
const CODE_LENGTH: usize = 8;

const EXCHANGE: u8 = b'P';
const SEALED: u8 = b'S';
const REFUSAL: u8 = b'R';

/// Why a machine does not join.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The connection does not work.
    #[error(
        "the connection for joining broke off: {0}. Check the network between the two machines, and run both commands again"
    )]
    Connection(#[from] io::Error),
    /// The other side refuses.
    #[error("{0}")]
    Refused(Refusal),
    /// The other side does not know the code.
    #[error(
        "the other machine does not know this code, or changed a message. Check the address; if it is right, another machine is in between"
    )]
    NotInviter,
    /// The other side sent something else.
    #[error(
        "the other machine sent no message of a join. Check the address, and that both machines have the same version of Shoal"
    )]
    Protocol,
    /// The feature is missing.
    #[error("this Shoal was built without clusters. Install the package shoal-cluster")]
    NotBuilt,
    /// The key cannot be signed or saved.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// Why a machine is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The code is not the one that was shown.
    #[error(
        "the code is wrong. Read it again from the other machine; letters and digits count, not the hyphen"
    )]
    WrongCode,
    /// Too many wrong codes.
    #[error(
        "{WRONG_CODES_MAX} wrong codes were tried, so the code is locked. Run `shoal cluster invite` again"
    )]
    Locked,
    /// The code is too old.
    #[error("the code is older than {} minutes. Run `shoal cluster invite` again", CODE_LIFETIME.as_secs() / 60)]
    Expired,
    /// Another machine has used the code.
    #[error("the code was already used. Run `shoal cluster invite` again")]
    Used,
    /// The machine with the authority could not sign.
    #[error("the other machine could not sign the key. Read its message there")]
    Failed,
}

impl Refusal {
    const ALL: [Self; 5] = [
        Self::WrongCode,
        Self::Locked,
        Self::Expired,
        Self::Used,
        Self::Failed,
    ];

    fn byte(self) -> u8 {
        match self {
            Self::WrongCode => b'w',
            Self::Locked => b'l',
            Self::Expired => b'e',
            Self::Used => b'u',
            Self::Failed => b'f',
        }
    }

    fn of(contents: &[u8]) -> Option<Self> {
        let all = Self::ALL.into_iter();
        let mut fitting = all.filter(|refusal| contents == [refusal.byte()]);
        fitting.next()
    }
}

/// A code that one machine shows and the other one gets from its technician.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinCode(String);

impl JoinCode {
    /// Makes a random code.
    ///
    /// # Errors
    /// If the operating system gives no random numbers.
    pub fn make() -> Result<Self, KeyError> {
        let mut bytes = [0_u8; CODE_LENGTH];
        getrandom::fill(&mut bytes).map_err(|error| KeyError::crypto(&error))?;
        let letter = |byte: u8| CODE_LETTERS.get(usize::from(byte % 32)).copied();
        let letters = bytes.into_iter().filter_map(letter).map(char::from);
        Ok(Self(letters.collect()))
    }
}

impl FromStr for JoinCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let letters = text.chars().filter(|c| !['-', ' '].contains(c));
        let code: String = letters.map(|c| c.to_ascii_uppercase()).collect();
        let is_known = |c: u8| CODE_LETTERS.contains(&c);
        if code.len() != CODE_LENGTH || !code.bytes().all(is_known) {
            return Err(format!(
                "`{text}`: no code. It has {CODE_LENGTH} letters and digits such as K7QM-2XHB, without I, O, 0 and 1"
            ));
        }
        Ok(Self(code))
    }
}

/// Hides the code from logs.
impl fmt::Debug for JoinCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JoinCode")
    }
}

impl fmt::Display for JoinCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right) = self.0.split_at(CODE_LENGTH / 2);
        write!(f, "{left}-{right}")
    }
}

/// The first sealed message: the public key of the new node.
#[derive(Serialize, Deserialize)]
struct Application {
    public_key: String,
}

/// The last sealed message of each side: the new node has saved its keys, and the authority knows it.
#[derive(Serialize, Deserialize)]
struct Saved {}

/// A node that was invited under a name, with a code.
pub struct Invitation {
    name: String,
    code: JoinCode,
    made: Instant,
    wrong_codes: u8,
    is_used: bool,
}

impl Invitation {
    /// Invites the node `name` with this code.
    #[must_use]
    pub fn new(name: &str, code: JoinCode, now: Instant) -> Self {
        Self {
            name: name.to_owned(),
            code,
            made: now,
            wrong_codes: 0,
            is_used: false,
        }
    }

    /// Why the code can no longer be used; `None` if it can.
    #[must_use]
    pub fn refusal(&self, now: Instant) -> Option<Refusal> {
        if self.is_used {
            Some(Refusal::Used)
        } else if self.wrong_codes >= WRONG_CODES_MAX {
            Some(Refusal::Locked)
        } else if now.saturating_duration_since(self.made) >= CODE_LIFETIME {
            Some(Refusal::Expired)
        } else {
            None
        }
    }

    /// Answers a machine that wants to join: checks the code, signs the key, and adds the node to the list of members in `folder`. If
    /// the machine does not confirm that it has saved its keys, they are revoked.
    ///
    /// # Errors
    /// If the machine does not join.
    pub fn answer(
        &mut self,
        stream: &mut (impl Read + Write),
        folder: &KeyFolder,
        (now, unix_secs): (Instant, i64),
    ) -> Result<(), JoinError> {
        if let Some(refusal) = self.refusal(now) {
            return Err(refuse(stream, refusal));
        }
        let (mut seal, sealed) = self.exchange(stream)?;
        let Some(application) = seal.open::<Application>(sealed) else {
            self.wrong_codes += 1;
            let refusal = self.refusal(now).unwrap_or(Refusal::WrongCode);
            return Err(refuse(stream, refusal));
        };
        self.is_used = true;
        let admission = match folder.admit(&self.name, &application.public_key, unix_secs) {
            Ok(admission) => admission,
            Err(error) => {
                let _refused = refuse(stream, Refusal::Failed);
                return Err(error.into());
            }
        };
        let confirmed = confirm(stream, &mut seal, &admission);
        if confirmed.is_err() {
            folder.revoke(&self.name, unix_secs)?;
        }
        confirmed
    }

    fn exchange(&self, stream: &mut (impl Read + Write)) -> Result<(Seal, Vec<u8>), JoinError> {
        let (exchange, message) =
            Exchange::begin(&self.code.0, Side::Inviter).ok_or(JoinError::NotBuilt)?;
        let (kind, contents) = receive(stream)?;
        let theirs = contents.strip_prefix(GREETING);
        let theirs = theirs.filter(|_| kind == EXCHANGE);
        let key = theirs.and_then(|theirs| exchange.finish(theirs));
        let seal = key.and_then(|key| Seal::new(&key, Side::Inviter));
        let seal = seal.ok_or(JoinError::Protocol)?;
        send(stream, EXCHANGE, &message)?;
        match receive(stream)? {
            (SEALED, sealed) => Ok((seal, sealed)),
            _ => Err(JoinError::Protocol),
        }
    }
}

/// Sends the admission, and waits until the node has saved it.
fn confirm(
    stream: &mut (impl Read + Write),
    seal: &mut Seal,
    admission: &Admission,
) -> Result<(), JoinError> {
    let sealed = seal.close(admission).ok_or(JoinError::Protocol)?;
    send(stream, SEALED, &sealed)?;
    let (kind, sealed) = receive(stream)?;
    let saved = (kind == SEALED).then(|| seal.open::<Saved>(sealed));
    let _saved = saved.flatten().ok_or(JoinError::Protocol)?;
    let sealed = seal.close(&Saved {}).ok_or(JoinError::Protocol)?;
    Ok(send(stream, SEALED, &sealed)?)
}

fn refuse(stream: &mut impl Write, refusal: Refusal) -> JoinError {
    // The reason is a service to the technician. Without it, the connection ends.
    let _sent = send(stream, REFUSAL, &[refusal.byte()]);
    JoinError::Refused(refusal)
}

/// Joins a hall over a connection to the machine that shows `code`. Saves the keys in `folder`, and returns what this machine now is.
///
/// # Errors
/// If this machine does not join. It then has no keys.
pub fn join(
    stream: &mut (impl Read + Write),
    code: &JoinCode,
    folder: &KeyFolder,
) -> Result<Admission, JoinError> {
    folder.check_free()?;
    let key = NewKey::make()?;
    let (exchange, message) = Exchange::begin(&code.0, Side::Joiner).ok_or(JoinError::NotBuilt)?;
    send(stream, EXCHANGE, &[GREETING, &message].concat())?;
    let theirs = expect(stream, EXCHANGE)?;
    let exchanged = exchange.finish(&theirs).ok_or(JoinError::Protocol)?;
    let mut seal = Seal::new(&exchanged, Side::Joiner).ok_or(JoinError::Protocol)?;
    let application = Application {
        public_key: key.public_text(),
    };
    let sealed = seal.close(&application).ok_or(JoinError::Protocol)?;
    send(stream, SEALED, &sealed)?;
    let sealed = expect(stream, SEALED)?;
    let admission: Admission = seal.open(sealed).ok_or(JoinError::NotInviter)?;
    folder.save_admission(&admission, &key)?;
    match report_saved(stream, &mut seal) {
        Ok(()) => Ok(admission),
        Err(error) => {
            // The authority revokes what was not confirmed.
            folder.forget()?;
            Err(error)
        }
    }
}

fn report_saved(stream: &mut (impl Read + Write), seal: &mut Seal) -> Result<(), JoinError> {
    let saved = seal.close(&Saved {}).ok_or(JoinError::Protocol)?;
    send(stream, SEALED, &saved)?;
    let sealed = expect(stream, SEALED)?;
    let _known: Saved = seal.open(sealed).ok_or(JoinError::NotInviter)?;
    Ok(())
}

fn expect(stream: &mut impl Read, expected: u8) -> Result<Vec<u8>, JoinError> {
    match receive(stream)? {
        (kind, contents) if kind == expected => Ok(contents),
        (REFUSAL, contents) => {
            let refusal = Refusal::of(&contents).ok_or(JoinError::Protocol)?;
            Err(JoinError::Refused(refusal))
        }
        _ => Err(JoinError::Protocol),
    }
}

#[cfg(all(test, feature = "zenoh"))]
mod tests;
