/** Goal: a guard in TypeScript, held against the corpus of paths. Run: node paths.js PATH_TO_STANDIN */

import { spawnSync } from "node:child_process";
import { posix } from "node:path";

type Asked = { roots: string[]; path: string; verdict: "inside" | "outside" | "not-applicable"; reason?: string };
type Corpus = { cases: { name: string; kind: string; why: string; asked: { lexical: Asked } }[] };

/** The guard: may a tool be let at this path? By the text. */
export function lexical(roots: string[], path: string): boolean {
  const known = roots.filter((root) => posix.isAbsolute(root));
  const first = known[0] ?? (posix.isAbsolute(path) ? "/" : undefined);
  if (first === undefined) return false;
  const target = posix.resolve(first, path);
  return known.some((root) => {
    const way = posix.relative(root, target);
    // A name may begin with two dots: only `..` itself leads out.
    return way !== ".." && !way.startsWith("../");
  });
}

/** The cases that a guard gets wrong. */
function wrong(standin: string, guard: typeof lexical): string[] {
  const line = ["corpus", "paths", "--policy", "lexical", "--format", "json"];
  const { stdout } = spawnSync(standin, line, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const corpus = JSON.parse(stdout) as Corpus;
  return corpus.cases.flatMap(({ name, why, asked: { lexical: asked } }) => {
    const isRight = asked.verdict === "not-applicable" || guard(asked.roots, asked.path) === (asked.verdict === "inside");
    return isRight ? [] : [`${name} is ${asked.verdict}: ${why}`];
  });
}

const found = wrong(process.argv[2] ?? "standin", lexical);
if (found.length > 0) {
  console.error(found.join("\n"));
  process.exit(1);
}
