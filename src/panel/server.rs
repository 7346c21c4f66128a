//! The server: its address, its encryption, its thread.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum_server::Handle;
use axum_server::accept::DefaultAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use tokio::runtime::{Builder, Runtime};

use super::access::{Access, Accounts, SessionFile, Sessions, Store, random_text};
use super::broadcast::fill_channels;
use super::certificate::{certificate_names, encryption};
use super::connection::{LimitedAcceptor, Places};
use super::host_names::HostNames;
use super::links::PanelLinks;
use super::network::{AnnouncedService, machine_name, network_address};
use super::params::{Listen, PanelParams};
use super::routes::router;
use super::state::{Panel, PanelParts};

/// Number of ports that are tried for `local`, so that several instances can run on one machine.
const LOCAL_PORTS: u16 = 10;
/// Niceness of the thread. The pool comes first: a stage gets about three times as much time. With less, the page would hardly
/// answer on a machine without a graphics card, whose cores are all busy with the picture.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;
/// Largest size of the headers of a request, in bytes.
const HEADER_BYTES_MAX: usize = 16 << 10;
/// Largest number of headers of a request.
const HEADERS_MAX: usize = 64;
/// Longest time until the headers of a request are complete, and until the next request of a kept connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);
/// Longest time for a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time between two checks for the end of the program.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time between two checks whether sessions began or ended, which are then written to their file.
const SESSIONS_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two writes of the sessions without such a change, for the times of their last use.
const USES_INTERVAL: Duration = Duration::from_secs(300);
/// Number of threads for hashes, JPEG pictures and writes to the disk.
const HELPERS: usize = 3;

/// Settings of the server.
#[derive(Clone, Debug, Default)]
pub struct PanelOptions {
    /// The table `[panel]` of the site.
    pub params: PanelParams,
    /// The site file; `None` for the built-in site.
    pub site: Option<PathBuf>,
    /// Folder of the site file, to which the paths of certificates are relative.
    pub site_folder: PathBuf,
    /// Folder of the users and of the own certificate; `None` keeps them until the program ends.
    pub state_folder: Option<PathBuf>,
}

/// The server of the panel.
pub struct PanelServer {
    listener: TcpListener,
    encryption: Option<RustlsConfig>,
    panel: Arc<Panel>,
    session_file: SessionFile,
    service: Option<AnnouncedService>,
    warnings: Vec<String>,
}

impl PanelServer {
    /// Opens the port, and reads the users. `None` if the panel is off.
    ///
    /// # Errors
    /// When the port is used, or the certificate or the users cannot be read.
    pub fn bind(options: &PanelOptions, links: PanelLinks) -> Result<Option<Self>, String> {
        let params = &options.params;
        let listen = Listen::parse(&params.listen)?;
        let Some(listener) = bind(listen)? else {
            return Ok(None);
        };
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let mut warnings = Vec::new();
        let is_tls = params.certificate.is_some() || (listen.is_remote() && !params.allow_insecure);
        if listen.is_remote() && !is_tls {
            warnings.push(
                "warning: the panel is served without encryption (panel.allow_insecure); everybody in the network can read \
                 the passwords"
                    .to_owned(),
            );
        }
        let machine = machine_name();
        let network = network_address();
        let encryption = if is_tls {
            let names = certificate_names(machine.as_deref(), network);
            let folders = (
                options.site_folder.as_path(),
                options.state_folder.as_deref(),
            );
            let runtime = runtime()?;
            Some(runtime.block_on(encryption(params, folders, names))?)
        } else {
            None
        };
        let (store, accounts) = Store::open(options.state_folder.clone())?;
        let session_file = SessionFile::new(options.state_folder.clone());
        let sessions = read_sessions(&session_file, &accounts);
        if options.state_folder.is_none() {
            warnings.push(
                "panel: without a site file, users and passwords are kept until the program ends"
                    .to_owned(),
            );
        }
        let host = match address.ip() {
            ip if ip.is_unspecified() => network.unwrap_or(Ipv4Addr::LOCALHOST.into()),
            ip => ip,
        };
        let scheme = if is_tls { "https" } else { "http" };
        let service = (params.announce && listen.is_remote())
            .then(|| AnnouncedService::new(machine.as_deref(), is_tls, address.port()));
        let panel = Panel::new(PanelParts {
            access: Access::new(accounts, sessions),
            store,
            hosts: HostNames::new(machine.as_deref(), &params.names),
            is_tls,
            instance: random_text().map_err(|error| error.to_string())?,
            url: format!("{scheme}://{}", SocketAddr::new(host, address.port())),
            links,
        });
        Ok(Some(Self {
            listener,
            encryption,
            panel: Arc::new(panel),
            session_file,
            service,
            warnings,
        }))
    }

    /// Returns the address of the page, for people.
    pub fn url(&self) -> &str {
        &self.panel.url
    }

    /// Returns what the operator should know, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns how to announce the panel; `None` if it is not announced.
    pub fn service(&self) -> Option<&AnnouncedService> {
        self.service.as_ref()
    }

