//! A small HTTP client that can also send what no browser would.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest wait of a test for anything.
pub(super) const LONGEST: Duration = Duration::from_secs(60);

/// Waits until a value is there.
pub(super) fn wait_until<T>(what: &str, mut get: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = get() {
            return value;
        }
        assert!(begun.elapsed() < LONGEST, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Connects to the server.
pub(super) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONGEST)).unwrap();
    stream.set_write_timeout(Some(LONGEST)).unwrap();
    stream
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// The body as JSON; `null` if it is none.
    pub(super) json: Value,
}

impl Answer {
    /// Reads an answer.
    pub(super) fn read(stream: &mut impl std::io::Read) -> std::io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| std::io::Error::other(format!("no answer: {line:?}")))?;
        let mut headers = Vec::new();
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
        reader.read_exact(&mut body)?;
        Ok(Self {
            status,
            headers,
            json: serde_json::from_slice(&body).unwrap_or_default(),
            body,
        })
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(own, _)| own == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// Name of the error.
    pub(super) fn code(&self) -> &str {
        self.json["error"]["code"].as_str().unwrap_or_default()
    }

    /// Value of a cookie that the answer sets.
    pub(super) fn cookie(&self, name: &str) -> Option<&str> {
        let cookies = self.headers.iter().filter(|(own, _)| own == "set-cookie");
        let mut pairs = cookies.filter_map(|(_, line)| line.split(';').next()?.split_once('='));
        pairs.find(|(own, _)| *own == name).map(|(_, value)| value)
    }
}

/// A client that keeps cookies and sends the secret of its session, as a browser with the page does.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) address: String,
    pub(super) session: Option<String>,
    pub(super) device: Option<String>,
    pub(super) csrf: Option<String>,
    pub(super) token: Option<String>,
}

impl Client {
    pub(super) fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            session: None,
            device: None,
            csrf: None,
            token: None,
        }
    }

    pub(super) fn login(&mut self, user: &str, password: &str) -> Answer {
        self.post("/api/v1/login", json!({"user": user, "password": password}))
    }

    pub(super) fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "calls with json! read better"
    )]
    pub(super) fn post(&mut self, path: &str, body: Value) -> Answer {
        self.send("POST", path, &[], body.to_string().as_bytes())
    }

    /// Returns the headers of this client as it would send them.
    pub(super) fn headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![("Host".to_owned(), self.address.clone())];
        let cookies = [
            ("shoal_session", &self.session),
            ("shoal_device", &self.device),
        ];
        let cookies = cookies.iter().filter_map(|(name, value)| {
            let value = value.as_ref()?;
            Some(format!("{name}={value}"))
        });
        let cookies: Vec<String> = cookies.collect();
        if !cookies.is_empty() {
            headers.push(("Cookie".to_owned(), cookies.join("; ")));
        }
        if let Some(csrf) = &self.csrf {
            headers.push(("X-CSRF-Token".to_owned(), csrf.clone()));
        }
        if let Some(token) = &self.token {
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        headers
    }

    /// Sends a request. A header in `others` replaces the one that the client would send; an empty one removes it.
    pub(super) fn send(
        &mut self,
        method: &str,
        path: &str,
        others: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let answer = request(&self.headers(), (&self.address, method, path), others, body).unwrap();
        if let Some(session) = answer.cookie("shoal_session") {
            self.session = Some(session.to_owned()).filter(|session| !session.is_empty());
        }
        if let Some(device) = answer.cookie("shoal_device") {
            self.device = Some(device.to_owned());
        }
        if let Some(csrf) = answer.json.get("csrf") {
            self.csrf = csrf.as_str().map(str::to_owned);
        }
        answer
    }
}

