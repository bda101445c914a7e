//! What runs for the performer: shell lines, programs, pages that are got, a model at an address. What they tell goes to
//! the performer under the number of the act that began them.

use super::{Core, Inner};
use crate::model::ModelNews;
use crate::performer::Act;
use crate::screens::Hand;
use crate::world::{Page, Program, ProgramNews, ShellLine, ShellNews, ToolServer};
use crate::{addresses, fetch, programs, screens, shell};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, mpsc};
use std::time::Duration;
use tokio::sync::mpsc as mpsc_async;
use tokio::task::JoinHandle;

/// So much may wait to be heard that programs have told.
const UNHEARD_MAX: usize = 64;

/// All that runs, by its number.
pub(super) struct AllRunning {
    tasks: HashMap<u64, Task>,
    /// When each of the shell lines among them began, in milliseconds.
    lines: HashMap<u64, u64>,
    programs: HashMap<u64, programs::Running>,
    /// What is said to servers of tools that are no programs of this stand-in.
    addresses: HashMap<u64, mpsc_async::UnboundedSender<String>>,
    /// What programs tell where time is logical: it is heard when time is about to leap.
    tell: mpsc::SyncSender<(u64, ProgramNews)>,
    told: mpsc::Receiver<(u64, ProgramNews)>,
}

/// A shell line, a page, or a model that answers; who forgets it ends it.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Default for AllRunning {
    fn default() -> Self {
        let (tell, told) = mpsc::sync_channel(UNHEARD_MAX);
        let (tasks, lines) = (HashMap::new(), HashMap::new());
        Self { tasks, lines, programs: HashMap::new(), addresses: HashMap::new(), tell, told }
    }
}

impl AllRunning {
    pub(super) fn end(&mut self, number: u64) {
        self.tasks.remove(&number);
        self.lines.remove(&number);
        self.programs.remove(&number);
        self.addresses.remove(&number);
    }

    /// When the line began that began last.
    pub(super) fn youngest_line(&self) -> Option<u64> {
        self.lines.values().max().copied()
    }

    /// Says a line to a server of tools.
    pub(super) fn tell(&self, number: u64, line: String) {
        if let Some(address) = self.addresses.get(&number) {
            // Who has left hears nothing.
            address.send(line).ok();
            return;
        }
        if let Some(program) = self.programs.get(&number) {
            program.tell(line);
        }
    }

    /// What a program tells within so much of the machine's time, where time is logical.
    pub(super) fn told_within(&self, patience: Duration) -> Option<(u64, ProgramNews)> {
        if self.programs.is_empty() {
            self.told.try_recv().ok()
        } else {
            self.told.recv_timeout(patience).ok()
        }
    }
}

