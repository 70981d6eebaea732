import type { ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import { readView } from "../../views/read-view.ts";
import { type View, VIEW_TYPE, viewMetaOf, VIEWS } from "../../views/views.ts";

type Named = { name: string };

/** A view loads nothing from any domain; the host draws the border. */
const UI_META = {
  ui: {
    csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
    prefersBorder: true,
  },
};

const viewsOf = (tools: readonly Named[]): View[] => {
  const names = new Set(tools.map(({ name }) => name));
  return VIEWS.filter(({ shows }) => names.has(shows[0]));
};

/** Returns the tools with the view of each that has one. */
export const withViews = <T extends Named & { _meta?: Record<string, unknown> }>(
  tools: readonly T[],
): T[] =>
  tools.map((tool) => {
    const _meta = viewMetaOf(tool.name);
    return _meta === undefined ? tool : { ...tool, _meta: { ...tool._meta, ..._meta } };
  });

/** Returns the views that show results of these tools, as resources. */
export const listViews = (tools: readonly Named[]): Resource[] =>
  viewsOf(tools).map(({ name, uri, title, description }) => ({
    uri,
    name,
    title,
    description,
    mimeType: VIEW_TYPE,
    _meta: UI_META,
  }));

/** Reads a view, and names in it the tools of this server that it may call; undefined for any other URI. */
export const readViewResource = async (
  uri: string,
  tools: readonly Named[],
): Promise<ReadResourceResult | undefined> => {
  const view = viewsOf(tools).find((one) => one.uri === uri);
  if (view === undefined) return undefined;
  const names = new Set(tools.map(({ name }) => name));
  const callable = [...view.shows, ...view.calls].filter((name) => names.has(name));
  const html = await readView(view.name);
  const text = html.replace(
    '<html lang="en">',
    `<html lang="en" data-tools="${callable.join(" ")}">`,
  );
  return { contents: [{ uri, mimeType: VIEW_TYPE, text, _meta: UI_META }] };
};
