// Sessions are made, named, listed, copied and deleted; nobody prompts yet.

export async function tell(life) {
  const { api, observer, listener } = life;
  let mark = listener.mark();
  const first = await life.check("session.create: with nothing", "session.create");
  observer.name(first.id, "<session first>");
  await listener.until((event) => event.type === "session.created", mark);
  observer.check("session.create: its event", listener.events.slice(mark).filter(({ type }) => type === "session.created").map(({ type, properties }) => ({ type, properties })));
  const second = await life.check("session.create: with a title", "session.create", { title: "A named one" });
  observer.name(second.id, "<session second>");
  const child = await life.check("session.create: below another", "session.create", { parentID: first.id });
  observer.name(child.id, "<session child>");
  const other = await life.check("session.create: in a folder below", "session.create", {
    directory: `${life.world.workspace}/sub`,
  });
  observer.name(other.id, "<session sub>");
  await life.check("session.create: with rules", "session.create", {
    title: "Ruled",
    permission: [{ permission: "edit", pattern: "*", action: "deny" }],
  }).then((made) => observer.name(made?.id, "<session ruled>"));
  await life.check("session.create: below nobody", "session.create", { parentID: "ses_nosuch" });
  await life.check("session.create: a title that is no text", "session.create", { title: 1 });
  await life.check("session.list", "session.list");
  await life.check("session.list: of the folder", "session.list", { directory: life.world.workspace });
  await life.check("session.list: of the folder below", "session.list", { directory: `${life.world.workspace}/sub` });
  if (api.isFlat) {
    await life.check("session.list: a search", "session.list", { search: "named" });
    await life.check("session.list: a search in vain", "session.list", { search: "nothing like it" });
    await life.check("session.list: one of them", "session.list", { limit: 1 });
    await life.check("session.list: roots", "session.list", { roots: true });
    await life.check("session.list: since tomorrow", "session.list", { start: 9_000_000_000_000 });
    await life.check("session.list: a path", "session.list", { path: "sub" });
  }
  for (const [word, id] of [["first", first.id], ["child", child.id], ["sub", other.id]]) {
    await life.check(`session.get: ${word}`, "session.get", { sessionID: id });
    await life.check(`session.children: of ${word}`, "session.children", { sessionID: id });
    await life.check(`session.messages: of ${word}`, "session.messages", { sessionID: id });
    await life.check(`session.todo: of ${word}`, "session.todo", { sessionID: id });
    await life.check(`session.diff: of ${word}`, "session.diff", { sessionID: id });
  }
  await life.check("session.get: from another folder", "session.get", {
    sessionID: first.id,
    directory: `${life.world.workspace}/sub`,
  });
  await life.check("session.status: all at rest", "session.status");

  mark = listener.mark();
  await life.check("session.update: a title", "session.update", { sessionID: second.id, title: "Another name" });
  await listener.until((event) => event.type === "session.updated", mark);
  observer.check(
    "session.update: its event",
    listener.events.slice(mark).filter(({ type }) => type === "session.updated").map(({ type, properties }) => ({ type, properties })),
  );
  await life.check("session.update: nothing", "session.update", { sessionID: second.id });
  await life.check("session.update: an empty title", "session.update", { sessionID: second.id, title: "" });
  await life.check("session.update: a title that is no text", "session.update", { sessionID: second.id, title: [] });
  await life.check("session.update: put away", "session.update", { sessionID: second.id, time: { archived: 5 } });
  await life.check("session.list: one is put away", "session.list");
  await life.check("session.get: put away", "session.get", { sessionID: second.id });

  const fork = await life.check("session.fork: of one without messages", "session.fork", { sessionID: second.id });
  observer.name(fork?.id, "<session fork>");
  await life.check("session.get: the fork", "session.get", { sessionID: fork?.id });
  await life.check("session.abort: of one at rest", "session.abort", { sessionID: first.id });
  await life.check("session.share", "session.share", { sessionID: first.id });
  await life.check("session.unshare", "session.unshare", { sessionID: first.id });
  await life.check("session.unrevert: nothing to take back", "session.unrevert", { sessionID: first.id });

  mark = listener.mark();
  await life.check("session.delete: the first, with its child", "session.delete", { sessionID: first.id });
  await listener.until((event) => event.type === "session.deleted" && event.properties.info.id === first.id, mark);
  observer.check(
    "session.delete: its events",
    listener.events.slice(mark).filter(({ type }) => type === "session.deleted").map(({ type, properties }) => ({ type, properties })),
  );
  await life.check("session.get: deleted", "session.get", { sessionID: first.id });
  await life.check("session.get: the child of a deleted one", "session.get", { sessionID: child.id });
  await life.check("session.messages: of a deleted one", "session.messages", { sessionID: first.id });
  await life.check("session.update: a deleted one", "session.update", { sessionID: first.id, title: "x" });
  await life.check("session.delete: again", "session.delete", { sessionID: first.id });
  await life.check("session.delete: the one below", "session.delete", { sessionID: other.id });
  await life.check("session.list: what is left", "session.list");
}
