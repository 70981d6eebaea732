import { createLazy } from "../kit/lazily.ts";
import { bundleSite, bundleView } from "./bundle-view.ts";
import { SITE_ENTRY, VIEWS } from "./views.ts";

const files = new Map(
  VIEWS.map((view) => [view.name, createLazy(async () => (await bundleView(view)).html)] as const),
);

/** Returns the files of the page on which the HTTP server shows the views. */
export const readSite = createLazy(() => bundleSite(SITE_ENTRY));

/**
 * Returns the HTML of a view. A checkout bundles it at the first request, in about 100 ms; the build replaces this
 * module by one that reads the file which it made.
 */
export const readView = async (name: string): Promise<string> => {
  const read = files.get(name);
  if (read === undefined) throw new Error(`There is no view ${name}.`);
  return read();
};
