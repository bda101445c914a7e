// The agent asks before it acts, and asks what to do; the person answers in all ways that the SDK has.

import { said, turn } from "./turn.mjs";

export async function tell(life) {
  await permissions(life);
  if (life.api.has("question.list")) await questions(life);
}

/** A turn whose permissions are answered, one after the other; the last answer is given again. */
async function asked(life, name, text, answers) {
  const { api, listener, observer } = life;
  const sessionID = await life.session(name);
  await turn(life, name, sessionID, async ({ mark }) => {
    const answer = observer.outcome(api.call("session.prompt", { sessionID, ...said(text) }));
    let from = mark;
    for (const [number, reply] of answers.entries()) {
      const event = await listener.until(({ type }) => type === "permission.asked", from);
      from = listener.events.indexOf(event) + 1;
      const { id } = event.properties;
      observer.name(id, `<permission ${number} of ${name}>`);
      observer.check(`${name}: what is asked ${number}`, event.properties);
      if (api.has("permission.list")) await life.check(`${name}: permission.list ${number}`, "permission.list");
      await life.check(`${name}: status while it is asked ${number}`, "session.status");
      await reply(id, `${name}: reply ${number}`, sessionID);
    }
    return answer;
  });
  return sessionID;
}

async function permissions(life) {
  const respond = (response) => (permissionID, name, sessionID) =>
    life.check(name, "permission.respond", { sessionID, permissionID, response });
  await asked(life, "a file, allowed once", "write it down", [respond("once")]);
  await life.check("file.read: what was written", "file.read", { path: "out.txt" });
  await life.check("file.status: what was written", "file.status");
  await asked(life, "a file, refused", "better not write", [respond("reject")]);
  await asked(life, "a line, allowed once", "list the folder", [respond("once")]);
  await asked(life, "an odd answer before a good one", "edit the readme", [
    async (permissionID, name, sessionID) => {
      await life.check(`${name}: odd`, "permission.respond", { sessionID, permissionID, response: "perhaps" });
      await life.check(`${name}: elsewhere`, "permission.respond", { sessionID: "ses_nosuch", permissionID, response: "perhaps" });
      await life.check(`${name}: another`, "permission.respond", { sessionID, permissionID: "per_nosuch", response: "once" });
      await life.check(`${name}: good`, "permission.respond", { sessionID, permissionID, response: "once" });
      await life.check(`${name}: again`, "permission.respond", { sessionID, permissionID, response: "once" });
    },
  ]);
  if (life.api.has("permission.reply")) {
    const reply = (reply, more) => (requestID, name) => life.check(name, "permission.reply", { requestID, reply, ...more });
    await asked(life, "a file, allowed by its request", "write it down", [reply("once")]);
    await asked(life, "a file, refused with words", "better not write", [reply("reject", { message: "Not here." })]);
  }
  const aborted = await life.session("aborted question");
  await turn(life, "an abort while it is asked", aborted, async ({ mark }) => {
    const answer = life.observer.outcome(life.api.call("session.prompt", { sessionID: aborted, ...said("write it down") }));
    await life.listener.until(({ type }) => type === "permission.asked", mark);
    await life.check("session.abort: while it is asked", "session.abort", { sessionID: aborted });
    return answer;
  });
  await asked(life, "files, allowed always", "write it twice", [respond("always")]);
  await asked(life, "nothing is asked any more", "write it down", []);
}

async function questions(life) {
  const { api, listener, observer } = life;
  const answers = [
    ["a question, answered", (requestID, name) => life.check(name, "question.reply", { requestID, answers: [["Blue"]] })],
    ["a question, answered in own words", (requestID, name) => life.check(name, "question.reply", { requestID, answers: [["Green"]] })],
    ["a question, rejected", (requestID, name) => life.check(name, "question.reject", { requestID })],
    [
      "a question, answered in vain first",
      async (requestID, name) => {
        await life.check(`${name}: no answers`, "question.reply", { requestID });
        await life.check(`${name}: of no kind`, "question.reply", { requestID, answers: "Blue" });
        await life.check(`${name}: another`, "question.reply", { requestID: "que_nosuch", answers: [["Blue"]] });
        await life.check(`${name}: several`, "question.reply", { requestID, answers: [["Blue", "Red"]] });
        await life.check(`${name}: again`, "question.reply", { requestID, answers: [["Blue"]] });
      },
    ],
  ];
  for (const [name, reply] of answers) {
    const sessionID = await life.session(name);
    await turn(life, name, sessionID, async ({ mark }) => {
      const answer = observer.outcome(api.call("session.prompt", { sessionID, ...said("choose a colour") }));
      const { properties } = await listener.until(({ type }) => type === "question.asked", mark);
      observer.name(properties.id, `<question of ${name}>`);
      observer.check(`${name}: what is asked`, properties);
      await life.check(`${name}: question.list`, "question.list");
      await reply(properties.id, `${name}: reply`);
      return answer;
    });
    await life.check(`${name}: question.list at rest`, "question.list");
  }
}
