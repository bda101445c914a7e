// A turn, from a prompt to its rest, with all that a client sees of it.

/** `act` gets what is needed to meddle in mid-turn; it answers with what it awaits. */
export async function turn(life, name, sessionID, act) {
  const { listener, observer } = life;
  const mark = listener.mark();
  try {
    observer.check(`${name}: the answer`, await act({ mark }));
    await listener.idle(sessionID, mark);
  } catch (error) {
    observer.check(`${name}: broke`, String(error));
  }
  await listener.settle();
  await rest(life, name, sessionID, mark);
}

/** What can be seen when it is over. */
export async function rest(life, name, sessionID, mark) {
  const { listener, observer } = life;
  observer.check(`${name}: order of events`, listener.order(sessionID, mark));
  observer.check(`${name}: events as they are`, listener.whole(sessionID, mark));
  observer.check(`${name}: events beside it`, listener.beside(sessionID, mark));
  const messages = await life.check(`${name}: messages`, "session.messages", { sessionID });
  for (const [place, { info, parts }] of (messages ?? []).entries()) {
    observer.name(info.id, `<message ${place} of ${name}>`);
    for (const [number, part] of parts.entries()) observer.name(part.id, `<part ${place}.${number} of ${name}>`);
  }
  const last = messages?.at(-1);
  if (last) await life.check(`${name}: the last message`, "session.message", { sessionID, messageID: last.info.id });
  await life.check(`${name}: the session`, "session.get", { sessionID });
  await life.check(`${name}: who is at work`, "session.status");
  return messages;
}

export const said = (text) => ({ parts: [{ type: "text", text }] });

/** A prompt whose answer is awaited. */
export function prompted(life, name, sessionID, text, more = {}) {
  return turn(life, name, sessionID, () =>
    life.observer.outcome(life.api.call("session.prompt", { sessionID, ...said(text), ...more })),
  );
}
