import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Starts a script of the tests as a process, which the caller must end. */
export const startChild = (
  script: URL,
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcess =>
  spawn(process.execPath, [fileURLToPath(script), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });

/** Waits for a process to end well and gives what it printed. */
export const finished = async (child: ChildProcess): Promise<string> => {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`the process ended with ${code}`);
  return text;
};
