//! Who stands between client and server.

use fixtures::ServerKind;
use fixtures::recording::{FORMAT, FileKind, Header, Performer, Provenance};
use fixtures::redact::Secrets;
use recorder::ledger::Room;
use recorder::live::Live;
use recorder::{Loopback, Proxy};
use std::error::Error;
use std::net::Ipv4Addr;
use tempfile::TempDir;
use tokio::io::copy_bidirectional_with_sizes;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// So much is copied at once, as the proxy does.
const ROOM: usize = 64 * 1024;

/// Who stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    Nobody,
    Copy,
    Proxy,
}

impl Between {
    pub(crate) const ALL: [Self; 3] = [Self::Nobody, Self::Copy, Self::Proxy];
}

/// One who stands there.
pub(crate) struct Stand {
    pub(crate) port: u16,
    who: Who,
}

enum Who {
    Nobody,
    Copy(JoinHandle<()>),
    Proxy(Box<Recording>),
}

struct Recording {
    proxy: Proxy,
    live: Live,
    _folder: TempDir,
}

impl Stand {
    pub(crate) async fn of(who: Between, server: u16) -> Result<Self, Box<dyn Error>> {
        match who {
            Between::Nobody => Ok(Self { port: server, who: Who::Nobody }),
            Between::Copy => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
                let port = listener.local_addr()?.port();
                let copies = tokio::spawn(async move {
                    while let Ok((client, _)) = listener.accept().await {
                        tokio::spawn(copy(client, server));
                    }
                });
                Ok(Self { port, who: Who::Copy(copies) })
            }
            Between::Proxy => {
                let folder = tempfile::tempdir()?;
                let live = Live::begin(&folder.path().join("x.jsonl"), header(), Secrets::default())?;
                let server = Loopback::parse(&format!("http://127.0.0.1:{server}"))?;
                let proxy = Proxy::start(0, server, live.tape(), Room::default()).await?;
                let port = proxy.url().rsplit(':').next().unwrap_or_default().parse()?;
                Ok(Self { port, who: Who::Proxy(Box::new(Recording { proxy, live, _folder: folder })) })
            }
        }
    }

    /// All of its work is done then.
    pub(crate) async fn end(self) -> Result<(), Box<dyn Error>> {
        match self.who {
            Who::Nobody => {}
            Who::Copy(copies) => copies.abort(),
            Who::Proxy(recording) => {
                let Recording { proxy, live, _folder } = *recording;
                let account = proxy.end().await;
                if account.left_out_count > 0 {
                    return Err(format!("the recording is not whole: {:?}", account.left_out).into());
                }
                live.finish(&account.secrets)?;
            }
        }
        Ok(())
    }
}

async fn copy(mut client: TcpStream, server: u16) -> std::io::Result<()> {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    copy_bidirectional_with_sizes(&mut client, &mut server, ROOM, ROOM).await.map(drop)
}

fn header() -> Header {
    Header {
        format: FORMAT,
        kind: FileKind::Recording,
        server: ServerKind::Kilo,
        version: "bench".to_owned(),
        performer: Performer::StandIn,
        scenario: "live/1".to_owned(),
        workspace: String::new(),
        by: "bench".to_owned(),
        provenance: Provenance::default(),
    }
}
