import { createServer } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { queryObjects } from "node:v8";
import { gzipSync } from "node:zlib";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createNetworks, type Resolve } from "../../src/kit/network.ts";
import { createSend } from "../../src/platform/webhooks/send.ts";
import { listen } from "../support/listen.ts";
import {
  type Answering,
  type Certificate,
  certificateFor,
  type Receiver,
  startReceiver,
  status,
} from "../support/receiver.ts";
import { verifies } from "../support/verifies.ts";

const LOCAL = createNetworks(["127.0.0.0/8"]);
const NEVER = new AbortController().signal;

let good: Certificate;
let receiver: Receiver;

beforeAll(async () => {
  good = await certificateFor("hooks.example");
  setDefaultCACertificates([...getCACertificates(), good.cert]);
});

beforeEach(async () => {
  receiver = await startReceiver(good);
});

afterEach(async () => {
  vi.useRealTimers();
  await receiver.close();
});

const here: Resolve = async () => ["127.0.0.1"];

const sendTo = (
  url: string,
  { resolve = here, allowed = LOCAL }: { resolve?: Resolve; allowed?: typeof LOCAL } = {},
  signal = NEVER,
) =>
  createSend({ resolve, allowed })(
    { url: new URL(url), headers: { "X-Webhook-Id": "d-1" }, body: Buffer.from("{}") },
    signal,
  );

const hooks = (path = "/in"): string => `https://hooks.example:${receiver.port}${path}`;

const failed = (error: string, httpStatus: number | null = null) => ({ httpStatus, error });

describe("the outcome of a message", () => {
  it("leaves no signal in memory", async () => {
    receiver.answering(status(200));
    const signal = new AbortController().signal;
    const sendMany = async (): Promise<number> => {
      for (let sent = 0; sent < 40; sent += 1) {
        await sendTo(hooks(), {}, signal);
        await sendTo("https://hooks.example:1/in", {}, signal);
      }
      return queryObjects(AbortSignal, { format: "count" });
    };
    const before = await sendMany();
    expect(await sendMany()).toBeLessThan(before + 20);
  });

  verifies("WH-10");
  it.each([200, 201, 202, 204, 206, 299])("is a success for status %i", async (code) => {
    receiver.answering(status(code));
    await expect(sendTo(hooks())).resolves.toEqual({ httpStatus: code, error: null });
  });

  verifies("WH-10");
  it.each([300, 304, 400, 404, 410, 429, 500, 503])("is a failure for status %i", async (code) => {
    receiver.answering(status(code, { "Retry-After": "1" }));
    await expect(sendTo(hooks())).resolves.toEqual(failed(`HTTP_${code}`, code));
    expect(receiver.received).toHaveLength(1);
  });

  verifies("C-26");
  it.each([301, 302, 303, 307, 308])(
    "is a failure for status %i, because redirects are not followed",
    async (code) => {
      const elsewhere = await startReceiver();
      receiver.answering(status(code, { Location: `http://127.0.0.1:${elsewhere.port}/` }));
      await expect(sendTo(hooks())).resolves.toEqual(failed(`HTTP_${code}`, code));
      expect(elsewhere.connections()).toBe(0);
      await elsewhere.close();
    },
  );

  verifies("WH-10");
  it("is a failure if the connection ends before the response", async () => {
    receiver.answering((answer) => answer.destroy());
    await expect(sendTo(hooks())).resolves.toEqual(failed("CONNECT_ERROR"));
    receiver.answering((answer) => {
      answer.writeHead(200, { "Content-Length": "100" });
      answer.write("half", () => answer.destroy());
    });
    await expect(sendTo(hooks())).resolves.toEqual(failed("CONNECT_ERROR"));
  });

  verifies("WH-10");
  it("is a failure at a port that is closed or speaks another protocol", async () => {
    const { port } = receiver;
    const strange = createServer((socket) => socket.end("SSH-2.0-none\r\n"));
    const other = await listen(strange);
    await expect(sendTo(`https://hooks.example:${other}/`)).resolves.toEqual(failed("TLS_ERROR"));
    await expect(sendTo(`http://hooks.example:${other}/`)).resolves.toEqual(
      failed("CONNECT_ERROR"),
    );
    strange.close();
    const closed = await startReceiver();
    await closed.close();
    await expect(sendTo(`https://hooks.example:${closed.port}/`)).resolves.toEqual(
      failed("CONNECT_ERROR"),
    );
    expect(port).not.toBe(closed.port);
  });

  it("is a failure if the name does not resolve", async () => {
    const resolve = () => Promise.reject(new Error("ENOTFOUND"));
    await expect(sendTo(hooks(), { resolve })).resolves.toEqual(failed("DNS_ERROR"));
  });
});

verifies("C-34");
describe("encryption", () => {
  it("sends the host name and requires a certificate for it", async () => {
    await sendTo(hooks("/named?token=1"));
    const [first] = receiver.received;
    expect(first?.servername).toBe("hooks.example");
    expect(first?.headers.host).toBe(`hooks.example:${receiver.port}`);
    expect(first?.path).toBe("/named?token=1");
    await expect(sendTo(`https://other.example:${receiver.port}/`)).resolves.toEqual(
      failed("TLS_ERROR"),
    );
    await expect(sendTo(`https://127.0.0.1:${receiver.port}/`)).resolves.toMatchObject({
      error: null,
    });
    expect(receiver.received).toHaveLength(2);
  });

  it("refuses certificates of unknown authorities, and old protocols", async () => {
    const unknown = await startReceiver(await certificateFor("hooks.example"));
    const old = await startReceiver({
      ...good,
      minVersion: "TLSv1",
      maxVersion: "TLSv1.1",
      ciphers: "DEFAULT@SECLEVEL=0",
    });
    for (const { port } of [unknown, old]) {
      await expect(sendTo(`https://hooks.example:${port}/`)).resolves.toEqual(failed("TLS_ERROR"));
    }
    expect([...unknown.received, ...old.received]).toEqual([]);
    await Promise.all([unknown.close(), old.close()]);
  });
});