impl Core {
    /// Ends what runs for the performer.
    pub(crate) fn end_all(&self) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).running = AllRunning::default();
    }

    /// Begins something, or ends it. Whoever runs it does not keep the stand-in alive.
    pub(super) fn begin(self: &Arc<Self>, inner: &mut Inner, act: Act) {
        let core = Arc::downgrade(self);
        let (number, task) = match act {
            Act::Run(number, line) => {
                inner.running.lines.insert(number, self.clock.now_ms());
                (number, tokio::spawn(self.clone().run(number, line)))
            }
            Act::Ask(number, request) => {
                let Some(model) = self.model.clone() else { return };
                let answer = async move {
                    let tell = |news: Vec<ModelNews>| {
                        if let Some(core) = core.upgrade() {
                            core.model_says(number, news);
                        }
                    };
                    model.answer(&request, tell).await;
                };
                (number, tokio::spawn(answer))
            }
            Act::Fetch(number, wish) => {
                let fetching = async move {
                    let got = fetch::fetch(wish).await;
                    if let Some(core) = core.upgrade() {
                        core.fetched(number, got);
                    }
                };
                (number, tokio::spawn(fetching))
            }
            Act::Start(number, ToolServer::Program(program)) => return self.start(inner, number, &program),
            Act::Start(number, ToolServer::Address(_)) if self.clock.is_logical() => {
                // Nobody can say when such a one answers.
                let failed = ProgramNews::Failed(addresses::UNREACHABLE.to_owned());
                inner.running.tell.try_send((number, failed)).ok();
                return;
            }
            Act::Start(number, ToolServer::Address(address)) => {
                let (say, said) = mpsc_async::unbounded_channel();
                inner.running.addresses.insert(number, say);
                let tell = move |news: ProgramNews| {
                    if let Some(core) = core.upgrade() {
                        core.program_says(number, news);
                    }
                };
                let is_alone = self.clock.is_virtual();
                let talking = async move {
                    // Where there is no socket, nobody is there.
                    match is_alone {
                        true => tell(ProgramNews::Failed(addresses::UNREACHABLE.to_owned())),
                        false => addresses::talk(address, said, tell).await,
                    }
                };
                (number, tokio::spawn(talking))
            }
            Act::Draw(id, rows, columns) => {
                if let Some(screen) = self.screens.of(&id) {
                    screen.touch(Hand::Draws { rows, columns });
                }
                return;
            }
            Act::EndRun(number) => return inner.running.end(number),
            _ => return,
        };
        inner.running.tasks.insert(number, Task(task));
    }

    fn start(self: &Arc<Self>, inner: &mut Inner, number: u64, program: &Program) {
        let started = if self.clock.is_logical() {
            let tell = inner.running.tell.clone();
            programs::start(program, move |news| tell.send((number, news)).is_ok())
        } else {
            let (tell, mut told) = tokio::sync::mpsc::channel(UNHEARD_MAX);
            let core = Arc::downgrade(self);
            let hearing = async move {
                while let Some(news) = told.recv().await {
                    let Some(core) = core.upgrade() else { return };
                    core.program_says(number, news);
                }
            };
            inner.running.tasks.insert(number, Task(tokio::spawn(hearing)));
            let failed = tell.clone();
            let started = programs::start(program, move |news| tell.blocking_send(news).is_ok());
            if let Err(error) = &started {
                failed.try_send(ProgramNews::Failed(error.clone())).ok();
            }
            started
        };
        match started {
            Ok(program) => {
                inner.running.programs.insert(number, program);
            }
            Err(error) if self.clock.is_logical() => {
                inner.running.tell.try_send((number, ProgramNews::Failed(error))).ok();
            }
            Err(_) => {}
        }
    }

    fn run(self: Arc<Self>, number: u64, line: ShellLine) -> impl Future<Output = ()> + use<> {
        let (core, clock, screens) = (Arc::downgrade(&self), self.clock.clone(), self.screens.clone());
        // Before anybody hears of the terminal.
        let opened = line.screen.as_ref().map(|on| screens.open(&on.id));
        async move {
            let tell = |news: ShellNews| {
                if let Some(core) = core.upgrade() {
                    core.shell_says(number, news);
                }
            };
            match (&line.screen, opened) {
                (Some(on), Some(opened)) => screens::run(&line, on, &screens, opened, &clock, tell).await,
                _ => shell::run(line, &clock, tell).await,
            }
        }
    }

    fn shell_says(self: &Arc<Self>, number: u64, news: ShellNews) {
        let is_over = !matches!(news, ShellNews::Printed(_));
        self.says(number, is_over, |inner| inner.performer.shell_says(number, news, &|| self.clock.now_ms()));
    }

    fn fetched(self: &Arc<Self>, number: u64, got: Result<Page, String>) {
        self.says(number, true, |inner| inner.performer.fetched(number, got, &|| self.clock.now_ms()));
    }

    fn model_says(self: &Arc<Self>, number: u64, news: Vec<ModelNews>) {
        let is_over = news.iter().any(ModelNews::is_the_end);
        self.says(number, is_over, |inner| inner.performer.model_says(number, news, &|| self.clock.now_ms()));
    }

    fn program_says(self: &Arc<Self>, number: u64, news: ProgramNews) {
        self.says(number, false, |inner| inner.performer.program_says(number, news, &|| self.clock.now_ms()));
    }

    /// Something that runs tells something, unless its end was asked for meanwhile.
    fn says(self: &Arc<Self>, number: u64, is_over: bool, tell: impl FnOnce(&mut Inner) -> Vec<Act>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner.running.tasks.contains_key(&number) {
            return;
        }
        if is_over {
            inner.running.tasks.remove(&number);
            inner.running.lines.remove(&number);
        }
        let acts = tell(&mut inner);
        self.act_all(&mut inner, acts);
    }
}
