//! Processes that have left the group of the program that started them: a client may start a server in a session of its
//! own. They are known by a mark that their environment has inherited; where the system shows no environments
//! (`/proc`), none is found.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of the mark.
const NAME: &str = "STANDIN_CLIENT";

/// Those that are ended may just have started another one.
const ROUNDS: usize = 8;

/// What the environment of a program and of all that it starts has, and no other one.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    value: String,
}

impl Mark {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Self { value: format!("{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)) }
    }

    /// The variable that carries it.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (NAME, &self.value)
    }

    /// Ends all who carry it.
    pub(crate) fn end_all(&self) {
        for _ in 0..ROUNDS {
            let found: Vec<Pid> = self.carriers().collect();
            if found.is_empty() {
                return;
            }
            for process in found {
                // Who has ended meanwhile needs no signal.
                kill_process(process, Signal::KILL).ok();
            }
        }
    }

    fn carriers(&self) -> impl Iterator<Item = Pid> + '_ {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .filter(|process| self.is_carried(&process.path()))
            .filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?))
    }

    fn is_carried(&self, process: &Path) -> bool {
        let wanted = format!("{NAME}={}", self.value);
        // Nobody else's environment can be read, and that of a process that has ended is empty.
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    }
}
