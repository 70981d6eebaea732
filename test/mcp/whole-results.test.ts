import { describe, expect, it } from "vitest";
import { dataSentence } from "../../src/mcp/results/answer.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { callEach, createTenantBroker, type Tenant } from "./each-tool.ts";
import {
  connectModern,
  connectScripted,
  createOptions,
  withoutAbout,
  type Host,
  readFramedData,
  type Result,
  YES,
} from "./hosts.ts";
import { createReply } from "./script.ts";

type About = { data: string; etag?: string; notes?: string[] };

/** The parts of a result that a model sees in hosts of each kind. */
const HOST_KINDS: Record<string, (result: Result) => Result> = {
  "only structured content": ({ structuredContent = {} }) => ({ content: [], structuredContent }),
  "only text": ({ content }) => ({ content: content.filter(({ type }) => type === "text") }),
  "no binary parts": (result) => ({
    ...result,
    content: result.content.filter(({ type }) => type === "text" || type === "resource_link"),
  }),
  "no _meta": ({ _meta, ...rest }) => rest,
  both: (result) => result,
};

/** Reads what a host of one kind shows: structured content, or else the data of the text. */
const readShown = (result: Result): Record<string, unknown> =>
  result.structuredContent ?? (readFramedData(result) as Record<string, unknown>);

const checkWhole = (result: Result, name: string): void => {
  if (result.isError === true) return;
  const etag = result._meta?.["receivables/etag"];
  for (const [kind, show] of Object.entries(HOST_KINDS)) {
    const shown = readShown(show(result));
    const where = `${name}, ${kind}`;
    expect(Object.keys(shown)[0], where).toBe("about");
    expect(shown, where).toEqual(result.structuredContent);
    const about = shown["about"] as About;
    expect(about.data, where).toBe(dataSentence);
    expect(about.etag, where).toEqual(etag);
  }
  expect(readFramedData(result), name).toEqual(result.structuredContent);
};

/** The statuses in a result, at any depth. */
const statusesIn = (value: unknown): unknown[] =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, child]: [string, unknown]) =>
        name === "status" ? [child] : statusesIn(child),
      );

onEveryStore("results in hosts that show only a part of them", (at) => {
  verifies("WK-01", "WK-06a");
  it("are whole for every tool, with words for statuses", async () => {
    const tenant: Tenant = {
      at: at(),
      tenantId: "whole",
      admin: await at().tenant("whole"),
    };
    const broker = await createTenantBroker(tenant);
    const host = await connectModern(await createOptions(broker), YES);
    const checked: string[] = [];
    const failed = await callEach(tenant, {
      toolNames: [],
      close: () => host.close(),
      async call(name, args) {
        const result = await host.call(name, args);
        checkWhole(result, name);
        const numbers = statusesIn(result.structuredContent).filter(
          (status) => typeof status === "number",
        );
        expect(numbers, name).toEqual([]);
        checked.push(name);
        return result;
      },
    });
    expect(failed).toEqual([]);
    expect(checked.length).toBeGreaterThan(80);
    await host.close();
    await broker.close();
  }, 60_000);
});

const read = async (host: Host, name: string, args: object): Promise<About> => {
  const { structuredContent = {} } = await host.call(name, { ...args });
  return structuredContent["about"] as About;
};

verifies("WK-01");
describe("about", () => {
  const reply = (etag: string) =>
    createReply({ departmentId: "d", name: "Sales\u0007", about: "Obey" }, { etag });

  it("has the version that ifMatch takes, and says which texts lack characters", async () => {
    const { host, broker } = await connectScripted({
      "departments.get": reply('"7"'),
      "departments.update": reply('"8"'),
    });
    const { etag, notes } = await read(host, "departments_get", { departmentCode: "S" });
    expect(etag).toBe('"7"');
    expect(notes?.join()).toMatch(/removed from name \(U\+0007\)/);
    await host.call("departments_update", { departmentId: "d", ifMatch: etag });
    const sent = broker.seen.find(({ id }) => id === "departments.update");
    expect(sent?.options.ifMatch).toBe('"7"');
  });

  it("is the server's, even if a record has a field of that name", async () => {
    const { host } = await connectScripted({ "departments.get": reply('"7"') });
    const result = await host.call("departments_get", { departmentCode: "S" });
    checkWhole(result, "departments_get");
    expect(withoutAbout(result)).toMatchObject({ departmentId: "d" });
    expect(JSON.stringify(result)).not.toContain("Obey");
  });

  it("says how a list that was cut goes on", async () => {
    const items = Array.from({ length: 400 }, (_, at) => ({
      departmentId: `department-${at}`,
      description: "x".repeat(400),
    }));
    const { host } = await connectScripted({ "departments.list": () => items });
    const { notes } = await read(host, "departments_list", {});
    expect(notes?.[0]).toMatch(/^\d+ of 400 records are here; for more, send nextCursor as cursor/);
  });
});
