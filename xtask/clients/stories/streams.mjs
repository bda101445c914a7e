// Streams of events: several at once, of other folders, closed and opened again, missed in mid-turn.

import { Listener, sessionOf } from "../stream.mjs";
import { prompted, said, turn } from "./turn.mjs";

export async function tell(life) {
  const { api, observer, world } = life;
  const streams = {
    own: await Listener.open(api, "event.subscribe"),
    folder: await Listener.open(api, "event.subscribe", { directory: world.workspace }),
    below: await Listener.open(api, "event.subscribe", { directory: `${world.workspace}/sub` }),
    global: await Listener.open(api, "global.event"),
  };
  for (const [name, stream] of Object.entries(streams)) {
    observer.check(`a stream begins: ${name}`, stream.frames.slice(0, 1));
  }
  // A busy server has promised a stream before it listens for what it has to tell there.
  for (const stream of Object.values(streams)) await stream.settle();
  const main = await life.session("streams");
  await prompted(life, "a turn that all hear", main, "hello");
  for (const [name, stream] of Object.entries(streams)) {
    await stream.settle();
    observer.check(`heard: ${name}`, stream.order(main, 0));
  }
  const wrapped = streams.global.frames.find((frame) => frame.payload && sessionOf(frame.payload) === main);
  observer.check("a frame of the global stream", Object.keys(wrapped ?? {}).sort());
  const elsewhere = await life.session("streams below", { directory: `${world.workspace}/sub` });
  await streams.below.until((event) => event.type === "session.created", 0);
  observer.check("heard below: its own session", streams.below.events.filter((event) => sessionOf(event) === elsewhere).map(({ type }) => type));
  await life.listener.settle();
  observer.check("heard above: not that session", life.listener.events.filter((event) => sessionOf(event) === elsewhere).map(({ type }) => type));
  await streams.own.close();
  observer.check("a stream that is closed", { ended: streams.own.ended === true });

  const again = await life.session("reconnect");
  const early = await Listener.open(api, "event.subscribe");
  await turn(life, "a turn that one stream misses", again, async ({ mark }) => {
    const answer = observer.outcome(api.call("session.prompt", { sessionID: again, ...said("go on without me") }));
    await life.listener.delta(again, "Begun", mark);
    await early.delta(again, "Begun", 0);
    await early.close();
    const late = await Listener.open(api, "event.subscribe");
    await life.check("what is read after a reconnect", "session.messages", { sessionID: again });
    observer.gate("missed");
    await late.idle(again, 0);
    await late.settle();
    observer.check("heard after a reconnect", late.order(again, 0));
    observer.check("nothing is sent again", { begun: JSON.stringify(late.events.filter(({ type }) => type === "message.part.delta")).includes("Begun") });
    await late.close();
    return answer;
  });
  for (const stream of Object.values(streams)) await stream.close();
  await strangers(life);
}

async function strangers(life) {
  const { client, basic, world, observer } = life;
  for (const [name, headers] of [["nobody", {}], ["a stranger", basic(world.user, "wrong")], ["another user", basic("root", world.password)]]) {
    const api = client({ headers });
    let error;
    const options = { sseMaxRetryAttempts: 1, onSseError: (seen) => (error = String(seen)) };
    const { stream } = await api.call("event.subscribe", {}, options);
    for await (const _ of stream) break;
    observer.check(`event.subscribe: ${name}`, error);
    for (const method of ["session.list", "session.create", "config.get", "path.get", "app.agents"]) {
      await life.checked(`${method}: ${name}`, api.call(method));
      await life.checked(`${method}: ${name}, thrown`, api.call(method, {}, { throwOnError: true }));
    }
  }
}
