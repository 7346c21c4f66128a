//! What all requests share.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use super::access::{Access, NoSecret, Store};
use super::error::ApiError;
use super::host_names::HostNames;
use super::hub::Hub;
use super::links::{PanelLinks, SetupNotice};

/// Number of password hashes at the same time. Each needs 19 MiB and a core for some 30 ms.
const HASHES_AT_ONCE: usize = 1;
/// Number of requests that may wait for a password hash. Further ones are refused.
const HASHES_WAITING: usize = 16;

/// The state of the server.
pub(crate) struct Panel {
    /// Users, sessions and their permissions.
    pub(crate) access: Mutex<Access>,
    /// The file of accounts.
    store: Store,
    /// Names under which this machine may be addressed.
    pub(crate) hosts: HostNames,
    /// Whether the connections are encrypted.
    pub(crate) is_tls: bool,
    /// Random name of this start of the program.
    pub(crate) instance: String,
    /// Address of the page, as printed and shown on the floor.
    pub(crate) url: String,
    /// What the rest of the program gives.
    pub(crate) links: PanelLinks,
    /// Newest values, encoded once for all clients.
    pub(crate) hub: Hub,
    hashing: Semaphore,
    hash_places: Semaphore,
    uploads: Semaphore,
    downloads: Arc<Semaphore>,
    listings: Semaphore,
}

/// What [`Panel::new`] needs.
pub(crate) struct PanelParts {
    pub(crate) access: Access,
    pub(crate) store: Store,
    pub(crate) hosts: HostNames,
    pub(crate) is_tls: bool,
    pub(crate) instance: String,
    pub(crate) url: String,
    pub(crate) links: PanelLinks,
}

impl Panel {
    pub(crate) fn new(parts: PanelParts) -> Self {
        let hub = Hub::new(&parts.links);
        Self {
            access: Mutex::new(parts.access),
            store: parts.store,
            hosts: parts.hosts,
            is_tls: parts.is_tls,
            instance: parts.instance,
            url: parts.url,
            links: parts.links,
            hub,
            hashing: Semaphore::new(HASHES_AT_ONCE),
            hash_places: Semaphore::new(HASHES_AT_ONCE + HASHES_WAITING),
            uploads: Semaphore::new(1),
            downloads: Arc::new(Semaphore::new(1)),
            listings: Semaphore::new(1),
        }
    }

    /// Computes a slow hash beside the other requests.
    ///
    /// # Errors
    /// When too many wait already.
    pub(crate) async fn hash<T: Send + 'static>(
        &self,
        compute: impl FnOnce() -> Result<T, NoSecret> + Send + 'static,
    ) -> Result<T, ApiError> {
        let busy = || ApiError::busy("too many logins at once; try again in a moment");
        let _place = self.hash_places.try_acquire().map_err(|_| busy())?;
        let _turn = self.hashing.acquire().await.map_err(|_| busy())?;
        let computed = tokio::task::spawn_blocking(compute).await;
        Ok(computed.map_err(|_| NoSecret)??)
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

    /// Writes the accounts to their file, beside the other requests.
    ///
    /// # Errors
    /// When the disk refuses. The change holds until the program ends.
    pub(crate) async fn save_accounts(self: &Arc<Self>) -> Result<(), ApiError> {
        let (number, text) = self.access.lock().content_to_write();
        let panel = Arc::clone(self);
        let written = tokio::task::spawn_blocking(move || panel.store.write(number, &text)).await;
        let problem = match written {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the write was interrupted".to_owned(),
        };
        tracing::error!("panel: the users cannot be saved: {problem}");
        Err(ApiError::unavailable(format!(
            "the change holds until the program ends, but it cannot be saved: {problem}"
        )))
    }

    /// Shows the setup code if no password is set and the code is new.
    pub(crate) fn update_setup_code(&self, now: Instant) {
        let notice = {
            let mut access = self.access.lock();
            if !access.accounts.needs_setup() {
                return;
            }
            match access.code.current(now) {
                Ok((code, true)) => SetupNotice {
                    url: self.url.clone(),
                    code: code.to_owned(),
                },
                Ok(_) | Err(NoSecret) => return,
            }
        };
        (self.links.on_setup)(Some(&notice));
    }

    /// Returns the current date and time, as the status says it.
    pub(crate) fn time(&self) -> String {
        self.links.client.status().time.clone()
    }
}

/// Runs work that waits for the disk or another program, beside the other requests.
///
/// # Errors
/// Those of the work. If it panics, `failure` is the message.
pub(crate) async fn run_blocking<T: Send + 'static>(
    failure: &'static str,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ApiError::unavailable(failure))?
}
