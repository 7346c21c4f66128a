//! The thread that posts what happens to a web address. Each address has its own, so a slow one does not delay another.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::events::EVENT_NAMES;
use super::params::RemoteWebhook;
use crate::control::{DeliveryStatus, DeskClient, Journal};
use crate::runtime::{Backoff, Fault, Heartbeat};

/// Time between two looks at the events.
const STEP_INTERVAL: Duration = Duration::from_millis(200);
/// First and longest pause after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(300));
/// Largest number of events in a message.
const EVENTS_MAX: usize = 64;
/// Largest number of events that wait for an address that cannot be reached. Older ones are dropped.
const WAITING_MAX: usize = 256;

/// Posts what happens to a web address, from the start of the program to its end.
pub struct WebhookEndpoint {
    params: RemoteWebhook,
    client: DeskClient,
    /// Number of the newest event that was read.
    event: u64,
    waiting: VecDeque<Value>,
    backoff: Backoff,
    fault: Fault,
    delivered: Option<Instant>,
    own: DeliveryStatus,
    status: Arc<Mutex<Vec<DeliveryStatus>>>,
    /// Index of the address in `status`.
    index: usize,
}

impl WebhookEndpoint {
    /// Returns the endpoints of a site, one for each address.
    pub fn all(
        params: &[RemoteWebhook],
        client: &DeskClient,
        status: &Arc<Mutex<Vec<DeliveryStatus>>>,
        journal: &Journal,
    ) -> Vec<Self> {
        let endpoint = |(index, params): (usize, &RemoteWebhook)| {
            let own = DeliveryStatus {
                way: format!("remote.webhooks[{index}]"),
                target: params.address().machine(),
                ..DeliveryStatus::default()
            };
            status.lock().push(own.clone());
            Self {
                params: params.clone(),
                client: client.clone(),
                event: client.events_after(u64::MAX, Duration::ZERO).newest,
                waiting: VecDeque::new(),
                backoff: Backoff::new(PAUSES.0, PAUSES.1),
                fault: journal.fault("remote.webhooks"),
                delivered: None,
                own,
                status: Arc::clone(status),
                index,
            }
        };
        params.iter().enumerate().map(endpoint).collect()
    }

    /// Works until the program ends.
    pub fn run(&mut self, heartbeat: &Heartbeat) {
        while heartbeat.sleep(STEP_INTERVAL) {
            self.collect();
            let now = Instant::now();
            if !self.waiting.is_empty() && self.backoff.remaining(now).is_zero() {
                self.send(now);
            }
            self.own.waiting = self.waiting.len();
            let ago = self
                .delivered
                .map(|delivered| delivered.elapsed().as_secs());
            self.own.delivered_secs_ago = ago;
            if let Some(place) = self.status.lock().get_mut(self.index) {
                place.clone_from(&self.own);
            }
        }
    }

    /// Reads the new events.
    fn collect(&mut self) {
        loop {
            let page = self.client.events_after(self.event, Duration::ZERO);
            for event in &page.events {
                self.event = event.number;
                if let Ok(event) = serde_json::to_value(event)
                    && self.wants(&event)
                {
                    self.waiting.push_back(event);
                }
            }
            while self.waiting.len() > WAITING_MAX {
                self.waiting.pop_front();
                self.own.dropped += 1;
            }
            if page.events.is_empty() {
                return;
            }
        }
    }

    /// Whether an event is among those that the site names. A test always is.
    fn wants(&self, event: &Value) -> bool {
        let name = event.get("event").and_then(Value::as_str);
        name.is_some_and(|name| {
            let is_named = self.params.events.iter().any(|wanted| wanted == name);
            let is_any = self.params.events.is_empty() && EVENT_NAMES.contains(&name);
            is_named || is_any || name == "test"
        })
    }

    fn send(&mut self, now: Instant) {
        let count = self.waiting.len().min(EVENTS_MAX);
        let events: Vec<&Value> = self.waiting.iter().take(count).collect();
        let message = json!({"site": self.client.status().site, "events": events});
        match self.params.address().post(&message.to_string()) {
            Ok(()) => {
                self.waiting.drain(..count);
                self.backoff = Backoff::new(PAUSES.0, PAUSES.1);
                self.fault.clear();
                self.delivered = Some(now);
                self.own.delivered += count as u64;
                self.own.last_problem.clear();
            }
            Err(problem) => {
                let pause = self.backoff.record_failure(now).as_secs();
                let way = &self.own.way;
                self.fault.raise(&format_args!(
                    "{way}: {problem}; it is tried again in {pause} s"
                ));
                self.own.failed += 1;
                self.own.last_problem = problem;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Board, Event, EventKind, FloorPlace, desk_queue};
    use crate::runtime::{HangPolicy, Supervisor};
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Answers each request with the next of the answers, and returns the bodies.
    fn serve(listener: &TcpListener, answers: &'static [&'static str]) -> Vec<Value> {
        let answer = |status: &&str| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = Vec::new();
            let mut buffer = [0; 4096];
            let body = loop {
                let count = stream.read(&mut buffer).unwrap();
                assert!(count > 0, "it ended early");
                received.extend_from_slice(&buffer[..count]);
                let text = String::from_utf8_lossy(&received).into_owned();
                let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
                if let Some(body) = body.and_then(|body| serde_json::from_str(&body).ok()) {
                    break body;
                }
            };
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            body
        };
        answers.iter().map(answer).collect()
    }

