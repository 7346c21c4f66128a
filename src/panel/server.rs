//! The server: its address, its encryption, its thread.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum_server::Handle;
use axum_server::accept::DefaultAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use tokio::runtime::{Builder, Runtime};

use super::access::{Access, Accounts, KeptFile, Sessions, random_text};
use super::audit::Audit;
use super::broadcast::fill_channels;
use super::certificate::{Certificate, CertificateSource, certificate_names};
use super::connection::LimitedAcceptor;
use super::host_names::HostNames;
use super::links::PanelLinks;
use super::network::{AnnouncedService, machine_name, network_addresses};
use super::params::{Listen, PanelParams};
use super::proxies::Proxies;
use super::routes::router;
use super::state::{Panel, PanelParts, unix_secs};

/// Number of ports that are tried for `local` and `lan`, so that several instances can run on one machine.
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
/// Time between two checks whether accounts or sessions have changed, which are then written to their files.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two writes of the sessions without such a change, for the times of their last use.
const USES_INTERVAL: Duration = Duration::from_secs(300);
/// Time between two checks whether the certificate is still the one to use.
const CERTIFICATE_INTERVAL: Duration = Duration::from_secs(3600);
/// Number of threads for hashes, JPEG pictures, a download, reads and writes of the disk, and programs.
const HELPERS: usize = 5;

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
    encryption: Option<Encryption>,
    panel: Arc<Panel>,
    service: Option<AnnouncedService>,
    warnings: Vec<String>,
}

/// The encryption, and what is needed to replace its certificate.
struct Encryption {
    config: RustlsConfig,
    certificate: Certificate,
    source: CertificateSource,
}

impl Encryption {
    fn open(source: CertificateSource) -> Result<Self, String> {
        let certificate = source.current(&names_of_machine(), now_secs())?;
        let config = runtime()?.block_on(certificate.encryption())?;
        Ok(Self {
            config,
            certificate,
            source,
        })
    }

    /// Replaces the certificate when it has to be, until the server ends: connections that begin later use the new one.
    async fn keep(&self) {
        let mut used = self.certificate.clone();
        loop {
            tokio::time::sleep(CERTIFICATE_INTERVAL).await;
            let source = self.source.clone();
            let read = move || source.current(&names_of_machine(), now_secs());
            let current = match tokio::task::spawn_blocking(read).await {
                Ok(Ok(current)) => current,
                Ok(Err(problem)) => {
                    tracing::warn!("panel: the former certificate stays in use: {problem}");
                    continue;
                }
                Err(_) => continue,
            };
            if current == used {
                continue;
            }
            match current.encryption().await {
                Ok(config) => {
                    self.config.reload_from_config(config.get_inner());
                    let fingerprint = &current.fingerprint;
                    tracing::info!("panel: another certificate is in use {fingerprint}");
                    used = current;
                }
                Err(problem) => {
                    tracing::warn!("panel: the former certificate stays in use: {problem}");
                }
            }
        }
    }
}

fn names_of_machine() -> Vec<String> {
    certificate_names(machine_name().as_deref(), &network_addresses())
}

