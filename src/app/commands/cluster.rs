//! `shoal cluster`: the keys of a hall of several machines.

use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use jiff::Timestamp;

use crate::cluster::{
    self, CODE_LIFETIME, Invitation, JoinCode, JoinError, KeyFolder, Member, Refusal,
};
use crate::records::state_folder;
use crate::runtime::{now, text_output};

/// Port at which `shoal cluster invite` waits.
const JOIN_PORT: u16 = 7448;
/// Longest wait for a message of the other machine.
const MESSAGE_WAIT: Duration = Duration::from_secs(10);
/// Longest wait until a connection is made.
const CONNECT_WAIT: Duration = Duration::from_secs(5);
/// Pause between two looks for a machine that wants to join.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// `shoal cluster`.
#[derive(Debug, Args)]
pub(in crate::app) struct ClusterArguments {
    #[command(subcommand)]
    command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
enum ClusterCommand {
    /// Make the keys of a new hall; this machine gets its authority and is its first node
    #[command(after_help = "Example: shoal cluster init --hall aquarium --node left my/site.toml")]
    Init(InitArguments),
    /// Show a code with which another machine can join within 10 minutes, and wait for it
    #[command(after_help = "Example: shoal cluster invite right my/site.toml")]
    Invite(InviteArguments),
    /// Join a hall with the code that `shoal cluster invite` shows on the machine with the authority
    #[command(after_help = "Example: shoal cluster join K7QM-2XHB 10.0.0.11 my/site.toml")]
    Join(JoinArguments),
    /// List the nodes that have or had a key of the hall
    #[command(after_help = "Example: shoal cluster list my/site.toml")]
    List(Place),
    /// Revoke the key of a node: no node talks to it from then on
    #[command(after_help = "Example: shoal cluster revoke right my/site.toml")]
    Revoke(RevokeArguments),
}

#[derive(Debug, Args)]
struct InitArguments {
    /// Name of the hall: letters, digits and hyphens
    #[arg(long)]
    hall: String,
    /// Name of this machine's node
    #[arg(long)]
    node: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
struct InviteArguments {
    /// Name of the new node: letters, digits and hyphens
    name: String,
    /// Port at which the new machine connects
    #[arg(long, default_value_t = JOIN_PORT)]
    port: u16,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
struct JoinArguments {
    /// Code that the other machine shows
    code: JoinCode,
    /// Address of the machine with the authority, if necessary with the port
    #[arg(value_name = "ADDRESS[:PORT]")]
    address: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
struct RevokeArguments {
    /// Name of the node
    name: String,
    #[command(flatten)]
    place: Place,
}

/// Where the keys are.
#[derive(Debug, Args)]
struct Place {
    /// Site file; the keys are in the state folder beside it
    #[arg(value_name = "SITE.toml")]
    site: Option<PathBuf>,
    /// State folder; for the service: /var/lib/shoal
    #[arg(long, value_name = "FOLDER")]
    state: Option<PathBuf>,
}

impl Place {
    fn folder(&self) -> KeyFolder {
        let site = self.site.as_deref().and_then(Path::parent);
        let beside_site = || state_folder(site.unwrap_or(Path::new("")));
        KeyFolder::new(&self.state.clone().unwrap_or_else(beside_site))
    }
}

/// Runs a command about the keys of a hall.
///
/// # Errors
/// If it cannot be done.
pub(in crate::app) fn cluster(arguments: ClusterArguments) -> anyhow::Result<ExitCode> {
    if !cluster::IS_BUILT {
        bail!(JoinError::NotBuilt);
    }
    let unix_secs = now().as_second();
    let mut out = text_output();
    match arguments.command {
        ClusterCommand::Init(InitArguments { hall, node, place }) => {
            place.folder().create_hall(&hall, &node, unix_secs)?;
            writeln!(
                out,
                "This machine is the node `{node}` of the hall `{hall}` and has its authority. Keep a backup of its state folder.\n\
                 For each other machine, run here: shoal cluster invite NAME"
            )?;
        }
        ClusterCommand::Invite(arguments) => invite(&arguments, &mut out)?,
        ClusterCommand::Join(arguments) => {
            let admission = join(&arguments)?;
            let (node, hall) = (admission.name(), admission.hall());
            writeln!(
                out,
                "This machine is the node `{node}` of the hall `{hall}`."
            )?;
        }
        ClusterCommand::List(place) => list(&place.folder(), &mut out)?,
        ClusterCommand::Revoke(RevokeArguments { name, place }) => {
            place.folder().revoke(&name, unix_secs)?;
            writeln!(
                out,
                "The key of `{name}` is revoked. Running nodes that this machine reaches close their connections to it within seconds."
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows a code and waits for the machine that uses it.
fn invite(arguments: &InviteArguments, out: &mut impl Write) -> anyhow::Result<()> {
    let (name, port) = (&arguments.name, arguments.port);
    let folder = arguments.place.folder();
    folder.check_invitation(name)?;
    let listener = listen(port)?;
    let code = JoinCode::make()?;
    let minutes = CODE_LIFETIME.as_secs() / 60;
    writeln!(
        out,
        "Code: {code}\n\
         On the new machine, run: shoal cluster join {code} ADDRESS-OF-THIS-MACHINE{}\n\
         The code can be used once, within {minutes} minutes. This command waits; Ctrl-C withdraws the code.",
        if port == JOIN_PORT {
            String::new()
        } else {
            format!(":{port}")
        }
    )?;
    out.flush()?;
    let mut invitation = Invitation::new(name, code, Instant::now());
    loop {
        if let Some(refusal) = invitation.refusal(Instant::now()) {
            bail!("no machine joined: {refusal}");
        }
        let (mut stream, peer) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(ACCEPT_PAUSE);
                continue;
            }
            Err(error) => return Err(error).context("no machine can connect"),
        };
        prepare(&stream)?;
        let peer = peer.ip().to_canonical();
        let times = (Instant::now(), now().as_second());
        match invitation.answer(&mut stream, &folder, times) {
            Ok(()) => {
                writeln!(out, "`{name}` has joined from {peer}.")?;
                return Ok(());
            }
            Err(JoinError::Refused(Refusal::Locked)) => {
                bail!("{peer} sent the last wrong code: {}", Refusal::Locked)
            }
            Err(error @ JoinError::Key(_)) => return Err(error.into()),
            Err(error) => writeln!(out, "{peer}: {error}")?,
        }
        out.flush()?;
    }
}

/// Listens on all addresses of this machine, IPv6 and IPv4, or only IPv4 if the machine has no IPv6.
fn listen(port: u16) -> anyhow::Result<TcpListener> {
    let all = [
        SocketAddr::from(([0_u16; 8], port)),
        SocketAddr::from(([0_u8; 4], port)),
    ];
    let listener = TcpListener::bind(&all[..]).with_context(|| {
        format!("port {port} cannot be used; end the other `shoal cluster invite`, or choose another one with --port")
    })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn join(arguments: &JoinArguments) -> anyhow::Result<cluster::Admission> {
    let folder = arguments.place.folder();
    folder.check_free()?;
    let address = &arguments.address;
    let has_port = address.parse::<SocketAddr>().is_ok()
        || (address.matches(':').count() == 1 && !address.ends_with(':'));
    let resolved = if has_port {
        address.to_socket_addrs()
    } else {
        let bare = address.trim_matches(['[', ']']);
        (bare, JOIN_PORT).to_socket_addrs()
    };
    let resolved = resolved.with_context(|| {
        format!(
            "{address}: no address of a machine; use one such as 10.0.0.11 or 10.0.0.11:{JOIN_PORT}"
        )
    })?;
    let mut stream = connect(resolved).with_context(|| {
        format!(
            "{address}: nothing answers; run `shoal cluster invite NAME` there, and check the network and its firewall"
        )
    })?;
    prepare(&stream)?;
    Ok(cluster::join(&mut stream, &arguments.code, &folder)?)
}

fn connect(addresses: impl Iterator<Item = SocketAddr>) -> std::io::Result<TcpStream> {
    let mut result = Err(ErrorKind::AddrNotAvailable.into());
    for address in addresses {
        result = TcpStream::connect_timeout(&address, CONNECT_WAIT);
        if result.is_ok() {
            break;
        }
    }
    result
}

fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(MESSAGE_WAIT))?;
    stream.set_write_timeout(Some(MESSAGE_WAIT))
}

fn list(folder: &KeyFolder, out: &mut impl Write) -> anyhow::Result<()> {
    let keyring = folder.open()?;
    let members = keyring.members();
    let has_authority = if folder.has_authority() {
        ", with the authority"
    } else {
        ""
    };
    writeln!(
        out,
        "Hall `{}`, list {}; this machine is `{}`{has_authority}",
        members.hall,
        members.version,
        keyring.node()
    )?;
    for member in &members.members {
        writeln!(out, "{}", member_line(member))?;
    }
    if !keyring.is_member() {
        writeln!(
            out,
            "The key of this machine is revoked. To join again, move its folder `hall` away, and run `shoal cluster join`."
        )?;
    }
    Ok(())
}

fn member_line(member: &Member) -> String {
    let day = |unix_secs: i64| {
        let time = Timestamp::from_second(unix_secs).unwrap_or_default();
        time.strftime("%Y-%m-%d").to_string()
    };
    let state = match member.revoked_unix_secs {
        None => "member".to_owned(),
        Some(secs) => format!("revoked {}", day(secs)),
    };
    format!(
        "{:<20} key {:<4} joined {}  {state}",
        member.name,
        member.serial,
        day(member.joined_unix_secs)
    )
}
