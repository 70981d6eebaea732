import { createClient } from "../../src/client/client.ts";
import type { Client } from "../../src/client/port.ts";
import { createRemoteTransport } from "../../src/client/remote.ts";
import { Problem } from "../../src/contract/errors.ts";
import { createLog } from "../../src/kit/log.ts";

export type RemoteClient = Client & {
  /** Waits in milliseconds before each further try. */
  waits: number[];
  /** The log lines. */
  lines: string[];
};

export type RemoteSetup = { requestMs?: number; maxAnswerBytes?: number; now?: number };

/** A client of a platform elsewhere, for whom waiting takes no time. */
export const remoteClient = (
  url: string,
  { now = Date.UTC(2026, 10, 20), requestMs = 30_000, ...more }: RemoteSetup = {},
): RemoteClient => {
  const waits: number[] = [];
  const lines: string[] = [];
  const client = createClient({
    transport: createRemoteTransport({
      baseUrls: { gateway: url, export: url },
      requestMs,
      ...more,
    }),
    headerWord: "Platform",
    log: createLog("debug", (line) => lines.push(line)),
    clock: () => now,
    wait: {
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        waits.push(ms);
      },
      chance: () => 0,
    },
  });
  return { ...client, waits, lines };
};

/** The Problem that a call ends with; anything else fails the test. */
export const problemOf = async (call: Promise<unknown>): Promise<Problem> => {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Problem) return error;
  throw new Error("no Problem", { cause: error });
};
