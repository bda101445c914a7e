// One way to call both versions of an SDK: parameters are a flat list of names, as version 2 has them. Which of them
// are a path's, a query's or a body's is read from the SDK's own methods.

export class Api {
  constructor(client, isFlat) {
    this.client = client;
    this.isFlat = isFlat;
    this.methods = new Map();
    this.find(client, []);
  }

  find(object, path) {
    for (const name of namesOf(object)) {
      if (name === "constructor" || name === "client" || name.startsWith("_")) continue;
      const value = object[name];
      if (typeof value === "function") this.add([...path, name].join("."), value, object);
      else if (value && typeof value === "object" && path.length < 4) this.find(value, [...path, name]);
    }
  }

  add(name, method, owner) {
    const source = method.toString();
    const [, url] = source.match(/url: "([^"]+)"/) ?? [];
    const [, sse, http, orSse] = source.match(/\)\s*\.(sse\.)?(get|post|put|patch|delete)(\.sse)?\(/) ?? [];
    if (!url || !http) return;
    const whole = source.match(/key: "(\w+)",\s*map: "body"/)?.[1];
    const keys = [...url.matchAll(/\{(\w+)\}/g)].map(([, key]) => key);
    this.methods.set(name, { name, url, http, streams: Boolean(sse ?? orSse), keys, whole, call: method.bind(owner) });
  }

  has(name) {
    return this.methods.has(name) || this.methods.has(OLDER[name]);
  }

  method(name) {
    const method = this.methods.get(name) ?? this.methods.get(OLDER[name]);
    if (!method) throw new Error(`there is no method ${name}`);
    return method;
  }

  /** `$body` is the body as a whole. */
  call(name, parameters = {}, options = {}) {
    const method = this.method(name);
    const { $body, ...flat } = parameters;
    if (this.isFlat) {
      return method.call($body === undefined ? flat : { ...flat, [method.whole]: $body }, options);
    }
    const [path, query, body] = [{}, {}, {}];
    for (const [key, value] of Object.entries(flat)) {
      const place = method.keys.includes(key) ? key : method.url.includes(IDS[key]) ? "id" : undefined;
      if (place) path[place] = value;
      else if (key === "directory" || method.http === "get" || method.http === "delete") query[key] = value;
      else body[key] = value;
    }
    const content = $body ?? (Object.keys(body).length > 0 ? body : undefined);
    return method.call({ path, query, ...(content === undefined ? {} : { body: content }), ...options });
  }
}

/** Where version 1 calls them `id`. */
const IDS = { sessionID: "/session/{id}", providerID: "/{id}/oauth", ptyID: "/pty/{id}" };
/** What version 1 calls otherwise. */
const OLDER = { "permission.respond": "postSessionIdPermissionsPermissionId" };

function namesOf(object) {
  const names = new Set();
  for (let one = object; one && one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    for (const name of Object.getOwnPropertyNames(one)) names.add(name);
  }
  return names;
}
