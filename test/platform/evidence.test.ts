import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DAY, formatDay, HOUR } from "../../src/kit/clock.ts";
import { showEvidenceKey, writeEvidence } from "../../src/platform/admin/evidence.ts";
import {
  type EvidenceNeeds,
  signEvidenceHead,
  signEvidenceHeads,
} from "../../src/platform/evidence-heads.ts";
import { verifyEvidence } from "../../src/platform/admin/verify-evidence.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import { purgeEntries } from "../../src/platform/store/audit/purge.ts";
import { changeRows } from "../../src/platform/store/engine/rows.ts";
import { entry, logged } from "../support/audit.ts";
import { checkEvidence } from "../support/evidence-checker.ts";
import { MASTER_KEY, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

type Line = Record<string, unknown> & { type: string; entry?: unknown[] };

const ENTRIES = 12;

onEveryStore("evidence of an audit log", (at) => {
  let folder: string;
  let files = 0;
  let tenants = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "evidence-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const needs = (): EvidenceNeeds => ({
    store: at().store,
    clock: at().clock,
    masterKey: MASTER_KEY,
  });
  const newPath = (): string => join(folder, `${(files += 1)}.jsonl`);
  const start = async (count = ENTRIES): Promise<string> => {
    const tenantId = `proved-${(tenants += 1)}`;
    await logged(at(), tenantId, count);
    return tenantId;
  };
  const dayOf = (ago: number): string => formatDay(at().clock() - ago * DAY);
  const write = async (tenantId: string, days: [number, number] = [ENTRIES, 0]) => {
    const path = newPath();
    const [from, to] = [dayOf(days[0]), dayOf(days[1])];
    const written = await writeEvidence(needs(), tenantId, { from, to, path });
    return { path, written };
  };
  const publicKey = async (): Promise<string> =>
    (await showEvidenceKey(needs(), { rotate: false })).publicKey;
  const read = (path: string): Line[] =>
    readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
  const rewrite = (lines: readonly Line[]): string => {
    const path = newPath();
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return path;
  };
  const append = (tenantId: string, number: number) =>
    at().store.transaction((tx) =>
      appendEntries(tx, at().store.auditKey, [entry(tenantId, number, at().clock())]),
    );

  verifies("RC-20");
  it("is accepted by the program and by a checker that shares no code with it", async () => {
    const tenantId = await start();
    await signEvidenceHead(needs(), tenantId);
    await append(tenantId, ENTRIES + 1);
    const { path, written } = await write(tenantId);
    expect(written).toEqual({ tenantId, entries: ENTRIES + 1, heads: 2 });
    const key = await publicKey();
    expect(await verifyEvidence(path, key)).toEqual({
      ok: true,
      tenantId,
      entries: ENTRIES + 1,
      heads: 2,
      compared: 0,
      fault: null,
      id: null,
    });
    expect(checkEvidence(path, key)).toBeNull();
  });

  verifies("RC-20");
  it("has a checker of at most 60 lines that imports nothing of the program", () => {
    const source = readFileSync(new URL("../support/evidence-checker.ts", import.meta.url), "utf8");
    expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(60);
    const imports = [...source.matchAll(/from "([^"]+)"/g)].map(([, name = ""]) => name);
    expect(imports).toEqual(["node:crypto", "node:fs"]);
  });

  verifies("RC-20");
  it("begins and ends within a log, before and after retention has removed the beginning", async () => {
    const tenantId = await start();
    const key = await publicKey();
    const middle = await write(tenantId, [7, 3]);
    expect(middle.written).toEqual({ tenantId, entries: 5, heads: 1 });
    expect(read(middle.path).find(({ type }) => type === "entry")?.entry?.[2]).toBe("entry-5");
    const before = at().clock() - 9.5 * DAY;
    await at().store.transaction((tx) => purgeEntries(tx, at().store.auditKey, tenantId, before));
    for (const days of [
      [ENTRIES, 0],
      [7, 3],
    ] satisfies [number, number][]) {
      const { path } = await write(tenantId, days);
      expect(await verifyEvidence(path, key)).toMatchObject({ ok: true });
      expect(checkEvidence(path, key)).toBeNull();
    }
    // The links are those from before.
    const again = await write(tenantId, [7, 3]);
    const links = (path: string) => read(path).filter(({ type }) => type === "entry");
    expect(links(again.path)).toEqual(links(middle.path));
  });

  const byId = (id: string) => (line: Line) => line.type === "entry" && line.entry?.[2] === id;
  const changed = (lines: readonly Line[], id: string): Line[] =>
    lines.map((line) =>
      byId(id)(line) ? { ...line, entry: line.entry?.with(7, 404) ?? [] } : line,
    );
  const without = (lines: readonly Line[], id: string): Line[] =>
    lines.filter((line) => !byId(id)(line));
  const TAMPERED: [what: string, act: (lines: Line[]) => Line[], id: string | null][] = [
    ["a changed entry", (lines) => changed(lines, "entry-6"), "entry-6"],
    ["a changed first entry", (lines) => changed(lines, "entry-1"), "entry-1"],
    ["a changed last entry", (lines) => changed(lines, "entry-12"), "entry-12"],
    ["an entry left out", (lines) => without(lines, "entry-6"), "entry-6"],
    ["the first entry left out", (lines) => without(lines, "entry-1"), "entry-1"],
    ["the last entry left out", (lines) => without(lines, "entry-12"), "entry-12"],
    [
      "an added entry",
      (lines) =>
        lines.flatMap((line) =>
          byId("entry-6")(line)
            ? [line, { ...line, entry: line.entry?.with(2, "added") ?? [] }]
            : [line],
        ),
      "added",
    ],
    [
      "a moved entry",
      (lines) => {
        const moved = lines.find(byId("entry-6"));
        const rest = without(lines, "entry-6");
        return rest.flatMap((line) =>
          byId("entry-8")(line) && moved !== undefined ? [line, moved] : [line],
        );
      },
      "entry-6",
    ],
    [
      "another tenant in an entry",
      (lines) =>
        lines.map((line) =>
          byId("entry-6")(line) ? { ...line, entry: line.entry?.with(0, "other") ?? [] } : line,
        ),
      "entry-6",
    ],
    [
      "another tenant in every line",
      (lines) =>
        lines.map((line) => ({
          ...line,
          ...(line.entry === undefined
            ? { tenantId: "other" }
            : { entry: line.entry.with(0, "other") }),
        })),
      null,
    ],
    ["a cut at the end", (lines) => lines.slice(0, -1), "entry-12"],
    ["a cut after a few lines", (lines) => lines.slice(0, 6), "entry-4"],
    ["lines after the end", (lines) => [...lines, ...lines.slice(-1)], null],
    [
      "other days",
      (lines) =>
        lines.map((line) => (line.type === "range" ? { ...line, to: "2030-01-01" } : line)),
      null,
    ],
    [
      "a changed head",
      (lines) => lines.map((line) => (line.type === "head" ? { ...line, seq: 11 } : line)),
      null,
    ],
  ];

  verifies("RC-20");
  it.each(TAMPERED)("with %s is refused, and the entry is named", async (_what, act, id) => {
    const tenantId = await start();
    const key = await publicKey();
    const { path } = await write(tenantId);
    const tampered = rewrite(act(read(path)));
    const verdict = await verifyEvidence(tampered, key);
    expect(verdict).toMatchObject({ ok: false, id, fault: expect.stringMatching(/\S/) });
    if (id !== null) expect(verdict.fault).toContain(id);
    expect(checkEvidence(tampered, key)).not.toBeNull();
  });

  verifies("RC-20");
  it("is refused under another installation's key", async () => {
    const tenantId = await start();
    const { path } = await write(tenantId);
    const other = generateKeyPairSync("ed25519")
      .publicKey.export({ format: "pem", type: "spki" })
      .toString();
    expect(await verifyEvidence(path, other)).toMatchObject({
      ok: false,
      fault: expect.stringContaining("does not vouch"),
    });
    expect(checkEvidence(path, other)).not.toBeNull();
    await expect(verifyEvidence(path, "no key")).rejects.toThrow("Ed25519");
  });

  verifies("RC-20");
  it("stays valid under each key when keys are replaced", async () => {
    const tenantId = await start();
    const first = await publicKey();
    const before = await write(tenantId);
    await signEvidenceHead(needs(), tenantId);
    await append(tenantId, ENTRIES + 1);
    const printed = await showEvidenceKey(needs(), { rotate: true });
    const next = printed.publicKey;
    expect(next).not.toBe(first);
    const after = await write(tenantId);
    const heads = read(after.path).filter(({ type }) => type === "head");
    expect(new Set(heads.map(({ key }) => key)).size).toBe(2);
    for (const key of [first, next, JSON.stringify(printed)]) {
      expect(await verifyEvidence(after.path, key)).toMatchObject({ ok: true });
    }
    expect(checkEvidence(after.path, first)).toBeNull();
    expect(checkEvidence(after.path, next)).toBeNull();
    expect(await verifyEvidence(before.path, first)).toMatchObject({ ok: true });
    const rows = await at().store.read.selectFrom("evidence_keys").selectAll().execute();
    expect(rows.filter(({ sealed }) => sealed !== "")).toHaveLength(1);
  });

  verifies("RC-20");
  it("is signed hourly for logs that have grown", async () => {
    const log = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };
    const sign = () => signEvidenceHeads({ ...needs(), log });
    const tenantId = await start();
    await sign();
    const heads = () =>
      at()
        .store.read.selectFrom("evidence_heads")
        .select("seq")
        .where("tenant_id", "=", tenantId)
        .orderBy("seq")
        .execute();
    expect(await heads()).toEqual([{ seq: ENTRIES }]);
    await append(tenantId, ENTRIES + 1);
    await sign();
    expect(await heads()).toHaveLength(1);
    at().clock.advance(HOUR);
    await sign();
    expect(await heads()).toEqual([{ seq: ENTRIES }, { seq: ENTRIES + 1 }]);
    at().clock.advance(HOUR);
    await sign();
    expect(await heads()).toHaveLength(2);
  });

  verifies("RC-20");
  it("is not made of a log that was changed in the database", async () => {
    const tenantId = await start();
    await at().store.transaction((tx) =>
      changeRows(tx, "audit_logs", { tenant_id: tenantId, seq: 6 }, { status_code: 404 }),
    );
    await expect(write(tenantId)).rejects.toThrow(/entry-6.*was changed/);
    await expect(signEvidenceHead(needs(), tenantId)).rejects.toThrow("entry-6");
  });

  it("refuses days that are none, in the wrong order or without entries, and existing files", async () => {
    const tenantId = await start();
    const path = newPath();
    const make = (from: string, to: string) => writeEvidence(needs(), tenantId, { from, to, path });
    await expect(make("2026-02-30", "2026-03-01")).rejects.toThrow("--from takes a day");
    await expect(make("2026-03-02", "2026-03-01")).rejects.toThrow("is after --to");
    await expect(make("1999-01-01", "1999-01-02")).rejects.toThrow("has no entry");
    writeFileSync(path, "kept");
    await expect(make(dayOf(3), dayOf(0))).rejects.toThrow("EEXIST");
    expect(readFileSync(path, "utf8")).toBe("kept");
  });
});
