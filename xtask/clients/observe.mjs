// What a life sees and asks, said on stdout in words that hold for every run: ids, times, ports and folders are names.

const ID = /\b([a-z]{2,8})_[0-9a-zA-Z]{14,}\b/g;
const NO_NEWS = new Set(["date", "connection", "keep-alive", "transfer-encoding", "content-length", "etag"]);
/** What is another thing each time, or a secret. */
const OF_THIS_RUN = new Set(["slug", "elapsed", "metrics", "apiKey"]);
const LONGEST_CALL = 30_000;

export class Observer {
  constructor(world) {
    this.world = world;
    this.names = new Map();
    this.folders = [[world.workspace, "<workspace>"]];
    this.taken = new Set();
    /** Where requests are gathered that a client repeats as often as it likes. */
    this.gathered = null;
  }

  /** From now on requests are told once, in no order. */
  gather() {
    this.gathered = new Set();
  }

  tellGathered() {
    for (const request of [...this.gathered].sort()) this.say({ request: JSON.parse(request) });
  }

  say(line) {
    process.stdout.write(JSON.stringify(line) + "\n");
  }

  gate(name) {
    this.say({ gate: name });
  }

  /** From now on this id is told by its name. */
  name(id, word) {
    if (typeof id === "string") this.names.set(id, word);
    return id;
  }

  folder(path, word) {
    this.folders.push([path, word]);
    this.folders.sort((a, b) => b[0].length - a[0].length);
  }

  text(text) {
    for (const [path, word] of this.folders) {
      text = text.replaceAll(path, word).replaceAll(encodeURIComponent(path), word);
    }
    return text
      .replaceAll(this.world.url, "<server>")
      .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:<port>")
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<date>")
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uuid>")
      .replace(/\b[0-9a-f]{40}\b/g, "<hash>")
      .replace(/\b01[0-9A-HJKMNP-TV-Z]{24}\b/g, "<ulid>")
      .replace(/\beyJ[0-9A-Za-z_-]+/g, "<cursor>")
      .replace(/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\b/g, "<date>")
      .replace(/\b(memory\/[\w.-]+)-[0-9a-f]{12}\b/g, "$1-<hash>")
      .replace(/\berr_[0-9a-f]{8}\b/g, "<err>")
      .replace(ID, (id, kind) => this.names.get(id) ?? `<${kind}>`);
  }

  mask(value, key) {
    if (OF_THIS_RUN.has(key)) return `<${key}>`;
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return value > 1.6e12 ? "<time>" : value;
    if (Array.isArray(value)) return value.map((one) => this.mask(one));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [this.text(name), this.mask(one, name)]));
    }
    return value;
  }

  /** What is seen under a name; a name that was used gets a number. */
  check(name, saw) {
    let unique = name;
    for (let number = 2; this.taken.has(unique); number++) unique = `${name} (${number})`;
    this.taken.add(unique);
    this.say({ check: { name: unique, saw: this.mask(saw ?? null) } });
  }

  /** A request. */
  asked(method, address, headers, body) {
    const url = new URL(address, this.world.url);
    const whenever = (value) => (/^\d{13}$/.test(value) ? "<time>" : value);
    const query = [...url.searchParams].map(([key, value]) => [key, whenever(value)]).sort(([a], [b]) => (a < b ? -1 : 1));
    const telling = headers.filter(([name]) => name.startsWith("x-") || name === "content-type");
    const path = url.pathname;
    const request = this.mask({ method, path, query, headers: telling, body: parsed(body) });
    if (this.gathered) this.gathered.add(JSON.stringify(request));
    else this.say({ request });
  }

  /** A fetch that tells what is asked. */
  fetch() {
    return async (request) => {
      const body = request.method === "GET" ? "" : await request.clone().text();
      this.asked(request.method, request.url, [...request.headers], body);
      request.timeout = false;
      return fetch(request);
    };
  }

  /** What came of a call, whichever way it ended. */
  async outcome(work) {
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(() => resolve("late"), LONGEST_CALL);
    });
    try {
      const result = await Promise.race([work, late]);
      if (result === "late") return { late: true };
      if (!result?.response) return { data: await plain(result) };
      const { response, data, error } = result;
      const headers = [...response.headers].filter(([name]) => !NO_NEWS.has(name));
      return { status: response.status, headers: Object.fromEntries(headers), data: await plain(data), error };
    } catch (error) {
      return { thrown: thrown(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

function thrown(error) {
  if (!(error instanceof Error)) return error;
  const { cause } = error;
  return { name: error.name, message: error.message, cause: cause instanceof Error ? cause.message : cause };
}

async function plain(data) {
  if (data instanceof Blob) return { blob: await data.text() };
  if (data instanceof ReadableStream) return { stream: await new Response(data).text() };
  return data;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
