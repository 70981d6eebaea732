import { describe, expect, it } from "vitest";
import {
  findRecordName,
  isSitePath,
  parseRecordPath,
  toRecordPage,
} from "../../src/mcp/results/record-pages.ts";
import { present } from "../../src/mcp/results/answer.ts";
import { verifies } from "../support/verifies.ts";

const SERVER = new URL("https://ar.example/prefix/mcp");

describe("the pages of records", () => {
  verifies("WK-06");
  it.each([
    ["dispute", "D-1", "https://ar.example/prefix/disputes/D-1"],
    ["account", "C 1", "https://ar.example/prefix/accounts/C%201"],
    ["document", "INV/1?x", "https://ar.example/prefix/documents/INV%2F1%3Fx"],
  ] as const)("has the address of %s %s, which leads back to it", (kind, id, address) => {
    expect(toRecordPage(SERVER, { kind, id })).toBe(address);
    const path = new URL(address).pathname.replace("/prefix", "");
    expect(parseRecordPath(path)).toEqual({ kind, id });
  });

  it("has none without an address that a browser opens, or without a record", () => {
    expect(toRecordPage(undefined, { kind: "dispute", id: "D-1" })).toBeUndefined();
    expect(toRecordPage(new URL("stdio:mcp"), { kind: "dispute", id: "D-1" })).toBeUndefined();
    expect(toRecordPage(SERVER, undefined)).toBeUndefined();
  });

  it("reads numbers with slashes, and leaves other paths alone", () => {
    expect(parseRecordPath("/documents/INV/1")).toEqual({ kind: "document", id: "INV/1" });
    const id = "\u{1F600}".repeat(128);
    expect(parseRecordPath(`/accounts/${encodeURIComponent(id)}`)).toEqual({ kind: "account", id });
    for (const path of [
      "/disputes",
      "/disputes/",
      "/dispute/v1/x",
      "/disputes/%E0%A4%A",
      "/docs",
      // Addresses in a page lead back to its root, once for each slash.
      `/disputes/${"/".repeat(9000)}x`,
      `/accounts/${"x".repeat(9000)}`,
    ]) {
      expect(parseRecordPath(path), path).toBeUndefined();
      expect(isSitePath(path), path).toBe(false);
    }
  });

  it("is named by the result about one record alone", () => {
    const dispute = { disputeCode: "D-1", documentNumber: "INV-1", accountNumber: "C-1" };
    expect(findRecordName(dispute)).toEqual({ kind: "dispute", id: "D-1" });
    expect(findRecordName({ documentNumber: "INV-1", account_number: "C-1" })).toEqual({
      kind: "document",
      id: "INV-1",
    });
    expect(findRecordName({ items: [{ account: { accountNumber: "C-1" } }] })).toEqual({
      kind: "account",
      id: "C-1",
    });
    expect(findRecordName({ items: [{ dispute }, { dispute }] })).toBeUndefined();
    const answer = { structured: dispute, notes: [], etag: null };
    expect(present(answer, SERVER).structuredContent).toMatchObject({
      about: { links: { page: "https://ar.example/prefix/disputes/D-1" } },
    });
    const { about } = present(answer).structuredContent as { about: object };
    expect(about).not.toHaveProperty("links");
  });
});
