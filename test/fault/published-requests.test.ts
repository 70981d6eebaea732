import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Operation } from "../../src/contract/operation.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { logOf, measureMemory, type Memory } from "../support/memory.ts";
import { pdf } from "../support/pdf.ts";
import type { Reply } from "../support/platform.ts";
import { faultsOf } from "../support/published.ts";
import type { Records } from "../support/records.ts";
import { type Dialect, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";
import { type PublishedRoute, publishedRoutes, validArguments } from "./published-requests.ts";
import { type PublishedService, startPublishedService } from "./published-service.ts";
import { build, type Built, nearlyValid, type Recipe, wild } from "./recipes.ts";

const SEED = Number(process.env["FAULT_SEED"] ?? 20_260_302);
const PER_API = 2000;
const MEBIBYTE = 1024 * 1024;
/** The share of requests after which code is compiled and pools and caches are full. */
const WARM_UP = 1 / 3;

/**
 * What may be left after 4,000 further requests: 4 KiB kept of each would exceed it. Resident memory has pages, too,
 * that the allocator has not given back.
 */
const MARGIN: Memory = {
  heapUsed: 12 * MEBIBYTE,
  external: 12 * MEBIBYTE,
  rss: 128 * MEBIBYTE,
};

const hash = (text: string): number =>
  [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, SEED);

const routesOf = (api: string): PublishedRoute[] =>
  publishedRoutes.filter(({ operation }) => operation.service === api);

/** Nearly valid requests twice as often as wild ones. */
const recipesFor = ({ shape, route }: PublishedRoute, numRuns: number): Recipe[] =>
  fc.sample(
    fc.oneof({ weight: 2, arbitrary: nearlyValid(shape) }, { weight: 1, arbitrary: wild(shape) }),
    { seed: hash(`${route.method} ${route.path}`), numRuns },
  );

const shown = ({ method, path, body, headers }: Built): string =>
  `${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)}\n${(body ?? "").slice(0, 600)}`;

type Trial = {
  service: PublishedService;
  records: Records;
  made: number;
  statuses: Record<"gateway" | "export" | "ingest", number[]>;
  faults: string[];
};

const requestOf = (trial: Trial, published: PublishedRoute, recipe: Recipe): Built => {
  trial.made += 1;
  const { route, shape, type } = published;
  const args = validArguments(published, trial.records, `fresh-${trial.made}`, recipe.variant);
  const built = build(shape, { path: route.path as `/${string}`, method: "POST" }, args, recipe);
  const isFile = type !== undefined && shape.body === null;
  const body = isFile ? recipe.spoil(Buffer.from(pdf()).toString("latin1")) : built.body;
  return { ...built, method: route.method, body };
};

const send = async ({ service }: Trial, { security, type }: PublishedRoute, built: Built) => {
  const { method, path, body, headers } = built;
  const credential = security === undefined ? {} : { [security]: service.credentials[security] };
  return service.ask(method, path, {
    headers: {
      ...(type === undefined || body === undefined ? {} : { "Content-Type": type }),
      ...(credential as Record<string, string>),
      ...headers,
    },
    ...(body === undefined ? {} : { raw: body }),
  });
};

const isElsewhere = ({ shape }: PublishedRoute, { path }: Built): boolean => {
  const [own = ""] = path.split("?");
  const segments = new URL(own.replaceAll("%", "%25"), "http://a").pathname.split("/");
  return segments.length !== shape.path.split("/").length || segments.includes("");
};

/** What is wrong with an answer. */
const faultsIn = (published: PublishedRoute, built: Built, reply: Reply): string[] => {
  if (reply.status >= 500) return [`${reply.status} ${reply.text.slice(0, 500)}`];
  // Node.js refuses a head of more than 16 KiB; another path may have another meaning.
  if (reply.status === 431 || isElsewhere(published, built)) return [];
  const isVague = reply.status === 429 && reply.headers.get("retry-after") === null;
  return [
    ...(isVague ? ["no Retry-After"] : []),
    ...faultsOf(published.route as Pick<Operation, "method" | "path">, reply),
  ];
};

/** New records for the requests to one route that deletes; later ones find nothing. */
const RESEEDS = 2;

const tryRoute = async (trial: Trial, published: PublishedRoute, recipes: Recipe[]) => {
  const { operation } = published;
  let left = RESEEDS;
  for (const recipe of recipes) {
    const built = requestOf(trial, published, recipe);
    const reply = await send(trial, published, built).catch((error: unknown) => {
      throw new Error(`no answer to ${shown(built)}`, { cause: error });
    });
    const { service } = operation;
    trial.statuses[service].push(reply.status);
    for (const fault of faultsIn(published, built, reply)) {
      trial.faults.push(`${fault} <- ${shown(built)}`);
    }
    const isGone = operation.method === "DELETE" && reply.status < 300;
    if (isGone && (left -= 1) >= 0) trial.records = await trial.service.reseed();
  }
};

/** A share of the requests to every route, in the order of the document. */
const tryAll = async (trial: Trial, [from, to]: readonly [number, number]): Promise<void> => {
  for (const published of publishedRoutes) {
    const { length } = routesOf(published.operation.service);
    const all = recipesFor(published, Math.ceil(PER_API / length));
    await tryRoute(trial, published, all.slice(from * all.length, to * all.length));
  }
};

// PostgreSQL, because it refuses more than SQLite does; `input.test.ts` compares the two.
const [, postgres] = dialects as [Dialect, Dialect];

describe("generated requests to every route of the published document", () => {
  let trial: Trial;
  beforeAll(async () => {
    const service = await startPublishedService(postgres);
    const statuses = { gateway: [], export: [], ingest: [] };
    trial = { service, records: await service.reseed(), made: 0, statuses, faults: [] };
  });
  afterAll(() => trial.service.close());

  verifies("C-41", "C-47", "C-48");
  it(
    `get a documented answer each, and leave no memory behind (FAULT_SEED=${SEED})`,
    { timeout: 10 * MINUTE },
    async () => {
      const { running } = trial.service;
      await tryAll(trial, [0, WARM_UP]);
      const before = await measureMemory(running);
      await tryAll(trial, [WARM_UP, 1]);
      const after = await measureMemory(running);
      expect(trial.faults).toEqual([]);
      for (const statuses of Object.values(trial.statuses)) {
        expect(statuses.length).toBeGreaterThanOrEqual(PER_API);
        // Generated requests that all fail alike would show nothing.
        const accepted = statuses.filter((status) => status < 300).length;
        expect(accepted).toBeGreaterThan(PER_API / 10);
      }
      for (const kind of ["heapUsed", "external", "rss"] as const) {
        expect(after[kind] - before[kind], kind).toBeLessThan(MARGIN[kind]);
      }
      expect(logOf(running).filter((line) => line.includes('"level":"error"'))).toEqual([]);
    },
  );
});
