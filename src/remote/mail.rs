//! Messages by mail, handed to the mail server of the house. Certificates are checked against those of the system.

use std::time::Duration;

use mail_send::mail_builder::MessageBuilder;
use mail_send::{Credentials, SmtpClient, SmtpClientBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Builder;

use crate::runtime::is_hidden;

/// Longest time for a message.
const SEND_TIME: Duration = Duration::from_secs(30);
/// Largest part of a reason that is shown.
const REASON_CHARS: usize = 300;

/// A mail server, and who gets mails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MailParams {
    /// Name of the mail server (SMTP), for example `mail.museum.example`. A port is necessary only if it is not the usual one of
    /// `security`. Empty: no mails.
    pub server: String,
    /// How the connection is kept secret.
    pub security: MailSecurity,
    /// User at the mail server. If it is absent: the server takes mails without one.
    pub user: Option<String>,
    /// Password of the user.
    #[schemars(extend("x-secret" = true))]
    pub password: Option<String>,
    /// Address of the sender, for example `pool@museum.example`.
    pub from: String,
    /// Addresses that get the mails.
    #[schemars(length(max = 16))]
    pub to: Vec<String>,
}

/// How the connection to a mail server is kept secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MailSecurity {
    /// It begins in plain text and changes to TLS (STARTTLS), usually port 587. A server that does not offer it is a failure.
    #[default]
    Starttls,
    /// TLS from the beginning, usually port 465.
    Tls,
    /// Plain text, usually port 25: for a server in the same house, without a password.
    None,
}

