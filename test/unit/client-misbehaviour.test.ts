import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  FAKE_KEY,
  fakePlatform,
  type FakePlatform,
  KINDS,
  RIGHT,
  callFake,
} from "../support/fake-platform.ts";
import { HOSTILE, type Misbehaviour, misbehaviours } from "../support/misbehaviours.ts";
import { problemOf, remoteClient } from "../support/remote-client.ts";
import { verifies } from "../support/verifies.ts";

let fake: FakePlatform;
const leaks: unknown[] = [];
const leak = (error: unknown) => leaks.push(error);

const told = (error: Error & { details: unknown }): string =>
  `${error.message} ${JSON.stringify(error.details)}`;

beforeAll(async () => {
  fake = await fakePlatform();
  process.on("unhandledRejection", leak);
});
afterAll(async () => {
  process.off("unhandledRejection", leak);
  await fake.close();
});

describe.each(misbehaviours.map((one) => [one.what, one] as const))(
  "a platform that %s",
  (_what, { behave, code, says, tries, wait, uncertain, hangs }: Misbehaviour) => {
    verifies("C-78");
    it("is reported in each call, tried no more often than is safe, and the next call is right", async () => {
      const client = remoteClient(fake.url, hangs === true ? { requestMs: 300 } : {});
      fake.misbehave(behave);
      for (const kind of KINDS) {
        // One at a time, so that each is counted.
        const problem = await problemOf(callFake(client, kind));
        expect(problem.code).toBe(code);
        expect(problem.message).toMatch(says);
        expect(problem.message.length).toBeLessThanOrEqual(500);
        expect(problem.details.retryAfterSeconds).toBe(wait);
        expect(problem.details.uncertain ?? false).toBe(uncertain && kind !== "read");
        expect(told(problem)).not.toContain(HOSTILE);
        expect(told(problem)).not.toContain(FAKE_KEY);
        expect(told(problem).length).toBeLessThan(20_000);
      }
      expect(fake.tries).toEqual(tries);
      await client.close();
      fake.misbehave();
      const patient = remoteClient(fake.url);
      for (const kind of KINDS) {
        expect((await callFake(patient, kind)).output).toEqual(RIGHT[kind]);
      }
      await patient.close();
      expect(fake.unexpected).toEqual([]);
      expect([...client.lines, ...patient.lines].join("")).not.toMatch(/never-shown/);
      expect(leaks).toEqual([]);
    });
  },
);
