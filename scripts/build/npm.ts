import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../..");

/** Runs npm and returns its output, also where it is no program that can be started without a shell. */
export const npm = async (...args: string[]): Promise<string> => {
  const path = process.env["npm_execpath"];
  const [command, first] = path === undefined ? ["npm", []] : [process.execPath, [path]];
  const maxBuffer = 64 * 1024 * 1024;
  return (await promisify(execFile)(command, [...first, ...args], { cwd: ROOT, maxBuffer })).stdout;
};
