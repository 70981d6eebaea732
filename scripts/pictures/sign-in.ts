import { startPageServer } from "../../test/support/page-server.ts";
import type { Studio } from "./studio.ts";

/** Photographs the two pages on which a person signs in and allows a program to connect. */
export const drawSignIn = async ({ page, take }: Studio): Promise<void> => {
  const server = await startPageServer({ RECEIVABLES_OPERATOR_NAME: "Demo Manufacturing" });
  try {
    const view = await page({ width: 640, height: 760 });
    await view.goto(await server.authorizeUrl("Claude Code"));
    await view.type("#email", server.email);
    await view.type("#password", server.password);
    await take(view, "sign-in");
    await Promise.all([view.waitForNavigation(), view.click("button.primary")]);
    await take(view, "consent");
    await view.close();
  } finally {
    await server.close();
  }
};
