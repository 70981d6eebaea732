import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import {
  type Client,
  createClient,
  createNotes,
  createSender,
  createWriters,
  type Installation,
  type Refusals,
  startInstallation,
} from "../support/installations.ts";
import { HAS_NGINX, startTenantProxy, type TenantProxy } from "../support/nginx.ts";
import { DISPUTES } from "../support/platform.ts";
import { type Dialect, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const [sqlite, postgres] = dialects as [Dialect, Dialect];
/** The first pair also interrupts a move and gives it up. */
const PAIRS: [Dialect, Dialect][] = [
  [sqlite, postgres],
  [postgres, postgres],
  [sqlite, sqlite],
];

const [MOVED, STAYING] = ["127.0.0.2", "127.0.0.3"];
const FILE = "a signed agreement";

/** Waits until the writers have been acknowledged this number of further changes each. */
const waitForWrites = async (
  writers: ReturnType<typeof createWriters>,
  failed: () => unknown,
  more = 3,
): Promise<void> => {
  const wanted = writers.map(({ history }) => history.acknowledged.length + more);
  while (writers.some(({ history }, place) => history.acknowledged.length < (wanted[place] ?? 0))) {
    if (failed() !== undefined) throw failed();
    await delay(20);
  }
};

const attach = async (send: ReturnType<typeof createSender>, notes: string): Promise<string> => {
  const path = notes.replace(/disputenotes$/, "attachments");
  const { body } = await send("POST", path, { body: { fileName: "agreement.txt" } });
  const { attachmentId, uploadUrl } = body as { attachmentId: string; uploadUrl: string };
  const sent = await fetch(uploadUrl, { method: "PUT", body: FILE });
  if (sent.status !== 204) throw new Error(await sent.text());
  return `${path}/${attachmentId}`;
};

verifies("RC-32");
describe.skipIf(!HAS_NGINX).each(PAIRS)("a tenant that is moved while clients work", (from, to) => {
  let folder: string;
  let source: Installation;
  let target: Installation;
  let proxy: TenantProxy;
  let acme: Client;
  let beta: Client;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "receivables-installations-"));
    [source, target] = await Promise.all([startInstallation(from), startInstallation(to)]);
    const port = await freePort();
    const routes = { [MOVED]: source.port, [STAYING]: source.port };
    proxy = await startTenantProxy(join(folder, "nginx"), port, routes);
    acme = await createClient(source, { tenantId: "acme", base: `http://${MOVED}:${port}` });
    beta = await createClient(source, { tenantId: "beta", base: `http://${STAYING}:${port}` });
  });
  afterAll(async () => {
    await proxy?.end();
    await Promise.all([source?.close(), target?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Begins a move, interrupts the import, and gives the move up. */
  const giveUp = async (): Promise<void> => {
    const first = join(folder, "first");
    await source.command(["admin", "tenant", "pause", "acme"]);
    await source.command(["admin", "tenant", "export", "acme", first]);
    const cut = target.begin(["import", "tenant", first]);
    await delay(400);
    await cut.end("SIGKILL");
    const again = await target.run(["import", "tenant", first]);
    if (again.status !== 0) {
      expect(again.stderr).toContain("There is a tenant acme already. Delete it first.");
    }
    await target.command(["admin", "tenant", "delete", "acme", "--confirm", "acme"]);
    await source.command(["admin", "tenant", "resume", "acme"]);
  };

  it(`from ${from.name} to ${to.name} loses nothing, and nothing is twice`, async () => {
    const refused: Refusals = new Map();
    const othersRefused: Refusals = new Map();
    const [send, sendOther] = [createSender(acme, refused), createSender(beta, othersRefused)];
    const notes = await createNotes(send);
    const file = await attach(send, notes);
    const writers = createWriters(acme, notes, refused);
    const others = createWriters(beta, await createNotes(sendOther), othersRefused);
    const stopped = new AbortController();
    let failure: unknown;
    const working = [...writers, ...others].map(({ writer }) =>
      writer(stopped.signal).catch((error: unknown) => {
        failure ??= error;
      }),
    );
    const failed = () => failure;
    await waitForWrites(writers, failed);

    if (from !== to) {
      await giveUp();
      await waitForWrites(writers, failed);
    }

    // The move. Until the tenant is resumed, both installations refuse what would be lost.
    const second = join(folder, "second");
    await source.command(["admin", "tenant", "pause", "acme"]);
    const twice = await source.command(["admin", "tenant", "pause", "acme"]);
    expect(twice).toMatchObject({ phase: "paused" });
    const exported = await source.command(["admin", "tenant", "export", "acme", second]);
    expect(exported).toMatchObject({ missingFiles: [], auditOk: true });
    const imported = await target.command(["import", "tenant", second]);
    expect(imported).toMatchObject({ phase: "paused", origin: "own", files: 1 });
    expect(imported["audit"]).toMatchObject({ chain: "kept", wasValid: true });
    await proxy.route({ [MOVED]: target.port, [STAYING]: source.port });
    await target.command(["admin", "tenant", "resume", "acme"]);
    await waitForWrites(writers, failed);
    stopped.abort();
    await Promise.all(working);
    expect(failure).toBeUndefined();

    for (const { history } of [...writers, ...others]) {
      const { acknowledged } = history;
      const found = await history.read();
      // A record that is changed again and again has its last state.
      const wanted = found.length === 1 ? acknowledged.slice(-1) : acknowledged;
      expect(found.toSorted()).toEqual(wanted.toSorted());
    }
    const { body } = await send("GET", file);
    const { downloadUrl } = body as { downloadUrl: string };
    expect(await (await fetch(downloadUrl)).text()).toBe(FILE);
    expect((await send("GET", DISPUTES)).body).toHaveLength(1);

    expect([...refused.keys()].every((text) => text.includes("is being moved"))).toBe(true);
    expect(refused.size).toBeGreaterThan(0);
    expect([...othersRefused.keys()]).toEqual([]);
    const verdict = await target.command(["admin", "audit", "verify", "acme"]);
    expect(verdict).toMatchObject({ ok: true, fault: null });
    const key = join(folder, "evidence.pem");
    const printed = await target.run(["admin", "audit", "key"]);
    writeFileSync(key, printed.stdout);
    const evidence = join(folder, "evidence.ndjson");
    const day = (days: number) =>
      new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const span = ["--from", day(-1), "--to", day(1)];
    await target.command(["admin", "audit", "evidence", "acme", ...span, evidence]);
    const checked = await target.run(["verify-evidence", evidence, "--key", key]);
    expect(checked).toMatchObject({ status: 0 });
    await source.command(["admin", "tenant", "delete", "acme", "--confirm", "acme"]);
    const list = await source.run(["admin", "tenant", "list"]);
    expect(list.stdout).not.toContain("acme");
    expect(readdirSync(second)).toContain("manifest.json");
    // As long as thirty commands take on a machine that is busy with other work.
  }, 240_000);
});
