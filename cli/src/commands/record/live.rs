//! What nobody planned: any client of a running server through a proxy, or the streams of a running server.

use super::super::surroundings::password_of;
use super::super::{Failure, Outcome, runtime, told_to_end, writable_file, writable_folder};
use super::doc::keep_doc;
use super::summary::other_release;
use super::{Arguments, Format, is_file, not_kept, place};
use fixtures::ServerKind;
use fixtures::recording::{FORMAT, FileKind, Header, Performer, Provenance};
use fixtures::redact::Secrets;
use harness::machine::Machine;
use harness::{complain, say};
use recorder::attach::Attached;
use recorder::identity::{self, Identity, Unidentified};
use recorder::ledger::{Account, Room};
use recorder::live::Live;
use recorder::{Credentials, Loopback, Proxy};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Through a proxy.
pub(super) fn proxied(arguments: &Arguments, upstream: &Loopback) -> Outcome {
    runtime()?.block_on(async {
        let identity = match identity::ask(upstream, &candidates(arguments)).await {
            Ok(identity) => identity,
            Err(
                error @ (Unidentified::Unauthorized(_) | Unidentified::Silent(_) | Unidentified::Capture(_)),
            ) => {
                complain!("standin: note: {error}; so its release is not known");
                unknown()
            }
            Err(error @ Unidentified::Unreached(..)) => return Err(Failure::CouldNot(error.to_string())),
        };
        let work = Work::begin(arguments, identity, String::new())?;
        let end = told_to_end()?;
        let proxy = Proxy::start(arguments.port, upstream.clone(), work.live.tape(), Room::default()).await;
        let proxy = proxy.map_err(|error| {
            Failure::CouldNot(format!("failed to listen on 127.0.0.1:{}: {error}", arguments.port))
        })?;
        match arguments.format {
            // The real server's own line: whoever waits for it may be pointed here.
            Format::Text => say!("{} server listening on {}", work.header.server, proxy.url()),
            Format::Json => say!("{}", json!({"url": proxy.url(), "upstream": upstream.to_string()})),
        }
        work.says_where(&format!("what passes to {upstream}"));
        end.await;
        work.finish(proxy.end().await)
    })
}

/// By listening.
pub(super) fn attached(arguments: &Arguments, server: &Loopback) -> Outcome {
    runtime()?.block_on(async {
        let identity = identity::ask(server, &candidates(arguments)).await;
        let identity = identity.map_err(|error| Failure::CouldNot(error.to_string()))?;
        let credentials = identity.credentials.clone();
        let folder = Attached::folder(server, &credentials).await.unwrap_or_default();
        let work = Work::begin(arguments, identity, folder)?;
        let end = told_to_end()?;
        let failed = |error: recorder::capture::CaptureError| Failure::CouldNot(error.to_string());
        let attached =
            Attached::new(server.clone(), credentials, work.live.tape(), Room::default()).map_err(failed)?;
        work.says_where(&format!("the streams of {server}"));
        work.finish(attached.listen(end).await.map_err(failed)?)
    })
}

/// What a server may be asked with: it does not say who it is before it is given its password.
fn candidates(arguments: &Arguments) -> Vec<Credentials> {
    let kinds = arguments.server.map_or_else(|| ServerKind::ALL.to_vec(), |kind| vec![kind]);
    let of = |kind: ServerKind| Credentials {
        user: arguments.username.clone().unwrap_or_else(|| kind.word().to_owned()),
        password: arguments.password.clone().or_else(|| password_of(kind)).unwrap_or_default(),
    };
    kinds.into_iter().map(of).collect()
}

fn unknown() -> Identity {
    let credentials = Credentials { user: String::new(), password: String::new() };
    Identity { server: None, version: None, doc: None, credentials }
}

/// A recording that is being made.
struct Work {
    live: Live,
    header: Header,
    kept: PathBuf,
    secrets: Secrets,
    format: Format,
}

impl Work {
    /// Begins the file, and keeps `/doc` beside it.
    fn begin(arguments: &Arguments, identity: Identity, workspace: String) -> Result<Self, Failure> {
        let out = &arguments.out;
        if is_file(out) {
            writable_file(out, "--out")?;
        } else {
            writable_folder(out, "--out")?;
        }
        let server = arguments.server.or(identity.server).unwrap_or_else(|| {
            complain!("standin: note: the server does not say which one it is, and is taken for kilo; --server names it");
            ServerKind::Kilo
        });
        let mut header = Header {
            format: FORMAT,
            kind: FileKind::Recording,
            server,
            version: identity.version.unwrap_or_else(|| "unknown".to_owned()),
            performer: Performer::Real,
            scenario: "live/1".to_owned(),
            workspace,
            by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
            provenance: Provenance { platform: Some(Provenance::this_platform()), ..Provenance::default() },
        };
        let mut number = 1_u32;
        // Nobody can do again what nobody planned: nothing is replaced.
        while !is_file(out) && is_taken(&place(out, &header)) {
            number += 1;
            header.scenario = format!("live/{number}");
        }
        let kept = place(out, &header);
        let mut secrets = Machine::of_this_process().secrets;
        secrets.add(&identity.credentials.password);
        if let Some(doc) = identity.doc.filter(|_| !is_file(out)) {
            keep_doc(&doc, &secrets, out, &header)?;
        }
        let live = Live::begin(&kept, header.clone(), secrets.clone());
        let live = live.map_err(|error| Failure::CouldNot(error.to_string()))?;
        Ok(Self { live, header, kept, secrets, format: arguments.format })
    }

    fn says_where(&self, what: &str) {
        complain!("recording {what} in {} until Ctrl-C", self.live.partial().display());
    }

    /// Gives the file its name, and says what is in it.
    fn finish(self, account: Account) -> Outcome {
        let Self { live, header, kept, mut secrets, format } = self;
        secrets.add_all(&account.secrets);
        live.finish(&secrets).map_err(|error| not_kept(&error))?;
        match format {
            Format::Text => say!("{}", text(&header, &account, &kept)),
            Format::Json => say!("{}", json(&header, &account, &kept)),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Is it there, or is somebody writing it?
pub(super) fn is_taken(path: &Path) -> bool {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    path.exists() || Path::new(&partial).exists()
}

fn text(header: &Header, account: &Account, kept: &Path) -> String {
    let Header { server, version, .. } = header;
    let Account { connections, requests, streams, events, left_out, left_out_count, .. } = account;
    let mut lines = vec![format!(
        "{server} {version}: {requests} requests on {connections} connections, {streams} streams with {events} events"
    )];
    lines.extend(left_out.iter().map(|what| format!("not whole: {what}")));
    let more = left_out_count - left_out.len() as u64;
    lines.extend((more > 0).then(|| format!("not whole: {more} more; the recording says which")));
    lines.extend(other_release(header).map(|note| format!("note: {note}")));
    lines.push(kept.display().to_string());
    lines.join("\n")
}

fn json(header: &Header, account: &Account, kept: &Path) -> serde_json::Value {
    json!({
        "server": header.server,
        "version": header.version,
        "connections": account.connections,
        "requests": account.requests,
        "streams": account.streams,
        "events": account.events,
        "not_whole": account.left_out_count,
        "not_whole_first": account.left_out,
        "note": other_release(header),
        "file": kept,
    })
}