impl MailSecurity {
    fn port(self) -> u16 {
        match self {
            Self::Starttls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

impl MailParams {
    /// Returns the problems of the table, each with the key of its value.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if !self.server.is_empty() && self.machine().is_none() {
            let message = "the mail server is a name or an IPv4 address, with or without a port, such as mail.museum.example:587";
            problems.push(("server", message.to_owned()));
        }
        let no_mail = |text: &str| {
            let shown: String = text.chars().filter(|c| !is_hidden(*c)).take(60).collect();
            format!("\"{shown}\" is no mail address, such as pool@museum.example")
        };
        if !self.from.is_empty() && !is_mail_address(&self.from) {
            problems.push(("from", no_mail(&self.from)));
        }
        if let Some(to) = self.to.iter().find(|to| !is_mail_address(to)) {
            problems.push(("to", no_mail(to)));
        }
        if self.user.is_some() != self.password.is_some() {
            let message = "a user needs a password, and a password a user";
            problems.push(("user", message.to_owned()));
        }
        if self.password.is_some() && self.security == MailSecurity::None {
            let message = "a password is not sent in plain text; choose \"starttls\" or \"tls\", or remove the password";
            problems.push(("security", message.to_owned()));
        }
        problems
    }

    /// Returns the key that is missing if some of the table is set but no mail can be sent, and says so; `None` if it is whole or empty.
    pub fn missing(&self) -> Option<(&'static str, &'static str)> {
        let is_set = [
            !self.server.is_empty(),
            !self.from.is_empty(),
            !self.to.is_empty(),
        ];
        match is_set {
            [false, false, false] | [true, true, true] => None,
            [false, ..] => Some((
                "server",
                "no mail is sent, because the mail server is missing",
            )),
            [_, false, _] => Some((
                "from",
                "no mail is sent, because the address of the sender is missing",
            )),
            _ => Some(("to", "no mail is sent, because no address gets it")),
        }
    }

    /// Returns the name and the port of the mail server; `None` if they are not valid.
    fn machine(&self) -> Option<(&str, u16)> {
        let (name, port) = match self.server.split_once(':') {
            Some((name, port)) => (name, port.parse().ok().filter(|port| *port > 0)?),
            None => (self.server.as_str(), self.security.port()),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        (!name.is_empty() && name.chars().all(is_name)).then_some((name, port))
    }

    /// Sends a mail. Returns when the server has answered that it took it.
    ///
    /// # Errors
    /// When the server cannot be reached, is not the one that its name says, or refuses.
    pub fn send(&self, subject: &str, text: &str) -> Result<(), String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let sent = runtime.block_on(async {
            let sent = tokio::time::timeout(SEND_TIME, self.deliver(subject, text)).await;
            sent.unwrap_or_else(|_| Err(format!("no answer within {} s", SEND_TIME.as_secs())))
        });
        // Looking up a name can take longer than the message may.
        runtime.shutdown_background();
        sent.map_err(|reason| {
            let reason = format!("{}: {reason}", self.server);
            let shown = reason.chars().filter(|c| !is_hidden(*c));
            shown.take(REASON_CHARS).collect()
        })
    }

    async fn deliver(&self, subject: &str, text: &str) -> Result<(), String> {
        if let Some((key, message)) = self.missing() {
            return Err(format!("{message} (alerts.mail.{key})"));
        }
        let (name, port) = self.machine().ok_or("no mail server")?;
        let mut builder = SmtpClientBuilder::new(name, port)?
            .timeout(SEND_TIME)
            .implicit_tls(self.security == MailSecurity::Tls);
        if let (Some(user), Some(password)) = (&self.user, &self.password) {
            builder = builder.credentials(Credentials::Plain {
                username: user.as_str(),
                secret: password.as_str(),
            });
        }
        let said = |error: mail_send::Error| error.to_string();
        match self.security {
            MailSecurity::None => {
                let client = builder.connect_plain().await.map_err(said)?;
                self.hand_over(client, subject, text).await
            }
            MailSecurity::Starttls | MailSecurity::Tls => {
                let client = builder.connect().await.map_err(said)?;
                self.hand_over(client, subject, text).await
            }
        }
    }

    async fn hand_over<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        mut client: SmtpClient<S>,
        subject: &str,
        text: &str,
    ) -> Result<(), String> {
        let to: Vec<&str> = self.to.iter().map(String::as_str).collect();
        let subject: String = subject.chars().filter(|c| !is_hidden(*c)).collect();
        let message = MessageBuilder::new()
            .from(self.from.as_str())
            .to(to)
            .subject(subject)
            // Programs that answer mails leave those of machines alone (RFC 3834).
            .header(
                "Auto-Submitted",
                mail_send::mail_builder::headers::raw::Raw::new("auto-generated"),
            )
            .text_body(text);
        let sent = client.send(message).await;
        sent.map_err(|error| error.to_string())?;
        // The mail is taken. A server that ends the connection first is no failure.
        let _ended = client.quit().await;
        Ok(())
    }
}