fn now_secs() -> i64 {
    i64::try_from(unix_secs()).unwrap_or(i64::MAX)
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
        if let Some(wanted) = listen.address().map(|wanted| wanted.port())
            && wanted != address.port()
            && wanted != 0
        {
            warnings.push(format!(
                "warning: another program uses port {wanted}, so the panel has port {} this time",
                address.port()
            ));
        }
        let is_tls = params.certificate.is_some() || (listen.is_remote() && !params.allow_insecure);
        if listen.is_remote() && !is_tls {
            warnings.push(
                "warning: the panel is served without encryption (panel.allow_insecure); everybody in the network can read \
                 the passwords"
                    .to_owned(),
            );
        }
        let machine = machine_name();
        let encryption = if is_tls {
            let state = options.state_folder.as_deref();
            let source = CertificateSource::new(params, &options.site_folder, state);
            Some(Encryption::open(source)?)
        } else {
            None
        };
        let journal = links.journal.clone();
        let accounts_file = KeptFile::of_accounts(options.state_folder.clone(), &journal);
        let sessions_file = KeptFile::of_sessions(options.state_folder.clone(), &journal);
        let accounts = accounts_file.read_accounts()?;
        let sessions = read_sessions(&sessions_file, &accounts);
        if options.state_folder.is_none() {
            warnings.push(
                "panel: without a site file, users and passwords are kept until the program ends"
                    .to_owned(),
            );
        }
        let fingerprint = match &encryption {
            Some(encryption) => encryption.certificate.fingerprint.clone(),
            None => String::new(),
        };
        if !fingerprint.is_empty() {
            warnings.push(format!("certificate (SHA-256): {fingerprint}"));
        }
        let host = match address.ip() {
            ip if ip.is_unspecified() => {
                let network = network_addresses().into_iter().next();
                network.unwrap_or(Ipv4Addr::LOCALHOST.into())
            }
            ip => ip,
        };
        let scheme = if is_tls { "https" } else { "http" };
        let service = (params.announce && listen.is_remote())
            .then(|| AnnouncedService::new(machine.as_deref(), is_tls, address.port()));
        let panel = Panel::new(PanelParts {
            access: Access::new(accounts, sessions),
            accounts_file,
            sessions_file,
            audit: Audit::new(options.state_folder.as_deref(), &journal),
            proxies: Proxies::new(&params.trusted_proxies),
            hosts: HostNames::new(machine.as_deref(), &params.names),
            is_tls,
            is_strict_tls: (encryption.as_ref()).is_some_and(|tls| tls.source.is_named()),
            may_name_programs: params.may_name_programs(),
            instance: random_text().map_err(|error| error.to_string())?,
            url: format!("{scheme}://{}", SocketAddr::new(host, address.port())),
            fingerprint,
            links,
        });
        Ok(Some(Self {
            listener,
            encryption,
            panel: Arc::new(panel),
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
        self.panel.access.lock().sessions.write_uses();
        self.panel.audit.write_counts(Instant::now(), true);
        // The fault and the log say what could not be saved.
        let _saved = self.panel.save_now();
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
            // The library cannot write dates before 1970, where the clock of a machine without a battery may be.
            .auto_date_header(false)
            .max_buf_size(HEADER_BYTES_MAX)
            .max_headers(HEADERS_MAX);
        let places = Arc::clone(&self.panel.places);
        let serving = async move {
            match &self.encryption {
                Some(encryption) => {
                    let inner = RustlsAcceptor::new(encryption.config.clone())
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
                self.panel.stop_watch.is_after_stop(Instant::now());
            }
            handle.shutdown();
        };
        tokio::select! {
            served = serving => served,
            () = filling => Ok(()),
            () = self.keep_saving() => Ok(()),
            () = self.keep_certificate() => Ok(()),
            () = watching => Ok(()),
        }
    }

    /// Writes accounts and sessions to their files when they change, and tries again what could not be written, until the server
    /// ends.
    async fn keep_saving(&self) {
        let mut uses_written = Instant::now();
        loop {
            tokio::time::sleep(SAVE_INTERVAL).await;
            if uses_written.elapsed() >= USES_INTERVAL {
                uses_written = Instant::now();
                self.panel.access.lock().sessions.write_uses();
            }
            self.panel.places.check();
            self.panel.audit.write_counts(Instant::now(), false);
            if self.panel.has_to_save(Instant::now()) {
                // The fault and the log say what could not be saved.
                let _problem = self.panel.save().await;
            }
        }
    }

    async fn keep_certificate(&self) {
        match &self.encryption {
            Some(encryption) => encryption.keep().await,
            None => std::future::pending().await,
        }
    }
}

/// Returns the sessions from before a restart.
fn read_sessions(file: &KeptFile, accounts: &Accounts) -> Sessions {
    let text = match file.read() {
        Ok(Some(text)) => text,
        Ok(None) => return Sessions::default(),
        Err(problem) => {
            tracing::warn!("panel: users log in again: {problem}");
            return Sessions::default();
        }
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
        // The loopback of IPv6 is for machines without IPv4.
        Listen::Local => (port + 1..port + LOCAL_PORTS)
            .map(|port| (Ipv4Addr::LOCALHOST, port).into())
            .chain((port..port + LOCAL_PORTS).map(|port| (Ipv6Addr::LOCALHOST, port).into()))
            .collect(),
        // The addresses of IPv4 are for a machine without IPv6.
        Listen::Lan => (port..port + LOCAL_PORTS)
            .flat_map(|port| {
                [
                    (Ipv6Addr::UNSPECIFIED, port).into(),
                    (Ipv4Addr::UNSPECIFIED, port).into(),
                ]
            })
            .collect(),
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
