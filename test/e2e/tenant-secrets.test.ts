import { join } from "node:path";
import { expect, it } from "vitest";
import { createVaultRecords } from "../../src/records/shared-records.ts";
import { createVault } from "../../src/broker/vault.ts";
import { createStorage } from "../../src/records/storage.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { runCli } from "../support/cli.ts";
import { signingIn } from "../support/signing.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

verifies("OP-10", "OP-41");
it.each(dialects)(
  "a deleted tenant leaves no stored secret, and a foreign key opens no other ($name)",
  async (dialect) => {
    const database = await dialect.createMigrated();
    const { RECEIVABLES_DATA: folder = "", DATABASE_URL: url } = database.environment;
    const run = async (line: string) => {
      const ended = await runCli(line.split(" "), database.environment);
      expect(ended.status, ended.stderr).toBe(0);
      return ended.stdout
        .trimEnd()
        .split("\n")
        .map((text) => JSON.parse(text) as object);
    };
    const oauth = await database.openOauth();
    try {
      const entries = createVaultRecords(async () => createStorage(oauth, systemClock));
      const { masterKey: readKey } = signingIn(folder);
      const needs = { masterKey: () => readKey(true), folder: join(folder, "secrets") };
      // Without a database the secrets are files; with one, files of former settings are found, too.
      const vaults = [
        createVault(needs),
        ...(url === undefined ? [] : [createVault(needs, entries)]),
      ];
      for (const tenantId of ["gone", "kept"]) {
        await run(`admin tenant create ${tenantId} --name ${tenantId}`);
        for (const [index, vault] of vaults.entries()) {
          const keyId = `${tenantId}-${index}`;
          await vault.put({ kind: "api-key", keyId, tenantId, value: "secret" });
        }
      }
      const [removed] = await run("admin tenant delete gone --confirm gone");
      expect(removed).toMatchObject({ deleted: true, secrets: vaults.length });
      const left = vaults.map((_, index) => ({ keyId: `kept-${index}`, tenantId: "kept" }));
      expect(await run("secrets list")).toMatchObject(left);
      if (url === undefined) return;
      const foreign = { ...database.environment, RECEIVABLES_SECRET_KEY: "f".repeat(64) };
      const refused = await runCli(["http", "--port", "0"], {
        ...foreign,
        RECEIVABLES_BASE_URL: "http://127.0.0.1:1",
      });
      expect([refused.status, refused.stdout]).toEqual([1, ""]);
      expect(refused.stderr).toContain("sealed with another master key");
    } finally {
      await oauth.close();
      await database.remove();
    }
  },
);
