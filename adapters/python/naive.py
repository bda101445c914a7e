"""A client as most people write their first one, behind the adapter protocol: what docs/adapters.md asks for and no more.

It shows each event as it comes and never asks the server anew. What it can't do it does not declare. Standard library only.

    standin check --adapter 'python3 adapters/python/naive.py'
"""

import base64
import json
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request

CAPABILITIES = ["chat", "tools", "permissions"]
STATES = {"pending": "pending", "running": "running", "completed": "done", "error": "error"}


class Client:
    """The client itself: a server, its event stream, sessions. It knows nothing of the harness but `show`."""

    def __init__(self, show):
        self.show = show
        self.tasks = {}  # session -> task
        self.assistant = set()  # messages
        self.kinds = {}  # part -> the update that its text goes out with
        self.shown = {}  # part -> text
        # A proxy of the environment is not asked for a server on this machine.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def connect(self, url, username, password, directory):
        self.url = url
        self.directory = directory
        credentials = base64.b64encode(f"{username}:{password}".encode()).decode()
        self.headers = {"authorization": f"Basic {credentials}", "content-type": "application/json"}
        stream = self.request("GET", "/event")
        threading.Thread(target=self.listen, args=(stream,), daemon=True).start()

    def request(self, method, path, body=None):
        query = urllib.parse.urlencode({"directory": self.directory})
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}?{query}", data, self.headers, method=method)
        return self.opener.open(request)

    def start(self, task):
        session = json.load(self.request("POST", "/session", {}))["id"]
        self.tasks[session] = task
        return session

    def send(self, task, text):
        body = {"parts": [{"type": "text", "text": text}]}
        self.request("POST", f"/session/{self.session(task)}/prompt_async", body).read()

    def reply(self, permission, reply, message):
        body = {"reply": reply} if message is None else {"reply": reply, "message": message}
        self.request("POST", f"/permission/{permission}/reply", body).read()

    def session(self, task):
        return next(session for session, of in self.tasks.items() if of == task)

    def listen(self, stream):
        try:
            for line in stream:
                if line.startswith(b"data:"):
                    event = json.loads(line[len(b"data:") :])
                    # Some events of Kilo have no properties.
                    self.event(event["type"], event.get("properties", {}))
        except (OSError, ValueError) as error:
            print(f"the stream broke: {error}", file=sys.stderr)
        self.show({"kind": "connection", "state": "disconnected"})

    def event(self, kind, properties):
        if kind == "server.connected":
            self.show({"kind": "connection", "state": "connected"})
        task = self.tasks.get(properties.get("sessionID"))
        if task is None:
            return
        if kind == "message.updated":
            if properties["info"]["role"] == "assistant":
                self.assistant.add(properties["info"]["id"])
        elif kind == "message.part.updated":
            self.part(task, properties["part"])
        elif kind == "message.part.delta":
            self.grow(task, properties["messageID"], properties["partID"], properties["delta"])
        elif kind == "permission.asked":
            asked = {"permission": properties["permission"], "patterns": properties["patterns"]}
            self.show({"kind": "permissionRequest", "taskId": task, "permissionId": properties["id"], **asked})
        elif kind == "permission.replied":
            self.show({"kind": "permissionResolved", "taskId": task, "permissionId": properties["requestID"]})
        elif kind == "session.status":
            self.show({"kind": "status", "taskId": task, "state": properties["status"]["type"]})
        elif kind == "session.error":
            words = json.dumps(properties.get("error"))
            self.show({"kind": "error", "taskId": task, "message": words, "retry": False})
        elif kind == "session.idle":
            self.show({"kind": "status", "taskId": task, "state": "idle"})
            self.show({"kind": "terminal", "taskId": task, "outcome": "completed"})

    def part(self, task, part):
        if part["messageID"] not in self.assistant:
            return
        if part["type"] == "text":
            self.kinds[part["id"]] = "assistantDelta"
            # What of the text is not shown yet.
            self.grow(task, part["messageID"], part["id"], part["text"][len(self.shown.get(part["id"], "")) :])
        elif part["type"] == "tool":
            state = part["state"]
            update = {"kind": "toolState", "taskId": task, "messageId": part["messageID"], "toolId": part["id"]}
            update.update(tool=part["tool"], state=STATES[state["status"]])
            output = state.get("output", state.get("error"))
            self.show(update if output is None else {**update, "output": output})

    def grow(self, task, message, part, delta):
        if part in self.kinds:
            self.shown[part] = self.shown.get(part, "") + delta
            self.show({"kind": self.kinds[part], "taskId": task, "messageId": message, "partId": part, "delta": delta})


writing = threading.Lock()


def write(message):
    with writing:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def show(update):
    write({"method": "update", "params": {"update": update}})


def do(client, method, params):
    if method == "initialize":
        return {"protocol": 1, "name": "naive-python", "version": "1", "capabilities": CAPABILITIES}
    if method == "connect":
        client.connect(**params)
    elif method == "task/start" and "directory" not in params:
        return {"sessionId": client.start(params["taskId"])}
    elif method == "task/send":
        client.send(params["taskId"], params["text"])
    elif method == "permission/reply":
        client.reply(params["permissionId"], params["reply"], params.get("message"))
    elif method not in ("fence", "shutdown"):
        raise LookupError(f"unsupported: {method}")
    return {}


def main():
    client = Client(show)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            write({"id": request["id"], "result": do(client, request["method"], request["params"])})
        except LookupError as error:
            write({"id": request["id"], "error": {"code": -32601, "message": str(error)}})
        except OSError as error:
            write({"id": request["id"], "error": {"code": -32000, "message": f"{request['method']}: {error}"}})
        if request["method"] == "shutdown":
            return


main()
