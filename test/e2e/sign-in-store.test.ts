import { join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { runCli, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { dialects } from "../support/stores.ts";

/** The tables in the database's schema. */
const listTables = async (url: string): Promise<string[]> => {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  await client.end();
  return rows.map(({ name }) => name);
};

describe("an MCP server with the built-in sign-in in front of a remote platform", () => {
  const folder = useFolder();

  it("creates only the sign-in's tables in an empty PostgreSQL database", async () => {
    const dialect = dialects.find(({ name }) => name === "postgres");
    const database = await dialect?.create();
    const remote = { RECEIVABLES_DATA: join(folder, "platform") };
    await runCli(["admin", "tenant", "create", "acme", "--name", "Acme"], remote);
    const platform = startCli(["platform", "--port", "0"], remote);
    const { baseUrl } = await whenReady(platform);
    const url = database?.environment["DATABASE_URL"] ?? "";
    const server = startCli(["http", "--port", "0"], {
      RECEIVABLES_DATA: join(folder, "server"),
      RECEIVABLES_SECRET_KEY: "k".repeat(43),
      RECEIVABLES_BASE_URL: baseUrl,
      RECEIVABLES_HTTP_AUTH: "builtin",
      DATABASE_URL: url,
    });
    const ready = await whenReady(server);
    const page = await fetch(new URL("/oauth/account", ready.mcpUrl ?? ""));
    expect(page.status).toBe(200);
    expect(await listTables(url)).toEqual([
      "sign_in_counters",
      "sign_in_migrations",
      "sign_in_migrations_lock",
      "sign_in_records",
    ]);
    await server.end("SIGTERM");
    await platform.end("SIGTERM");
    await database?.remove();
  });
});
