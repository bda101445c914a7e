#!/usr/bin/env python3
"""Sends agents through the phases of an issue. Nothing is lost and nothing done twice, whenever it is killed.

    runner.py run|resume    works on the phases that are not done yet; both words do the same
    runner.py status        tells as JSON where a resume would begin
    runner.py revert        takes back what PIPELINE_AGENT has changed in PIPELINE_FILE
    runner.py cleanup       removes the issue's containers, and those of its worktrees that hold no work

The rest comes from the environment: PIPELINE_ISSUE, PIPELINE_FOLDER (the repository), PIPELINE_PHASES (such as
"designing:designer coding:developer! testing:tester@tools"), PIPELINE_SERVER, PIPELINE_USER, PIPELINE_PASSWORD. The
exit code is 0 when all is done. It needs git 2.38, a system with flock, and docker where a phase wants a container.

A phase is done in steps; a kill behind any of them does no harm:
  1. The agent works in a worktree with a detached HEAD. What stood in its place is kept, behind refs/kilo/kept/ or
     in .kilo/kept. After a kill the agent begins anew.
  2. Its work becomes one commit, and refs/kilo/work/ISSUE/PHASE leads there. The agent is not asked again.
  3. The commit is merged, the diff is written, then the checkpoint. After a kill this is done once more.
  4. The ref becomes refs/kilo/done/ISSUE/PHASE, and the worktree is removed.
"""

