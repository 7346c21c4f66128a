//! The thread that keeps the connection to the broker.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v5::{LastWill, Packet, Publish};
use rumqttc::{
    AsyncClient, ConnectionError, Event, EventLoop, MqttOptions, PublishOptions, Transport,
};
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

use super::super::commands::{CommandLimit, check_operator, command_of, result_of};
use super::messages::{self, COMMAND_MAX, Message, OFFLINE, ONLINE};
use super::params::MqttParams;
use crate::control::{DeliveryStatus, DeskClient, Request, Source, SourceKind, Trust};
use crate::runtime::{Backoff, Fault, Heartbeat, is_hidden};

/// Time between two looks at what happens.
const STEP_INTERVAL: Duration = Duration::from_millis(100);
/// Time after which the state is sent again, although it has not changed.
const STATE_INTERVAL: Duration = Duration::from_secs(60);
/// Time between two looks at the names of the scenes.
const NAMES_INTERVAL: Duration = Duration::from_secs(10);
/// First and longest pause after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// Time without a message after which the connection is tested, in seconds.
const KEEP_ALIVE_SECS: u16 = 15;
/// Largest number of messages that wait for the connection. Further ones are lost and counted.
const QUEUE: usize = 256;
/// Largest number of answers that wait.
const REPLIES_MAX: usize = 64;
/// Largest packet that is received, in bytes.
const PACKET_MAX: u32 = 4096;
/// Longest time for the farewell at the end.
const END_TIME: Duration = Duration::from_millis(500);

/// Sends state and events to a broker and takes commands from it, from the start of the program to its end.
pub struct MqttEndpoint {
    params: MqttParams,
    client: DeskClient,
    status: Arc<Mutex<Option<DeliveryStatus>>>,
    own: DeliveryStatus,
    fault: Fault,
    backoff: Backoff,
    is_connected: bool,
    delivered: Option<Instant>,
    /// Number of the newest event that was read.
    event: u64,
    /// The last state that was sent, and when.
    state: Option<(Message, Instant)>,
    /// The last announcement, and when the names of the scenes were read.
    announced: Vec<Message>,
    named: Option<Instant>,
    replies: (SyncSender<Message>, Receiver<Message>),
    limit: CommandLimit,
}

impl MqttEndpoint {
    /// Returns the endpoint of a site; `None` if the site names no broker. `fault` is active while the broker cannot be reached.
    pub fn new(
        params: &MqttParams,
        client: DeskClient,
        status: Arc<Mutex<Option<DeliveryStatus>>>,
        fault: Fault,
    ) -> Option<Self> {
        let own = DeliveryStatus {
            way: "remote.mqtt".to_owned(),
            target: params.address()?.host,
            ..DeliveryStatus::default()
        };
        *status.lock() = Some(own.clone());
        Some(Self {
            params: params.clone(),
            event: client.events_after(u64::MAX, Duration::ZERO).newest,
            client,
            status,
            own,
            fault,
            backoff: Backoff::new(PAUSES.0, PAUSES.1),
            is_connected: false,
            delivered: None,
            state: None,
            announced: Vec::new(),
            named: None,
            replies: sync_channel(REPLIES_MAX),
            limit: CommandLimit::default(),
        })
    }

