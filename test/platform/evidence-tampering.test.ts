import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY, formatDay } from "../../src/kit/clock.ts";
import { createSeal } from "../../src/kit/seal.ts";
import { showEvidenceKey, writeEvidence } from "../../src/platform/admin/evidence.ts";
import { type EvidenceVerdict, verifyEvidence } from "../../src/platform/admin/verify-evidence.ts";
import { signEvidenceHead } from "../../src/platform/evidence-heads.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import { SEALS } from "../../src/platform/store/sealed-columns.ts";
import { entry, logged } from "../support/audit.ts";
import { checkEvidence } from "../support/evidence-checker.ts";
import { MASTER_KEY, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "proved";
const ENTRIES = 6;
/** Characters that JSON leaves as they are, though some programs take the first two for ends of lines. */
const ODD = "a\u2028b\u2029c\u0085d\u00e9\u{1f600}\ufeff\r\n";

onEveryStore("evidence", (at) => {
  let folder: string;
  let files = 0;
  let lines: string[];
  let key: string;
  let replaced: { id: string; privateKey: KeyObject };

  const needs = () => ({ store: at().store, clock: at().clock, masterKey: MASTER_KEY });
  const newPath = (): string => join(folder, `${(files += 1)}.jsonl`);
  const write = async (tenantId: string, path = newPath()): Promise<string> => {
    const [from, to] = [formatDay(at().clock() - ENTRIES * DAY), formatDay(at().clock())];
    await writeEvidence(needs(), tenantId, { from, to, path });
    return path;
  };
  const append = (tenantId: string, number: number, source = "cashapp") =>
    at().store.transaction((tx) => {
      const one = entry(tenantId, number, at().clock());
      return appendEntries(tx, at().store.auditKey, [{ ...one, metadata: { source } }]);
    });
  const verifyText = (text: string | Buffer): Promise<EvidenceVerdict> => {
    const path = newPath();
    writeFileSync(path, text);
    return verifyEvidence(path, key);
  };
  const toText = (all: readonly string[]): string => all.map((line) => `${line}\n`).join("");
  const indexOf = (part: string): number => lines.findIndex((line) => line.includes(part));
  const isHead = (line: string): boolean => line.startsWith('{"type":"head"');

  /** Opens the key that signs evidence now. */
  const readSigner = async () => {
    const row = await at()
      .store.read.selectFrom("evidence_keys")
      .selectAll()
      .where("sealed", "<>", "")
      .executeTakeFirstOrThrow();
    const pkcs8 = createSeal(MASTER_KEY, SEALS.evidence).open(row.sealed);
    const key = Buffer.from(String(pkcs8), "base64");
    return { id: row.id, privateKey: createPrivateKey({ key, format: "der", type: "pkcs8" }) };
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tampering-"));
    await logged(at(), TENANT, ENTRIES);
    await signEvidenceHead(needs(), TENANT);
    await append(TENANT, ENTRIES + 1, ODD);
    replaced = await readSigner();
    await showEvidenceKey(needs(), { rotate: true });
    await append(TENANT, ENTRIES + 2);
    key = (await showEvidenceKey(needs(), { rotate: false })).publicKey;
    lines = readFileSync(await write(TENANT), "utf8")
      .trimEnd()
      .split("\n");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const replace = (from: string, to: string): string[] =>
    lines.map((line) => line.replaceAll(from, to));
  /** Moves a line before another one. */
  const move = (from: number, to: number): string[] => {
    const rest = lines.toSpliced(from, 1);
    return rest.toSpliced(from < to ? to - 1 : to, 0, lines[from] ?? "");
  };

  const FILES: [what: string, text: () => string | Buffer, fault: RegExp, id: string | null][] = [
    [
      "a cut within an entry",
      () => toText(lines).slice(0, toText(lines).indexOf("entry-4") + 40),
      /line \d+ after entry entry-3 .* cut off/,
      "entry-3",
    ],
    [
      "a cut within the last line",
      () => toText(lines).slice(0, -30),
      /after entry|is not a line/,
      null,
    ],
    [
      "an unreadable entry",
      () => toText(replace(',4,"entry-4",', ',4,"entry-4,')),
      /entry entry-4, is not a line/,
      "entry-4",
    ],
    [
      "an entry of which one member is there twice",
      () =>
        toText(
          lines.with(
            indexOf('"entry-4"'),
            `{"type":"entry","entry":[],${(lines[indexOf('"entry-4"')] ?? "").slice('{"type":"entry",'.length)}`,
          ),
        ),
      /entry-4, is written in another way/,
      "entry-4",
    ],
    [
      "spaces in an entry",
      () => toText(replace(',4,"entry-4"', ', 4,"entry-4"')),
      /written in another way/,
      "entry-4",
    ],
    [
      "an escape in place of a character",
      () => toText(replace("\u00e9", "\\u00e9")),
      /written in another way/,
      "entry-7",
    ],
    [
      "bytes that are no UTF-8",
      () => Buffer.concat([Buffer.from(toText(lines.slice(0, 4))), Buffer.from([0xff, 0x0a])]),
      /no UTF-8/,
      null,
    ],
    ["a byte order mark", () => `\ufeff${toText(lines)}`, /line 1 is not a line/, null],
    ["nothing", () => "", /cut off/, null],
    [
      "an archive",
      () => Buffer.from("504b0304140000000800", "hex"),
      /line 1 is not a line of evidence/,
      null,
    ],
    ["a line without an end", () => "[".repeat(20 * 1024 * 1024), /longer than \d+ bytes/, null],
    [
      "deep nesting",
      () => `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}\n`,
      /line 1 is not a line/,
      null,
    ],
    [
      "a later format",
      () => toText(replace('"format":1', '"format":2')),
      /names the format 2; this program knows format 1/,
      null,
    ],
    [
      "other days in the first line",
      () => toText(lines.with(0, (lines[0] ?? "").replace(/"to":"[^"]*"/, '"to":"2030-01-01"'))),
      /the days of the first line are not those that were signed/,
      null,
    ],
    [
      "an entry twice",
      () => toText(lines.toSpliced(indexOf('"entry-4"'), 0, lines[indexOf('"entry-4"')] ?? "")),
      /entry-4 .* added or moved/,
      "entry-4",
    ],
    [
      "two entries in the other order",
      () => toText(move(indexOf('"entry-5"'), indexOf('"entry-4"'))),
      /entry-4/,
      "entry-4",
    ],
    [
      "another name for the entry before",
      () => toText(replace('"previous":"entry-4"', '"previous":"entry-2"')),
      /entry-5 names entry-2/,
      "entry-5",
    ],
    [
      "a first entry that names one before it",
      () => toText(replace('"previous":""', '"previous":"entry-0"')),
      /entry-0 before/,
      "entry-0",
    ],
    [
      "a head before its entry",
      () => toText(move(lines.findIndex(isHead), indexOf('"entry-3"'))),
      /number 6 stands in another place/,
      null,
    ],
    [
      "a head after its entry",
      () => toText(move(lines.findIndex(isHead), indexOf('"type":"range"'))),
      /number 6 stands in another place/,
      null,
    ],
    [
      "no head of the time of writing",
      () => toText(lines.toSpliced(lines.findLastIndex(isHead), 1)),
      /head that was signed with the range.* is missing/,
      null,
    ],
    [
      "keys after entries",
      () => toText(move(1, indexOf('"entry-3"'))),
      /keys stand before entries|does not vouch/,
      null,
    ],
    [
      "no keys",
      () => toText(lines.filter((line) => !line.includes('"type":"key"'))),
      /does not vouch/,
      null,
    ],
    [
      "a signature that is none",
      () => toText(lines.map((line) => line.replace(/"signature":"[^"]*"/, '"signature":"AA=="'))),
      /signature .* does not fit/,
      null,
    ],
  ];

  describe("a file of evidence", () => {
    verifies("RC-20");
    it("is whole with any character in an entry, other line ends, and without the last line feed", async () => {
      const whole = { ok: true, entries: ENTRIES + 2, heads: 2, fault: null, id: null };
      expect(await verifyText(toText(lines))).toMatchObject(whole);
      expect(await verifyText(lines.map((line) => `${line}\r\n`).join(""))).toMatchObject(whole);
      expect(await verifyText(lines.join("\n"))).toMatchObject(whole);
      const path = newPath();
      writeFileSync(path, toText(lines));
      expect(checkEvidence(path, key)).toBeNull();
    });

    verifies("RC-20");
    it.each(FILES)("with %s is refused, and the place is named", async (_what, text, fault, id) => {
      const verdict = await verifyText(text());
      expect(verdict).toMatchObject({ ok: false, fault: expect.stringMatching(fault) });
      if (id !== null) expect(verdict.id).toBe(id);
    });

    verifies("RC-20");
    it("without a signature of its key is refused, also under a name that another key has", async () => {
      const publicKey = generateKeyPairSync("ed25519")
        .publicKey.export({ format: "der", type: "spki" })
        .toString("base64");
      const ids = lines
        .filter((line) => line.includes('"type":"key"'))
        .map((line) => JSON.parse(line));
      for (const id of ["0123456789abcdef", ids[0].id, ids[1].id]) {
        const foreign = JSON.stringify({ type: "key", id, publicKey });
        const { fault } = await verifyText(toText(lines.toSpliced(1, 0, foreign)));
        expect(fault).toContain("does not vouch");
      }
    });

    verifies("RC-20");
    it("with the signed head of another log or of other links is refused", async () => {
      await logged(at(), "other", ENTRIES);
      const other = JSON.stringify({ type: "head", ...(await signEvidenceHead(needs(), "other")) });
      const place = lines.findIndex(isHead);
      expect(await verifyText(toText(lines.with(place, other)))).toMatchObject({
        ok: false,
        fault: expect.stringContaining("another tenant"),
      });
      // The holder of the key signs another link.
      const { id, privateKey } = await readSigner();
      const values = [TENANT, ENTRIES, "0".repeat(64), "2026-01-01T00:00:00.000Z"];
      const signature = sign(
        null,
        Buffer.from(JSON.stringify(["receivables-head", ...values])),
        privateKey,
      ).toString("base64");
      const [tenantId, seq, link, signedAt] = values;
      const forged = JSON.stringify({
        type: "head",
        tenantId,
        seq,
        link,
        signedAt,
        key: id,
        signature,
      });
      for (const index of [place, indexOf('"entry-3"')]) {
        const { fault } = await verifyText(
          toText(lines.toSpliced(index, index === place ? 1 : 0, forged)),
        );
        expect(fault).toMatch(/signed for other entries|stands in another place/);
      }
    });

    verifies("RC-20");
    it("that a copy of a replaced key has signed is refused, by a second checker too", async () => {
      const range = JSON.parse(lines.at(-1) ?? "");
      const { tenantId, from, to, before, end, firstId, lastId, signedAt } = range;
      const ends = [before.seq, before.link, end.seq, end.link, firstId, lastId];
      const statement = JSON.stringify([
        "receivables-range",
        tenantId,
        from,
        to,
        ...ends,
        signedAt,
      ]);
      const signature = sign(null, Buffer.from(statement), replaced.privateKey).toString("base64");
      const last = JSON.stringify({ ...range, key: replaced.id, signature });
      const path = newPath();
      writeFileSync(path, toText([...lines.slice(0, -1), last]));
      expect(await verifyEvidence(path, key)).toMatchObject({
        ok: false,
        fault: expect.stringContaining("which was replaced"),
      });
      expect(checkEvidence(path, key)).toBe("a replaced key");
    });

    verifies("RC-20");
    it("that cannot be read is a problem, not evidence", async () => {
      await expect(verifyEvidence(join(folder, "none"), key)).rejects.toThrow("cannot be read");
      await expect(verifyEvidence(folder, key)).rejects.toThrow("cannot be read");
    });
  });

  describe("evidence of heads that were changed in the database", () => {
    verifies("RC-20");
    it("is not written, and no head is signed after them", async () => {
      const tenantId = "rewritten";
      await logged(at(), tenantId, ENTRIES);
      const head = await signEvidenceHead(needs(), tenantId);
      await append(tenantId, ENTRIES + 1);
      const change = (values: { link?: string; signature?: string }) =>
        at().store.transaction((tx) =>
          tx.updateTable("evidence_heads").set(values).where("tenant_id", "=", tenantId).execute(),
        );
      for (const values of [{ link: "0".repeat(64) }, { link: head.link, signature: "AA==" }]) {
        await change(values);
        const path = newPath();
        await expect(write(tenantId, path)).rejects.toThrow("head of entry number 6");
        await expect(signEvidenceHead(needs(), tenantId)).rejects.toThrow("head of entry number 6");
        await change({ link: head.link, signature: head.signature });
        // No part of a file prevents the next attempt.
        expect((await verifyEvidence(await write(tenantId, path), key)).ok).toBe(true);
      }
    });
  });
});