import base64
import contextlib
import fcntl
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from collections import namedtuple
from datetime import datetime, timezone
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
# No folder on Windows is called like a device.
DEVICE = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)
# "!" edits destructively, "@tools" wants a container of the image tools.
PHASE = re.compile(r"([^:]*):?([^!@]*)(!?)@?(.*)")
Phase = namedtuple("Phase", "name agent destructive image")
# An answer that does not come, or is not what it should be.
NO_ANSWER = (OSError, ValueError, KeyError, TypeError, http.client.HTTPException)
# What an agent may wait for, and where that is refused.
QUESTIONS = {"permission.asked": "/permission/{}/reply", "question.asked": "/question/{}/reject"}
# Neither the person's hooks nor a change of line ends may touch what an agent has made.
GIT = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", "-c", "gc.auto=0"]
# Taken out of the environment, which is handed on to git and docker.
PASSWORD = os.environ.pop("PIPELINE_PASSWORD", "")
CREDENTIALS = base64.b64encode(f"{os.environ.get('PIPELINE_USER', '')}:{PASSWORD}".encode()).decode()
os.environ |= {f"GIT_{who}_{what}": "pipeline" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
# A file may be called "*.md"; and to look at the person's checkout must not write its index.
os.environ |= {"GIT_LITERAL_PATHSPECS": "1", "GIT_OPTIONAL_LOCKS": "0"}


class Blocked(Exception):
    """Something stands in the way; a later run may find it gone."""


class Failed(Exception):
    """The agent itself has failed."""


def say(message):
    """Tells the person, but not the password, which an error of the server may repeat."""
    text = str(message).replace(CREDENTIALS, "***")
    print(text.replace(PASSWORD, "***") if PASSWORD else text, file=sys.stderr)


def safe(name):
    if not NAME.fullmatch(name) or DEVICE.fullmatch(name):
        raise Blocked(f"{name!r} can't name a folder on every system: use letters, digits, - and _")
    return name


def write_whole(path, content):
    """Nobody sees half of the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".tmp")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)


def call(folder, *words, stdin=b""):
    """What a command says, as bytes."""
    done = subprocess.run(words, cwd=folder, input=stdin, capture_output=True)
    if done.returncode != 0:
        told = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise Blocked(f"{words[0]} has failed: {told or done.returncode}")
    return done.stdout


def git(folder, *words, **options):
    return call(folder, *GIT, *words, **options)


def git_line(folder, *words):
    return os.fsdecode(git(folder, *words)).strip()


class Server:
    """The server of the agents, for one folder in which an agent works."""

    def __init__(self, folder):
        self.address = os.environ["PIPELINE_SERVER"].rstrip("/")
        self.query = "?directory=" + urllib.parse.quote(str(folder), safe="")
        # No proxy: the password is for this server alone.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def open(self, path, data=None):
        headers = {"Authorization": f"Basic {CREDENTIALS}", "Content-Type": "application/json"}
        return self.opener.open(urllib.request.Request(self.address + path + self.query, data, headers))

    def post(self, path, body):
        with self.open(path, json.dumps(body).encode()) as response:
            return json.loads(response.read())

    def prompt(self, agent, text):
        """Lets the agent work, and returns what it says in the end."""
        asked = []
        try:
            session = self.post("/session", {"title": agent})["id"]
            # Opened before the prompt, so that no question is missed.
            events = self.open("/event")
            threading.Thread(target=self.refuse_questions, args=(events, session, asked), daemon=True).start()
            body = {"agent": agent, "parts": [{"type": "text", "text": text}]}
            answer = self.post(f"/session/{session}/message", body)
            failure, words = answer["info"].get("error"), last_words(answer["parts"])
        except NO_ANSWER as error:
            raise Blocked(f"{agent} gave no answer: {asked or error}") from None
        if asked:
            raise Blocked(f"{agent} has asked, and nobody is there: {asked}")
        if failure:
            raise Failed(f"{agent} has failed: {failure}")
        return words

    def refuse_questions(self, events, session, asked):
        """Nobody is there who could say yes. The agent is stopped, which ends its prompt."""
        with contextlib.suppress(*NO_ANSWER):
            for line in events:
                event = json.loads(line[5:]) if line.startswith(b"data:") else {}
                if event.get("type") in QUESTIONS:
                    asked.append(event["properties"])
                    refusal = QUESTIONS[event["type"]].format(event["properties"]["id"])
                    for path in (refusal, f"/session/{session}/abort"):
                        with contextlib.suppress(*NO_ANSWER):
                            self.post(path, {"reply": "reject"})


def last_words(parts):
    """The text behind the last call of a tool: what an agent says before it works is no result."""
    tools = [number for number, part in enumerate(parts) if part["type"] == "tool"]
    behind = parts[tools[-1] + 1 :] if tools else parts
    return "".join(part["text"] for part in behind if part["type"] == "text")


class Runner:
    def __init__(self):
        self.issue = safe(os.environ["PIPELINE_ISSUE"])
        words = [PHASE.fullmatch(word).groups() for word in os.environ["PIPELINE_PHASES"].split()]
        self.phases = [Phase(safe(name), safe(agent), *wishes) for name, agent, *wishes in words]
        self.folder = Path(os.environ["PIPELINE_FOLDER"]).resolve()
        self.kilo = self.folder / ".kilo"
        self.worktrees = self.kilo / "worktrees" / self.issue
        self.plan = self.kilo / "plans" / f"{self.issue}.md"
        self.label = f"kilo.pipeline={self.folder}:{self.issue}"
        self.problems = []

    @contextlib.contextmanager
    def lock(self, name, flags=0):
        """The system opens the lock when its holder is killed. Names have no dots, and so "every.issue" is none."""
        for folder in ("kept", "locks", "logs", "plans", "worktrees"):
            (self.kilo / folder).mkdir(parents=True, exist_ok=True)
            # Each folder hides itself: the person's own .gitignore is not touched.
            (self.kilo / folder / ".gitignore").write_text("*\n")
        with open(self.kilo / "locks" / name, "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | flags)
            except BlockingIOError:
                raise Blocked("another runner works on this issue") from None
            yield

    def attempt(self, step, *arguments):
        """Does what need not stop the run: what goes wrong is said, and the run ends with an error."""
        try:
            step(*arguments)
        except Blocked as problem:
            self.problems.append(problem)
            say(problem)

    def run(self):
        self.remove_containers()
        for phase in self.phases:
            if self.status_of(phase) != "success":
                self.do(phase)

    def status(self):
        where = {"phase": None, "agent": None, "status": "success"}
        left = [phase for phase in self.phases if self.status_of(phase) != "success"]
        if left:
            where = {"phase": left[0].name, "agent": left[0].agent, "status": self.status_of(left[0])}
        print(json.dumps(where))

    def revert(self):
        agent, name = os.environ["PIPELINE_AGENT"], os.environ["PIPELINE_FILE"]
        works = [work for work in self.works_of(agent) if name in self.changed_files(work)]
        if not works:
            raise Blocked(f"{agent} has changed no file {name}")
        # The latest first, and all of them or none. Git refuses a file behind a link.
        patches = [self.diff(work, "-R", "--", name) for work in reversed(works)]
        with self.lock("every.issue"):
            git(self.folder, "apply", "--whitespace=nowarn", stdin=b"".join(patches))

    def cleanup(self):
        known = [path for path in self.known_worktrees() if path.parent == self.worktrees]
        for path in {*known, *self.worktrees.glob("*")}:
            self.attempt(self.remove_worktree, path)
        self.attempt(self.remove_containers)

    def do(self, phase):
        """Ends with a checkpoint, whatever comes of the phase."""
        work = None
        try:
            work = self.work_of("work", phase) or self.send(phase)
            with self.lock("every.issue"):
                self.merge(work, f"{phase.name} of {self.issue}")
            self.write_patch(phase.agent, self.works_of(phase.agent))
        except (Blocked, Failed, OSError) as reason:
            self.write_checkpoint(phase, "fail" if isinstance(reason, Failed) else "blocked", work)
            if work:
                say(f"{self.ref('work', phase)} holds the work: merge it, or delete it to have the phase done again")
            raise
        self.write_checkpoint(phase, "success", work)
        self.attempt(self.put_away, phase, work)

    def send(self, phase):
        """Lets the agent work, and makes a commit of its work that no kill can take away."""
        path = self.worktrees / phase.agent
        with self.lock("every.issue"):
            self.make_room(path)
            base = self.make_worktree(path)
        if phase.destructive:
            git(self.folder, "branch", "--no-track", f"checkpoint/{self.name_with_time(phase.agent)}", base)
        with self.container(phase, path) if phase.image else contextlib.nullcontext():
            try:
                words = Server(path).prompt(phase.agent, self.prompt_text(phase))
            except (Blocked, Failed):
                if self.is_changed(path) or git_line(path, "rev-parse", "HEAD") != base:
                    work = self.commit(path, base, f"{phase.name} of {self.issue} by {phase.agent}, not finished")
                    self.write_patch(f"{phase.agent}-failed", [work])
                raise
        if phase.name == "designing":
            write_whole(self.plan, words.encode(errors="surrogatepass"))
        work = self.commit(path, base, f"{phase.name} of {self.issue} by {phase.agent}")
        git(self.folder, "update-ref", self.ref("work", phase), work)
        return work

    def put_away(self, phase, work):
        git(self.folder, "update-ref", self.ref("done", phase), work)
        git(self.folder, "update-ref", "-d", self.ref("work", phase))
        self.remove_worktree(self.worktrees / phase.agent)

    def prompt_text(self, phase):
        text = f"You are {phase.agent}. Do the phase {phase.name} of the issue {self.issue} in this folder."
        before = self.phases[: self.phases.index(phase)]
        if "designing" in [earlier.name for earlier in before] and self.plan.exists():
            text += "\n\nThis is the plan, word for word:\n\n" + self.plan.read_bytes().decode(errors="surrogatepass")
        return text

    def name_with_time(self, agent):
        return f"{self.issue}-{agent}-{datetime.now(timezone.utc):%Y%m%d-%H%M%S-%f}"

    @contextlib.contextmanager
    def container(self, phase, path):
        begin = ["docker", "run", "--detach", "--rm", "--label", self.label, "--workdir", "/work"]
        try:
            call(self.folder, *begin, "--volume", f"{path}:/work", phase.image, "sleep", "infinity")
            yield
        finally:
            self.attempt(self.remove_containers)

    def remove_containers(self):
        """The label also finds one that has been begun by a runner that was killed before docker answered."""
        if any(phase.image for phase in self.phases):
            listed = call(self.folder, "docker", "ps", "--all", "--quiet", "--filter", f"label={self.label}")
            for container in listed.decode().split():
                call(self.folder, "docker", "rm", "--force", container)

    def checkpoint(self, phase):
        return self.kilo / "logs" / "checkpoints" / f"{self.issue}-{phase.name}.json"

    def status_of(self, phase):
        path = self.checkpoint(phase)
        try:
            status = json.loads(path.read_bytes())["status"] if path.exists() else "pending"
        except (OSError, ValueError, TypeError, KeyError):
            say(f"{path} can't be read: its phase counts as not done")
            return "pending"
        return status if status in ("success", "fail", "blocked") else "pending"

    def write_checkpoint(self, phase, status, work):
        behind = self.phases[self.phases.index(phase) + 1 :]
        record = {
            "issue_number": int(self.issue) if re.fullmatch("[1-9][0-9]*", self.issue) else self.issue,
            "phase": phase.name,
            "agent_name": phase.agent,
            "files_modified": self.changed_files(work) if work else [],
            "status": status,
            "timestamp": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "next_agent": behind[0].agent if behind and status == "success" else None,
        }
        write_whole(self.checkpoint(phase), json.dumps(record, indent=2).encode())

    def write_patch(self, name, works):
        patch = b"".join(self.diff(work) for work in works)
        write_whole(self.kilo / "logs" / "diffs" / f"{self.issue}-{name}.patch", patch)

    def ref(self, kind, phase):
        return f"refs/kilo/{kind}/{self.issue}/{phase.name}"

    def work_of(self, kind, phase):
        """The commit behind the ref; nothing where there is none."""
        return git_line(self.folder, "for-each-ref", "--format=%(objectname)", self.ref(kind, phase))

    def works_of(self, agent):
        """What the agent has done in each of its phases. A kill behind a checkpoint leaves the ref "work"."""
        works = [self.work_of("work", one) or self.work_of("done", one) for one in self.phases if one.agent == agent]
        return [work for work in works if work]

    def commit(self, path, base, message):
        """All that stands in the worktree, but for what git ignores. Commits of the agent are a second parent."""
        git(path, "add", "--all")
        tree, head = git_line(path, "write-tree"), git_line(path, "rev-parse", "HEAD")
        parents = ["-p", base] if head == base else ["-p", base, "-p", head]
        work = git_line(path, "commit-tree", tree, *parents, "-m", message)
        git(path, "update-ref", "--no-deref", "HEAD", work)
        return work

    def changed_files(self, work):
        names = git(self.folder, "diff-tree", "-r", "-z", "--name-only", f"{work}^", work)
        return [os.fsdecode(name) for name in names.split(b"\0") if name]

    def diff(self, work, *options):
        return git(self.folder, "diff-tree", "-r", "-p", "--binary", "--full-index", f"{work}^", work, *options)

    def merge(self, work, message):
        """Puts the merge together beside the person's checkout, which then moves in one step or not at all."""
        tip = git_line(self.folder, "rev-parse", "HEAD")
        if git_line(self.folder, "merge-base", tip, work) == work or not self.changed_files(work):
            return
        tree = git_line(self.folder, "merge-tree", "--write-tree", tip, work)
        merged = git_line(self.folder, "commit-tree", tree, "-p", tip, "-p", work, "-m", f"Merge {message}")
        # A fast-forward leaves what is staged or changed elsewhere as it is, and refuses where it can't.
        git(self.folder, "merge", "--ff-only", "--no-autostash", "--no-overwrite-ignore", "--quiet", merged)

    def known_worktrees(self):
        """What git says of each worktree, by its path; also of one that is gone."""
        entries = os.fsdecode(git(self.folder, "worktree", "list", "--porcelain", "-z")).split("\0\0")
        fields = [dict(line.partition(" ")[::2] for line in entry.split("\0")) for entry in entries if entry]
        return {Path(entry["worktree"]): entry for entry in fields}

    def make_worktree(self, path):
        base = git_line(self.folder, "rev-parse", "HEAD")
        git(self.folder, "worktree", "add", "--quiet", "--detach", str(path), base)
        if (path / ".gitmodules").exists():
            # Not with --init, which would write into the person's config.
            allowed = ["-c", "protocol.file.allow=always", "-c", "submodule.active=."]
            git(path, *allowed, "submodule", "--quiet", "update", "--recursive")
        return base

    def make_room(self, path):
        """Keeps what stands where an agent is to work, whoever has left it."""
        known = self.known_worktrees().get(path)
        kept = self.name_with_time(path.name)
        if known and "locked" in known:
            raise Blocked(f"{path} is locked")
        if os.path.lexists(path) and not (known and (path / ".git").is_file()):
            os.rename(path, self.kilo / "kept" / kept)
        if known:
            if self.is_changed(path):
                known["HEAD"] = self.commit(path, known["HEAD"], f"Left in {path}")
            if self.is_nowhere_else(known["HEAD"]):
                git(self.folder, "update-ref", f"refs/kilo/kept/{kept}", known["HEAD"])
            git(self.folder, "worktree", "remove", "--force", str(path))

    def remove_worktree(self, path):
        """Removes it where nothing is lost by that."""
        known = self.known_worktrees().get(path)
        if known and "locked" not in known and not self.is_changed(path) and not self.is_nowhere_else(known["HEAD"]):
            # Git removes one with a submodule by force alone.
            git(self.folder, "worktree", "remove", "--force", str(path))
        elif path.exists():
            say(f"{path} stays: it holds work, or is locked, or git does not know it")

    def is_changed(self, path):
        """Whether there are files that are in no commit. In a folder without its .git that can't be said."""
        if not (path / ".git").is_file():
            return path.exists()
        return bool(git(path, "status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none"))

    def is_nowhere_else(self, commit):
        """Whether no ref leads to the commit. The HEAD of a worktree does not count, which goes with it."""
        return bool(git(self.folder, "rev-list", "-1", "--single-worktree", commit, "--not", "--all"))


def main():
    commands = {"run": Runner.run, "resume": Runner.run, "revert": Runner.revert, "cleanup": Runner.cleanup}
    try:
        runner = Runner()
        if sys.argv[1] == "status":
            return runner.status()
        with runner.lock(f"{runner.issue}.lock", fcntl.LOCK_NB):
            commands[sys.argv[1]](runner)
        return 1 if runner.problems else 0
    except (Blocked, Failed, OSError, KeyError, IndexError) as reason:
        say(f"{type(reason).__name__}: {reason}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
