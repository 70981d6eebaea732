import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the program. */
export const TOP = fileURLToPath(new URL("../..", import.meta.url));

const FOLDER = fileURLToPath(new URL("mistakes", import.meta.url));

/** Mistakes that the simulation must find, as patches of `src`. */
export const patches: { name: string; path: string }[] = readdirSync(FOLDER)
  .toSorted()
  .map((file) => ({ name: file.replace(/\.patch$/, ""), path: `${FOLDER}/${file}` }));
