//! The operator's panel under load: what it costs the pool, and how quickly the desk answers.
//!
//! Runs the real program without a picture, alone and then with clients: viewers of the stream, of which some never read, viewers
//! of the camera, then with a sender of commands as well. Prints the CPU time of each thread, the duration of ticks, dropped time, memory, and
//! the time from a command to its reply and to its tick, as the program itself measures them.
//!
//! `cargo bench --bench panel -- [SECONDS]`; `SHOAL_PROGRAM` names another program to measure, for a comparison.

#![allow(clippy::print_stdout, missing_docs)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

/// Clients of the stream that read everything.
const VIEWERS: usize = 200;
/// Further clients of the stream that never read.
const SLOW: usize = 20;
/// Further clients that watch the camera.
const CAMERAS: usize = 10;
/// Largest number of streams with one token. The panel refuses a 21st.
const STREAMS_PER_TOKEN: usize = 20;
/// Time before each measurement.
const SETTLING: Duration = Duration::from_secs(5);
/// Time between two commands.
const COMMAND_INTERVAL: Duration = Duration::from_millis(20);

fn main() -> anyhow::Result<()> {
    let secs = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let time = Duration::from_secs(secs.unwrap_or(20));
    let folder = tempfile::tempdir()?;
    let site = folder.path().join("site.toml");
    std::fs::write(&site, "[camera]\nsource = \"synthetic:1\"\n")?;
    let pool = RunningPool::start(&site)?;
    std::thread::sleep(Duration::from_secs(5));
    let alone = pool.measure(time)?;
    let stop = Arc::new(AtomicBool::new(false));
    let received = Arc::new(AtomicU64::new(0));
    let opened = Instant::now();
    let mut clients = Vec::new();
    let mut token = String::new();
    for number in 0..VIEWERS + SLOW + CAMERAS {
        let names = match number {
            n if n < VIEWERS => json!({"subscribe": ["status", "events"]}),
            n if n < VIEWERS + SLOW => {
                json!({"subscribe": ["status", "events", "agents", "camera"]})
            }
            _ => json!({"subscribe": ["camera"]}),
        };
        if number % STREAMS_PER_TOKEN == 0 {
            token = pool.token(number)?;
        }
        let stream = pool.open_stream(&token, &names)?;
        let is_slow = (VIEWERS..VIEWERS + SLOW).contains(&number);
        let (stop, received) = (Arc::clone(&stop), Arc::clone(&received));
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        clients.push(thread.spawn(move || read_until(stream, is_slow, &stop, &received))?);
    }
    // Status has the figures of the last seconds, so each load runs alone for a while first.
    std::thread::sleep(SETTLING);
    let viewed = pool.measure(time)?;
    let sender = pool.commands(Arc::clone(&stop))?;
    std::thread::sleep(SETTLING);
    let loaded = pool.measure(time)?;
    stop.store(true, Ordering::Relaxed);
    let (sent, mut replies_ms) = sender.join().unwrap_or_default();
    for client in clients {
        let _ended = client.join();
    }
    replies_ms.sort_by(f64::total_cmp);
    let at = |share: f64| {
        replies_ms
            .get((replies_ms.len() as f64 * share) as usize)
            .copied()
    };
    println!(
        "{VIEWERS} viewers, {SLOW} that never read, {CAMERAS} of the camera, {sent} commands in {time:?}"
    );
    let mb = received.load(Ordering::Relaxed) as f64 / 1e6;
    println!("received: {:.1} MB/s", mb / opened.elapsed().as_secs_f64());
    println!(
        "{:32} {:>12} {:>12} {:>12}",
        "", "alone", "viewers", "and commands"
    );
    for (name, value) in &alone.values {
        let [viewed, loaded] = [&viewed, &loaded]
            .map(|measured| measured.values.get(name).copied().unwrap_or_default());
        println!("{name:32} {value:12.3} {viewed:12.3} {loaded:12.3}");
    }
    println!(
        "command to reply over HTTP: median {:.1} ms, 99th percentile {:.1} ms",
        at(0.5).unwrap_or_default(),
        at(0.99).unwrap_or_default()
    );
    Ok(())
}

/// What was measured, by name.
struct Measured {
    values: BTreeMap<String, f64>,
}

struct RunningPool {
    child: Child,
    host: String,
    headers: String,
}

