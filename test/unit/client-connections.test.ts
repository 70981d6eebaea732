import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { fakePlatform, KINDS, RIGHT, callFake } from "../support/fake-platform.ts";
import { readProxies, setProxies } from "../../src/kit/proxy.ts";
import { listen } from "../support/listen.ts";
import { certificateFor } from "../support/receiver.ts";
import { problemOf, remoteClient, type RemoteClient } from "../support/remote-client.ts";
import { verifies } from "../support/verifies.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const clientOf = (...given: Parameters<typeof remoteClient>): RemoteClient => {
  const client = remoteClient(...given);
  closing.push(() => client.close());
  return client;
};

const fakeOf = async (...given: Parameters<typeof fakePlatform>) => {
  const fake = await fakePlatform(...given);
  closing.push(() => fake.close());
  return fake;
};

/** A port that does with its connections as it likes. */
const listening = (connected: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    connected(socket);
  });
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listen(server);
};

describe("a connection that fails", () => {
  verifies("C-34");
  it.each(KINDS)("has the platform's certificate checked (%s)", async (kind) => {
    const fake = await fakeOf(await certificateFor("platform.example"));
    const client = clientOf(fake.url);
    const problem = await problemOf(callFake(client, kind));
    expect(problem).toMatchObject({ code: "unavailable", details: { misconfigured: true } });
    expect(problem.message).toContain("certificate is not trusted");
    expect(problem.details).toEqual({ misconfigured: true });
    expect(client.waits).toEqual([]);
    expect(fake.tries).toEqual({ read: 0, put: 0, post: 0 });
  });

  verifies("HS-06");
  it.each(["http", "https"])("names the proxy that asks for a user name (%s)", async (scheme) => {
    const asks = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
    const port = await listening((socket) => socket.once("data", () => socket.end(asks)));
    const proxy = `http://127.0.0.1:${port}`;
    setProxies(readProxies({ HTTP_PROXY: proxy, HTTPS_PROXY: proxy }));
    closing.push(() => setProxies(readProxies({})));
    const client = clientOf(`${scheme}://platform.invalid`);
    const problem = await problemOf(callFake(client, "post"));
    expect(problem).toMatchObject({ code: "unavailable", details: { misconfigured: true } });
    expect(problem.details).toEqual({ misconfigured: true });
    expect(problem.message).toContain("proxy");
    expect(client.waits).toEqual([]);
  });

  it.each(["http", "https"])("names a proxy that cannot be reached (%s)", async (scheme) => {
    for (const proxy of ["http://127.0.0.1:1", "http://proxy.invalid:3128"]) {
      setProxies(readProxies({ HTTP_PROXY: proxy, HTTPS_PROXY: proxy }));
      closing.push(() => setProxies(readProxies({})));
      const client = clientOf(`${scheme}://platform.invalid`);
      const problem = await problemOf(callFake(client, "read"));
      expect(problem).toMatchObject({ code: "unavailable" });
      expect(problem.message).toContain("The proxy that HTTPS_PROXY or HTTP_PROXY names");
      expect(client.waits).not.toEqual([]);
    }
  });

  it("is reported if the address does not speak TLS at all", async () => {
    const fake = await fakeOf();
    const client = clientOf(fake.url.replace("http:", "https:"));
    const problem = await problemOf(callFake(client, "post"));
    expect(problem.details).toEqual({ misconfigured: true });
    expect(client.waits).toEqual([]);
  });

  it("is reported if the name does not resolve, and changes nothing", async () => {
    const client = clientOf("http://nobody.invalid");
    const problem = await problemOf(callFake(client, "post"));
    // Without any name server it cannot be said that there is no such name.
    expect(problem.message).toMatch(/host name that cannot be found|cannot be reached/);
    expect(problem.details.uncertain).toBeUndefined();
    expect(client.lines.join("")).toMatch(/"cause":"(ENOTFOUND|EAI_AGAIN)"/);
  });

  it("is retried if it is refused, except for creating requests", async () => {
    const port = await listening(() => {});
    await closing.pop()?.();
    const client = clientOf(`http://127.0.0.1:${port}`);
    for (const kind of KINDS) {
      const problem = await problemOf(callFake(client, kind));
      expect(problem.message).toBe("The platform cannot be reached.");
      expect(problem.details).toEqual({});
    }
    expect(client.waits).toEqual([200, 400, 200, 400]);
  });

  it.each(KINDS)("ends at the deadline if a handshake stalls (%s)", async (kind) => {
    const port = await listening(() => {});
    const client = clientOf(`https://127.0.0.1:${port}`, { requestMs: 200 });
    const problem = await problemOf(callFake(client, kind));
    expect(problem.message).toMatch(/in time|cannot be reached/);
  });
});

describe("one deadline", () => {
  it("covers all tries together", async () => {
    const fake = await fakeOf();
    let left = 1;
    fake.misbehave((_request, response) => {
      if (left-- > 0) response.writeHead(503).end();
    });
    const client = clientOf(fake.url, { requestMs: 400 });
    expect((await problemOf(callFake(client, "read"))).message).toContain("in time");
    expect(fake.tries.read).toBe(2);
  });

  it("leaves at most half of its time to waiting", async () => {
    const fake = await fakeOf();
    fake.misbehave((_request, response) => {
      response.writeHead(503, { "retry-after": "2" }).end();
    });
    const client = clientOf(fake.url, { requestMs: 3999 });
    expect((await problemOf(callFake(client, "read"))).details.retryAfterSeconds).toBe(2);
    expect(client.waits).toEqual([]);
  });
});

verifies("C-87");
describe("a canceled call", () => {
  it.each(KINDS)("is not begun if it was canceled before (%s)", async (kind) => {
    const fake = await fakeOf();
    const client = clientOf(fake.url);
    const problem = await problemOf(callFake(client, kind, AbortSignal.abort()));
    expect(problem.message).toContain("canceled");
    expect(fake.tries).toEqual({ read: 0, put: 0, post: 0 });
  });

  it.each(KINDS)("is not tried again (%s)", async (kind) => {
    const fake = await fakeOf();
    fake.honoursKeys(true);
    const stop = new AbortController();
    fake.misbehave((_request, response) => {
      response.writeHead(503).end();
      stop.abort();
    });
    const client = clientOf(fake.url);
    expect((await problemOf(callFake(client, kind, stop.signal))).message).toContain("canceled");
    expect(fake.tries[kind]).toBe(1);
  });
});

describe("connections", () => {
  it("are kept and shared by the calls to one origin, and closed with the client", async () => {
    let opened = 0;
    let open = 0;
    const body = JSON.stringify(RIGHT.read);
    const port = await listening((socket) => {
      opened += 1;
      open += 1;
      socket.on("close", () => (open -= 1));
      socket.on("data", () => {
        const head = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
        socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`);
      });
    });
    const client = remoteClient(`http://127.0.0.1:${port}`);
    for (let made = 0; made < 50; made++) await callFake(client, "read");
    expect(opened).toBeLessThan(10);
    await Promise.all(Array.from({ length: 200 }, () => callFake(client, "read")));
    expect(opened).toBeLessThanOrEqual(32);
    await client.close();
    await expect.poll(() => open).toBe(0);
  });
});
