// Files and names, as they are before anybody has changed one: what was changed lately is found first, and when that
// was depends on the machine.

export async function tell(life) {
  const { client, world, api } = life;
  const inFolder = client({ directory: `${world.workspace}/sub` });
  for (const path of ["", ".", "..", "note.txt", "src", "README.md", "src/main.rs", "nosuch"]) {
    await life.check(`file.list: '${path}'`, "file.list", { path });
    await life.check(`file.read: '${path}'`, "file.read", { path });
    await life.checked(`file.list: '${path}', a client of a folder`, inFolder.call("file.list", { path }));
    await life.checked(`file.read: '${path}', a client of a folder`, inFolder.call("file.read", { path }));
  }
  for (const query of ["", "note", "main", "rs", "READ", "src/", "nosuch"]) {
    await life.check(`find.files: '${query}'`, "find.files", { query });
    if (!api.isFlat) continue;
    await life.check(`find.files: '${query}', folders`, "find.files", { query, type: "directory" });
    await life.check(`find.files: '${query}', one`, "find.files", { query, limit: 1 });
  }
  await life.check("find.symbols", "find.symbols", { query: "main" });
  await life.check("file.status: nothing has changed", "file.status");
}
