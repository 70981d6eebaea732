import { expect, it } from "vitest";
import { createSeal } from "../../src/kit/seal.ts";
import { verifies } from "../support/verifies.ts";

const KEY = Buffer.alloc(32, 7);
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

verifies("C-66");
it("sealed text opens only with its own key and purpose", () => {
  const value = { tenant: "acme", seq: 7, nothing: null };
  const sealed = createSeal(KEY, "cursor").seal(value);
  expect(createSeal(KEY, "cursor").open(sealed)).toEqual(value);
  expect(createSeal(KEY, "token").open(sealed)).toBeUndefined();
  expect(createSeal(Buffer.alloc(32, 8), "cursor").open(sealed)).toBeUndefined();
  for (const junk of ["", "x", `${sealed}A`, sealed.slice(1), `${sealed}=`, ` ${sealed}`]) {
    expect(createSeal(KEY, "cursor").open(junk)).toBeUndefined();
  }
});

verifies("C-66");
it.each(["", "a", "ab"])("has exactly one spelling at any length (%j)", (value) => {
  const seal = createSeal(KEY, "token");
  const sealed = seal.seal(value);
  const spellings = Array.from(ALPHABET, (last) => sealed.slice(0, -1) + last);
  expect(spellings.filter((text) => seal.open(text) !== undefined)).toEqual([sealed]);
});
