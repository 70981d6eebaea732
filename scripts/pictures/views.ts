import { join } from "node:path";
import { openViewHost, startViewServer } from "../../test/support/views.ts";
import { SCHEMES, type Studio } from "./studio.ts";

const SIZE = { width: 1120, height: 780, deviceScaleFactor: 1 };

const VIEWS = {
  board: { tool: "disputes_triage", args: {} },
  explorer: {
    tool: "payments_summarize",
    args: { source: "cashapp", groupBy: ["payerName"], limit: 12 },
  },
};

/** Photographs the dispute board and the payment explorer in a host of MCP Apps. */
export const drawViews = async ({ folder }: Studio): Promise<void> => {
  const server = await startViewServer();
  try {
    for (const [name, opening] of Object.entries(VIEWS)) {
      for (const theme of SCHEMES) {
        const host = await openViewHost(server);
        await host.page.setViewport(SIZE);
        const frame = await host.open({ ...opening, theme });
        await frame.waitForSelector("table, svg");
        await host.page.waitForNetworkIdle();
        const path = `${join(folder, `${name}-${theme}`)}.webp` as const;
        await host.page.screenshot({ path, type: "webp", quality: 80 });
        await host.close();
      }
    }
  } finally {
    await server.close();
  }
};