describe("the address of a connection", () => {
  verifies("C-24");
  it("is resolved once, before the connection", async () => {
    const answers = [["127.0.0.1"], ["10.0.0.1"]];
    const asked = vi.fn<Resolve>(async () => answers.shift() ?? []);
    await expect(sendTo(hooks(), { resolve: asked })).resolves.toMatchObject({ error: null });
    expect(asked).toHaveBeenCalledTimes(1);
    await expect(sendTo(hooks(), { resolve: asked })).resolves.toEqual(failed("BLOCKED_ADDRESS"));
    expect(receiver.connections()).toBe(1);
  });

  verifies("C-24", "C-25");
  it("is refused if any address of the name is private", async () => {
    const allowed = createNetworks([]);
    for (const addresses of [["127.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["::1"], []]) {
      const resolve = async () => addresses;
      await expect(sendTo(hooks(), { resolve, allowed })).resolves.toEqual(
        failed("BLOCKED_ADDRESS"),
      );
    }
    await expect(sendTo(`https://127.0.0.1:${receiver.port}/`, { allowed })).resolves.toEqual(
      failed("BLOCKED_ADDRESS"),
    );
    expect(receiver.connections()).toBe(0);
  });

  it("is on the allow-list if the callback is unencrypted", async () => {
    const plain = await startReceiver();
    const url = `http://hooks.example:${plain.port}/`;
    await expect(sendTo(url)).resolves.toEqual({ httpStatus: 204, error: null });
    const resolve = async () => ["93.184.215.14"];
    await expect(sendTo(url, { resolve })).resolves.toEqual(failed("BLOCKED_ADDRESS"));
    await plain.close();
  });

  it("is the next one if the first does not listen", async () => {
    const resolve = async () => ["127.0.0.9", "127.0.0.1"];
    await expect(sendTo(hooks(), { resolve })).resolves.toEqual({ httpStatus: 204, error: null });
  });
});

describe("time and size", () => {
  const LIMIT_MS = 10_000;

  const fakeTimers = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

  /** Whether it is over exactly when the time is up, once the exchange stands where `ready` waits for it. */
  const timesOut = async (sending: ReturnType<typeof sendTo>, ready: () => Promise<unknown>) => {
    let over = false;
    const done = sending.finally(() => {
      over = true;
    });
    await ready();
    await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    return done;
  };

  /** Answers that way, and tells when it does. */
  const arriving = (how: Answering): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    receiver.answering((answer, received) => {
      how(answer, received);
      resolve();
    });
    return promise;
  };

  verifies("WH-11");
  it("ends after ten seconds if a receiver does not respond", async () => {
    const arrived = arriving(() => {});
    fakeTimers();
    await expect(timesOut(sendTo(hooks()), () => arrived)).resolves.toEqual(failed("TIMEOUT"));
  });

  verifies("WH-11", "C-29");
  it("ends after ten seconds if a response never ends", async () => {
    const arrived = arriving((answer) => {
      answer.writeHead(200);
      const drip = setInterval(() => answer.write("."), 20);
      answer.on("close", () => clearInterval(drip));
    });
    fakeTimers();
    await expect(timesOut(sendTo(hooks()), () => arrived)).resolves.toEqual(failed("TIMEOUT"));
  });

  verifies("WH-11");
  it("includes the time to resolve the name", async () => {
    const asked = Promise.withResolvers<void>();
    const resolve = (): Promise<string[]> => {
      asked.resolve();
      return new Promise(() => {});
    };
    fakeTimers();
    const sending = sendTo(hooks(), { resolve });
    await expect(timesOut(sending, () => asked.promise)).resolves.toEqual(failed("TIMEOUT"));
  });

  verifies("C-30");
  it("reads at most 4 KiB of a response", async () => {
    const sized = (bytes: number) =>
      arriving((answer) => {
        answer.writeHead(200);
        answer.write("x".repeat(bytes));
      });
    const arrived = sized(4095);
    fakeTimers();
    const waiting = timesOut(sendTo(hooks()), () => arrived);
    await expect(waiting).resolves.toEqual(failed("TIMEOUT"));
    vi.useRealTimers();
    void sized(4096);
    await expect(sendTo(hooks())).resolves.toEqual({ httpStatus: 200, error: null });
  });

  verifies("C-30");
  it("does not decompress a response", async () => {
    const closed = Promise.withResolvers<void>();
    let written = 0;
    receiver.answering((answer) => {
      answer.writeHead(200, { "Content-Encoding": "gzip" });
      const bomb = gzipSync(Buffer.alloc(1024 * 1024));
      const pour = (): void => {
        while (!answer.destroyed && answer.write(bomb)) written += bomb.length;
        written += bomb.length;
      };
      answer.on("drain", pour);
      answer.on("close", () => closed.resolve());
      pour();
    });
    await expect(sendTo(hooks())).resolves.toEqual({ httpStatus: 200, error: null });
    await closed.promise;
    expect(written).toBeGreaterThan(4096);
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  it("ends when the caller aborts", async () => {
    const arrived = arriving(() => {});
    const caller = new AbortController();
    const sending = sendTo(hooks(), {}, caller.signal);
    await arrived;
    caller.abort();
    await expect(sending).rejects.toThrow(/abort/i);
  });
});
