import { beforeAll, expect, it } from "vitest";
import type { Client } from "../../src/client/port.ts";
import { Problem } from "../../src/contract/errors.ts";
import { authorize, redeem, startAuthorization } from "../support/oauth.ts";
import { onEveryStore, type Person } from "../support/platform.ts";

const failWith = (error: unknown): Client => ({
  call: async () => {
    throw error;
  },
  extensions: async () => new Set(),
  close: async () => {},
});

onEveryStore("a refused key of a person who signed in here", (at) => {
  let ann: Person;
  beforeAll(async () => {
    ann = await at().tenant("acme");
  });

  it.each([
    new Problem("internal", "Broken."),
    new Problem("rate_limited", "Slower.", { retryAfterSeconds: 900 }),
    new Problem("unavailable", "Down."),
    new TypeError("a bug"),
  ])("keeps its grant while the platform answers its check with %s", async (failure) => {
    const running = await startAuthorization(at());
    const { body } = await redeem(running, await authorize(running, ann));
    const { personId = "" } = (await running.server.verifyToken(body.access_token)) ?? {};
    const failing = await startAuthorization(at(), { client: failWith(failure) });
    const thrown: unknown = await failing.server
      .revokeIfKeyInvalid(personId)
      .catch((error) => error);
    expect(thrown).toBeInstanceOf(Problem);
    expect(thrown).toMatchObject({ code: "unavailable", details: { retryAfterSeconds: 10 } });
    expect(await running.server.verifyToken(body.access_token)).toBeDefined();
    expect(await running.server.findCredential(personId)).toBeDefined();
    await Promise.all([running.close(), failing.close()]);
  });
});
