"""Goal: the client does all that its file says, against a stand-in that serves. Run: control.py PATH_TO_STANDIN"""

import json
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from standin import Refused, Standin  # noqa: E402

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(url, method="GET", body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"}, method=method)
    try:
        with OPENER.open(request, timeout=30) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def main(program):
    line = [program, "serve", "--profile", "opencode", "--scenario", "permission/write-rejected", "--control", "key"]
    server = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    try:
        url = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
        check(url, Standin(url, "key"))
    finally:
        server.terminate()
        server.wait()
    print("all hold")


def check(url, standin):
    assert set(standin.describe()["paths"]) >= {"/__standin__/faults", "/__standin__/wait"}
    assert standin.arm("503 at GET /path", faults=[{"when": {"request": "GET /agent"}, "do": {"status": 418}}]) == [1, 2]
    assert [ask(url + path)[0] for path in ("/path", "/agent", "/path", "/agent")] == [503, 418, 200, 200]
    assert [fault["state"] for fault in standin.faults()] == ["spent", "spent"]
    session = json.loads(ask(url + "/session", "POST", {})[1])["id"]
    prompt = {"parts": [{"type": "text", "text": "please write it"}]}
    assert ask(f"{url}/session/{session}/prompt_async", "POST", prompt)[0] == 204
    standin.wait(**{"while": "permission-pending"})
    standin.now({"reply": "reject"})
    standin.wait(event="permission.replied")
    standin.push({"type": "x.y", "properties": {}})
    assert any("request" in line for line in standin.journal())
    assert "POST /session" in standin.journal_text()
    reply = {"request": "POST /permission/{requestID}/reply", "lane": "another client", "body": {"reply": "reject"}}
    assert standin.verify_calls(expected=["POST /session", reply], order=["POST /session", reply])["holds"]
    unmet = standin.verify_calls(forbidden=["POST /session"])["unmet"]
    assert [(one["what"], len(one["near"])) for one in unmet] == [("forbidden", 1)], unmet
    try:
        standin.open_gate("no/where")
        raise AssertionError("there is no such gate")
    except Refused as refused:
        assert refused.status == 404 and "no/where" in str(refused), refused
    assert standin.gates() == [] and "text/plain" in standin.scenarios()
    standin.load("text/plain")
    assert json.loads(ask(url + "/session")[1]) == []
    standin.arm("cut after 5 events")
    assert not standin.verify()["holds"]
    standin.disarm()
    assert standin.verify()["unfired"] == []
    standin.reset("journal")
    assert standin.journal() == []
    standin.reset()


if __name__ == "__main__":
    main(sys.argv[1])
