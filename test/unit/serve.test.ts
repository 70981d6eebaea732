import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve, type Served } from "../../src/server/serve.ts";
import { BEFORE_THE_CUT_MS } from "../support/cli.ts";
import { rawRequest, rawSocket } from "../support/raw-socket.ts";
import { verifies } from "../support/verifies.ts";

verifies("C-17");
it("a server that closes does not wait for connections that were opened in advance", async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const serving = await serve((_request, response) => asked.resolve(response), {
    host: "127.0.0.1",
    port: 0,
  });
  const inAdvance = await rawSocket(serving.url);
  const busy = await rawSocket(serving.url);
  busy.say(rawRequest(["GET / HTTP/1.1", "Host: a"]));
  const response = await asked.promise;
  const gone = once(inAdvance.socket, "close");
  const began = performance.now();
  const closed = serving.close();
  await gone;
  response.end("late");
  await closed;
  expect(performance.now() - began).toBeLessThan(BEFORE_THE_CUT_MS);
  expect(await busy.ended()).toMatch(/\r\n\r\n(?:4\r\n)?late/);
});

describe("the target of a request", () => {
  const seen: (string | undefined)[] = [];
  let served: Served;
  beforeAll(async () => {
    const listener: RequestListener = ({ url }, response) => {
      seen.push(url);
      response.end("read");
    };
    served = await serve(listener, { host: "127.0.0.1", port: 0 });
  });
  afterAll(() => served.close());

  const send = async (target: string): Promise<[status: string, seen: (string | undefined)[]]> => {
    seen.length = 0;
    const connection = await rawSocket(served.url);
    connection.say(
      rawRequest([`DELETE ${target} HTTP/1.1`, "Host: Named:80", "Connection: close"]),
    );
    return [(await connection.ended()).slice(9, 12), [...seen]];
  };

  verifies("C-57");
  it.each([
    "/dry-run/../disputes/1",
    "/dry-run/%2e%2e/disputes/1",
    "/dry-run/%2E./disputes/1",
    "/dry-run/./disputes/1",
    "/dry-run/disputes/1/..",
    "/dry-run\\..\\disputes/1",
    "/dry-run/.\t./disputes/1",
    "/dry-run/..%2fdisputes/1",
    "/documents/x%2F..%2f..%5cdisputes",
    "/%64isputes/1",
    "/disputes/%31",
    "/disputes/1#/dry-run",
    "/health?x#y",
    "http://named/dry-run/../disputes/1",
    "http://named/%64isputes",
  ])("is refused where a URL reads it as another path: %j", async (target) => {
    expect(await send(target)).toEqual(["400", []]);
  });

  it.each(["http://other/disputes/1", "ftp://named/disputes/1"])(
    "is refused where it names another host: %s",
    async (target) => {
      expect(await send(target)).toEqual(["403", []]);
    },
  );

  const answerTo = async (lines: string[]): Promise<string> => {
    seen.length = 0;
    const connection = await rawSocket(served.url);
    connection.say(rawRequest([...lines, "Connection: close"]));
    return connection.ended();
  };

  verifies("HS-04");
  it.each([
    [["GET / HTTP/1.1"], "400", "A request must have one header Host."],
    [["GET / HTTP/1.1", "Host: named", "Host: other"], "400", "must have one header Host."],
    [["GET / HTTP/1.0", "Host: named", "Host: named"], "400", "must have one header Host."],
    [["GET / HTTP/1.1", "Host: named", "Expect: 200-ok"], "417", "100-continue"],
  ])("is refused in words: %j", async (lines, status, reason) => {
    const answer = await answerTo(lines);
    expect(answer.slice(9, 12)).toBe(status);
    expect(answer).toContain(reason);
    expect(seen).toEqual([]);
  });

  it.each([["GET / HTTP/1.1", "Host: named:"], ["GET /health HTTP/1.0"]])(
    "is passed on: %j",
    async (...lines) => {
      expect((await answerTo(lines)).slice(9, 12)).toBe("200");
      expect(seen).toHaveLength(1);
    },
  );

  it.each([
    ["/disputes/a..b/...?path=/../x", "/disputes/a..b/...?path=/../x"],
    ["/files/a%2e%2e%2fx%2Dy%252e%252e", "/files/a%2e%2e%2fx%2Dy%252e%252e"],
    ["http://named/disputes/1?x=1", "/disputes/1?x=1"],
    ["HTTP://NAMED:80/disputes/1", "/disputes/1"],
  ])("is passed on with its path as it was sent: %s", async (target, path) => {
    expect(await send(target)).toEqual(["200", [path]]);
  });
});
