import { describe, expect, it } from "vitest";
import { createSignedUrls, type Grant } from "../../src/platform/files/signed-urls.ts";
import { verifies } from "../support/verifies.ts";

const NOW = Date.parse("2026-03-02T08:00:00.000Z");
const GRANT: Grant = { method: "GET", tenantId: "one", id: "file-1" };

const claimIn = (url: string) => {
  const { searchParams } = new URL(url);
  return { expires: searchParams.get("expires") ?? "", sig: searchParams.get("sig") ?? "" };
};

describe("signed URLs", () => {
  const urls = createSignedUrls(Buffer.alloc(32, 1));
  const url = urls.urlOf("https://p.example", GRANT, NOW + 60_999);
  const claim = claimIn(url);

  verifies("AT-07");
  it("are valid to the end of their last whole second", () => {
    expect(url.startsWith("https://p.example/downloads/file-1?")).toBe(true);
    expect(urls.holds(GRANT, claim, NOW)).toBe(true);
    expect(urls.holds(GRANT, claim, NOW + 59_999)).toBe(true);
    expect(urls.holds(GRANT, claim, NOW + 60_000)).toBe(false);
  });

  verifies("C-53");
  it.each<[string, Partial<Grant>]>([
    ["method", { method: "PUT" }],
    ["tenant", { tenantId: "two" }],
    ["file", { id: "file-2" }],
  ])("hold for no other %s, though all else is the same", (_what, other) => {
    expect(urls.holds({ ...GRANT, ...other }, claim, NOW)).toBe(false);
  });

  verifies("C-53");
  it("are invalid under another key or for another expiry", () => {
    const others = createSignedUrls(Buffer.alloc(32, 2));
    expect(others.holds(GRANT, claim, NOW)).toBe(false);
    const later = { ...claim, expires: String(Number(claim.expires) + 1) };
    expect(urls.holds(GRANT, later, NOW)).toBe(false);
  });
});