impl Drop for RunningPool {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl RunningPool {
    fn start(site: &std::path::Path) -> anyhow::Result<Self> {
        let program = std::env::var_os("SHOAL_PROGRAM");
        let mut child = Command::new(program.unwrap_or_else(|| env!("CARGO_BIN_EXE_shoal").into()))
            .arg("run")
            .arg(site)
            .args(["--headless", "--panel", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("no standard error")?);
        let mut find = |start: &str| -> anyhow::Result<String> {
            loop {
                let mut line = String::new();
                anyhow::ensure!(lines.read_line(&mut line)? > 0, "the program ended");
                if let Some(rest) = line.strip_prefix(start) {
                    return Ok(rest.trim().to_owned());
                }
            }
        };
        let host = find("panel: http://")?;
        let code = find("setup code: ")?;
        std::thread::Builder::new()
            .spawn(move || std::io::copy(&mut lines, &mut std::io::sink()))?;
        let mut pool = Self {
            child,
            host,
            headers: String::new(),
        };
        let setup = json!({"code": code, "password": "four easy words"});
        let (head, session) = pool.ask("POST /api/v1/setup", Some(&setup))?;
        let cookie = head
            .split_once("shoal_session=")
            .and_then(|(_, rest)| rest.split(';').next());
        pool.headers = format!(
            "Cookie: shoal_session={}\r\nX-CSRF-Token: {}\r\n",
            cookie.context("no session")?,
            session["csrf"].as_str().context("no session")?
        );
        Ok(pool)
    }

    fn ask(&self, request: &str, body: Option<&Value>) -> anyhow::Result<(String, Value)> {
        let mut stream = TcpStream::connect(&self.host)?;
        let body = body.map_or_else(String::new, Value::to_string);
        let (host, headers) = (&self.host, &self.headers);
        let text = format!(
            "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        anyhow::ensure!(head.starts_with("HTTP/1.1 200"), "{answer}");
        Ok((head.to_owned(), serde_json::from_str(body)?))
    }

    /// Makes a token that may see everything.
    fn token(&self, number: usize) -> anyhow::Result<String> {
        let body = json!({"label": format!("viewers from {number}"), "role": "admin"});
        let (_, answer) = self.ask("POST /api/v1/tokens", Some(&body))?;
        Ok(answer["token"].as_str().context("no token")?.to_owned())
    }

    fn open_stream(&self, token: &str, subscribe: &Value) -> anyhow::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.host)?;
        let host = &self.host;
        let text = format!(
            "GET /api/v1/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(text.as_bytes())?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.extend(byte);
        }
        let head = String::from_utf8_lossy(&head);
        anyhow::ensure!(head.starts_with("HTTP/1.1 101"), "no stream: {head}");
        let text = subscribe.to_string();
        let mut frame = vec![0x81, 0x80 | u8::try_from(text.len())?, 0, 0, 0, 0];
        frame.extend(text.bytes());
        stream.write_all(&frame)?;
        Ok(stream)
    }

    /// Sends commands until `stop`. The thread returns their number, and the time to each reply.
    fn commands(
        &self,
        stop: Arc<AtomicBool>,
    ) -> anyhow::Result<std::thread::JoinHandle<(usize, Vec<f64>)>> {
        let client = Self {
            child: Command::new("true").spawn()?,
            host: self.host.clone(),
            headers: self.headers.clone(),
        };
        Ok(std::thread::Builder::new().spawn(move || {
            let mut times = Vec::new();
            let begun = Instant::now();
            while !stop.load(Ordering::Relaxed) {
                let weight = 1.0 + (times.len() % 10) as f64 / 10.0;
                let command = json!({"command": "edit", "edits": [{"document": {"kind": "species", "name": "herring"},
                    "path": "flock.cohesion.weight", "change": {"do": "set", "value": weight}}]});
                let sent = Instant::now();
                if let Err(error) = client.ask("POST /api/v1/commands", Some(&command)) {
                    println!("{error:#}");
                }
                times.push(sent.elapsed().as_secs_f64() * 1e3);
                let due = begun + COMMAND_INTERVAL * times.len() as u32;
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            (times.len(), times)
        })?)
    }

    fn measure(&self, time: Duration) -> anyhow::Result<Measured> {
        let before = self.cpu_secs()?;
        let ticks_before = self.ask("GET /api/v1/status", None)?.1["tick"].as_u64();
        std::thread::sleep(time);
        let after = self.cpu_secs()?;
        let status = self.ask("GET /api/v1/status", None)?.1;
        let mut values = BTreeMap::new();
        for (name, secs) in after {
            let used = secs - before.get(&name).copied().unwrap_or_default();
            values.insert(
                format!("CPU, % of a core: {name}"),
                used / time.as_secs_f64() * 100.0,
            );
        }
        let ticks = status["tick"].as_u64().unwrap_or(0) - ticks_before.unwrap_or(0);
        values.insert(
            "ticks per second".to_owned(),
            ticks as f64 / time.as_secs_f64(),
        );
        for (name, key) in [
            ("tick", "tick"),
            ("command to reply, desk", "command_to_reply"),
            ("command to snapshot", "command_to_snapshot"),
        ] {
            for share in ["p50_ms", "p99_ms"] {
                let value = status["timing"][key][share].as_f64();
                values.insert(format!("{name}, {share}"), value.unwrap_or_default());
            }
        }
        let memory = status["machine"]["memory_bytes"]
            .as_f64()
            .unwrap_or_default();
        values.insert("memory, MB".to_owned(), memory / 1e6);
        Ok(Measured { values })
    }

    /// CPU time of each thread by its name, in seconds.
    fn cpu_secs(&self) -> anyhow::Result<BTreeMap<String, f64>> {
        let mut times = BTreeMap::new();
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = std::fs::read_to_string(task?.path().join("stat")).unwrap_or_default();
            let Some((head, rest)) = text.rsplit_once(')') else {
                continue;
            };
            let name = head.split_once('(').map_or("", |(_, name)| name).to_owned();
            let mut fields = rest.split_whitespace().skip(11);
            let ticks: f64 = fields
                .by_ref()
                .take(2)
                .filter_map(|f| f.parse::<f64>().ok())
                .sum();
            // Linux counts in hundredths of a second.
            *times.entry(name).or_insert(0.0) += ticks / 100.0;
        }
        Ok(times)
    }
}

/// Reads until `stop` or the end of the connection. A slow client reads nothing.
fn read_until(mut stream: TcpStream, is_slow: bool, stop: &AtomicBool, received: &AtomicU64) {
    let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
    let mut buffer = vec![0; 16 << 10];
    while !stop.load(Ordering::Relaxed) {
        if is_slow {
            std::thread::sleep(Duration::from_millis(500));
            continue;
        }
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                received.fetch_add(count as u64, Ordering::Relaxed);
            }
            Err(_) => {}
        }
    }
}
