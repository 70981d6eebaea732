import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Studio } from "./studio.ts";

const PIXELS = 512;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="${PIXELS}" height="${PIXELS}">
  <rect width="32" height="32" rx="8" fill="#0b6e5f"/>
  <path d="M9 8h14v17l-3.5-2.2L16 25l-3.5-2.2L9 25z" fill="#ffffff"/>
  <path d="M12.5 13h7M12.5 17h7" stroke="#0b6e5f" stroke-width="2" stroke-linecap="round"/>
</svg>
`;

/** Draws the icon of the desktop extension: the mark of the pages. */
export const drawIcon = async ({ page, folder }: Studio): Promise<void> => {
  const canvas = await page({ width: PIXELS, height: PIXELS });
  await canvas.setViewport({ width: PIXELS, height: PIXELS });
  await canvas.setContent(`<body style="margin:0">${ICON}</body>`);
  const png = await canvas.screenshot({ type: "png", omitBackground: true });
  await writeFile(join(folder, "icon.png"), png);
  await canvas.close();
};