    fn catch() -> EventKind {
        EventKind::PreyCaught {
            id: 7,
            species: "shark".into(),
            prey: 9,
            prey_species: "herring".into(),
            at: FloorPlace::new(0.5, -1.25),
        }
    }

    #[test]
    fn the_example_of_the_page_is_a_message_and_its_table_names_all_events() {
        let page = include_str!("../../docs/protocols.md");
        let example = page.split("```json\n").nth(1).unwrap();
        let example: Value = serde_json::from_str(example.split("```").next().unwrap()).unwrap();
        let event: Event = serde_json::from_value(example["events"][0].clone()).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap(), example["events"][0]);
        let (_, table) = page.split_once("## What happens\n").unwrap();
        let (table, _) = table.split_once("\n## ").unwrap();
        let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
        let named: Vec<_> = rows
            .filter_map(|row| Some(row.split_once('`')?.0))
            .collect();
        assert_eq!(named, EVENT_NAMES);
    }

    fn wait(is_there: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_there() {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn what_happens_is_posted_and_kept_while_the_machine_refuses() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server =
            std::thread::spawn(move || serve(&listener, &["200 OK", "503 Busy", "200 OK"]));
        let (client, _desk, board) = desk_queue();
        let journal = Journal::new(Arc::clone(&board));
        let params = RemoteWebhook {
            url,
            events: vec!["prey_caught".into()],
            ..RemoteWebhook::default()
        };
        journal.add(catch());
        let status: Arc<Mutex<Vec<DeliveryStatus>>> = Arc::default();
        let mut endpoints = WebhookEndpoint::all(&[params], &client, &status, &journal);
        let mut endpoint = endpoints.remove(0);
        let mut supervisor = Supervisor::new(Arc::default());
        supervisor
            .start("webhooks", HangPolicy::WaitAtEnd, move |heartbeat| {
                endpoint.run(heartbeat);
            })
            .unwrap();
        // What happened before the start is not sent, and what was not asked for neither.
        journal.add(EventKind::VisitorArrived { id: 1 });
        journal.add(catch());
        wait(|| status.lock()[0].delivered == 1);
        journal.add(EventKind::Test);
        wait(|| status.lock()[0].failed == 1);
        assert_eq!(journal.faults()[0].name, "remote.webhooks");
        let problem = status.lock()[0].last_problem.clone();
        assert_eq!(problem, "127.0.0.1 answers 503");
        wait(|| status.lock()[0].delivered == 2);
        wait(|| journal.faults().is_empty());
        supervisor.shut_down().unwrap();
        let bodies = server.join().unwrap();
        let caught = &bodies[0]["events"];
        assert_eq!(caught.as_array().unwrap().len(), 1);
        assert_eq!(caught[0]["event"], "prey_caught");
        assert_eq!(
            (&caught[0]["species"], &caught[0]["x_m"]),
            (&json!("shark"), &json!(0.5))
        );
        assert_eq!(bodies[1]["events"][0]["event"], "test");
        assert_eq!(bodies[1]["events"], bodies[2]["events"], "the same again");
    }

    #[test]
    fn a_machine_that_is_away_costs_the_oldest_events_and_no_memory() {
        let (client, _desk, board): (_, _, Arc<Board>) = desk_queue();
        let journal = Journal::new(board);
        let params = RemoteWebhook {
            url: "http://127.0.0.1:9/".into(),
            ..RemoteWebhook::default()
        };
        let status = Arc::default();
        let mut endpoint = WebhookEndpoint::all(&[params], &client, &status, &journal).remove(0);
        for id in 0..1000 {
            journal.add(EventKind::VisitorArrived { id });
        }
        endpoint.collect();
        assert_eq!(endpoint.waiting.len(), WAITING_MAX);
        assert_eq!(endpoint.own.dropped, 1000 - WAITING_MAX as u64);
        assert_eq!(endpoint.waiting.back().unwrap()["id"], 999);
    }
}
