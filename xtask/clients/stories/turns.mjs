// Prompts and what comes of them: words, thoughts, tools, lines of the shell, commands, summaries, copies, ways back.

import { prompted, rest, said, turn } from "./turn.mjs";

export async function tell(life) {
  for (const story of [words, tools, commands, waysBack, meanwhile]) {
    await story(life).catch((error) => life.observer.check(`the story of ${story.name} broke`, String(error)));
  }
}

async function words(life) {
  const { api, observer, listener } = life;
  const main = await life.session("words");
  await prompted(life, "a first prompt", main, "hello");
  await prompted(life, "a second prompt", main, "ponder this");
  await turn(life, "a prompt that is not waited for", main, () =>
    observer.outcome(api.call("session.promptAsync", { sessionID: main, ...said("hello again") })),
  );
  await prompted(life, "a prompt with an id and a model", await life.session("ids"), "hello you", {
    messageID: "msg_zzzzzzzzzzzzzzzzzzzzzzzzzz",
    model: { providerID: "fake", modelID: "fake" },
    agent: life.world.server === "kilo" ? "code" : "build",
  });
  await prompted(life, "a prompt to the planner", await life.session("plans"), "hello planner", { agent: "plan" });
  await prompted(life, "a prompt that carries a file", await life.session("files"), "hello file", {
    parts: [
      { type: "text", text: "hello, look at this" },
      { type: "file", mime: "text/plain", filename: "README.md", url: `file://${life.world.workspace}/README.md` },
    ],
  });
  await prompted(life, "a prompt with words of its own for the system", await life.session("system"), "hello system", {
    system: "Be brief.",
    tools: { bash: false },
  });
  const quiet = await life.session("quiet");
  await life.check("a prompt without an answer", "session.prompt", { sessionID: quiet, noReply: true, ...said("hello") });
  await listener.settle();
  await life.check("a prompt without an answer: messages", "session.messages", { sessionID: quiet });
  for (const limit of [0, 1, 3, 1000]) {
    await life.check(`session.messages: at most ${limit}`, "session.messages", { sessionID: main, limit });
  }
  const { data } = await api.call("session.messages", { sessionID: main });
  await life.check("session.message: the first", "session.message", { sessionID: main, messageID: data[0].info.id });
  await life.check("session.message: in another session", "session.message", { sessionID: quiet, messageID: data[0].info.id });
  if (api.isFlat) {
    const parts = { sessionID: main, messageID: data[0].info.id, partID: data[0].parts[0].id };
    await life.check("part.update", "part.update", { ...parts, $body: { ...data[0].parts[0], text: "hello, changed" } });
    await life.check("part.update: another id", "part.update", { ...parts, $body: { ...data[0].parts[0], id: "prt_other" } });
    await life.check("session.message: a changed part", "session.message", parts);
    await life.check("part.delete", "part.delete", parts);
    await life.check("session.message: a part is gone", "session.message", parts);
    await life.check("session.deleteMessage", "session.deleteMessage", parts);
    await life.check("session.messages: one is gone", "session.messages", { sessionID: main });
    const { headers } = (await api.call("session.messages", { sessionID: main, limit: 2 })).response;
    const before = headers.get("x-next-cursor");
    await life.check("session.messages: the page before", "session.messages", { sessionID: main, limit: 2, before });
  }
}

async function tools(life) {
  const { observer, api } = life;
  const shell = await life.session("shell");
  await prompted(life, "a line of the agent", shell, "run a line");
  const agent = life.world.server === "kilo" ? "code" : "build";
  await turn(life, "a line of the person", shell, () =>
    observer.outcome(api.call("session.shell", { sessionID: shell, agent, command: "echo mine" })),
  );
  const plans = await life.session("todos");
  await prompted(life, "a list of tasks", plans, "plan the day");
  await life.check("session.todo: a list", "session.todo", { sessionID: plans });
  const parent = await life.session("parent");
  await prompted(life, "another agent's work", parent, "let another one do it");
  const children = await life.check("session.children: another agent's session", "session.children", { sessionID: parent });
  const child = children?.[0]?.id;
  observer.name(child, "<session of another agent>");
  await life.check("another agent's messages", "session.messages", { sessionID: child });
  await life.check("another agent's session", "session.get", { sessionID: child });
  await prompted(life, "a refusal of the model", await life.session("refusal"), "be refused");
}

