import { describe, expect, it } from "vitest";
import type { Cases } from "../../src/contract/insights/precedents.ts";
import { describePrecedents } from "../../src/insights/packet-precedents.ts";
import { shortenPacket } from "../../src/insights/packet-shorten.ts";
import { verifies } from "../support/verifies.ts";

const casesOf = (resolutions: number): Cases => ({
  cases: resolutions,
  canceled: 0,
  valid: 0,
  medianDaysToClose: 1,
  resolutions: Array.from({ length: resolutions }, (_, place) => ({
    resolutionCode: `R-${place}`,
    count: 1,
    amountShare: null,
  })),
});

describe("the precedents of a packet", () => {
  verifies("WK-50");
  it.each([
    [2, 5, []],
    [2, 7, ["precedents: the 5 most frequent of 7 resolutions are shown"]],
  ])("of %i and %i resolutions say how many are not shown", (own, all, notes) => {
    const value = {
      since: "2024-11-05",
      account: casesOf(own),
      tenant: casesOf(all),
      alike: [],
      proposal: {},
    };
    expect(describePrecedents({ value })).toEqual(notes);
    expect(
      describePrecedents({ refused: { available: false, reason: "no", isAbsent: false } }),
    ).toEqual([]);
  });

  verifies("WK-22", "WK-50");
  it("are named with their number where they give way", () => {
    const alike = [{ disputeCode: "D-1-01" }, { disputeCode: "D-2-01" }];
    const packet = { missing: [], precedents: { alike }, notes: [], files: [] };
    const forms = [...shortenPacket(packet)].map(({ precedents, leftOut }) => [
      precedents,
      leftOut,
    ]);
    expect(forms.slice(1, 4)).toEqual([
      [{ alike }, undefined],
      [{ alike: alike.slice(0, 1) }, ["1 disputes most alike: disputes_list"]],
      [{ alike: [] }, ["2 disputes most alike: disputes_list"]],
    ]);
  });
});
