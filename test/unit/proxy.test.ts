import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { useProxiesInFetch } from "../../src/client/dispatcher.ts";
import { probe } from "../../src/client/probe.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { createNetworks } from "../../src/kit/network.ts";
import {
  findProxy,
  findProxyFaults,
  readProxies,
  setProxies,
  toProxyEnv,
} from "../../src/kit/proxy.ts";
import { createFetchDocument } from "../../src/oauth/documents.ts";
import { createSend } from "../../src/platform/webhooks/send.ts";
import { certificateFor, startReceiver } from "../support/receiver.ts";
import { verifies } from "../support/verifies.ts";

afterEach(() => setProxies(readProxies({})));

/** Starts a proxy that leads each tunnel to one port of this machine. */
const startProxy = async (port: number) => {
  const asked: string[] = [];
  const authorized: unknown[] = [];
  const proxy = createServer((request, response) => {
    asked.push(String(request.url));
    response.writeHead(502).end();
  });
  proxy.on("connect", (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    authorized.push(request.headers["proxy-authorization"]);
    const onward = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    for (const one of [onward, socket]) one.on("error", () => socket.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  setProxies(readProxies({ HTTPS_PROXY: url, HTTP_PROXY: url, NO_PROXY: "direct.example" }));
  return { url, asked, authorized, close: () => proxy.closeAllConnections() };
};

describe("the proxy of a request", () => {
  verifies("HS-06");
  it.each([
    ["https://host.example/x", "http://one.example:3128/"],
    ["http://host.example/x", "http://two.example/"],
    ["https://localhost:8443/x", undefined],
    ["http://127.0.0.1/x", undefined],
    ["https://direct.example/", undefined],
    ["https://a.direct.example/", undefined],
    ["https://indirect.example/", "http://one.example:3128/"],
    ["https://port.example:444/", undefined],
    ["https://port.example/", "http://one.example:3128/"],
  ])("to %s is %s", (url, proxy) => {
    const proxies = readProxies({
      HTTPS_PROXY: "one.example:3128",
      http_proxy: "http://two.example",
      NO_PROXY: ".direct.example, port.example:444",
    });
    expect(findProxy(proxies, new URL(url))?.href).toBe(proxy);
  });

  it.each([
    ["10.0.0.0/8", "https://10.1.2.3/"],
    ["192.168.0.0/16, 10.0.0.0/8", "https://10.1.2.3:8443/"],
    ["fd00::1", "https://[fd00::1]/"],
    ["[fd00::1]:8443", "https://[FD00:0::1]:8443/"],
    ["fd00::/8", "https://[fd00::1]/"],
    ["host.example", "https://host.example./"],
    ["host.example.", "https://host.example/"],
    ["m\u00fcnchen.example", "https://a.xn--mnchen-3ya.example/"],
    ["*.host.example:8443", "https://a.host.example:8443/"],
    ['"host.example"', "https://host.example/"],
    ["other.example;host.example", "https://host.example/"],
    ["other.example,*", "https://host.example/"],
    ["", "https://127.0.0.2/"],
  ])("is none with NO_PROXY=%s for %s", (none, url) => {
    const proxies = readProxies({ HTTPS_PROXY: "one.example", no_proxy: none });
    expect(findProxy(proxies, new URL(url))).toBeUndefined();
  });

  it.each([
    ["10.0.0.0/8", "https://11.1.2.3/"],
    ["10.0.0.0/8", "https://10.1.2.3.example/"],
    ["fd00::1", "https://[fd00::2]/"],
    ["host.example", "https://myhost.example/"],
    ["host.example:8443", "https://host.example/"],
    ["*:80", "https://host.example/"],
  ])("is used with NO_PROXY=%s for %s", (none, url) => {
    const proxies = readProxies({ HTTPS_PROXY: "one.example", NO_PROXY: none });
    expect(findProxy(proxies, new URL(url))?.hostname).toBe("one.example");
  });

  it("must be an http or https URL", () => {
    expect(findProxyFaults(readProxies({ HTTPS_PROXY: "socks5://host.example:1" }))).toEqual([
      expect.stringContaining("HTTPS_PROXY must be"),
    ]);
    expect(findProxyFaults(readProxies({ HTTPS_PROXY: "", NO_PROXY: "*" }))).toEqual([]);
  });
});

describe("requests through a proxy", () => {
  verifies("HS-06", "C-28");
  const reach = (url: string) => probe(url, { clock: systemClock, timeoutMs: 5000 });

  it("are only those to addresses for which the settings name one", async () => {
    const proxy = await startProxy(1);
    setProxies(readProxies({ HTTP_PROXY: proxy.url }));
    // No proxy is named for https. A request that reaches no proxy fails at the name.
    await reach("https://platform.invalid");
    await reach("http://127.0.0.2:1");
    expect(proxy.asked).toEqual([]);
    await reach("http://platform.invalid");
    expect(proxy.asked).toHaveLength(1);
    setProxies(readProxies({ HTTPS_PROXY: proxy.url, NO_PROXY: "platform.invalid." }));
    await reach("https://platform.invalid");
    expect(proxy.asked).toHaveLength(1);
    proxy.close();
  });

  it.each([
    ["user:a%20b@", "user:a b"],
    ["user:100%@", "user:100%"],
    [":token@", ":token"],
    ["user@", "user:"],
  ])("are authorized by %s in its URL", async (given, pair) => {
    const proxy = await startProxy(1);
    const named = proxy.url.replace("//", `//${given}`);
    setProxies(readProxies({ HTTPS_PROXY: named }));
    expect(findProxyFaults(readProxies({ HTTPS_PROXY: named }))).toEqual([]);
    await reach("https://platform.example");
    const public_ = { resolve: async () => ["93.184.216.34"], allowed: createNetworks([]) };
    const message = { url: new URL("https://host.example/x"), headers: {}, body: Buffer.from("") };
    await createSend(public_)(message, new AbortController().signal);
    const expected = `Basic ${Buffer.from(pair).toString("base64")}`;
    expect(proxy.authorized).toEqual([expected, expected]);
    proxy.close();
  });

  it("are the same for fetch, which libraries use", async () => {
    const proxy = await startProxy(1);
    setProxies(readProxies({ HTTP_PROXY: proxy.url, NO_PROXY: "direct.invalid." }));
    useProxiesInFetch();
    const status = (url: string) =>
      fetch(url).then(
        (answer) => answer.status,
        () => undefined,
      );
    expect(await status("http://platform.invalid/")).toBe(502);
    expect(await status("http://direct.invalid/")).toBeUndefined();
    expect(await status("https://platform.invalid/")).toBeUndefined();
    expect(proxy.asked).toEqual(["http://platform.invalid/"]);
    proxy.close();
  });

  it("have networks of NO_PROXY as ranges for agents of Node.js", () => {
    const none = "10.0.0.0/8 fd00::1;host.example";
    setProxies(readProxies({ HTTPS_PROXY: "one.example", NO_PROXY: none }));
    const list = "10.0.0.0-10.255.255.255,fd00::1,[fd00::1],host.example,.host.example";
    expect(toProxyEnv()?.NO_PROXY).toMatch(list);
  });

  it("ask it for the platform, and for checked addresses of webhooks and documents", async () => {
    const certificate = await certificateFor("host.example");
    const receiver = await startReceiver(certificate);
    receiver.answering((answer) => answer.writeHead(200).end("{}"));
    const proxy = await startProxy(receiver.port);
    const public_ = { resolve: async () => ["93.184.216.34"], allowed: createNetworks([]) };
    await probe("https://platform.example", { clock: systemClock, timeoutMs: 5000 });
    expect(proxy.asked.at(-1)).toBe("CONNECT platform.example:443");
    const fetchDocument = createFetchDocument({ hosts: public_, ca: certificate.cert });
    expect((await fetchDocument("https://host.example:8443/client.json")).status).toBeLessThan(500);
    expect(proxy.asked.at(-1)).toBe("CONNECT 93.184.216.34:8443");
    const message = {
      url: new URL("https://host.example/x"),
      headers: {},
      body: Buffer.from("{}"),
    };
    await createSend(public_)(message, new AbortController().signal);
    expect(proxy.asked.at(-1)).toBe("CONNECT 93.184.216.34:443");
    const count = proxy.asked.length;
    const private_ = { ...public_, resolve: async () => ["10.0.0.1"] };
    expect(await createSend(private_)(message, new AbortController().signal)).toMatchObject({
      error: "BLOCKED_ADDRESS",
    });
    expect(proxy.asked).toHaveLength(count);
    proxy.close();
    await receiver.close();
  });
});
