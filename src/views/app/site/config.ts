import type { RecordRef } from "../place.ts";

export type SiteView = { name: string; title: string; tool: string; file: string };

type SiteConfig = {
  auth: "none" | "builtin" | "static" | "issuer";
  mcpUrl: string;
  clientId: string;
  views: readonly SiteView[];
  /** The way from the page to the address of the server. */
  root: string;
  /** The record whose page this is. */
  record?: RecordRef;
};

export const config = JSON.parse(
  document.querySelector("#config")?.textContent ?? "{}",
) as SiteConfig;

/** The address below which everything of this server is; the page's own address changes with its places. */
export const base = new URL(config.root || ".", document.baseURI);
