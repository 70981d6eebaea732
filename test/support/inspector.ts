import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CHILD = fileURLToPath(new URL("inspector-child.ts", import.meta.url));

export type Inspector = {
  /** Returns the inspector's result of an MCP method with flags. */
  ask(method: string, ...flags: string[]): Promise<unknown>;
  close(): Promise<void>;
};

/** Starts the official inspector's command line for one server, with its own folder. */
export const startInspector = async (target: string[], era: string): Promise<Inspector> => {
  const home = await mkdtemp(join(tmpdir(), "inspector-"));
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  const child = fork(CHILD, [], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const told = async (): Promise<string> => {
    const [{ status }] = (await once(child, "message")) as [{ status: string }];
    return status;
  };
  await told();
  const output = join(home, "result.json");
  return {
    async ask(method, ...flags) {
      await rm(output, { force: true });
      const heard = told();
      const how = ["--protocol-era", era, "--quiet", "--output", output];
      child.send([...target, "--method", method, ...how, ...flags]);
      const status = await heard;
      const text = await readFile(output, "utf8").catch(() => {
        throw new Error(`the inspector has no result: ${status}`);
      });
      return JSON.parse(text) as unknown;
    },
    async close() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
      await rm(home, { recursive: true, maxRetries: 3 });
    },
  };
};
