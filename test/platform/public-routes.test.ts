import { expect, it } from "vitest";
import { hasDryRun, toDryRun } from "../../src/contract/dry-run.ts";
import { platformContract } from "../../src/contract/index.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const LIMITS = { loginPerMinute: 20, gatewayPerMinute: 30, visitorPerMinute: 60 };
const BURST = 110;

/** Routes without a limit, and why they need none. */
const FREE: Record<string, string> = {
  "/health": "load balancers ask often; it is one constant",
  "/ready": "load balancers ask often; its parts are checked once a second",
  "/openapi.json": "one text in memory",
  "/docs": "one text in memory",
  "/docs/:file": "three texts in memory",
  "/account/password": "a form; what it sends is limited as logins are",
};

const BODIES: Record<string, unknown> = {
  "auth.login": { email: "invented@x.example", password: "guess" },
  "auth.verify_session": { accessToken: "unknown" },
  "auth.logout": { accessToken: "unknown" },
};

const publicOperations = Object.values(platformContract)
  .flatMap((verbs): Operation[] => Object.values(verbs))
  .filter(({ access }) => access === "public");

const patternOf = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

verifies("C-96");
onEveryStore(
  "routes that need no credential",
  (at) => {
    const burst = async (method: string, path: string, body?: unknown): Promise<number[]> => {
      at().clock.advance(16 * MINUTE);
      const statuses: number[] = [];
      for (let sent = 0; sent < BURST; sent += 1) {
        const { status } = await at().call(method, path, body === undefined ? {} : { body });
        statuses.push(status);
      }
      return statuses;
    };

    it.each(publicOperations)(
      "$id answers 429 after many requests",
      async ({ id, method, path }) => {
        expect((await burst(method, path, BODIES[id])).at(-1)).toBe(429);
      },
    );

    it.each([
      ["PUT", "/uploads/some?expires=1&sig=x"],
      ["GET", "/downloads/some?expires=1&sig=x"],
      ["GET", "/account/reset/unknown"],
    ])("%s %s answers 429 in the end", async (method, path) => {
      expect((await burst(method, path)).at(-1)).toBe(429);
    });

    it("are listed here, and the unlimited ones with a reason", () => {
      const operations = new Set(
        Object.values(platformContract)
          .flatMap((verbs): Operation[] => Object.values(verbs))
          .flatMap((operation) => [
            operation.path,
            ...operation.aliases.map(({ path }) => path),
            ...(hasDryRun(operation) ? [toDryRun(operation).path] : []),
          ])
          .map(patternOf),
      );
      const signed = ["/uploads/:uploadId", "/downloads/:attachmentId", "/account/reset/:token"];
      const paths = new Set(at().platform.routes.map(({ path }) => path));
      const others = [...paths].filter((path) => !operations.has(path) && path !== "/*");
      expect(others.toSorted()).toEqual([...signed, ...Object.keys(FREE)].toSorted());
    });
  },
  { limits: LIMITS },
);
