// Every method of the SDK once: with the least that `/doc` asks for, with ids that nobody has, with ids that are none,
// with nothing, and from another folder.

/** What has stories of its own, or would end what the others need. */
const ELSEWHERE = new Set([
  "session.prompt", "session.promptAsync", "session.command", "session.shell", "session.init", "session.summarize",
  "session.delete", "session.deleteMessage", "part.delete", "part.update", "session.revert", "session.fork",
  "v2.session.prompt", "v2.session.compact", "v2.session.wait",
]);
/** What answers when something happens, or never. */
const WAITS = new Set(["tui.control.next"]);
/** What reaches beyond the server. */
const BEYOND = new Set(["global.upgrade", "kilocode.heap.snapshot"]);
/** What the stand-in does not play: docs/operations.md. */
const NOT_PLAYED = new Set([
  "pty.create", "v2.pty.create", "worktree.create", "sync.history.list", "config.rules", "config.rulesUpdate",
  "config.overlayUpdate", "tui.config.update", "worktree.diff", "worktree.diffFile", "worktree.diffSummary",
  "agentBuilder.preview", "agentBuilder.save", "commitMessage.generate", "enhancePrompt.enhance",
  "branchName.generate", "kilocode.sessionImport.session", "kilocode.sessionImport.message",
  "kilocode.sessionImport.part",
]);
/** Kept for the end, since all that went before is forgotten then. */
const LAST = ["instance.reload", "instance.dispose", "global.dispose"];

export async function tell(life) {
  const { api, world } = life;
  const headers = life.basic(world.user, world.password);
  const doc = await (await fetch(`${world.url}/doc`, { headers })).json();
  const sessionID = await life.session("sweep");
  await api.call("session.prompt", { sessionID, parts: [{ type: "text", text: "hello" }] });
  await life.listener.settle();
  const { data } = await api.call("session.messages", { sessionID });
  const known = { sessionID, messageID: data[0].info.id, partID: data[0].parts[0].id };
  life.observer.name(known.messageID, "<known message>");
  life.observer.name(known.partID, "<known part>");
  const methods = [...api.methods.values()].filter(
    ({ name, streams }) => !streams && ![WAITS, BEYOND, NOT_PLAYED].some((left) => left.has(name)),
  );
  const ordered = [...methods.filter(({ name }) => !LAST.includes(name)), ...methods.filter(({ name }) => LAST.includes(name))];
  for (const method of ordered) await everyWay(life, new Least(doc, method, api.isFlat), method, known);
}

async function everyWay(life, least, { name, http, keys }, known) {
  const call = (way, parameters) => life.check(`${name}: ${way}`, name, parameters);
  if (!ELSEWHERE.has(name)) await call("the least", least.parameters(known));
  if (LAST.includes(name)) return;
  if (keys.length > 0) {
    await call("of nobody", least.parameters({}));
    await call("of no id", least.parameters({}, "nosuch"));
  }
  if (http === "get" && !name.startsWith("v2.")) {
    await call("below", { ...least.parameters(known), directory: `${life.world.workspace}/sub` });
  }
  if (least.hasBody && !ELSEWHERE.has(name)) {
    const path = Object.fromEntries(keys.map((key) => [key, least.path(key, known)]));
    await call("no body", path);
    await call("a body of no kind", least.isSpread ? { ...path, ...least.odd() } : { ...path, $body: [1] });
  }
}

/** The least that fits an operation. */
class Least {
  constructor(doc, { url, http, whole }, isFlat) {
    const form = (path) => path.replace(/\{\w+\}/g, "{}");
    const path = Object.keys(doc.paths).find((path) => form(path) === form(url));
    this.doc = doc;
    this.operation = doc.paths[path]?.[http] ?? {};
    this.keys = [...url.matchAll(/\{(\w+)\}/g)].map(([, key]) => key);
    this.isSpread = isFlat && !whole;
    const content = this.operation.requestBody?.content?.["application/json"];
    this.schema = content && this.resolved(content.schema);
    this.url = url;
  }

  get hasBody() {
    return Boolean(this.schema);
  }

  resolved(schema) {
    if (!schema?.$ref) return schema ?? {};
    return this.resolved(schema.$ref.split("/").slice(1).reduce((at, key) => at[key], this.doc));
  }

  parameters(known, unknown) {
    const parameters = Object.fromEntries(this.keys.map((key) => [key, unknown ?? this.path(key, known)]));
    for (const parameter of this.operation.parameters ?? []) {
      if (parameter.in === "query" && parameter.required) {
        parameters[parameter.name] = USUAL[parameter.name] ?? this.sample(parameter.schema);
      }
    }
    if (!this.schema) return parameters;
    const body = this.sample(this.schema);
    return this.isSpread ? { ...parameters, ...body } : { ...parameters, $body: body };
  }

  path(key, known) {
    const isSession = this.url.includes("/session/{id}");
    const word = key === "id" && isSession ? "sessionID" : key;
    return known[word] ?? NOBODY[word] ?? "nosuch";
  }

  /** Each field with a value that hardly fits. */
  odd() {
    return Object.fromEntries(Object.keys(this.schema.properties ?? {}).map((key) => [key, [null]]));
  }

  sample(given) {
    const schema = this.resolved(given);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    const variant = (schema.anyOf ?? schema.oneOf ?? schema.allOf)?.[0];
    if (variant) return this.sample(variant);
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    switch (type) {
      case "object": {
        const required = schema.required ?? [];
        return Object.fromEntries(required.map((key) => [key, this.sample(schema.properties?.[key])]));
      }
      case "array":
        return [];
      case "string":
        return schema.pattern?.startsWith("^") ? `${schema.pattern.slice(1).replace(/[^a-z_]/g, "").replace(/_?$/, "_")}nosuch` : "x";
      case "number":
      case "integer":
        return Math.max(1, schema.minimum ?? 1);
      case "boolean":
        return true;
      default:
        return {};
    }
  }
}

const USUAL = { path: "README.md", query: "README", pattern: "hello", provider: "fake", model: "fake" };
const NOBODY = {
  sessionID: "ses_nosuch", messageID: "msg_nosuch", partID: "prt_nosuch", permissionID: "per_nosuch",
  requestID: "per_nosuch", ptyID: "pty_nosuch", id: "nosuch",
};
