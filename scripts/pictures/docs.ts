import { startPageServer } from "../../test/support/page-server.ts";
import type { Studio } from "./studio.ts";

/** Photographs the page of the REST API, with one operation open. */
export const drawDocs = async ({ page, take }: Studio): Promise<void> => {
  const server = await startPageServer();
  try {
    const view = await page({ width: 1120, height: 760 });
    await view.goto(`${server.url}/docs#/disputes/disputes.get`);
    await view.waitForSelector(".opblock.is-open .responses-wrapper");
    await view.$eval(".opblock.is-open", (operation) => operation.scrollIntoView());
    await take(view, "docs");
    await view.close();
  } finally {
    await server.close();
  }
};
