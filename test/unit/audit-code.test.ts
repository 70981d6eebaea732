import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { createCode } from "../../src/platform/store/audit-key.ts";

const texts = Array.from({ length: 140 }, (_, length) => "äb€".repeat(length).slice(0, length));

it.each([0, 1, 32, 64])("the code of an entry is HMAC with SHA-256 (key of %i bytes)", (size) => {
  const secret = Buffer.from(Array.from({ length: size }, (_, index) => 255 - index));
  const code = createCode(secret);
  const expected = texts.map((text) => createHmac("sha256", secret).update(text).digest("hex"));
  expect(texts.map(code)).toEqual(expected);
});

it("the code of an entry refuses a key that HMAC would hash first", () => {
  expect(() => createCode(Buffer.alloc(65))).toThrow(RangeError);
});
