// A client on the official SDK, written as its README suggests, behind the adapter protocol (docs/adapters.md). It shows
// each event as it comes; what happens when the stream breaks it leaves to the SDK. What it can't do it does not declare.

import { createOpencodeClient, type Event, type OpencodeClient, type Part } from "@opencode-ai/sdk";
import { createInterface } from "node:readline";

type Json = Record<string, any>;

const states = { pending: "pending", running: "running", completed: "done", error: "error" };

/** The client itself. It knows nothing of the harness but `show`. */
class Client {
  private sdk!: OpencodeClient;
  private tasks = new Map<string, string>();
  private assistant = new Set<string>();
  /** Part → what is shown of its text. */
  private shown = new Map<string, string>();
  private kinds = new Map<string, string>();

  constructor(private show: (update: Json) => void) {}

  async connect(url: string, username: string, password: string, directory: string): Promise<void> {
    const authorization = `Basic ${btoa(`${username}:${password}`)}`;
    this.sdk = createOpencodeClient({ baseUrl: url, directory, headers: { authorization }, throwOnError: true });
    const { stream } = await this.sdk.event.subscribe({
      onSseError: () => this.show({ kind: "connection", state: "reconnecting" }),
    });
    // The SDK opens the stream when it is first read.
    await new Promise<void>((connected) => void this.listen(stream, connected));
  }

  private async listen(stream: AsyncGenerator<unknown>, connected: () => void): Promise<void> {
    for await (const event of stream) {
      this.event(event as Event);
      connected();
    }
    this.show({ kind: "connection", state: "disconnected" });
  }

  async start(task: string): Promise<string> {
    const { data } = await this.sdk.session.create({ body: {}, throwOnError: true });
    this.tasks.set(data.id, task);
    return data.id;
  }

  async send(task: string, text: string): Promise<void> {
    await this.sdk.session.promptAsync({ path: { id: this.session(task) }, body: { parts: [{ type: "text", text }] } });
  }

  async abort(task: string): Promise<void> {
    await this.sdk.session.abort({ path: { id: this.session(task) } });
  }

  async reply(task: string, permissionID: string, response: "once" | "always" | "reject"): Promise<void> {
    const path = { id: this.session(task), permissionID };
    await this.sdk.postSessionIdPermissionsPermissionId({ path, body: { response } });
  }

  private session(task: string): string {
    return [...this.tasks].find(([, of]) => of === task)![0];
  }

  /** The SDK's types are older than the servers, so the newer events are read by hand; some of Kilo's have no properties. */
  private event(event: Event): void {
    const { type, properties = {} } = event as { type: string; properties?: Json };
    if (type === "server.connected") this.show({ kind: "connection", state: "connected" });
    const taskId = this.tasks.get(properties.sessionID ?? properties.info?.sessionID ?? properties.part?.sessionID);
    if (!taskId) return;
    const id = properties.id ?? properties.requestID;
    switch (type) {
      case "message.updated":
        if (properties.info.role === "assistant") this.assistant.add(properties.info.id);
        return;
      case "message.part.updated":
        return this.part(taskId, properties.part as Part);
      case "message.part.delta":
        return this.grow(taskId, properties.messageID, properties.partID, properties.delta);
      case "permission.asked":
        const { permission, patterns } = properties;
        return this.show({ kind: "permissionRequest", taskId, permissionId: id, permission, patterns });
      case "permission.replied":
        return this.show({ kind: "permissionResolved", taskId, permissionId: id });
      case "session.status":
        return this.show({ kind: "status", taskId, state: properties.status.type });
      case "session.error":
        return this.show({ kind: "error", taskId, message: JSON.stringify(properties.error), retry: false });
      case "session.idle":
        this.show({ kind: "status", taskId, state: "idle" });
        return this.show({ kind: "terminal", taskId, outcome: "completed" });
    }
  }

  private part(taskId: string, part: Part): void {
    if (!this.assistant.has(part.messageID)) return;
    if (part.type === "text" || part.type === "reasoning") {
      this.kinds.set(part.id, part.type === "text" ? "assistantDelta" : "reasoningDelta");
      this.grow(taskId, part.messageID, part.id, part.text.slice((this.shown.get(part.id) ?? "").length));
    } else if (part.type === "tool") {
      const { state, tool } = part;
      const output = state.status === "completed" ? state.output : state.status === "error" ? state.error : undefined;
      const said = { tool, state: states[state.status], ...(output === undefined ? {} : { output }) };
      this.show({ kind: "toolState", taskId, messageId: part.messageID, toolId: part.id, ...said });
    }
  }

  private grow(taskId: string, messageId: string, partId: string, delta: string): void {
    const kind = this.kinds.get(partId);
    if (!kind) return;
    this.shown.set(partId, (this.shown.get(partId) ?? "") + delta);
    this.show({ kind, taskId, messageId, partId, delta });
  }
}

const write = (message: Json) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const client = new Client((update) => write({ method: "update", params: { update } }));

class Unsupported extends Error {}

async function perform(method: string, params: Json): Promise<Json> {
  switch (method) {
    case "initialize":
      const capabilities = ["chat", "reasoning", "tools", "permissions", "abort", "reconnect"];
      return { protocol: 1, name: "naive-typescript", version: "1", capabilities };
    case "connect":
      await client.connect(params.url, params.username, params.password, params.directory);
      return {};
    case "task/start":
      if (params.directory) throw new Unsupported("unsupported: task/start with a directory");
      return { sessionId: await client.start(params.taskId) };
    case "task/send":
      await client.send(params.taskId, params.text);
      return {};
    case "task/abort":
      await client.abort(params.taskId);
      return {};
    case "permission/reply":
      await client.reply(params.taskId, params.permissionId, params.reply);
      return {};
    case "fence":
    case "shutdown":
      return {};
    default:
      throw new Unsupported(`unsupported: ${method}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  void perform(method, params).then(
    (result) => write({ id, result }),
    (why) => write({ id, error: { code: why instanceof Unsupported ? -32601 : -32000, message: `${why?.message ?? why}` } }),
  ).then(() => method === "shutdown" && process.exit(0));
}
