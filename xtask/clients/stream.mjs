// An event stream as a client reads it, with all that came; and the order of a turn's events, without those that the
// real servers send at no fixed place.

const PATIENCE = 20_000;
const QUIET = 700;
const POLL = 15;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Listener {
  /** Listens from the first event on. */
  static async open(api, name, parameters = {}) {
    const listener = new Listener();
    const options = { signal: listener.controller.signal, sseMaxRetryAttempts: 1, onSseError: () => {} };
    const { stream } = await api.call(name, parameters, options);
    listener.pumped = listener.pump(stream);
    await listener.until((event) => event.type === "server.connected", 0);
    return listener;
  }

  constructor() {
    this.controller = new AbortController();
    this.frames = [];
    this.events = [];
  }

  async pump(stream) {
    try {
      for await (const frame of stream) {
        this.frames.push(frame);
        this.events.push(frame.payload ?? frame);
      }
    } catch {
      // A stream that is closed ends as it likes.
    }
    this.ended = true;
  }

  async close() {
    this.controller.abort();
    await Promise.race([this.pumped, pause(2_000)]);
  }

  mark() {
    return this.events.length;
  }

  /** The first such event behind a mark. */
  async until(isIt, mark) {
    for (let waited = 0; waited < PATIENCE; waited += POLL) {
      const found = this.events.slice(mark).find(isIt);
      if (found) return found;
      await pause(POLL);
    }
    const types = [...new Set(this.events.slice(mark).map((event) => event.type))];
    throw new Error(`an event did not come: ${isIt}; there came ${types}`);
  }

  idle(sessionID, mark) {
    return this.until((event) => event.type === "session.idle" && event.properties.sessionID === sessionID, mark);
  }

  delta(sessionID, words, mark) {
    return this.until(
      ({ type, properties }) =>
        type === "message.part.delta" && properties.sessionID === sessionID && properties.delta.includes(words),
      mark,
    );
  }

  /** Jobs beside a turn are done when nothing has come for a while. */
  async settle() {
    let [count, quiet] = [-1, 0];
    while (quiet < QUIET) {
      if (this.events.length !== count) [count, quiet] = [this.events.length, 0];
      await pause(POLL);
      quiet += POLL;
    }
  }

  /** A session's events behind a mark, in words. */
  order(sessionID, mark) {
    const words = [];
    for (const event of this.steady(sessionID, mark)) {
      const word = wordOf(event);
      if (words.at(-1) !== word) words.push(word);
    }
    return words;
  }

  /** The same as they are, but for pieces of text. */
  whole(sessionID, mark) {
    // Text comes in pieces, and so does what a line prints.
    const isPiece = ({ type, properties: { part } }) =>
      type === "message.part.delta" ||
      (type === "message.part.updated" &&
        (["text", "reasoning"].includes(part.type) || (part.state?.status === "running" && part.state.metadata?.output !== undefined)));
    return this.steady(sessionID, mark).filter((event) => !isPiece(event)).map(({ id, ...event }) => event);
  }

  /** Which types came that stand at no fixed place. */
  beside(sessionID, mark) {
    const events = this.events.slice(mark).filter((event) => sessionOf(event) === sessionID && floats(event));
    const types = new Set(events.map((event) => event.type));
    // The session is older than the turn; only its news may be late.
    types.delete("session.created");
    return [...types].sort();
  }

  steady(sessionID, mark) {
    const transient = new Set();
    return this.events.slice(mark).filter((event) => {
      if (sessionOf(event) !== sessionID || floats(event)) return false;
      const part = event.properties.part;
      if (part?.metadata?.["kilocode.lifecycle"] || isTransient(part)) {
        transient.add(part.id);
        return false;
      }
      return !transient.has(event.properties.partID);
    });
  }
}

function isTransient(part) {
  return JSON.stringify(part?.metadata ?? {}).includes("transient");
}

function floats({ type, properties }) {
  return (
    ["session.updated", "session.diff", "file.watcher.updated", "session.created", "sync"].includes(type) ||
    (type === "message.updated" && properties.info.role === "user" && "summary" in properties.info)
  );
}

export function sessionOf({ properties = {} }) {
  return properties.sessionID ?? properties.info?.sessionID ?? properties.part?.sessionID ?? properties.info?.id;
}

function wordOf({ type, properties }) {
  const about = {
    "message.updated": () => [properties.info.role, properties.info.finish, properties.info.error?.name],
    "message.part.updated": () => [properties.part.type, properties.part.tool, properties.part.state?.status],
    "session.status": () => [properties.status.type],
    "session.error": () => [properties.error?.name],
    "permission.replied": () => [properties.reply ?? properties.response],
  }[type];
  return [type, ...(about?.() ?? [])].filter(Boolean).join(" ");
}
