// Goal: the client does all that its file says, against a stand-in that serves. Run: control.js PATH_TO_STANDIN
import assert from "node:assert"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { Refused, Standin } from "../standin.js"

const line = ["serve", "--profile", "opencode", "--scenario", "permission/write-rejected", "--control", "key"]
const server = spawn(process.argv[2]!, line, { stdio: ["ignore", "pipe", "inherit"] })
const ready = new Promise<string>((found) => {
  createInterface({ input: server.stdout }).on("line", (line) => {
    const url = line.match(/http:\/\/\S+/)
    if (url) found(url[0])
  })
})

async function status(url: string): Promise<number> {
  return (await fetch(url)).status
}

async function check(url: string, standin: Standin): Promise<void> {
  const described = (await standin.describe()) as { paths: Record<string, unknown> }
  assert(described.paths["/__standin__/faults"])
  const faults = [{ when: { request: "GET /agent" }, do: { status: 418 } }]
  assert.deepEqual(await standin.arm({ lines: ["503 at GET /path"], faults }), [1, 2])
  const codes = []
  for (const path of ["/path", "/agent", "/path", "/agent"]) codes.push(await status(url + path))
  assert.deepEqual(codes, [503, 418, 200, 200])
  assert.deepEqual((await standin.faults()).map((fault) => fault.state), ["spent", "spent"])
  const headers = { "content-type": "application/json" }
  const created = await fetch(`${url}/session`, { method: "POST", headers, body: "{}" })
  const { id } = (await created.json()) as { id: string }
  const body = JSON.stringify({ parts: [{ type: "text", text: "please write it" }] })
  assert.equal((await fetch(`${url}/session/${id}/prompt_async`, { method: "POST", headers, body })).status, 204)
  await standin.wait({ while: "permission-pending" })
  await standin.now({ reply: "reject" })
  await standin.wait({ event: "permission.replied" })
  await standin.push({ type: "x.y" })
  assert((await standin.journal()).some((line) => "request" in line))
  assert((await standin.journalText()).includes("POST /session"))
  const reply = { request: "POST /permission/{requestID}/reply", lane: "another client", body: { reply: "reject" } }
  assert((await standin.verifyCalls({ expected: ["POST /session", reply], order: ["POST /session", reply] })).holds)
  const { unmet } = await standin.verifyCalls({ forbidden: ["POST /session"] })
  assert.deepEqual(unmet.map((one) => [one.what, one.near.length]), [["forbidden", 1]])
  await assert.rejects(standin.openGate("no/where"), (error) => error instanceof Refused && error.status === 404)
  assert.deepEqual(await standin.gates(), [])
  assert((await standin.scenarios()).includes("text/plain"))
  await standin.load({ name: "text/plain" })
  assert.deepEqual(await (await fetch(`${url}/session`)).json(), [])
  await standin.arm({ lines: ["cut after 5 events"] })
  assert.equal((await standin.verify()).holds, false)
  await standin.disarm()
  assert.deepEqual((await standin.verify()).unfired, [])
  await standin.reset("journal")
  assert.deepEqual(await standin.journal(), [])
  await standin.reset()
}

try {
  const url = await ready
  await check(url, new Standin(url, "key"))
  console.log("all hold")
} finally {
  server.kill()
}
