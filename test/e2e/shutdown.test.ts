import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertDisputes } from "../../src/platform/store/queries/disputes.ts";
import { askFrom } from "../support/addresses.ts";
import { runAdmin, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "correct horse battery staple";
const EMAIL = "ann@acme.example";
const DISPUTES = "/dispute/v1/tenants/acme/disputes";
// Much more than the buffers of a connection hold.
const ROWS = 30_000;
const AT_ONCE = 500;

describe.each(dialects)("SIGTERM during a long read ($name)", (dialect) => {
  let database: Database;
  const home = useFolder();
  let env: Record<string, string>;

  const admin = (line: string, input = "") => runAdmin(line.split(" "), env, input);

  const fill = async (reasonId: string): Promise<void> => {
    const store = await database.open();
    const tracked = { created_by: "u", updated_by: "u", updated_at: 1, version: 1 };
    for (let from = 0; from < ROWS; from += AT_ONCE) {
      const rows = Array.from({ length: AT_ONCE }, (_, index) => ({
        tenant_id: "acme",
        id: `id-${from + index}`,
        code: `D-${from + index}`,
        document_number: "INV-1",
        account_number: "A-1",
        account_name: null,
        account_name_folded: null,
        amount: "1.00",
        amount_order: 1,
        currency_code: "USD",
        reason_id: reasonId,
        external_reason_id: null,
        assignee_id: null,
        po_number: "p".repeat(200),
        status: 0 as const,
        is_valid: 0 as const,
        resolution_id: null,
        closed_at: null,
        origin: "api" as const,
        source_key: null,
        source_row: null,
        created_at: from + index,
        ...tracked,
      }));
      await store.transaction((tx) => insertDisputes(tx, rows));
    }
    await store.close();
  };

  beforeAll(async () => {
    database = await dialect.createMigrated();
    env = { RECEIVABLES_DATA: join(home, "data"), ...database.environment };
    await admin("tenant create acme --name acme");
    const user = `--tenant acme --email ${EMAIL} --role Administrator`;
    await admin(`user create ${user} --first-name A --last-name L`, PASSWORD);
  });
  afterAll(() => database.remove());

  verifies("C-91");
  it("answers the running list to its end and exits with 0", async () => {
    const server = startCli(["platform", "--port", "0"], env);
    const { baseUrl } = await whenReady(server);
    const login = await askFrom(`${baseUrl}/authentication/v1/login`, {
      method: "POST",
      body: { email: EMAIL, password: PASSWORD },
    });
    const headers = { "X-Platform-Auth": String(login.body.accessToken) };
    const base = `${baseUrl}/dispute/v1/tenants/acme`;
    const made = async (path: string, body: object) => {
      const reply = await askFrom(`${base}/${path}`, { method: "POST", body, headers });
      expect(reply.status, reply.text).toBe(201);
      return reply.body;
    };
    await made("categories", { code: "C", description: "C" });
    const reason = await made("reasons", { code: "R", description: "R", categoryCode: "C" });
    await fill(reason.reasonId);
    const sent = request(`${baseUrl}${DISPUTES}`, { headers, agent: false });
    sent.end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    answer.pause();
    const ended = server.end("SIGTERM");
    await expect
      .poll(
        () =>
          askFrom(`${baseUrl}/health`, {}).then(
            () => "open",
            () => "closed",
          ),
        {
          timeout: 5000,
        },
      )
      .toBe("closed");
    expect(server.hasEnded()).toBe(false);
    const rows = JSON.parse(await text(answer)) as unknown[];
    expect(rows).toHaveLength(ROWS);
    expect((await ended).status).toBe(0);
  });
});
