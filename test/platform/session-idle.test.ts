import { expect, it } from "vitest";
import { readConfig } from "../../src/bin/config.ts";
import { SECOND } from "../../src/kit/clock.ts";
import { DISPUTES, startPlatform } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const sources = { readFile: () => "", dataFolder: "/nowhere" };

verifies("AUTH-08");
it("the time after which an unused session dies is a setting, 15 minutes without it", async () => {
  expect(readConfig({ env: {}, ...sources }).lifetimes.sessionIdle).toBe(900 * SECOND);
  const { lifetimes } = readConfig({ env: { RECEIVABLES_TOKEN_IDLE_SECONDS: "60" }, ...sources });
  const at = await startPlatform(undefined, {}, lifetimes);
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
