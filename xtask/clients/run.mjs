// The life of `kilo run --attach` and `opencode run --attach`: one command after the other, each with what it prints
// and how it ends. Started by `cargo xtask clients`, which tells in one line on stdin where the server is.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { environment } from "./home.mjs";
import { Observer } from "./observe.mjs";
import { tee } from "./tee.mjs";

const world = JSON.parse((await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next()).value);
const observer = new Observer(world);
const home = mkdtempSync(join(tmpdir(), "standin-client-"));
observer.folder(home, "<home>");
const server = await tee(world, observer);
const prefix = world.server.toUpperCase();
const LONGEST = 60_000;

/** Runs it; what it prints, and how it ends. */
function run(args, { env = {}, input, cwd = world.workspace } = {}) {
  return new Promise((resolve) => {
    const child = spawn(world.program, args, { cwd, env: { ...environment(world, home), NO_COLOR: "1", ...env } });
    const said = { stdout: "", stderr: "" };
    const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST);
    for (const name of ["stdout", "stderr"]) child[name].on("data", (chunk) => (said[name] += chunk));
    child.stdin.end(input ?? "");
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout: lines(said.stdout), stderr: lines(said.stderr) });
    });
  });
}

/** Without colours. Events that it prints as JSON are read. */
function lines(text) {
  const plain = text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "").replaceAll(server.url, "<server>");
  return plain.split("\n").map((line) => (line.startsWith("{") ? JSON.parse(line) : line));
}

const known = ["--attach", server.url, "-u", world.user, "-p", world.password];

/** Under a name: what came of it. */
async function check(name, args, more) {
  observer.check(name, await run(["run", ...args], more));
}

/** The newest session's id, asked of the server itself. */
async function newest() {
  const headers = { authorization: `Basic ${btoa(`${world.user}:${world.password}`)}` };
  const sessions = await (await fetch(`${world.url}/session`, { headers })).json();
  return sessions[0].id;
}

await check("a prompt", [...known, "say", "hello"]);
await check("a prompt in one word, with thoughts", [...known, "--thinking", "please ponder"]);
await check("events as JSON", [...known, "--format", "json", "say hello"]);
await check("a title", [...known, "--title", "Mine", "say hello"]);
await check("the last session goes on", [...known, "-c", "hello again"]);
const first = observer.name(await newest(), "<session first>");
await check("a session by its id", [...known, "-s", first, "hello once more"]);
await check("a fork of it", [...known, "-s", first, "--fork", "hello fork"]);
await check("a session that there is not", [...known, "-s", "ses_00000000000000000000000000", "hello"]);
await check("an agent that plans", [...known, "--agent", "plan", "say hello"]);
await check("an agent that there is not", [...known, "--agent", "nosuch", "say hello"]);
await check("an agent for others", [...known, "--agent", "general", "say hello"]);
await check("a model", [...known, "-m", "fake/fake", "say hello"]);
await check("a model that there is not", [...known, "-m", "no/such", "say hello"]);
await check("a command", [...known, "--command", "greet", "World"]);
await check("a command that there is not", [...known, "--command", "nosuch", "World"]);
await check("a file", [...known, "say hello", "-f", "README.md"]);
await check("a file that there is not", [...known, "say hello", "-f", "nosuch.md"]);
await check("a prompt on stdin", known, { input: "say hello from a pipe\n" });
await check("both", [...known, "say hello"], { input: "and this is more\n" });
await check("nothing to say", known);
await check("a file is written, which nobody allows", [...known, "write it down"]);
await check("a file is written, which is allowed", [...known, "--auto", "write it down"]);
await check("two files, as JSON", [...known, "--auto", "--format", "json", "write it twice"]);
await check("a file is read and edited", [...known, "--auto", "edit the readme"]);
await check("a line of the shell that asks", [...known, "list the folder"]);
await check("a line of the shell", [...known, "run a line"]);
await check("a question", [...known, "choose a colour"]);
await check("a list of things to do", [...known, "plan the day"]);
await check("another agent", [...known, "let another one do it"]);
await check("a provider that refuses", [...known, "be refused"]);
await check("the same, as JSON", [...known, "--format", "json", "be refused"]);
await check("a folder of its own", [...known, "--dir", join(world.workspace, "sub"), "say hello"]);
const [USERNAME, PASSWORD] = [`${prefix}_SERVER_USERNAME`, `${prefix}_SERVER_PASSWORD`];
const env = { [USERNAME]: world.user, [PASSWORD]: world.password };
await check("the password of the environment", ["--attach", server.url, "say hello"], { env });
await check("no password", ["--attach", server.url, "say hello"]);
await check("a wrong password", ["--attach", server.url, "-p", "wrong", "say hello"]);
await check("a wrong user", ["--attach", server.url, "-u", "nobody", "-p", world.password, "say hello"]);
server.close();
await check("nobody listens", [...known, "say hello"]);
rmSync(home, { recursive: true, force: true });
process.stdout.write('"done"\n', () => process.exit(0));
