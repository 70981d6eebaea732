import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the program. */
export const TOP = fileURLToPath(new URL("../..", import.meta.url));

const FOLDER = fileURLToPath(new URL("mistakes", import.meta.url));

/** The first line of a patch; a change of the simulation may make it stale, and then all seeds are tried. */
const FOUND_BY = /^Found by seed (\d+)\.\n/;

export type Mistake = { name: string; path: string; seed: string };

/** Mistakes that the simulation must find, as patches of `src`, with a seed that has found it. */
export const patches: Mistake[] = readdirSync(FOLDER)
  .toSorted()
  .map((file) => {
    const path = `${FOLDER}/${file}`;
    const [, seed = "none"] = FOUND_BY.exec(readFileSync(path, "utf8")) ?? [];
    return { name: file.replace(/\.patch$/, ""), path, seed };
  });
