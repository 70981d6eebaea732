import { expect, it } from "vitest";
import type { Log } from "../../src/kit/log.ts";
import { createApp } from "../../src/platform/app.ts";
import type { Services } from "../../src/platform/handlers.ts";
import { verifies } from "../support/verifies.ts";

const broken = async (): Promise<never> => {
  throw new Error("the disk is gone");
};

/** An app whose files fail, and what it logs. */
const failingApp = () => {
  const logged: unknown[] = [];
  const note: Log["info"] = (_event, fields) => void logged.push(fields?.["requestId"]);
  let made = 0;
  const services = new Proxy({}, { get: () => ({}) }) as Services;
  const app = createApp(services, {
    newId: () => `made-${(made += 1)}`,
    clock: () => 0,
    report: () => {},
    log: { debug: note, info: note, warn: note, error: note },
    addressOf: () => "127.0.0.1",
    transfers: { upload: broken, download: broken },
  } as never);
  return { app, logged };
};

verifies("C-45", "C-78");
it("logs an error of a transfer under the id of its response, which does not describe it", async () => {
  const { app, logged } = failingApp();
  const answer = await app.request("/downloads/some?expires=1&sig=2");
  const text = await answer.text();
  expect(text).not.toMatch(/the disk is gone|\.ts:/);
  const body = JSON.parse(text) as { code: string; requestId: string };
  expect([answer.status, body.code, body.requestId]).toEqual([500, "internal", "made-1"]);
  expect([logged, answer.headers.get("x-request-id")]).toEqual([["made-1"], "made-1"]);
});