/// Sends one request on a new connection.
pub(super) fn request(
    own: &[(String, String)],
    (address, method, path): (&str, &str, &str),
    others: &[(&str, &str)],
    body: &[u8],
) -> std::io::Result<Answer> {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    let is_replaced = |name: &str| {
        others
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(name))
    };
    let mut headers: Vec<(&str, &str)> = Vec::new();
    headers.extend(
        own.iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    );
    let length = body.len().to_string();
    if method == "POST" {
        headers.push(("Content-Type", "application/json"));
        headers.push(("Content-Length", &length));
    }
    headers.push(("Connection", "close"));
    headers.retain(|(name, _)| !is_replaced(name));
    headers.extend(others.iter().filter(|(_, value)| !value.is_empty()));
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    let mut stream = connect(address);
    stream.write_all(text.as_bytes())?;
    stream.write_all(body)?;
    Answer::read(&mut stream)
}

/// A WebSocket client.
pub(super) struct StreamClient(pub(super) TcpStream);

/// A message of the server.
#[derive(Debug)]
pub(super) enum Received {
    Text(Value),
    Binary(Vec<u8>),
    Close(u16),
}

impl StreamClient {
    /// Opens the stream.
    pub(super) fn open(client: &Client, others: &[(&str, &str)]) -> Result<Self, Answer> {
        let mut headers = client.headers();
        let origin = format!("http://{}", client.address);
        headers.push(("Origin".to_owned(), origin));
        headers.retain(|(name, _)| {
            !others
                .iter()
                .any(|(other, _)| other.eq_ignore_ascii_case(name))
        });
        let mut text = "GET /api/v1/stream HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            .to_owned();
        let others = others.iter().filter(|(_, value)| !value.is_empty());
        for (name, value) in headers
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .chain(others.copied())
        {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        let mut stream = connect(&client.address);
        stream.write_all(text.as_bytes()).unwrap();
        // One byte at a time, so that no message after the answer is lost.
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        if head.starts_with(b"HTTP/1.1 101") {
            return Ok(Self(stream));
        }
        let mut answer = std::io::Cursor::new(head).chain(stream);
        Err(Answer::read(&mut answer).unwrap())
    }

    /// Sends a text.
    pub(super) fn send(&mut self, text: &str) {
        let mut frame = vec![0x81];
        match text.len() {
            length @ 0..126 => frame.push(0x80 | length as u8),
            length => {
                frame.push(0x80 | 126);
                frame.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(text.bytes());
        self.0.write_all(&frame).unwrap();
    }

    pub(super) fn subscribe(&mut self, names: &[&str], after: Option<u64>) {
        let message = match after {
            Some(after) => json!({"subscribe": names, "after": after}),
            None => json!({"subscribe": names}),
        };
        self.send(&message.to_string());
    }

    /// Returns the next message; `None` if the connection is closed.
    pub(super) fn next(&mut self) -> Option<Received> {
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head).ok()?;
            let length = match head[1] & 0x7f {
                126 => {
                    let mut length = [0; 2];
                    self.0.read_exact(&mut length).ok()?;
                    usize::from(u16::from_be_bytes(length))
                }
                127 => {
                    let mut length = [0; 8];
                    self.0.read_exact(&mut length).ok()?;
                    u64::from_be_bytes(length) as usize
                }
                length => usize::from(length),
            };
            let mut content = vec![0; length];
            self.0.read_exact(&mut content).ok()?;
            match head[0] & 0x0f {
                1 => return Some(Received::Text(serde_json::from_slice(&content).unwrap())),
                2 => return Some(Received::Binary(content)),
                8 => {
                    return Some(Received::Close(u16::from_be_bytes([
                        content[0], content[1],
                    ])));
                }
                _ => {}
            }
        }
    }

    /// Returns the next text of a type.
    pub(super) fn text(&mut self, kind: &str) -> Value {
        loop {
            match self.next().unwrap() {
                Received::Text(text) if text["type"] == kind => return text,
                Received::Close(code) => panic!("closed with {code}"),
                _ => {}
            }
        }
    }
}
