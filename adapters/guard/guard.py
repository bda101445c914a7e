"""A careful adapter of the guards kit, in the standard library. Run: standin kit guards --adapter 'python3 guard.py'

Each class is a guard; its methods without a leading underscore are those of the protocol: `path/check` is `path_check`.
Each request has a thread of its own, since others wait: for a person, a host, the time. The clock is virtual: who waits
leaves a timer, and `clock/advance` runs what is due. Whatever is thrown on the way to a yes is a no.
"""

import errno
import fnmatch
import hashlib
import html
import http.client
import itertools
import json
import os
import pathlib
import queue
import re
import secrets
import subprocess
import sys
import threading
import urllib.parse

CAPABILITIES = """guard.path guard.ignore guard.command guard.csp guard.view guard.secret context.window
resilience.retry resilience.limits monitor.timings service.single state.scopes memory.checkpoints""".split()
settings = {}
lock = threading.RLock()


def say(message):
    """Every line goes through here, and what looks like a key stays here, whoever has said it."""
    line = json.dumps({"jsonrpc": "2.0", **message})
    with lock:
        print(re.sub(r"\bsk-[\w-]{8,}|(?<=Bearer )[^\s\"\\]+", "[key]", line), flush=True)


def show(kind, **more):
    say({"method": "update", "params": {"update": {"kind": kind, **more}}})


def ask_host(url, body=None, method="POST", **headers):
    """(status, text) of one request. No redirect is followed: the key would go along, to nobody knows whom."""
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=120)
    target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
    connection.request(method, target, json.dumps(body or {}), {"Content-Type": "application/json", **headers})
    with connection.getresponse() as response:
        return response.status, response.read().decode(errors="replace")


def attempt(url, body=None):
    """One `POST`, and what is to be told of it."""
    try:
        status, _ = ask_host(url, body)
    except (OSError, http.client.HTTPException) as error:
        return {"ok": False, "error": {"message": f"no answer: {error}"}}
    return {"ok": True} if status < 300 else {"ok": False, "error": {"message": f"status {status}", "status": status}}


def keep(folder, name, value):
    """The file is there whole or as before, and for this user alone."""
    new = pathlib.Path(settings[folder], f"{name}.new")
    new.touch(0o600)
    new.write_text(json.dumps(value))
    new.replace(pathlib.Path(settings[folder], name))


def kept(folder, name, otherwise=None):
    file = pathlib.Path(settings[folder], name)
    return json.loads(file.read_text()) if file.exists() else otherwise


class Session:
    """First words, settings and time, which passes when the harness says so: who waits says from when until when."""

    def __init__(self):
        self._now, self._timers, self._numbers = 0, {}, itertools.count(1)

    def initialize(self, **_):
        me = {"protocol": 1, "name": "careful-guard", "capabilities": CAPABILITIES, "clock": "virtual"}
        return {**me, "declares": {"paths": "realpath", "commands": "exact"}}

    def configure(self, **given):
        settings.update(dict.fromkeys(("allow", "ignoreFile", "pathBreaks", "telemetry")), roots=[])
        settings.update(given, places=threading.Semaphore(given.get("atOnce") or 1))

    def _after(self, ms, then):
        number = next(self._numbers)
        show("waits", id=number, ms=ms)
        self._timers[number] = (self._now + ms, then)
        return number

    def _end(self, number):
        """It is over, or given up. Who gets it out of the list is the only one to say so."""
        _, then = self._timers.pop(number, (0, None))
        if then:
            show("waited", id=number)
        return then

    def clock_advance(self, ms):
        end = self._now + ms
        # One after the other: what one does may begin another that is due, too.
        while due := [(at, number) for number, (at, _) in list(self._timers.items()) if at <= end]:
            self._now, number = min(due)
            if then := self._end(number):
                then()
        self._now = end


SESSION = Session()


