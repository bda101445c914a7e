// Stands between a client that is a program and the server, and tells what it asks.

import { createServer, request as ask } from "node:http";

/** The address to give to the client, and how to end it. */
export async function tee(world, observer) {
  const server = new URL(world.url);
  const proxy = createServer((incoming, outgoing) => {
    const body = [];
    const { method, headers } = incoming;
    const onward = ask({ host: server.hostname, port: server.port, method, path: incoming.url, headers });
    incoming.on("data", (chunk) => {
      body.push(chunk);
      onward.write(chunk);
    });
    incoming.on("end", () => {
      observer.asked(method, incoming.url, Object.entries(headers), Buffer.concat(body).toString());
      onward.end();
    });
    onward.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${proxy.address().port}`;
  return {
    url,
    close: () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