    /// Serves until `keep_running` returns false.
    ///
    /// # Errors
    /// When the thread cannot begin to serve.
    pub fn run(&self, keep_running: impl Fn() -> bool) -> Result<(), String> {
        lower_priority();
        let runtime = runtime()?;
        let served = runtime.block_on(self.serve(keep_running));
        self.write_sessions();
        // A hash or a picture that is being computed may end by itself.
        runtime.shutdown_background();
        served.map_err(|error| format!("the panel cannot be served: {error}"))
    }

    async fn serve(&self, keep_running: impl Fn() -> bool) -> std::io::Result<()> {
        let listener = self.listener.try_clone()?;
        let handle = Handle::new();
        let app = router(&self.panel).into_make_service_with_connect_info::<SocketAddr>();
        let mut server = axum_server::from_tcp(listener)?
            .handle(handle.clone())
            .first_request_timeout(HEADER_TIMEOUT);
        server
            .http_builder()
            .http1()
            .header_read_timeout(HEADER_TIMEOUT)
            .max_buf_size(HEADER_BYTES_MAX)
            .max_headers(HEADERS_MAX);
        server
            .http_builder()
            .http2()
            .max_concurrent_streams(8)
            .max_header_list_size(HEADER_BYTES_MAX as u32);
        let places: Arc<Places> = Arc::default();
        let serving = async move {
            match &self.encryption {
                Some(encryption) => {
                    let inner = RustlsAcceptor::new(encryption.clone())
                        .handshake_timeout(HANDSHAKE_TIMEOUT);
                    server
                        .acceptor(LimitedAcceptor { inner, places })
                        .serve(app)
                        .await
                }
                None => {
                    let inner = DefaultAcceptor::new();
                    server
                        .acceptor(LimitedAcceptor { inner, places })
                        .serve(app)
                        .await
                }
            }
        };
        let filling = fill_channels(Arc::clone(&self.panel));
        let watching = async {
            while keep_running() {
                tokio::time::sleep(CHECK_INTERVAL).await;
            }
            handle.shutdown();
        };
        tokio::select! {
            served = serving => served,
            () = filling => Ok(()),
            () = self.keep_sessions() => Ok(()),
            () = watching => Ok(()),
        }
    }

    /// Writes the sessions to their file when they change, until the server ends.
    async fn keep_sessions(&self) {
        let (mut changes, mut written) = (0, Instant::now());
        loop {
            tokio::time::sleep(SESSIONS_INTERVAL).await;
            let now = self.panel.access.lock().sessions.changes();
            if now != changes || written.elapsed() >= USES_INTERVAL {
                (changes, written) = (now, Instant::now());
                self.write_sessions();
            }
        }
    }

    /// Writes the sessions to their file. If the disk refuses, users log in again after a restart.
    fn write_sessions(&self) {
        let text = {
            let access = self.panel.access.lock();
            if access.sessions.is_untouched() {
                return;
            }
            let accounts = access.accounts.name();
            (access.sessions).text(&accounts, Instant::now(), unix_secs())
        };
        if let Err(error) = self.session_file.write(&text) {
            tracing::warn!("panel: the sessions cannot be kept: {error}");
        }
    }
}

fn unix_secs() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Returns the sessions from before a restart.
fn read_sessions(file: &SessionFile, accounts: &Accounts) -> Sessions {
    let Some(text) = file.read() else {
        return Sessions::default();
    };
    let read = Sessions::read(&text, &accounts.name(), Instant::now(), unix_secs());
    read.unwrap_or_else(|damage| {
        tracing::warn!("panel: the file of sessions is damaged, so users log in again: {damage}");
        Sessions::default()
    })
}

/// Opens the port; `None` if the panel is off.
fn bind(listen: Listen) -> Result<Option<TcpListener>, String> {
    let Some(address) = listen.address() else {
        return Ok(None);
    };
    let first = match TcpListener::bind(address) {
        Ok(listener) => return Ok(Some(listener)),
        Err(error) => error,
    };
    let port = address.port();
    let others: Vec<SocketAddr> = match listen {
        Listen::Local => (port + 1..port + LOCAL_PORTS)
            .map(|port| (Ipv4Addr::LOCALHOST, port).into())
            .collect(),
        // A machine without IPv6.
        Listen::Lan => vec![(Ipv4Addr::UNSPECIFIED, port).into()],
        Listen::Address(_) | Listen::Off => Vec::new(),
    };
    let mut opened = others
        .into_iter()
        .filter_map(|other| TcpListener::bind(other).ok());
    opened.next().map(Some).ok_or_else(|| {
        format!("{address} cannot be opened: {first}; another program may use it, or choose another address in panel.listen")
    })
}

fn runtime() -> Result<Runtime, String> {
    Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(HELPERS)
        .thread_name("panel-helper")
        .build()
        .map_err(|error| format!("the panel cannot be started: {error}"))
}

/// Gives this thread, and the threads that it starts, a low priority.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::warn!("the panel runs with the priority of the pool: {error}");
    }
}
