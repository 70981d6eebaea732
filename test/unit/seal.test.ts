import { expect, it } from "vitest";
import { createSeal } from "../../src/kit/seal.ts";

const KEY = Buffer.alloc(32, 7);
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

it("C-66 what is sealed opens with its own key for its own purpose", () => {
  const value = { tenant: "acme", seq: 7, nothing: null };
  const sealed = createSeal(KEY, "cursor").seal(value);
  expect(createSeal(KEY, "cursor").open(sealed)).toEqual(value);
  expect(createSeal(KEY, "token").open(sealed)).toBeUndefined();
  expect(createSeal(Buffer.alloc(32, 8), "cursor").open(sealed)).toBeUndefined();
  for (const junk of ["", "x", `${sealed}A`, sealed.slice(1), `${sealed}=`, ` ${sealed}`]) {
    expect(createSeal(KEY, "cursor").open(junk)).toBeUndefined();
  }
});

it.each(["", "a", "ab"])("C-66 has one spelling alone, whatever its length (%j)", (value) => {
  const seal = createSeal(KEY, "token");
  const sealed = seal.seal(value);
  const spellings = Array.from(ALPHABET, (last) => sealed.slice(0, -1) + last);
  expect(spellings.filter((text) => seal.open(text) !== undefined)).toEqual([sealed]);
});