class Paths:
    """What counts is where a path leads, and not what it looks like."""

    def path_check(self, path, op, roots=None):
        try:
            self._readings(path, settings["roots"] if roots is None else roots)
            return {"verdict": "allow"}
        except Exception:
            return {"verdict": "refuse"}

    def path_act(self, path, op, content=None):
        try:
            # What is opened is where the path has led, and not the path: a link may have changed meanwhile.
            file = self._allowed(path, op)
            said = file.read_text("utf-8") if op == "read" else file.write_text(content, "utf-8")
            return {"done": True, "content": said} if op == "read" else {"done": True}
        except Exception:
            return {"done": False}

    def _follow(self, path):
        """Where the kernel gets by an absolute path: what is not there is where its folder is, and None is nowhere."""
        rest, place, links = path.split("/")[::-1], "/", 0
        while rest:
            # No link is left in `place`, so its text may be folded.
            place = os.path.normpath(os.path.join(place, rest.pop()))
            try:
                target = os.readlink(place)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR):
                    raise  # What can't be seen from here may be seen by who goes there step by step.
                continue
            links += 1
            if links > 40:
                return None
            if place.startswith("/proc/"):
                raise OSError("a link of /proc leads each program elsewhere")
            place = "/" if target.startswith("/") else os.path.dirname(place)
            rest += target.split("/")[::-1]
        return pathlib.Path(place)

    def _readings(self, path, roots):
        """Where a path may lead: some tools fold `..` first, and some follow links first. Both have to stay inside."""
        if settings["pathBreaks"]:
            raise RuntimeError("what folds paths is broken")
        roots = [root for root in roots if root.startswith("/")]
        whole = os.path.join(roots[0], path)
        places = [place for place in (self._follow(os.path.normpath(whole)), self._follow(whole)) if place]
        folders = [place for place in map(self._follow, roots) if place]
        if not places or not all(any(map(place.is_relative_to, folders)) for place in places):
            raise PermissionError("the path leads out of the workspace")
        return places

    def _allowed(self, path, op):
        """The file to which a path leads, if it may be read or written."""
        places, root = self._readings(path, settings["roots"]), settings["roots"][0]
        # By its own name, too: that of a link may be ignored, and the file to which it leads may not.
        own_name = pathlib.Path(os.path.normpath(os.path.join(root, path)))
        if self._is_ignored(own_name, root) or any(self._is_ignored(place, self._follow(root)) for place in places):
            raise PermissionError("the person has told to ignore this file")
        ignore_file = pathlib.Path(root, settings["ignoreFile"] or "")
        if op == "write" and {ignore_file, self._follow(str(ignore_file))} & {own_name, *places}:
            raise PermissionError("who is kept away does not say from what")
        if places[0].exists() and not places[0].is_file():
            raise PermissionError("this is no file: who opens a pipe may wait for ever")
        return places[0]

    def _is_ignored(self, place, root):
        """The last rule that knows a name counts; but what lies in an ignored folder can't be taken back."""
        names, rules = place.relative_to(root).parts if place.is_relative_to(root) else (), list(self._rules())
        for end in range(1, len(names) + 1):
            is_folder = end < len(names) or place.is_dir()
            known = [back for globs, back, only in rules if (is_folder or not only) and self._fits(names[:end], globs)]
            if known and not known[-1]:
                return True
        return False

    def _rules(self):
        """(globs, takes back, folders only) of each line, read anew: the person may just have written it."""
        file = pathlib.Path(settings["roots"][0], settings["ignoreFile"] or "")
        for line in file.read_text("utf-8").split("\n") if file.is_file() else ():
            line = re.sub(r"(?<!\\)\s+$", "", line)
            takes_back = line.startswith("!")
            globs = re.sub(r"\\([*?[])", r"[\1]", line[takes_back:].rstrip("/")).replace("[^", "[!").replace("\\", "")
            if globs and not line.startswith("#"):
                globs = tuple(globs.lstrip("/").split("/")) if "/" in globs else ("**", globs)
                yield globs, takes_back, line.endswith("/")

    def _fits(self, names, globs):
        """Folder by folder: a star does not go from one into the next, and two go through any number of them."""
        if not names or not globs:
            return names == globs
        if globs[0] == "**":
            return any(self._fits(names[skip:], globs[1:]) for skip in range(len(globs) == 1, len(names) + 1))
        return fnmatch.fnmatchcase(names[0], globs[0]) and self._fits(names[1:], globs[1:])


class Commands:
    """A line runs without a question when it stands in the list, letter by letter: the begin of a line is no line."""

    def __init__(self):
        self._questions, self._numbers = {}, itertools.count(1)

    def command_decide(self, line, **given):
        listed = given["allow"] if given else (settings["allow"] or []) + kept("stateFolder", "allowed", [])
        return {"verdict": "allow" if line in [*(listed or ())] else "ask"}

    def command_run(self, line):
        choice = "once"
        if self.command_decide(line)["verdict"] != "allow":
            number, answers = next(self._numbers), queue.SimpleQueue()
            self._questions[number] = answers
            show("prompt", id=number, line=line)
            choice = answers.get()
        # What is no yes is a no, also a dialog that was closed.
        if choice not in ("once", "always"):
            return {"ran": False}
        if choice == "always":
            with lock:
                keep("stateFolder", "allowed", kept("stateFolder", "allowed", []) + [line])
        subprocess.run(line, shell=True, cwd=settings["roots"][0], stdin=subprocess.DEVNULL, capture_output=True)
        return {"ran": True}

    def command_answer(self, id, choice):
        self._questions.pop(id).put(choice)


