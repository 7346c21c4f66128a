//! What all requests share.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use super::access::{Access, Identity, KeptFile, NoSecret};
use super::audit::{Audit, AuditEvent};
use super::caller::Caller;
use super::connection::Places;
use super::error::ApiError;
use super::hashing::HashQueue;
use super::host_names::HostNames;
use super::hub::Hub;
use super::links::{PanelLinks, SetupNotice};
use super::proxies::Proxies;
use super::stop_watch::StopWatch;
use super::user_requests::UserRequests;
use crate::control::Trust;
use crate::runtime::now_iso;

/// Number of works at once that wait for the disk or another program. The other helper threads of the server remain for hashes,
/// pictures, a download, and users and sessions that are saved.
const WORK_AT_ONCE: usize = 2;

/// The state of the server.
pub(crate) struct Panel {
    /// Users, sessions and their permissions.
    pub(crate) access: Mutex<Access>,
    /// The file of accounts.
    accounts_file: KeptFile,
    /// The file of sessions.
    sessions_file: KeptFile,
    /// The audit trail.
    pub(crate) audit: Audit,
    /// Trusted proxies.
    pub(crate) proxies: Proxies,
    /// Places for connections.
    pub(crate) places: Arc<Places>,
    /// Requests and streams of each user.
    pub(crate) requests: Arc<UserRequests>,
    /// Whether browsers may be told to use encrypted connections only: the site names a certificate, so it is one that they trust.
    pub(crate) is_strict_tls: bool,
    /// Whether administrators may name programs in the panel.
    pub(crate) may_name_programs: bool,
    /// Whether the program ran all the time.
    pub(crate) stop_watch: StopWatch,
    /// Names under which this machine may be addressed.
    pub(crate) hosts: HostNames,
    /// Whether the connections are encrypted.
    pub(crate) is_tls: bool,
    /// Random name of this start of the program.
    pub(crate) instance: String,
    /// Address of the page, as printed and shown on the floor.
    pub(crate) url: String,
    /// Fingerprint of an own certificate; empty without one.
    pub(crate) fingerprint: String,
    /// What the rest of the program gives.
    pub(crate) links: PanelLinks,
    /// Newest values, encoded once for all clients.
    pub(crate) hub: Hub,
    /// The queue for passwords and PINs.
    pub(crate) hashes: HashQueue,
    uploads: Semaphore,
    downloads: Arc<Semaphore>,
    listings: Semaphore,
    work: Arc<Semaphore>,
}

/// What [`Panel::new`] needs.
pub(crate) struct PanelParts {
    pub(crate) access: Access,
    pub(crate) accounts_file: KeptFile,
    pub(crate) sessions_file: KeptFile,
    pub(crate) audit: Audit,
    pub(crate) proxies: Proxies,
    pub(crate) hosts: HostNames,
    pub(crate) is_tls: bool,
    pub(crate) is_strict_tls: bool,
    pub(crate) may_name_programs: bool,
    pub(crate) instance: String,
    pub(crate) url: String,
    pub(crate) fingerprint: String,
    pub(crate) links: PanelLinks,
}

impl Panel {
    pub(crate) fn new(parts: PanelParts) -> Self {
        let hub = Hub::new(&parts.links);
        Self {
            access: Mutex::new(parts.access),
            accounts_file: parts.accounts_file,
            sessions_file: parts.sessions_file,
            audit: parts.audit,
            places: Arc::new(Places::new(parts.proxies.clone(), &parts.links.journal)),
            proxies: parts.proxies,
            requests: Arc::default(),
            stop_watch: StopWatch::start_at(Instant::now()),
            hosts: parts.hosts,
            is_tls: parts.is_tls,
            is_strict_tls: parts.is_strict_tls,
            may_name_programs: parts.may_name_programs,
            instance: parts.instance,
            url: parts.url,
            fingerprint: parts.fingerprint,
            links: parts.links,
            hub,
            hashes: HashQueue::default(),
            uploads: Semaphore::new(1),
            downloads: Arc::new(Semaphore::new(1)),
            listings: Semaphore::new(1),
            work: Arc::new(Semaphore::new(WORK_AT_ONCE)),
        }
    }

    /// Takes the place of the only upload or backup that may run, because each needs much memory.
    ///
    /// # Errors
    /// When another one is running.
    pub(crate) fn one_upload(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        self.uploads.try_acquire().map_err(|_| {
            ApiError::busy("another backup or restore is running; try again in a moment")
        })
    }

