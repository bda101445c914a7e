// What a person has who has never used the client.

import { join } from "node:path";

export function environment(world, home) {
  const prefix = world.server.toUpperCase();
  return {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_DATA_HOME: join(home, "data"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_CACHE_HOME: join(home, "cache"),
    [`${prefix}_DISABLE_MODELS_FETCH`]: "1",
    [`${prefix}_DISABLE_AUTOUPDATE`]: "1",
    KILO_TELEMETRY_LEVEL: "off",
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
  };
}
