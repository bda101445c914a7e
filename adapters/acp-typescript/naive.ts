// A client of agents on the official TypeScript SDK, written as its README suggests, behind the kit's adapter protocol
// (docs/acp-clients.md). What happens when the agent's line breaks it leaves to the SDK. What it can't do it does not declare.

import * as acp from "@agentclientprotocol/sdk";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";

type Json = Record<string, any>;

const write = (message: Json) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const show = (kind: string, fields: Json) => write({ method: "update", params: { update: { kind, ...fields } } });

/** The client itself: an agent, and chats by their sessions. */
class Client {
  private process!: ChildProcess;
  private connection!: acp.ClientConnection;
  private chats = new Map<string, string>();
  private loading = new Set<string>();
  private leave = "allow";

  async start({ command, args, env, cwd, leave }: Json): Promise<Json> {
    this.leave = leave;
    this.chats.clear();
    this.process = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "ignore"] });
    const input = Writable.toWeb(this.process.stdin!) as WritableStream<Uint8Array>;
    const output = Readable.toWeb(this.process.stdout!) as ReadableStream<Uint8Array>;
    this.connection = acp
      .client({ name: "acp-typescript" })
      .onNotification(acp.methods.client.session.update, ({ params }) => this.told(params))
      .onRequest(acp.methods.client.session.requestPermission, ({ params }) => this.asked(params))
      .connect(acp.ndJsonStream(input, output));
    await this.connection.agent.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    return { mode: "acp" };
  }

  stop(): void {
    this.connection.close();
    this.process.kill();
  }

  private told({ sessionId, update }: acp.SessionNotification): void {
    const chatId = this.chats.get(sessionId);
    if (chatId === undefined || this.loading.has(sessionId)) return;
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
      show("chatText", { chatId, delta: update.content.text });
    } else if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") {
      show("chatTool", { chatId, tool: update.toolCallId, title: update.title ?? "", status: update.status ?? "" });
    }
  }

  private async asked(params: acp.RequestPermissionRequest): Promise<acp.RequestPermissionResponse> {
    show("chatPermission", { chatId: this.chats.get(params.sessionId) ?? "", title: params.toolCall.title ?? "" });
    // Nobody is there to answer.
    if (this.leave === "wait") await new Promise(() => {});
    const wanted = this.leave === "allow" ? "allow" : "reject";
    const option = params.options.find(({ kind }) => kind.startsWith(wanted));
    return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
  }

  async open({ chatId, cwd, mcpServers = [] }: Json): Promise<Json> {
    const params: acp.NewSessionRequest = { cwd, mcpServers };
    const { sessionId } = await this.connection.agent.request(acp.methods.agent.session.new, params);
    this.chats.set(sessionId, chatId);
    return { sessionId };
  }

  private session(chat: string): string {
    return [...this.chats].find(([, of]) => of === chat)![0];
  }

  /** The end of the turn is told, and not waited for. */
  send(chatId: string, prompt: acp.ContentBlock[]): void {
    const sessionId = this.session(chatId);
    this.connection.agent.request(acp.methods.agent.session.prompt, { sessionId, prompt }).then(
      ({ stopReason }) => show("chatDone", { chatId, stop: stopReason }),
      (error) => show("chatDone", { chatId, stop: "error", error: `${error?.message ?? error}` }),
    );
  }

  sendImage({ chatId, path, caption }: Json): void {
    const data = readFileSync(path).toString("base64");
    this.send(chatId, [{ type: "text", text: caption }, { type: "image", data, mimeType: "image/png" }]);
  }

  async cancel(chat: string): Promise<void> {
    await this.connection.agent.notify(acp.methods.agent.session.cancel, { sessionId: this.session(chat) });
  }

  async setMode(chat: string, modeId: string): Promise<void> {
    await this.connection.agent.request(acp.methods.agent.session.setMode, { sessionId: this.session(chat), modeId });
  }

  async setModel(chat: string, value: string): Promise<void> {
    const params = { sessionId: this.session(chat), configId: "model", value };
    await this.connection.agent.request(acp.methods.agent.session.setConfigOption, params);
  }

  save(chat: string, file: string): void {
    writeFileSync(file, JSON.stringify({ session_id: this.session(chat) }));
  }

  async restore({ chatId, file, cwd }: Json): Promise<Json> {
    const sessionId = JSON.parse(readFileSync(file, "utf8")).session_id;
    this.chats.set(sessionId, chatId);
    this.loading.add(sessionId);
    await this.connection.agent.request(acp.methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
    this.loading.delete(sessionId);
    return { sessionId, restored: true };
  }
}

class Unsupported extends Error {}

const client = new Client();
const capabilities = ["core", "cancel", "permission", "sessions", "load", "modes", "models", "image"].map((word) => `acp.${word}`);
const introduction = { protocol: 1, name: "acp-typescript", version: "1", clock: "scaled", declares: { policy: "careful" } };

async function perform(method: string, params: Json): Promise<Json> {
  const chat = params.chatId;
  switch (method) {
    case "initialize":
      return { ...introduction, capabilities: [...capabilities, "environment"] };
    case "client/start":
      return client.start(params);
    case "client/stop":
      client.stop();
      return {};
    case "chat/open":
      return client.open(params);
    case "chat/send":
      client.send(chat, [{ type: "text", text: params.text }]);
      return {};
    case "chat/sendImage":
      client.sendImage(params);
      return {};
    case "chat/cancel":
      await client.cancel(chat);
      return {};
    case "chat/setMode":
      await client.setMode(chat, params.mode);
      return {};
    case "chat/setModel":
      await client.setModel(chat, params.model);
      return {};
    case "chat/save":
      client.save(chat, params.file);
      return {};
    case "chat/restore":
      return client.restore(params);
    case "shutdown":
      return {};
    default:
      throw new Unsupported(`unsupported: ${method}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  void perform(method, params).then(
    (result) => write({ id, result }),
    (why) => write({ id, error: { code: why instanceof Unsupported ? -32601 : -32000, message: `${why?.message ?? why}` } }),
  ).then(() => method === "shutdown" && process.exit(0));
}
