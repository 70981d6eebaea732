import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { launch, type Page } from "puppeteer-core";
import { CHROMIUM_FLAGS } from "../../test/support/chromium.ts";

const FOLDER = join(import.meta.dirname, "../../docs/pictures");
export const SCHEMES = ["light", "dark"] as const;

type Size = { width: number; height: number };

export type Studio = {
  folder: string;
  page(size: Size): Promise<Page>;
  /** Takes NAME-light.webp and NAME-dark.webp of what the page shows. */
  take(page: Page, name: string): Promise<void>;
  close(): Promise<void>;
};

/** Opens a browser without a window, in which pages of the running program are photographed. */
export const openStudio = async (executablePath: string): Promise<Studio> => {
  await mkdir(FOLDER, { recursive: true });
  const browser = await launch({ executablePath, args: CHROMIUM_FLAGS });
  return {
    folder: FOLDER,
    async page(size) {
      const page = await browser.newPage();
      await page.setViewport({ ...size, deviceScaleFactor: 1.5 });
      return page;
    },
    async take(page, name) {
      for (const scheme of SCHEMES) {
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
        await page.screenshot({
          path: `${join(FOLDER, `${name}-${scheme}`)}.webp`,
          type: "webp",
          quality: 80,
        });
      }
    },
    close: () => browser.close(),
  };
};
