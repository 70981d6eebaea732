import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import about from "../../package.json" with { type: "json" };
import { packPlugins } from "../../scripts/build/archive.ts";
import { PLUGINS } from "../../scripts/build/plugins.ts";

const MCPB = join(import.meta.dirname, "../../node_modules/.bin/mcpb");

/** Packs the plugins and unpacks each into a folder with the name of its host. */
export const unpackPlugins = async (folder: string): Promise<void> => {
  await packPlugins(folder);
  for (const { host } of PLUGINS) {
    const archive = join(folder, `${about.name}-${host}-${about.version}.zip`);
    await mkdir(join(folder, host));
    await promisify(execFile)(MCPB, ["unpack", archive, join(folder, host)]);
  }
};
