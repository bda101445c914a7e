//! Processes that have left the group of the program that started them: a client may start a server in a session of its
//! own. They are known by a mark that their environment has inherited; where the system shows no environments
//! (`/proc`), none is found.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The name of the mark.
const NAME: &str = "STANDIN_CLIENT";

/// Those that are ended may just have started another one.
const ROUNDS: usize = 8;

/// Who has just become another program is looked at again; a machine with much to do may need a while for it, and a look
/// at all processes takes about a millisecond.
const LOOKS: usize = 500;

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
        let (mut rounds, mut looks) = (0, 0);
        while rounds < ROUNDS && looks < LOOKS {
            let (mut found, mut unsure) = (false, false);
            for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
                match self.look(&process.path()) {
                    Look::Carries => {
                        found = true;
                        let number = process.file_name().to_str().and_then(|name| name.parse().ok());
                        // Who has ended meanwhile needs no signal.
                        number.and_then(Pid::from_raw).map(|number| kill_process(number, Signal::KILL));
                    }
                    Look::Unsure => unsure = true,
                    Look::Other => {}
                }
            }
            match (found, unsure) {
                (true, _) => rounds += 1,
                (false, true) => {
                    looks += 1;
                    thread::yield_now();
                }
                (false, false) => return,
            }
        }
    }

    fn look(&self, process: &Path) -> Look {
        // Nobody else's environment can be read, and that of a process that has ended is empty.
        let Ok(environment) = fs::read(process.join("environ")) else { return Look::Other };
        let wanted = format!("{NAME}={}", self.value);
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()) {
            Look::Carries
        } else if environment.is_empty() && becomes_another(process) {
            Look::Unsure
        } else {
            Look::Other
        }
    }
}

/// What one look at a process tells.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    Carries,
    Other,
    /// It becomes another program right now, and has no environment until that is done.
    Unsure,
}

/// Whether a process has a program (the system's own and those that have ended have none) and no place for its
/// environment yet; one that was started with an empty environment has such a place.
fn becomes_another(process: &Path) -> bool {
    let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
    fs::read_link(process.join("exe")).is_ok() && environment_starts_at(&stat) == Some(0)
}

/// The 50th of a process's figures. Its name, the second one, may have blanks and brackets, so they are counted from
/// there.
fn environment_starts_at(stat: &str) -> Option<u64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(47)?.parse().ok()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn who_runs_has_a_place_for_its_environment() {
        let own = Path::new("/proc/self");
        let stat = fs::read_to_string(own.join("stat")).unwrap();
        assert!(environment_starts_at(&stat).is_some_and(|start| start > 0), "{stat}");
        assert!(!becomes_another(own));
        assert_eq!(Mark::new().look(own), Look::Other);
        // The state, 46 figures, the place.
        let blank = format!("7 (a) (b) S{} 0 9 0", " 1".repeat(46));
        assert_eq!(environment_starts_at(&blank), Some(0), "{blank}");
    }
}
