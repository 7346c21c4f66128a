//! The client side of the control socket.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};

use super::protocol::{CtlAnswer, CtlRequest};
use super::socket::running_instances;

/// Longest wait for the reply to a command. Longer than the server waits for the desk.
const REPLY_TIMEOUT: Duration = Duration::from_secs(40);
/// Longest wait for everything else, which the server answers without the desk. A busy machine needs a few tenths of a second.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest line of the server, in bytes.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// Returns the socket of the only instance that is running.
///
/// # Errors
/// When no instance answers, or several do.
pub(crate) fn find_instance() -> anyhow::Result<PathBuf> {
    let mut found = running_instances();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            bail!("no instance of `shoal run` answers; start one, or name its socket with --socket")
        }
        _ => {
            let sockets = found.iter().map(|path| {
                let site = CtlClient::connect(path)
                    .and_then(|mut client| client.status())
                    .map(|status| status.site);
                match site.as_deref() {
                    Ok("") => format!("\n  {} (built-in demo)", path.display()),
                    Ok(site) => format!("\n  {} ({site})", path.display()),
                    Err(_) => format!("\n  {}", path.display()),
                }
            });
            let sockets: String = sockets.collect();
            bail!(
                "{} instances are running; name one with --socket:{sockets}",
                found.len()
            )
        }
    }
}

/// A connection to a running instance.
pub(crate) struct CtlClient {
    path: PathBuf,
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl CtlClient {
    /// Connects to the socket of an instance.
    ///
    /// # Errors
    /// When nothing answers there.
    pub(crate) fn connect(path: &Path) -> anyhow::Result<Self> {
        let connect = || {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
            stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
            let lines = BufReader::new(stream.try_clone()?);
            std::io::Result::Ok((stream, lines))
        };
        let (stream, lines) =
            connect().with_context(|| format!("{}: no instance answers", path.display()))?;
        Ok(Self {
            path: path.to_path_buf(),
            stream,
            lines,
        })
    }

    /// Sends a request.
    ///
    /// # Errors
    /// When the instance does not take it.
    pub(crate) fn send(&mut self, request: &CtlRequest) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let place = || format!("{}: the request cannot be sent", self.path.display());
        self.stream.write_all(&line).with_context(place)
    }

    /// Waits longer for the next answers: they are replies to commands, for which the server waits too. Asks for the status first,
    /// so that an instance that does not run is noticed at once.
    ///
    /// # Errors
    /// When the instance does not answer.
    pub(crate) fn expect_replies(&mut self) -> anyhow::Result<()> {
        self.status()?;
        Ok(self.stream.set_read_timeout(Some(REPLY_TIMEOUT))?)
    }

    /// Waits for the next answer, however long it takes. For events.
    ///
    /// # Errors
    /// When the instance cannot be asked to wait.
    pub(crate) fn wait_forever(&mut self) -> anyhow::Result<()> {
        Ok(self.stream.set_read_timeout(None)?)
    }

    /// Returns the next answer; `None` if the instance has closed the connection.
    ///
    /// # Errors
    /// When the instance does not answer, or answers in another way than this version does.
    pub(crate) fn next_answer(&mut self) -> anyhow::Result<Option<CtlAnswer>> {
        let place = || format!("{}: no answer", self.path.display());
        let mut line = Vec::new();
        let mut limited = (&mut self.lines).take(LINE_BYTES_MAX);
        let read = limited.read_until(b'\n', &mut line);
        if read
            .as_ref()
            .is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        {
            bail!(
                "{}: the instance does not answer in time. It is stopped or hangs, or the machine is overloaded: look at the process, or try again",
                self.path.display()
            );
        }
        read.with_context(place)?;
        if line.is_empty() {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&line).with_context(place)?))
    }

    /// Asks for the status.
    ///
    /// # Errors
    /// As [`Self::next_answer`].
    pub(crate) fn status(&mut self) -> anyhow::Result<crate::control::Status> {
        self.send(&CtlRequest::Status)?;
        match self.next_answer()? {
            Some(CtlAnswer::Status(status)) => Ok(*status),
            Some(CtlAnswer::Error(message)) => bail!("{message}"),
            _ => bail!("{}: the instance sent no status", self.path.display()),
        }
    }
}