    /// Takes the place of the only download of a recording that may run, because each keeps a thread and the disk busy.
    ///
    /// # Errors
    /// When another one is running.
    pub(crate) fn one_download(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        Arc::clone(&self.downloads)
            .try_acquire_owned()
            .map_err(|_| ApiError::busy("another download is running; try again in a moment"))
    }

    /// Takes the place of the only listing of devices that may run, because each starts a process. Waits for another one.
    pub(crate) async fn one_listing(&self) -> Option<SemaphorePermit<'_>> {
        self.listings.acquire().await.ok()
    }

    /// Runs work that waits for the disk or another program, beside the other requests. Waits until few others run; if the client is
    /// gone by then, the work does not begin.
    ///
    /// # Errors
    /// Those of the work. If it panics, `failure` is the message.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        failure: &'static str,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let failed = || ApiError::unavailable(failure);
        let turn = Arc::clone(&self.work).acquire_owned().await;
        let turn = turn.map_err(|_| failed())?;
        let panel = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            // Also work whose client is gone counts until its end.
            let _turn = turn;
            work(&panel)
        });
        done.await.map_err(|_| failed())?
    }

    /// Writes accounts and sessions to their files, as far as they have changed, beside the other requests. Returns what could not be
    /// saved: it holds until the program ends, is a fault, and the server tries again.
    pub(crate) async fn save(self: &Arc<Self>) -> Option<String> {
        let panel = Arc::clone(self);
        let saved = tokio::task::spawn_blocking(move || panel.save_now()).await;
        let problem = match saved {
            Ok(Ok(())) => return None,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the write was interrupted".to_owned(),
        };
        Some(format!(
            "this holds now, but it cannot be saved: {problem}. Shoal tries again; if it ends before, the change is lost"
        ))
    }

    /// Writes accounts and sessions to their files, as far as they have changed, and flushes the audit trail. Takes as long as the disk needs.
    ///
    /// # Errors
    /// When the disk refuses one of them.
    pub(crate) fn save_now(&self) -> std::io::Result<()> {
        self.audit.flush();
        let (accounts, sessions) = {
            let access = self.access.lock();
            let accounts = (access.changes(), access.accounts().text());
            let (name, now) = (access.accounts().name(), Instant::now());
            let sessions = access.sessions.text(&name, now, unix_secs());
            (accounts, (access.sessions.changes(), sessions))
        };
        let first = match accounts {
            (0, _) => Ok(()),
            (number, text) => self.accounts_file.write(number, &text),
        };
        let second = match sessions {
            (0, _) => Ok(()),
            (number, text) => self.sessions_file.write(number, &text),
        };
        first.and(second)
    }

    /// Whether accounts or sessions have changed since the last write, and it is time to write them, or the audit trail has new
    /// entries.
    pub(crate) fn has_to_save(&self, now: Instant) -> bool {
        let (accounts, sessions) = {
            let access = self.access.lock();
            (access.changes(), access.sessions.changes())
        };
        self.audit.is_unflushed()
            || self.accounts_file.is_behind(accounts, now)
            || self.sessions_file.is_behind(sessions, now)
    }

    /// Adds an entry of a sender to the audit trail.
    pub(crate) fn note(&self, caller: &Caller, event: AuditEvent, detail: &str) {
        let who = caller.identity.as_ref();
        let who = who.map_or_else(String::new, Identity::shown);
        self.audit
            .add(event, &who, &caller.address.to_string(), detail);
    }

    /// Returns what a sender may change beyond its role.
    pub(crate) fn trust(&self, caller: &Caller) -> Trust {
        match caller.need_password(&self.access.lock()) {
            Ok(()) => self.trust_max(),
            Err(_) => Trust::Role,
        }
    }

    /// Returns what an administrator may change who has entered the password lately.
    pub(crate) fn trust_max(&self) -> Trust {
        match self.may_name_programs {
            true => Trust::Programs,
            false => Trust::Confirmed,
        }
    }

    /// Shows the setup code if no password is set and the code is new.
    pub(crate) fn update_setup_code(&self, now: Instant) {
        let notice = {
            let mut access = self.access.lock();
            if !access.accounts().needs_setup() {
                return;
            }
            match access.code.current(now) {
                Ok((code, true)) => SetupNotice {
                    url: self.url.clone(),
                    code: code.to_owned(),
                    fingerprint: self.fingerprint.clone(),
                },
                Ok(_) | Err(NoSecret) => return,
            }
        };
        (self.links.on_setup)(Some(&notice));
    }

    /// Returns the current date and time.
    pub(crate) fn time(&self) -> String {
        now_iso()
    }
}

/// Returns the time of day in seconds since 1970; 0 if the clock of the machine is before that.
pub(crate) fn unix_secs() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