async function commands(life) {
  const { api, observer } = life;
  const main = await life.session("commands");
  await turn(life, "a command of the configuration", main, () =>
    observer.outcome(api.call("session.command", { sessionID: main, command: "greet", arguments: "the world" })),
  );
  await life.check("a command that nobody knows", "session.command", { sessionID: main, command: "nosuch", arguments: "" });
  const about = await life.session("init");
  const model = { providerID: "fake", modelID: "fake" };
  await turn(life, "session.init", about, () =>
    observer.outcome(api.call("session.init", { sessionID: about, messageID: "msg_yyyyyyyyyyyyyyyyyyyyyyyyyy", ...model })),
  );
  await turn(life, "session.summarize", main, () =>
    observer.outcome(api.call("session.summarize", { sessionID: main, ...model })),
  );
  await prompted(life, "a prompt after a summary", main, "hello, summed up");
}

async function waysBack(life) {
  const { api, observer, listener } = life;
  const main = await life.session("ways back");
  await prompted(life, "before a way back", main, "hello");
  await prompted(life, "what is taken back", main, "hello again");
  const { data } = await api.call("session.messages", { sessionID: main });
  const fork = await life.check("session.fork: before a message", "session.fork", { sessionID: main, messageID: data[2].info.id });
  observer.name(fork?.id, "<session forked>");
  await life.check("session.fork: its messages", "session.messages", { sessionID: fork?.id });
  const whole = await life.check("session.fork: whole", "session.fork", { sessionID: main });
  observer.name(whole?.id, "<session forked whole>");
  await life.check("session.fork: all its messages", "session.messages", { sessionID: whole?.id });
  await life.check("session.get: a fork", "session.get", { sessionID: whole?.id });
  const mark = listener.mark();
  await life.check("session.revert", "session.revert", { sessionID: main, messageID: data[2].info.id });
  await listener.settle();
  await rest(life, "session.revert", main, mark);
  await life.check("session.unrevert", "session.unrevert", { sessionID: main });
  await life.check("session.messages: nothing is taken back", "session.messages", { sessionID: main });
  await life.check("session.revert: again", "session.revert", { sessionID: main, messageID: data[2].info.id });
  await prompted(life, "a prompt after a way back", main, "hello once more");
  await life.check("session.revert: a message that nobody knows", "session.revert", { sessionID: main, messageID: "msg_nosuch" });
}

async function meanwhile(life) {
  const { api, observer, listener } = life;
  const main = await life.session("aborted");
  await turn(life, "an abort in mid-turn", main, async ({ mark }) => {
    const answer = observer.outcome(api.call("session.prompt", { sessionID: main, ...said("never end") }));
    await listener.delta(main, "On", mark);
    await life.check("session.status: at work", "session.status");
    await life.check("session.abort: in mid-turn", "session.abort", { sessionID: main });
    return answer;
  });
  await prompted(life, "a prompt after an abort", main, "hello");

  const [apples, pears] = [await life.session("apples"), await life.session("pears")];
  const mark = listener.mark();
  const ask = (sessionID, text) => observer.outcome(api.call("session.prompt", { sessionID, ...said(text) }));
  const counted = [ask(apples, "count the apples")];
  await listener.delta(apples, "Apples", mark);
  counted.push(ask(pears, "count the pears"));
  await listener.delta(pears, "Pears", mark);
  await life.check("session.status: two at work", "session.status");
  await life.check("session.messages: of one at work", "session.messages", { sessionID: apples });
  observer.gate("pears");
  await listener.idle(pears, mark);
  await life.check("session.status: one at work", "session.status");
  observer.gate("apples");
  await listener.idle(apples, mark);
  const answers = await Promise.all(counted);
  await listener.settle();
  for (const [word, id, answer] of [["apples", apples, answers[0]], ["pears", pears, answers[1]]]) {
    observer.check(`${word} beside each other: the answer`, answer);
    await rest(life, `${word} beside each other`, id, mark);
  }

  const busy = await life.session("busy");
  await turn(life, "a second prompt in mid-turn", busy, async ({ mark }) => {
    const first = ask(busy, "wait for me");
    await listener.delta(busy, "One", mark);
    const second = life.api.call("session.promptAsync", { sessionID: busy, ...said("hello in between") });
    await life.checked("a second prompt in mid-turn: taken", second);
    await life.check("session.revert: in mid-turn", "session.revert", { sessionID: busy, messageID: "msg_nosuch" });
    const agent = life.world.server === "kilo" ? "code" : "build";
    await life.check("session.shell: in mid-turn", "session.shell", { sessionID: busy, agent, command: "echo no" });
    observer.gate("waited");
    return first;
  });
}
