// Other ways to use a client: errors that are thrown, folders by client and by call, styles of answers, wrong bodies.

import { said } from "./turn.mjs";

export async function tell(life) {
  const { client, world, api } = life;
  const unknown = { sessionID: "ses_nosuch", messageID: "msg_nosuch" };
  const calls = [
    ["session.get", unknown],
    ["session.messages", unknown],
    ["session.message", unknown],
    ["session.update", { ...unknown, title: "x" }],
    ["session.delete", unknown],
    ["session.children", unknown],
    ["session.todo", unknown],
    ["session.fork", unknown],
    ["session.abort", unknown],
    ["session.prompt", { ...unknown, messageID: undefined, ...said("x") }],
    ["session.promptAsync", { ...unknown, messageID: undefined, ...said("x") }],
    ["session.command", { sessionID: "ses_nosuch", command: "greet", arguments: "" }],
    ["session.shell", { sessionID: "ses_nosuch", agent: "build", command: "true" }],
    ["session.summarize", { sessionID: "ses_nosuch", providerID: "fake", modelID: "fake" }],
    ["session.init", { ...unknown, providerID: "fake", modelID: "fake" }],
    ["session.revert", unknown],
    ["session.unrevert", unknown],
    ["session.share", unknown],
    ["session.unshare", unknown],
  ];
  for (const [method, parameters] of calls) {
    await life.check(`${method}: of nobody`, method, parameters);
    await life.check(`${method}: of nobody, thrown`, method, parameters, { throwOnError: true });
  }
  const main = await life.session("wrong bodies");
  const model = (providerID, modelID) => ({ model: { providerID, modelID }, ...said("hello") });
  const bodies = {
    "no parts": {},
    "no part at all": { parts: [] },
    "a part of no kind": { parts: [{ type: "nosuch" }] },
    "a part without text": { parts: [{ type: "text" }] },
    "parts that are none": { parts: "hello" },
    "an id of another kind": { messageID: "ses_x", ...said("hello") },
    "an agent that nobody knows": { agent: "nosuch", ...said("hello") },
    "half a model": { model: { providerID: "fake" }, ...said("hello") },
    "a model that nobody knows": model("fake", "nosuch"),
    "a provider that nobody knows": model("nosuch", "fake"),
    "a tool's rule that is none": { tools: { bash: "no" }, ...said("hello") },
  };
  for (const [name, body] of Object.entries(bodies)) {
    await life.check(`session.prompt: ${name}`, "session.prompt", { sessionID: main, ...body });
    await life.listener.settle();
    await life.check(`session.promptAsync: ${name}`, "session.promptAsync", { sessionID: main, ...body });
    await life.listener.settle();
  }
  await life.check("session.messages: after wrong prompts", "session.messages", { sessionID: main });
  await life.check("session.shell: no agent", "session.shell", { sessionID: main, command: "true" });
  await life.check("session.command: no arguments", "session.command", { sessionID: main, command: "greet" });
  await life.check("session.summarize: no model", "session.summarize", { sessionID: main });
  await life.check("session.revert: nothing", "session.revert", { sessionID: main });

  const inFolder = client({ directory: `${world.workspace}/sub` });
  for (const method of ["path.get", "session.list", "config.get", "project.current", "vcs.get", "session.status"]) {
    await life.checked(`${method}: a client of a folder`, inFolder.call(method));
    await life.checked(`${method}: a client of a folder, called for another`, inFolder.call(method, { directory: world.workspace }));
    await life.check(`${method}: called for a folder that is none`, method, { directory: `${world.workspace}/nosuch` });
  }
  const { data: below } = await inFolder.call("session.create", { title: "Below" });
  life.observer.name(below.id, "<session of a folder's client>");
  life.observer.check("session.create: a client of a folder", below);
  await life.checked("session.prompt: a client of a folder", inFolder.call("session.prompt", { sessionID: below.id, ...said("hello below") }));
  await life.checked("session.messages: a client of a folder", inFolder.call("session.messages", { sessionID: below.id }));

  await life.checked("a client that throws", client({ throwOnError: true }).call("session.get", { sessionID: "ses_nosuch" }));
  await life.checked("a client of plain data", client({ responseStyle: "data" }).call("session.status"));
  await life.checked("a client of plain data, wrong", client({ responseStyle: "data" }).call("session.get", { sessionID: "ses_nosuch" }));
  await life.checked("nobody listens", client({ baseUrl: "http://127.0.0.1:1" }).call("session.list", {}, { throwOnError: false }).catch((error) => ({ data: String(error) })));
}
