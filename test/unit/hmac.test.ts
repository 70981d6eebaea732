import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { createHmacSha256 } from "../../src/kit/hmac.ts";

const short = Array.from({ length: 140 }, (_, length) => "äb€".repeat(length).slice(0, length));
const long = [4_000, 10_000, 3].map((length) => "€\ud800".repeat(length));
const texts = [...short, ...long];

it.each([0, 1, 32, 64])("is HMAC with SHA-256 (key of %i bytes)", (size) => {
  const secret = Buffer.from(Array.from({ length: size }, (_, index) => 255 - index));
  const code = createHmacSha256(secret, "hex");
  const expected = texts.map((text) => createHmac("sha256", secret).update(text).digest("hex"));
  expect(texts.map(code)).toEqual(expected);
});

it("refuses a key that HMAC would hash first", () => {
  expect(() => createHmacSha256(Buffer.alloc(65), "hex")).toThrow(RangeError);
});
