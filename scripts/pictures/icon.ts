import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ICON_SVG } from "../../src/mcp/icons.ts";
import type { Studio } from "./studio.ts";

const PIXELS = 512;

/** Draws the icon of the desktop extension: the mark of the pages. */
export const drawIcon = async ({ page, folder }: Studio): Promise<void> => {
  const canvas = await page({ width: PIXELS, height: PIXELS });
  await canvas.setViewport({ width: PIXELS, height: PIXELS });
  await canvas.setContent(
    `<style>body { margin: 0 } svg { display: block }</style><body>${ICON_SVG}</body>`,
  );
  const png = await canvas.screenshot({ type: "png", omitBackground: true });
  await writeFile(join(folder, "icon.png"), png);
  await canvas.close();
};
