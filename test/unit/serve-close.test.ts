import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { serve } from "../../src/server/serve.ts";
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
