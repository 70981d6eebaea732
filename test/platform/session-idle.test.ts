import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { SECOND } from "../../src/kit/clock.ts";
import { DISPUTES, startPlatform } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const sources = { readFile: () => "", dataFolder: "/nowhere" };

verifies("AUTH-08");
it("ends an unused session after the configured time, 15 minutes by default", async () => {
  expect(readConfig({ env: {}, ...sources }).lifetimes.sessionIdle).toBe(900 * SECOND);
  const { lifetimes } = readConfig({ env: { RECEIVABLES_TOKEN_IDLE_SECONDS: "60" }, ...sources });
  const at = await startPlatform(undefined, { lifetimes });
  try {
    const { token } = await at.tenant("brief");
    const path = DISPUTES.replace("{t}", "brief");
    const use = () => at.call("GET", path, { headers: { "X-Platform-Auth": token } });
    at.clock.advance(60 * SECOND);
    expect((await use()).status).toBe(200);
    at.clock.advance(60 * SECOND + 1);
    expect((await use()).body.code).toBe("token_expired");
  } finally {
    await at.close();
  }
});
