import { describe, expect, it, vi } from "vitest";
import { findExceededLimit, isLargerThan, parseJson } from "../../src/kit/json.ts";
import { parseAttachmentUri, parseName, parseRunUri } from "../../src/mcp/resources/address.ts";
import { DISPUTE, EXPORT_RUNS } from "../../src/mcp/results/resource-uris.ts";
import { connectScripted, readProblem } from "./hosts.ts";
import { verifies } from "../support/verifies.ts";

const LIMITS = { depth: 32, arrayLength: 10_000, names: 2000, commas: 500_000 };

verifies("C-114");
describe("large arguments", () => {
  it("are counted up to a limit only", () => {
    const wide = Array.from({ length: 1000 }, () => ({ a: [1, 2, 3] }));
    expect(isLargerThan(wide, 5000)).toBe(false);
    expect(isLargerThan(wide, 4999)).toBe(true);
  });

  it("are refused with more values than a record can have", async () => {
    const { host, broker } = await connectScripted({ "disputes.list_by_ids": () => [] });
    const disputeIds = Array.from({ length: 300_000 }, () => "d");
    const result = await host.call("disputes_list_by_ids", { disputeIds });
    expect(readProblem(result).code).toBe("invalid_request");
    expect(readProblem(result).message).toContain("250000");
    expect(broker.seen).toEqual([]);
  });

  it("with numbers of millions of digits are refused, and long ones are parsed at once", () => {
    const digits = "9".repeat(4_000_000);
    expect(findExceededLimit(`[${digits}]`, LIMITS)).toBe("digits");
    expect(findExceededLimit(`["${digits}",${"9".repeat(999)}]`, LIMITS)).toBeUndefined();
    const parse = vi.spyOn(JSON, "parse");
    const many = `[${Array.from({ length: 200_000 }, () => "123456789012345").join(",")}]`;
    expect(parseJson(many)).toHaveLength(200_000);
    // Without a function that is called for each number.
    expect(parse.mock.calls).toEqual([[many]]);
  });

  it("with URIs of 2 MB name nothing, and are not repeated", async () => {
    const slashes = "/".repeat(2_000_000);
    expect(parseAttachmentUri(DISPUTE + slashes, DISPUTE)).toBeUndefined();
    expect(parseRunUri(EXPORT_RUNS + slashes)).toBeUndefined();
    expect(parseName(DISPUTE + slashes, DISPUTE)).toBeUndefined();
    const { host } = await connectScripted({});
    const uri = `${DISPUTE}${slashes}`;
    const error = await host.client.readResource({ uri }).catch((reason: unknown) => reason);
    expect((error as Error).message.length).toBeLessThan(1000);
  });
});
