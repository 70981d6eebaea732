import { expect, it } from "vitest";
import { compareDuplicates, describeDuplicate } from "../../src/insights/possible-duplicates.ts";
import { verifies } from "../support/verifies.ts";

const ONE = { disputeCode: "D-1-01", reasonName: "Damaged", poNumber: "PO-1" };
const OTHER = { ...ONE, disputeCode: "D-1-02" };

verifies("WK-47");
it.each([
  [{}, "same document, amount, reason, PO"],
  [{ reasonName: "Price" }, "same document, amount, PO; other reason"],
  [{ poNumber: null }, "same document, amount, reason; other PO"],
  [{ files: ["a.pdf", "b.pdf"] }, "same document, amount, reason, PO, file"],
  [{ files: ["c.pdf"], poNumber: "PO-2" }, "same document, amount, reason; other PO, file"],
])("says what a possible duplicate with %j has in common", (change, text) => {
  const files = "files" in change ? ["b.pdf"] : undefined;
  const found = compareDuplicates({ ...ONE, files }, { ...OTHER, ...change });
  expect(describeDuplicate(found)).toBe(`possible duplicate of D-1-02: ${text}`);
});

it("leaves out what neither dispute has", () => {
  const [one, other] = [ONE, OTHER].map((dispute) => ({ ...dispute, poNumber: null }));
  expect(compareDuplicates({ ...ONE, ...one }, { ...OTHER, ...other })).toEqual({
    disputeCode: "D-1-02",
    same: ["document", "amount", "reason"],
    different: [],
  });
});
