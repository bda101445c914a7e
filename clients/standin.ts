// Tells a running stand-in what breaks, and asks it what happened. One file without dependencies: copy it.
//
//     const standin = new Standin("http://127.0.0.1:4096", "TOKEN")     // standin serve --control TOKEN
//     await standin.arm({ lines: ["cut after 5 events", "503 at POST /session"] })
//     await standin.wait({ event: "session.idle" })
//     console.log(await standin.journalText())

export type Fault = { when: Record<string, unknown>; do: Record<string, unknown> }
export type Standing = {
  number: number
  does: string
  fired: number
  state: "armed" | "spent" | "expired" | "disarmed"
  fault: Fault
}
export type StreamName = "event" | "global/event" | "api/event" | "api/session/event"
export type Until = { limit_ms?: number } & (
  | { request: string; count?: number }
  | { event: string; count?: number }
  | { streams: number }
  | { fault: number }
  | { while: "permission-pending" | "question-pending" | "busy" }
)
export type Unmet = {
  holds: boolean
  unscripted: string[]
  unused: string[]
  unknown: string[]
  unplayed: string[]
  unfired: { number: number; does: string }[]
}

export type Call =
  | string
  | { request: string; lane?: string; body?: Record<string, unknown>; count?: number }
export type UnmetCalls = {
  holds: boolean
  unmet: { what: "expected" | "forbidden" | "order" | "unjudged"; call: string; says: string; near: string[] }[]
}

/** The stand-in did not do it, and says why. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, words: string) {
    super(words)
    this.status = status
  }
}

export class Standin {
  private readonly base: string
  private readonly token: string

  constructor(url: string, token: string) {
    this.base = url.replace(/\/$/, "") + "/__standin__"
    this.token = token
  }

  /** The OpenAPI description of all this. */
  describe(): Promise<unknown> {
    return this.json("GET", "/openapi.json")
  }

  /** Arms faults: lines as on the command line, tables as in a plan, or a plan as a text. Gives their numbers. */
  async arm(what: { lines?: string[]; faults?: Fault[]; toml?: string }): Promise<number[]> {
    return (await this.json<{ armed: number[] }>("POST", "/faults", what)).armed
  }

  /** All faults that were armed, and how they stand. */
  faults(): Promise<Standing[]> {
    return this.json("GET", "/faults")
  }

  /** Lets one fault act no more, or all. */
  async disarm(number?: number): Promise<void> {
    await this.json("DELETE", number === undefined ? "/faults" : `/faults/${number}`)
  }

  /** Lets something happen at once: { restart: "killed" }, { password: "another" }, { refuse_ms: 500 }, { reply: "once" }. */
  async now(action: Record<string, unknown>, lane?: string): Promise<void> {
    await this.json("POST", "/now", { do: action, lane })
  }

  /** Sends an event that the server never sent. */
  async push(event: { type: string }, where: { stream?: StreamName; directory?: string } = {}): Promise<void> {
    await this.json("POST", "/events", { event, ...where })
  }

  /** Lets the model go on that waits at this gate of the scenario. */
  async openGate(name: string): Promise<void> {
    await this.json("POST", `/gates/${encodeURIComponent(name)}`)
  }

  /** The gates of the scenario, and how they stand. */
  gates(): Promise<{ name: string; state: "closed" | "waits" | "open" }[]> {
    return this.json("GET", "/gates")
  }

  /** The names of the scenarios that it carries. */
  scenarios(): Promise<string[]> {
    return this.json("GET", "/scenarios")
  }

  /** Begins anew with another scenario: one that is carried, or the text of one. */
  async load(scenario: { name: string } | { toml: string }): Promise<void> {
    await this.json("POST", "/scenario", scenario)
  }

  /** Begins all anew, or only the journal. */
  async reset(what: "journal" | "all" = "all"): Promise<void> {
    await this.json("POST", "/reset", { what })
  }

  /** Waits until one thing holds. */
  async wait(until: Until): Promise<void> {
    await this.json("POST", "/wait", until)
  }

  /** What happened, as the lines of the journal's file. */
  async journal(from = 0): Promise<Record<string, unknown>[]> {
    const text = await (await this.ask("GET", `/journal?from=${from}`)).text()
    return text.split("\n").filter(Boolean).map((line) => JSON.parse(line))
  }

  /** What happened, in words. */
  async journalText(): Promise<string> {
    return (await this.ask("GET", "/journal?format=text")).text()
  }

  /** Was it used as it was meant to be? */
  verify(): Promise<Unmet> {
    return this.json("GET", "/verify")
  }

  /** Did these calls come? */
  verifyCalls(calls: { expected?: Call[]; forbidden?: Call[]; order?: Call[] }): Promise<UnmetCalls> {
    return this.json("POST", "/verify", calls)
  }

  private async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await this.ask(method, path, body)).json() as Promise<T>
  }

  private async ask(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(this.base + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    if (!response.ok) {
      throw new Refused(response.status, ((await response.json()) as { error: string }).error)
    }
    return response
  }
}
