import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { findProgram } from "./programs.ts";

/** The malware scanner's program, where the machine has it. */
export const clamdProgram = findProgram("clamd");

/** The text that the tests' signature matches. */
export const MARKER = "RECEIVABLES-TEST-MARKER";

export type RunningClamd = { port: number; socketPath: string; stop(): Promise<void> };

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path }, () => socket.write("zPING\0"));
    socket.on("data", (data) => {
      socket.destroy();
      resolve(data.toString().startsWith("PONG"));
    });
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(false));
  });

const isReady = async (child: ChildProcess, path: string): Promise<boolean> => {
  while (child.exitCode === null && child.signalCode === null) {
    if (await answers(path)) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
};

/** The real program with one signature, on a socket and on a port of this machine. */
export const startClamd = async (program: string): Promise<RunningClamd> => {
  const folder = mkdtempSync(join(tmpdir(), "clamd-"));
  const socketPath = join(folder, "socket");
  mkdirSync(join(folder, "signatures"));
  const signature = `Test.Marker:0:*:${Buffer.from(MARKER).toString("hex")}\n`;
  writeFileSync(join(folder, "signatures", "test.ndb"), signature);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    // Another program may take the port in between.
    const port = await freePort();
    const settings = [
      "Foreground yes",
      `DatabaseDirectory ${join(folder, "signatures")}`,
      `TemporaryDirectory ${folder}`,
      `LocalSocket ${socketPath}`,
      `TCPSocket ${port}`,
      "TCPAddr 127.0.0.1",
      "StreamMaxLength 50M",
    ];
    writeFileSync(join(folder, "clamd.conf"), `${settings.join("\n")}\n`);
    const child = spawn(program, ["-c", join(folder, "clamd.conf")], { stdio: "ignore" });
    const ended = once(child, "exit");
    const stop = async (): Promise<void> => {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    };
    if (await isReady(child, socketPath)) return { port, socketPath, stop };
  }
  throw new Error("clamd does not start");
};
