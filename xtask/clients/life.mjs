// The life of an SDK with a server: one story after the other, each with checks. Started by `cargo xtask clients`,
// which tells in one line on stdin where the client and the server are.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Api } from "./api.mjs";
import { Observer } from "./observe.mjs";
import * as consent from "./stories/consent.mjs";
import * as files from "./stories/files.mjs";
import * as sessions from "./stories/sessions.mjs";
import * as streams from "./stories/streams.mjs";
import * as sweep from "./stories/sweep.mjs";
import * as turns from "./stories/turns.mjs";
import * as wrongs from "./stories/wrongs.mjs";
import { Listener } from "./stream.mjs";

const world = JSON.parse((await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next()).value);
const manifest = JSON.parse(readFileSync(`${world.package}/package.json`));
const sdk = await import(pathToFileURL(`${world.package}/${manifest.exports[world.export].import}`));
const create = sdk.createKiloClient ?? sdk.createOpencodeClient;
const observer = new Observer(world);
const basic = (user, password) => ({ authorization: `Basic ${btoa(`${user}:${password}`)}` });

/** A client of its own; what is not said is as usual. */
function client(config = {}) {
  const isFlat = world.export.includes("v2");
  const headers = basic(world.user, world.password);
  return new Api(create({ baseUrl: world.url, headers, fetch: observer.fetch(), ...config }), isFlat);
}

const api = client();
const places = (await api.call("path.get")).data;
observer.folder(places.home, "<home>");
const listener = await Listener.open(api, "event.subscribe");
const life = {
  world,
  observer,
  api,
  client,
  basic,
  listener,
  /** Calls, and checks what came of it. */
  async check(name, method, parameters, options) {
    return this.checked(name, this.api.call(method, parameters, options));
  },
  async checked(name, work) {
    const seen = await observer.outcome(work);
    observer.check(name, seen);
    return seen.data;
  },
  /** A session of its own, told by its name. */
  async session(word, parameters = {}) {
    const { data } = await this.api.call("session.create", { title: `About ${word}`, ...parameters });
    observer.name(data.id, `<session ${word}>`);
    return data.id;
  },
};

for (const [name, story] of Object.entries({ files, sessions, turns, consent, streams, wrongs, sweep })) {
  // What breaks in one story is seen, and the others are told.
  await story.tell(life).catch((error) => observer.check(`the story of ${name} broke`, String(error)));
}
await listener.close();
process.stdout.write('"done"\n', () => process.exit(0));