    /// Works until the program ends. A broker that cannot be reached is a fault and is tried again.
    ///
    /// # Errors
    /// When the machine gives no poll or no certificates.
    pub fn run(&mut self, heartbeat: &Heartbeat) -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let Some(options) = self.options()? else {
            return Ok(());
        };
        runtime.block_on(self.serve(options, heartbeat));
        Ok(())
    }

    fn options(&self) -> io::Result<Option<MqttOptions>> {
        let Some(address) = self.params.address() else {
            return Ok(None);
        };
        let id = format!("shoal-{}", self.params.topic.replace('/', "-"));
        let mut options = MqttOptions::new(id, (address.host.as_str(), address.port));
        let gone = messages::availability(&self.params, OFFLINE);
        let will = LastWill::new(gone.topic, gone.payload, QoS::AtLeastOnce, true, None);
        options
            .set_keep_alive(KEEP_ALIVE_SECS)
            .set_last_will(will)
            .set_max_packet_size(Some(PACKET_MAX));
        match (&self.params.user, &self.params.password) {
            (Some(user), Some(password)) => {
                options.set_credentials(user.clone(), password.clone());
            }
            (Some(user), None) => {
                options.set_username(user.clone());
            }
            _ => {}
        }
        if address.is_secret {
            let transport = Transport::try_tls_with_default_config();
            options.set_transport(transport.map_err(io::Error::other)?);
        }
        Ok(Some(options))
    }

    async fn serve(&mut self, options: MqttOptions, heartbeat: &Heartbeat) {
        let (broker, mut connection) = AsyncClient::builder(options).capacity(QUEUE).build();
        while let Some(event) = self.next_event(&broker, &mut connection, heartbeat).await {
            match event {
                Ok(Event::Incoming(Packet::ConnAck(_))) => self.connected(&broker),
                Ok(Event::Incoming(Packet::PubAck(_))) => {
                    self.own.delivered += 1;
                    self.delivered = Some(Instant::now());
                }
                Ok(Event::Incoming(Packet::Publish(message))) => self.obey(&message),
                Ok(_) => {}
                Err(error) => {
                    self.lost(&error);
                    while heartbeat.keep_running()
                        && !self.backoff.remaining(Instant::now()).is_zero()
                    {
                        self.step(&broker);
                        sleep(STEP_INTERVAL).await;
                    }
                }
            }
        }
        if self.is_connected {
            self.send(&broker, &messages::availability(&self.params, OFFLINE));
            let _full = broker.try_disconnect();
            let farewell = async { while connection.poll().await.is_ok() {} };
            let _late = timeout(END_TIME, farewell).await;
        }
    }

    /// Waits for the next event of the connection, and sends what happens meanwhile. Returns `None` at the end of the program.
    async fn next_event(
        &mut self,
        broker: &AsyncClient,
        connection: &mut EventLoop,
        heartbeat: &Heartbeat,
    ) -> Option<Result<Event, ConnectionError>> {
        // A poll that is given up loses the connection that it is about to make, so it goes on over all steps.
        let mut poll = std::pin::pin!(connection.poll());
        loop {
            if !heartbeat.keep_running() {
                return None;
            }
            self.step(broker);
            if let Ok(event) = timeout(STEP_INTERVAL, &mut poll).await {
                return Some(event);
            }
        }
    }

    fn connected(&mut self, broker: &AsyncClient) {
        self.is_connected = true;
        self.backoff = Backoff::new(PAUSES.0, PAUSES.1);
        self.fault.clear();
        self.own.last_problem.clear();
        self.send(broker, &messages::availability(&self.params, ONLINE));
        // The broker may have been started again and know nothing.
        (self.state, self.named) = (None, None);
        self.announced.clear();
        if self.params.commands {
            let command = messages::topic(&self.params, "command");
            let _full = broker.try_subscribe(command, QoS::AtLeastOnce);
        }
    }

    fn lost(&mut self, error: &ConnectionError) {
        self.is_connected = false;
        let now = Instant::now();
        let pause = self.backoff.record_failure(now).as_secs();
        let problem: String = (error.to_string().chars().filter(|c| !is_hidden(*c)))
            .take(200)
            .collect();
        self.fault.raise(&format_args!(
            "the broker {} cannot be used ({problem}); it is tried again in {pause} s",
            self.own.target
        ));
        self.own.failed += 1;
        self.own.last_problem = problem;
    }

    /// Sends events, answers and the state.
    fn step(&mut self, broker: &AsyncClient) {
        let page = self.client.events_after(self.event, Duration::ZERO);
        for event in &page.events {
            self.event = event.number;
            if let Some(message) = messages::event(&self.params, event) {
                self.send(broker, &message);
            }
        }
        while let Ok(message) = self.replies.1.try_recv() {
            self.send(broker, &message);
        }
        if self.is_connected {
            self.announce(broker);
            let (state, now) = (
                messages::state(&self.params, &self.client.status()),
                Instant::now(),
            );
            let is_known = self.state.as_ref().is_some_and(|(known, sent)| {
                *known == state && now.duration_since(*sent) < STATE_INTERVAL
            });
            if !is_known && self.send(broker, &state) {
                self.state = Some((state, now));
            }
        }
        let ago = self
            .delivered
            .map(|delivered| delivered.elapsed().as_secs());
        self.own.delivered_secs_ago = ago;
        *self.status.lock() = Some(self.own.clone());
    }

    /// Announces the pool to Home Assistant, and again when there are other scenes.
    fn announce(&mut self, broker: &AsyncClient) {
        let is_recent = |named: Instant| named.elapsed() < NAMES_INTERVAL;
        if self.params.discovery.is_none() || self.named.is_some_and(is_recent) {
            return;
        }
        self.named = Some(Instant::now());
        let scenes = self.client.names().scenes;
        let version = &self.client.status().versions.shoal;
        let messages = messages::announcement(&self.params, &scenes, version);
        if messages != self.announced && messages.iter().all(|message| self.send(broker, message)) {
            self.announced = messages;
        }
    }

    /// Queues a message. Returns false, and counts it, if it is lost.
    fn send(&mut self, broker: &AsyncClient, message: &Message) -> bool {
        let options = PublishOptions::new(QoS::AtLeastOnce).retain(message.is_kept);
        let (topic, payload) = (message.topic.clone(), message.payload.clone());
        let is_sent = self.is_connected && broker.try_publish(topic, payload, options).is_ok();
        if !is_sent {
            self.own.dropped += 1;
        }
        is_sent
    }

    /// Sends the command of a message to the desk. The answer goes to the topic `reply`.
    fn obey(&mut self, message: &Publish) {
        let said = message
            .payload
            .get(..COMMAND_MAX)
            .unwrap_or(&message.payload);
        let said = String::from_utf8_lossy(said).into_owned();
        // What the broker has kept was meant for another time.
        let result = match message.retain {
            true => Err("a kept command; send commands without `retain`".to_owned()),
            false => self.pass_on(message, &said),
        };
        if let Err(problem) = result {
            self.own.last_problem = problem
                .chars()
                .filter(|c| !is_hidden(*c))
                .take(200)
                .collect();
            let reply = messages::reply(&self.params, &said, &problem);
            let _full = self.replies.0.try_send(reply);
        }
    }

    fn pass_on(&mut self, message: &Publish, said: &str) -> Result<(), String> {
        self.limit.take().map_err(str::to_owned)?;
        let words = messages::words_of(&message.payload)?;
        let command = command_of(&words)?;
        check_operator(&command, &words)?;
        let request = Request {
            id: 0,
            source: Source {
                kind: SourceKind::Remote,
                name: format!("MQTT {}", self.own.target),
            },
            command,
            trust: Trust::Role,
        };
        let (answers, params, said) =
            (self.replies.0.clone(), self.params.clone(), said.to_owned());
        let sent = self.client.send(request, move |reply| {
            let _full = answers.try_send(messages::reply(&params, &said, &result_of(&reply)));
        });
        sent.map_err(|undelivered| undelivered.to_string())
    }
}
