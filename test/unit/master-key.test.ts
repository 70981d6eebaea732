import { randomBytes, scryptSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createMasterKeyReader } from "../../src/config/folder.ts";
import { deriveMasterKey, isRandomKey } from "../../src/kit/master-key.ts";
import { createSeal } from "../../src/kit/seal.ts";
import { Secret } from "../../src/kit/secret.ts";
import { verifies } from "../support/verifies.ts";

const PASSPHRASE = "correct horse battery staple, again and again";

const keyOf = (text: string) =>
  createMasterKeyReader({ secretKey: new Secret(text), dataFolder: "/does/not/exist" })();

verifies("C-106");
describe("the master key", () => {
  it("is derived slowly from a passphrase, with the same result on every node", async () => {
    const [one, other] = await Promise.all([keyOf(PASSPHRASE), keyOf(PASSPHRASE)]);
    expect(one.equals(other)).toBe(true);
    expect(one.includes(PASSPHRASE)).toBe(false);
    expect(one).toHaveLength(32);
    const sealed = createSeal(one, "vault").seal({ value: 1 });
    expect(createSeal(other, "vault").open(sealed)).toEqual({ value: 1 });
    const fast = createSeal(Buffer.from(PASSPHRASE), "vault");
    expect(fast.open(sealed)).toBeUndefined();
  });

  it("is derived with the cost of scrypt that OWASP names", async () => {
    const cost = { N: 131_072, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
    const expected = scryptSync(PASSPHRASE, "receivables/master-key/1", 32, cost);
    expect((await keyOf(PASSPHRASE)).equals(expected)).toBe(true);
  });

  it("opens text that earlier versions sealed with the passphrase itself", async () => {
    const old = createSeal(Buffer.from(PASSPHRASE), "vault").seal("kept");
    const key = await deriveMasterKey(PASSPHRASE);
    expect(createSeal(key, "vault").open(old)).toBe("kept");
    expect(createSeal(key, "another purpose").open(old)).toBeUndefined();
    const other = await deriveMasterKey(`${PASSPHRASE}!`);
    expect(createSeal(other, "vault").open(old)).toBeUndefined();
  });

  it("is a random key unchanged", async () => {
    for (const encoding of ["hex", "base64", "base64url"] as const) {
      const text = randomBytes(48).toString(encoding);
      expect((await keyOf(text)).toString("utf8")).toBe(text);
    }
  });

  it.each([
    PASSPHRASE,
    "correcthorsebatterystaplecorrecthorsebatterystaple",
    "Password1".repeat(8),
    "a".repeat(64),
    "0123456701234567".repeat(2),
    "deadbeef".repeat(8),
    "Sommer2026-Sommer2026-Sommer2026-Sommer2026",
  ])("takes %s for a passphrase", (text) => {
    expect(isRandomKey(text)).toBe(false);
  });
});