class Page:
    def csp_describe(self):
        """Nothing is let in but what is named. A nonce is for one page: the next one would know it."""
        nonce = f"'nonce-{secrets.token_urlsafe(18)}'"
        sources = f"script-src {nonce}; style-src {nonce}; font-src 'self'; img-src 'self'; connect-src 'self'"
        return {"policy": f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"}

    def view_render(self, text):
        """All words of the model are text. Whoever makes Markdown of them makes it of what is escaped already."""
        return {"html": f'<div style="white-space: pre-wrap">{html.escape(text)}</div>'}


class Store:
    """What outlives the program: the key, in a folder of its own and in no answer, and all state but the session's."""

    def __init__(self):
        self._session = {}

    def secret_store(self, key):
        keep("secretFolder", "key", key)

    def secret_use(self, url):
        if not (key := kept("secretFolder", "key")):
            return {"message": "there is no key: nobody was asked"}
        # What the provider says is not passed on: it may say the key, in whatever form.
        return {"message": f"the provider answered {ask_host(url, Authorization=f'Bearer {key}')[0]}"}

    def secret_logout(self):
        keep("secretFolder", "key", None)

    def _file(self, scope):
        of = "".join(settings["roots"][:1]) if scope == "workspace" else ""
        return f"{scope}-{hashlib.sha256(of.encode()).hexdigest()}"

    def state_set(self, scope, name, value):
        with lock:
            if scope == "session":
                self._session[name] = value
            else:
                keep("stateFolder", self._file(scope), kept("stateFolder", self._file(scope), {}) | {name: value})

    def state_dump(self):
        lasting = {scope: kept("stateFolder", self._file(scope), {}) for scope in ("global", "workspace")}
        return {**lasting, "session": self._session}

    def memory_begin(self, every, most):
        keep("stateFolder", "memory", {"every": every, "most": most, "messages": [], "copies": []})

    def memory_add(self, text):
        """A copy for every so many messages. Zero divides nothing: whoever says it wants none."""
        with lock:
            memory = kept("stateFolder", "memory")
            memory["messages"].append(text)
            if memory["every"] > 0 and len(memory["messages"]) % memory["every"] == 0:
                memory["copies"] = [memory["messages"], *memory["copies"]][: memory["most"]]
            keep("stateFolder", "memory", memory)

    def memory_copies(self):
        return {"copies": [len(copy) for copy in reversed(kept("stateFolder", "memory")["copies"])]}


class Window:
    """Three quarters of the window are filled. The oldest messages go first, and a call never without its result."""

    def context_send(self, url, limit, system, tools, environment, messages):
        room = limit * 3 / 4 - sum(part["tokens"] for part in (system, tools, environment))
        lengths = [sum(part["tokens"] for part in messages[cut:]) for cut in range(len(messages))]
        summary, cuts, statuses = max(1, limit // 50), self._cuts(messages), []
        cut = next((cut for cut in cuts if lengths[cut] + (summary if cut else 0) <= room), cuts[-1])
        while True:
            parts = [part["id"] for part in (system, tools, *messages[cut:-1], environment, messages[-1])]
            statuses.append(ask_host(url, {"parts": parts, "summaryTokens": summary if cut else 0})[0])
            if statuses[-1] != 400 or len(statuses) == 4 or cut == cuts[-1]:
                break
            # By how much it is too long nobody has said: each try takes a quarter less.
            cut = next((new for new in cuts if new > cut and lengths[new] <= lengths[cut] * 3 / 4), cuts[-1])
        if cut > max(0, len(messages) - 5) or 400 in statuses:
            show("notice", level="warning", text="The conversation is too long: the model does not see all of it.")
        return {"ok": statuses[-1] == 200}

    def _cuts(self, messages):
        """Where the history may begin: nowhere between two that belong together, and at the last message at most."""
        place = {message["id"]: number for number, message in enumerate(messages)}
        others = [(number, message.get("calls") or message.get("answers")) for number, message in enumerate(messages)]
        pairs = [sorted((number, place[other])) for number, other in others if other in place]
        return [cut for cut in range(len(messages)) if not any(first < cut <= last for first, last in pairs)]


class Resilience:
    """What is tried again, gathered, kept and limited. Nothing that fails leaves a timer set or a place taken."""

    def __init__(self):
        self._quiet, self._gathered, self._busy_until, self._cache = {}, [], 0, {}

    def op_run(self, url, maxAttempts=3):
        """Only what may go otherwise the next time is tried again: what was refused will be refused."""
        outcome = {"ok": False, "error": {"message": "no try was allowed"}}
        for tries in range(maxAttempts):
            if tries:
                over = threading.Event()
                SESSION._after(min(1000 * 2 ** (tries - 1), 60_000), over.set)
                over.wait()
            outcome = attempt(url)
            # Without a status there was no answer: the connection broke.
            if outcome["ok"] or outcome["error"].get("status", 503) not in (408, 429, 500, 502, 503, 504, 522, 529):
                break
        return outcome

    def fs_event(self, path, kind):
        """A quiet time for each file: one for all of them forgets all but the last."""
        with lock:
            SESSION._end(self._quiet.get(path))
            self._quiet[path] = SESSION._after(500, lambda: show("indexed", path=path))

    def batch_add(self, item, fails=False, takesMs=0):
        with lock:
            self._gathered.append((item, fails, takesMs))
            if len(self._gathered) == 1:
                SESSION._after(max(100, self._busy_until - SESSION._now), self._begin_batch)

    def _begin_batch(self):
        with lock:
            (items, fails, times), self._gathered = zip(*self._gathered), []
            self._busy_until = SESSION._now + max(times)
        show("batch", items=items)
        # All that the next batch needs is set by now: this one may fail.
        if any(fails):
            show("log", level="error", text=f"a batch of {len(items)} has failed")

    def cache_get(self, key, url):
        if SESSION._now >= self._cache.get(key, (0,))[0]:
            status, text = ask_host(url, method="GET")
            if status != 200:
                raise OSError(f"the host answered {status}")
            self._cache[key] = SESSION._now + 300_000, json.loads(text)
        return self._cache[key][1]

    def op_begin(self, id, url):
        with settings["places"]:
            return {"ok": attempt(url)["ok"]}

    def op_limited(self, id, url, timeoutMs):
        outcomes = queue.SimpleQueue()
        late = {"ok": False, "error": {"message": f"the time is over: no answer within {timeoutMs} ms"}}
        timer = SESSION._after(timeoutMs, lambda: outcomes.put(late))
        threading.Thread(target=lambda: outcomes.put(attempt(url)), daemon=True).start()
        # The second outcome stays in the queue: the end is told once.
        outcome = outcomes.get()
        SESSION._end(timer)
        show("ended", id=id, ok=outcome["ok"])
        return outcome

    def op_measured(self, label, url, slowMs):
        begun, ok = SESSION._now, attempt(url)["ok"]
        ms = SESSION._now - begun
        if ms > slowMs:
            show("log", level="warn", text=f"{label} took {ms} ms")
        if settings["telemetry"] and settings["telemetry"]["enabled"]:
            # Who is told may be away: that is no matter of what was measured.
            attempt(settings["telemetry"]["url"], {"kind": "timing" if ok else "error", "label": label, "ms": ms})
        return {"ok": ok}


class Services:
    def __init__(self):
        self._instances, self._numbers, self._locks = {}, itertools.count(1), {}

    def service_use(self, name, url):
        # Who comes while it is initialized waits, and gets the same; what has failed is kept for nobody.
        with self._locks.setdefault(name, threading.Lock()):
            if name not in self._instances and not attempt(url)["ok"]:
                raise OSError(f"{name} could not be initialized")
            return {"instance": self._instances.setdefault(name, f"{name}-{next(self._numbers)}")}

    def service_dispose(self, name):
        self._instances.pop(name, None)

    def service_act(self, id, url, listenerThrows=False):
        show("action", id=id, state="started")
        ok = attempt(url)["ok"]
        show("action", id=id, state="completed" if ok else "failed")
        try:  # Not around the act: a listener that throws makes nothing fail that has completed.
            if listenerThrows:
                raise RuntimeError("a listener has thrown")
        except RuntimeError as error:
            show("log", level="error", text=str(error))
        return {"ok": ok}


GUARDS = (SESSION, Paths(), Commands(), Page(), Store(), Window(), Resilience(), Services())
METHODS = {"shutdown": dict} | {
    name.replace("_", "/", 1): getattr(guard, name) for guard in GUARDS for name in dir(guard) if name[0] != "_"
}


def answer(asked):
    reply = {"error": {"code": -32601, "message": "this guard has no such method"}}
    try:
        if method := METHODS.get(asked["method"]):
            said = method(**asked.get("params") or {})
            reply = {"result": {} if said is None else said}
    except Exception as error:
        reply = {"error": {"code": -32000, "message": f"this could not be done: {error!r}"}}
    say({"id": asked["id"], **reply})
    if asked["method"] == "shutdown":
        os._exit(0)  # Others may still wait, for a person or for a clock that no longer goes on.


for line in sys.stdin.buffer:
    threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
