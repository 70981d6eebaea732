import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Secret } from "../../src/kit/secret.ts";
import { authorize, redeem, type Running, startAuthorization } from "../support/oauth.ts";
import { type Person, startPlatform, type TestPlatform } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

let at: TestPlatform;
let ann: Person;
let running: Running;
let personId: string;
beforeAll(async () => {
  at = await startPlatform();
  ann = await at.tenant("acme");
  running = await startAuthorization(at, { addressOf: () => "192.0.2.9" });
  const { body } = await redeem(running, await authorize(running, ann));
  personId = (await running.server.verifyToken(body.access_token))?.personId ?? "";
});
afterAll(async () => {
  await running.close();
  await at.close();
});

const REQUEST = {} as IncomingMessage;

const ask = (
  { email, password }: Pick<Person, "email" | "password">,
  isFor = (id: string): boolean => id === personId,
  claim = async () => true,
) => running.server.createOwnKey(REQUEST, { email, password: new Secret(password), isFor, claim });

verifies("C-65");
it("creates a key for the intended person after the claim, and ends the session", async () => {
  const made = await ask(ann);
  expect("apiKey" in made && made.apiKey.reveal()).toMatch(/^rcvg_/);
  expect(running.sent.at(-1)).toContain("/authentication/v1/logout");
  const before = running.sent.length;
  expect(await ask(ann, () => false)).toMatchObject({ status: 403 });
  expect(await ask(ann, undefined, async () => false)).toMatchObject({ status: 410 });
  expect(running.sent.slice(before).join("")).not.toContain("profile/api-key");
});

verifies("C-65");
it("creates no key and claims nothing for another person's sign-in", async () => {
  const bob = await at.person("acme", { roles: ["Administrator"] });
  let claims = 0;
  const claim = async () => {
    claims += 1;
    return true;
  };
  expect(await ask(bob, undefined, claim)).toMatchObject({ status: 403 });
  expect(await ask({ ...ann, password: "wrong" }, undefined, claim)).toMatchObject({ status: 400 });
  expect(claims).toBe(0);
});

verifies("C-65");
it("reports the maximum number of API keys", async () => {
  const eli = await at.person("acme", { roles: ["Administrator"] });
  for (let made = 0; made < 10; made++) {
    await eli.call("POST", "/authentication/v1/tenants/{t}/users/profile/api-key");
  }
  expect(await ask(eli, () => true)).toMatchObject({
    status: 409,
    message: expect.stringContaining("You have the maximum number of API keys"),
  });
});

verifies("C-65");
it("is limited, for the right password too", async () => {
  const statuses: unknown[] = [];
  for (let tries = 0; tries < 11; tries++) {
    const result = await ask({ email: "cy@x.example", password: "no" });
    statuses.push("status" in result ? result.status : undefined);
  }
  expect(statuses).toEqual([...Array<number>(10).fill(400), 429]);
  expect("apiKey" in (await ask(ann))).toBe(true);
});
