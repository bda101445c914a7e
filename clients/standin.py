"""Tells a running stand-in what breaks, and asks it what happened. One file, standard library only: copy it.

    from standin import Standin
    standin = Standin("http://127.0.0.1:4096", "TOKEN")     # standin serve --control TOKEN
    standin.arm("cut after 5 events", "503 at POST /session")
    standin.wait(event="session.idle")
    print(standin.journal_text())
    assert standin.verify()["holds"]
"""

import json
import urllib.error
import urllib.parse
import urllib.request


class Refused(Exception):
    """The stand-in did not do it, and says why."""

    def __init__(self, status, words):
        super().__init__(words)
        self.status = status


class Standin:
    def __init__(self, url, token):
        self.base = url.rstrip("/") + "/__standin__"
        self.token = token
        # A proxy of the environment is not asked for a server on this machine.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def describe(self):
        """The OpenAPI description of all this."""
        return self._json("GET", "/openapi.json")

    def arm(self, *lines, faults=None, toml=None):
        """Arms faults: lines as on the command line, tables as in a plan, or a plan as a text. Returns their numbers."""
        body = {"lines": list(lines), "faults": faults or []}
        if toml is not None:
            body["toml"] = toml
        return self._json("POST", "/faults", body)["armed"]

    def faults(self):
        """All faults that were armed, and how they stand."""
        return self._json("GET", "/faults")

    def disarm(self, number=None):
        """Lets one fault act no more, or all."""
        self._json("DELETE", "/faults" if number is None else f"/faults/{number}")

    def now(self, do, lane=None):
        """Lets something happen at once: {"restart": "killed"}, {"password": "another"}, {"refuse_ms": 500}, {"reply": "once"}."""
        self._json("POST", "/now", {"do": do} if lane is None else {"do": do, "lane": lane})

    def push(self, event, **more):
        """Sends an event that the server never sent; more: stream, directory."""
        self._json("POST", "/events", {"event": event, **more})

    def open_gate(self, name):
        """Lets the model go on that waits at this gate of the scenario."""
        self._json("POST", "/gates/" + urllib.parse.quote(name, safe=""))

    def gates(self):
        """The gates of the scenario, and how they stand: {"name": "mid", "state": "waits"}; or closed, or open."""
        return self._json("GET", "/gates")

    def scenarios(self):
        """The names of the scenarios that it carries."""
        return self._json("GET", "/scenarios")

    def load(self, name=None, toml=None):
        """Begins anew with another scenario: one that is carried, or the text of one."""
        self._json("POST", "/scenario", {"name": name} if toml is None else {"toml": toml})

    def reset(self, what="all"):
        """Begins all anew, or only the journal."""
        self._json("POST", "/reset", {"what": what})

    def wait(self, limit_ms=10_000, **until):
        """Waits for one thing: request=, event= (with count=), streams=, fault=, or {"while": "busy"}."""
        self._json("POST", "/wait", {"limit_ms": limit_ms, **until}, timeout=limit_ms / 1000 + 10)

    def journal(self, start=0):
        """What happened, as the lines of the journal's file."""
        text = self._ask("GET", f"/journal?from={start}").decode()
        return [json.loads(line) for line in text.splitlines()]

    def journal_text(self):
        """What happened, in words."""
        return self._ask("GET", "/journal?format=text").decode()

    def verify(self):
        """Was it used as it was meant to be? {"holds": True}, or what does not hold."""
        return self._json("GET", "/verify")

    def verify_calls(self, expected=(), forbidden=(), order=()):
        """Did these calls come? Each is "POST /session" or {"request": "POST /session", "body": {"title": "a"}, "lane": "phone", "count": 1}."""
        calls = {"expected": list(expected), "forbidden": list(forbidden), "order": list(order)}
        return self._json("POST", "/verify", calls)

    def _json(self, method, path, body=None, timeout=30):
        return json.loads(self._ask(method, path, body, timeout))

    def _ask(self, method, path, body=None, timeout=30):
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        try:
            with self.opener.open(request, timeout=timeout) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            raise Refused(error.code, json.loads(error.read())["error"]) from None
