/** Goal: which errors to try again, in TypeScript, held against the corpus. Run: node errors.js PATH_TO_STANDIN */

import { execFileSync } from "node:child_process";
import { strictEqual } from "node:assert";
import { test } from "node:test";

type Thrown = { name: string; message: string; code?: string; cause?: Thrown };
type Provoked = { http?: { status: number }; thrown?: Thrown };
type Case = { name: string; why: string; provoked: Provoked; retryable: "yes" | "no" | "not-applicable" };

const STATUSES = [408, 429, 500, 502, 503, 504, 522, 529];
const CODES = ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH", "EAI_AGAIN"];

/** Is the same thing worth another try? What `fetch` throws has its code in the cause. */
export function isRetryable({ http, thrown }: Provoked): boolean {
  if (http) return STATUSES.includes(http.status);
  if (!thrown) return false;
  if (thrown.code) return CODES.includes(thrown.code) || thrown.code.startsWith("UND_ERR_");
  return thrown.name === "TimeoutError" || isRetryable({ thrown: thrown.cause });
}

const standin = process.argv[2] ?? "standin";
const told = execFileSync(standin, ["corpus", "errors", "--format", "json"], { encoding: "utf8" });
for (const { name, why, provoked, retryable } of (JSON.parse(told) as { cases: Case[] }).cases) {
  if (retryable !== "not-applicable") test(name, () => strictEqual(isRetryable(provoked), retryable === "yes", why));
}
