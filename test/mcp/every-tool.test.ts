import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Confirmation } from "../../src/mcp/results/refusal.ts";
import { onEveryStore } from "../support/platform.ts";
import { CLIENTS, type Driver, TRANSPORTS } from "./transports.ts";
import {
  createTenantBroker,
  BY_URL,
  callEach,
  createRecords,
  readMessage,
  type Tenant,
  tools,
} from "./each-tool.ts";
import { createOptions } from "./hosts.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("every tool, by every client, through every transport", (at) => {
  describe.each(TRANSPORTS)("%s", (transport, open) => {
    describe.each(CLIENTS)("%s", (client, connect) => {
      const ends: (() => Promise<void>)[] = [];
      let tenant: Tenant;
      beforeAll(async () => {
        const tenantId = `${transport} ${client}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
        tenant = { at: at(), tenantId, admin: await at().tenant(tenantId) };
      });
      afterAll(async () => {
        for (const end of ends.toReversed()) await end();
      });

      const drive = async (asks: boolean): Promise<Driver> => {
        const broker = await createTenantBroker(tenant);
        const server = await open(await createOptions(broker));
        const driver = await connect(server, asks);
        ends.push(
          () => broker.close(),
          () => server.close(),
          () => driver.close(),
        );
        return driver;
      };

      verifies("C-80");
      it("each succeeds with a result that matches its output schema", async () => {
        const driver = await drive(true);
        expect(driver.toolNames.length).toBe(tools.length + BY_URL.size);
        expect(await callEach(tenant, driver)).toEqual([]);
      }, 60_000);

      it("confirms by a token if the host cannot ask", async () => {
        const driver = await drive(false);
        const { department } = await createRecords(tenant, "token");
        const args = { departmentId: department.departmentId };
        const asked = await driver.call("departments_delete", args);
        const confirmation = asked._meta?.["receivables/confirmation"] as Confirmation;
        const { confirmationToken } = confirmation;
        const gone = await driver.call("departments_delete", { ...args, confirmationToken });
        expect(gone.structuredContent).toMatchObject({ deleted: true, ...args });
        const again = await driver.call("departments_delete", { ...args, confirmationToken });
        expect(readMessage(again)).toMatch(/^confirmation_invalid: /);
      });
    });
  });
});