/// Whether a text is a mail address that can stand in a command of SMTP.
fn is_mail_address(text: &str) -> bool {
    let is_plain =
        |c: char| c.is_ascii_graphic() && !matches!(c, '<' | '>' | ',' | ';' | '"' | '\\');
    match text.split_once('@') {
        Some((name, machine)) => {
            let parts = [name, machine];
            text.len() <= 254
                && !machine.contains('@')
                && parts
                    .iter()
                    .all(|part| !part.is_empty() && part.chars().all(is_plain))
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread;

    /// A mail server for one mail, without TLS. It answers `end` to the text. Returns its address and all lines that it got.
    fn server(end: &'static str) -> (String, thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut out = stream.try_clone().unwrap();
            out.write_all(b"220 mail ready\r\n").unwrap();
            let (mut lines, mut is_text) = (Vec::new(), false);
            for line in BufReader::new(stream).lines() {
                let Ok(line) = line else { break };
                let answer = match line.split(' ').next().unwrap_or_default() {
                    _ if is_text && line == "." => {
                        is_text = false;
                        end
                    }
                    _ if is_text => "",
                    "EHLO" => "250-mail\r\n250 8BITMIME\r\n",
                    "DATA" => {
                        is_text = true;
                        "354 go on\r\n"
                    }
                    "QUIT" => "221 bye\r\n",
                    _ => "250 ok\r\n",
                };
                lines.push(line);
                out.write_all(answer.as_bytes()).unwrap();
            }
            lines
        });
        (address.to_string(), server)
    }

    fn params(server: String) -> MailParams {
        MailParams {
            server,
            security: MailSecurity::None,
            from: "pool@museum.example".into(),
            to: vec!["ada@museum.example".into(), "bob@museum.example".into()],
            ..MailParams::default()
        }
    }

    #[test]
    fn a_mail_is_sent_only_when_the_server_has_taken_it() {
        let (address, taken) = server("250 queued\r\n");
        let text = "The camera is black.\n.\nTake off the cap: ä.";
        assert_eq!(
            params(address).send("Shoal: fault\r\nBcc: x@y.z", text),
            Ok(())
        );
        let lines = taken.join().unwrap();
        let has = |text: &str| lines.iter().any(|line| line.contains(text));
        assert!(has("MAIL FROM:<pool@museum.example>"), "{lines:?}");
        assert!(has("RCPT TO:<ada@museum.example>"), "{lines:?}");
        assert!(has("RCPT TO:<bob@museum.example>"), "{lines:?}");
        assert!(has("Auto-Submitted: auto-generated"), "{lines:?}");
        assert!(
            !lines.iter().any(|line| line.starts_with("Bcc:")),
            "{lines:?}"
        );

        let (address, taken) = server("554 you are a robot\r\n");
        let problem = params(address).send("Shoal", "x").unwrap_err();
        assert!(
            problem.contains("554") || problem.contains("robot"),
            "{problem}"
        );
        taken.join().unwrap();
    }

    #[test]
    fn a_password_is_never_sent_to_a_server_without_tls() {
        let (address, taken) = server("250 queued\r\n");
        let mut params = params(address);
        (params.user, params.password) = (Some("ada".into()), Some("geheim".into()));
        params.security = MailSecurity::Starttls;
        let problem = params.send("Shoal", "x").unwrap_err();
        assert!(problem.contains("STARTTLS"), "{problem}");
        let lines = taken.join().unwrap();
        assert!(
            !lines.iter().any(|line| line.starts_with("AUTH")),
            "{lines:?}"
        );
        params.security = MailSecurity::None;
        assert_eq!(params.problems()[0].0, "security");
    }

    #[test]
    fn what_cannot_be_a_mail_is_a_problem() {
        let keys = |params: &MailParams| {
            let problems = params.problems();
            problems.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
        };
        assert_eq!(keys(&MailParams::default()), [""; 0]);
        assert_eq!(keys(&params("mail.museum.example".into())), [""; 0]);
        let mut bad = params("mail museum".into());
        bad.from = "pool".into();
        bad.to = vec!["a@b\r\nRCPT TO:<x@y.z>".into()];
        bad.user = Some("ada".into());
        assert_eq!(keys(&bad), ["server", "from", "to", "user"]);
        // A table that is filled key by key is not whole yet, which is no mistake.
        let mut begun = MailParams {
            server: "mail.museum.example".into(),
            ..MailParams::default()
        };
        assert_eq!(keys(&begun), [""; 0]);
        assert_eq!(begun.missing().unwrap().0, "from");
        assert!(
            begun
                .send("Shoal", "x")
                .unwrap_err()
                .contains("alerts.mail.from")
        );
        begun.from = "pool@museum.example".into();
        assert_eq!(begun.missing().unwrap().0, "to");
        (begun.server, begun.to) = (String::new(), vec!["ada@museum.example".into()]);
        assert_eq!(begun.missing().unwrap().0, "server");
        assert!(MailParams::default().missing().is_none());
        assert!(params("mail".into()).missing().is_none());
        for server in ["mail:0", "mail:x", ":25", "mail:70000"] {
            assert_eq!(keys(&params(server.into())), ["server"], "{server}");
        }
    }
}
