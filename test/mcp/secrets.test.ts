import { describe, expect, it } from "vitest";
import { verifies } from "../support/verifies.ts";
import { connectScripted, createLineLog, readProblem, readText, withoutAbout } from "./hosts.ts";

verifies("D-MCP-4");
describe("secrets", () => {
  const SECRET = "rcvg_canary-0123456789-canary";
  const created = {
    keyId: "key-1",
    apiKey: SECRET,
    createDateInMillis: 5,
    expiresAtInMills: 0,
    also: `Bearer ${SECRET}`,
  };

  it("a new API key is stored, and the model gets its name", async () => {
    const { lines, log } = createLineLog();
    const { host, broker } = await connectScripted({ "api_keys.create": () => created }, { log });
    const result = await host.call("api_keys_create");
    expect(withoutAbout(result)).toEqual({
      keyId: "key-1",
      createDateInMillis: 5,
      expiresAtInMills: 0,
      storedAs: "api-key-key-1",
    });
    expect(readText(result)).toContain("receivables-mcp secrets show api-key-key-1");
    expect(broker.kept).toEqual([{ name: "api-key-key-1", value: SECRET }]);
    expect(JSON.stringify(result) + lines.join("")).not.toContain(SECRET);
  });

  it("a key that cannot be stored is revoked and not shown", async () => {
    const { lines, log } = createLineLog();
    const { host, broker } = await connectScripted(
      { "api_keys.create": () => created, "api_keys.delete": () => null },
      { log },
    );
    broker.vault.put = () => Promise.reject(new Error("disk full"));
    const result = await host.call("api_keys_create");
    expect(readProblem(result).code).toBe("internal");
    expect(broker.seen.map(({ id }) => id)).toEqual(["api_keys.create", "api_keys.delete"]);
    expect(broker.seen[1]?.args).toEqual({ keyId: "key-1" });
    expect(JSON.stringify(result) + lines.join("")).not.toContain(SECRET);
  });

  it("a session's token is not in the result, even if the broker returns it", async () => {
    const { host, broker } = await connectScripted({
      "auth.login": () => ({ status: "LOGIN_SUCCESS", userId: "u", accessToken: SECRET }),
      "auth.verify_session": () => ({ verified: true, status: "ACCESSTOKEN_VERIFIED" }),
      "auth.logout": () => ({ status: "LOGOUT_SUCCESS" }),
    });
    const login = await host.call("auth_login");
    expect(withoutAbout(login)).toEqual({ status: "LOGIN_SUCCESS", userId: "u" });
    expect(JSON.stringify(login)).not.toContain(SECRET);
    expect((await host.call("auth_verify_session")).structuredContent).toMatchObject({
      verified: true,
    });
    expect(withoutAbout(await host.call("auth_logout"))).toEqual({
      status: "LOGOUT_SUCCESS",
    });
    expect(broker.seen.map(({ options }) => options.tool)).toEqual([
      "auth_login",
      "auth_verify_session",
      "auth_logout",
    ]);
  });
});
