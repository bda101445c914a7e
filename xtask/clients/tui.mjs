// The life of the servers' own screens, `kilo attach` and `opencode attach`, in tmux: what a person types, and what stands
// on the screen then. Started by `cargo xtask clients`, which tells in one line on stdin where the server is.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { environment } from "./home.mjs";
import { Observer } from "./observe.mjs";
import { tee } from "./tee.mjs";

const world = JSON.parse((await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next()).value);
const observer = new Observer(world);
observer.gather();
const home = mkdtempSync(join(tmpdir(), "standin-client-"));
observer.folder(home, "<home>");
const server = await tee(world, observer);
/** Each screen has a tmux of its own: one that is ending takes nobody in. */
let screens = 0;
const socket = () => `standin-${process.pid}-${screens}`;
const LONGEST = 60_000;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function tmux(...args) {
  return execFileSync("tmux", ["-L", socket(), "-f", "/dev/null", ...args], { env: environment(world, home) }).toString();
}

const screen = () => tmux("capture-pane", "-p", "-t", "life");
const keys = (...names) => tmux("send-keys", "-t", "life", ...names);

/** Types it as a person does, and sends it. */
async function types(text) {
  tmux("send-keys", "-t", "life", "-l", text);
  await until(text.slice(-12));
  keys("Enter");
}

/** Waits until the screen has this, or has it no more. */
async function until(words, has = true) {
  const begun = Date.now();
  while (Date.now() - begun < LONGEST) {
    if (screen().includes(words) === has) return true;
    await pause(50);
  }
  return false;
}

/** Waits until nothing moves any more; what turns for as long as the agent works is not waited for. */
async function calm() {
  let last = "";
  for (let same = 0, looks = 0; same < 12 && looks < 60; looks++) {
    const now = screen();
    same = now === last ? same + 1 : 0;
    last = now;
    await pause(100);
  }
  return last;
}

/** The words of a screen; where they stand, how long something took, and what it advises today is nobody's business. */
function words(text) {
  const advice = /^.* Tip .*\n(?:.*\S.*\n)*/gm;
  const plain = text.replaceAll(server.url, "<server>").replace(/\b\d+(\.\d+)?(ms|s|m|K)\b/g, "<some>").replace(advice, "");
  return plain
    .split("\n")
    .map((line) => line.replace(/[^\p{L}\p{N}\p{P}<> ]/gu, "").replace(/\s+/g, " ").trim())
    .map((line) => line.replace(/^Ask anything.*/, "Ask anything"))
    .filter((line) => line !== "");
}

async function check(name, expected) {
  const seen = await until(expected);
  observer.check(name, { seen, screen: words(await calm()) });
}

function starts(...more) {
  screens += 1;
  // tmux outlives whoever started it: what nobody ends any more ends by itself.
  const command = ["timeout", "900", world.program, "attach", server.url, "-u", world.user, "-p", world.password, ...more];
  const quoted = command.map((word) => `'${word}'`).join(" ");
  tmux("new-session", "-d", "-s", "life", "-x", "120", "-y", "40", "-c", world.workspace, quoted);
}

try {
  starts("--dir", world.workspace);
  await check("home", "Ask anything");
  await types("say hello");
  await check("an answer", "a fine day");
  await types("please ponder");
  await check("thoughts", "about nothing");
  await types("write it down");
  await check("a permission is asked", "Permission required");
  keys("Enter");
  await check("it is allowed once", "Written.");
  await types("better not write");
  await check("another one is asked", "Permission required");
  keys("Right");
  keys("Right");
  await calm();
  keys("Enter");
  await until("Permission required", false);
  // One of them asks for the reason, too.
  if ((await calm()).includes("Reject permission")) keys("Enter");
  await check("it is refused", "never.txt");
  await types("choose a colour");
  await check("a question", "Which colour?");
  keys("Enter");
  await check("the answer of the person", "So be it.");
  await types("plan the day");
  await check("a list", "Planned.");
  await types("run a line");
  await check("a line of the shell", "It failed with 3.");
  await types("let another one do it");
  await check("another agent", "The other one has spoken.");
  await types("never end");
  await check("a turn goes on", "On and on");
  keys("Escape");
  await pause(200);
  keys("Escape");
  await check("it is interrupted", "interrupted");
  await types("be refused");
  await check("the provider refuses", "No such thing.");
  await types("/new");
  await until("Ask anything");
  // The note of what went wrong floats above the new session for as long as it likes.
  await until("No such thing.", false);
  await check("a new session", "Ask anything");
  await types("say hello");
  await check("an answer there", "a fine day");
  tmux("kill-server");
  starts("--dir", world.workspace, "-c");
  await check("the last session again", "a fine day");
} finally {
  try {
    tmux("kill-server");
  } catch {
    // It has ended by itself.
  }
  server.close();
  rmSync(home, { recursive: true, force: true });
}
observer.tellGathered();
process.stdout.write('"done"\n', () => process.exit(0));
