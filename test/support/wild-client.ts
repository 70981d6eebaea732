import { afterEach, beforeEach, expect } from "vitest";
import { createClient } from "../../src/client/client.ts";
import type { Client } from "../../src/client/port.ts";
import { createRemoteTransport } from "../../src/client/remote.ts";
import { contract } from "../../src/contract/index.ts";
import type { Problem } from "../../src/contract/errors.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { silentLog } from "../../src/kit/log.ts";
import type { Wait } from "../../src/kit/wait.ts";
import { problemOf } from "./remote-client.ts";
import { json, wildServer, type WildServer } from "./wild-server.ts";

/** A credential that must not appear in errors. */
export const CANARY = "canary-9f1c-never-shown";
export const key = { "x-platform-api-key": CANARY };
export const options = { tool: "dispute_notes_get" };

export const note = {
  disputeNoteId: "n",
  tenantId: "t",
  disputeId: "d",
  content: "c",
  visibility: "All",
  createUser: "u",
  createDate: "2026-01-02T03:04:05.678Z",
  updateUser: "u",
  updateDate: "2026-01-02T03:04:05.678Z",
};
export const readNote = contract.dispute_notes.get;
export const noteArgs = { tenantId: "t", disputeId: "d", noteId: "n" };

export type WildClient = {
  /** Answers every call with `note` until a test sets another behaviour. */
  server: WildServer;
  client: Client;
  /** The delays between attempts, in milliseconds; they are not waited for. */
  waits: number[];
  clientFor(url: string, more?: { requestMs?: number; maxAnswerBytes?: number }): Client;
  /** Returns the error of a call, which must be a `Problem` without the credential. */
  refusal(
    operation?: Operation,
    args?: Record<string, unknown>,
    through?: Client,
  ): Promise<Problem>;
};

/** Starts a server that misbehaves at will and a client of it before each test, and closes both after it. */
export const useWildClient = (): WildClient => {
  const opened: Client[] = [];
  const clientFor: WildClient["clientFor"] = (url, more = {}) => {
    const wait: Wait = {
      sleep: async (ms) => {
        wild.waits.push(ms);
      },
      chance: () => 0,
    };
    const baseUrls = { gateway: url, export: `${url}/ext/` };
    const transport = createRemoteTransport({ baseUrls, requestMs: 30_000, ...more });
    const client = createClient({ transport, headerWord: "Platform", log: silentLog, wait });
    opened.push(client);
    return client;
  };
  const refusal: WildClient["refusal"] = async (
    operation = readNote,
    args = noteArgs,
    through = wild.client,
  ) => {
    const error = await problemOf(through.call(operation, args, key, options));
    expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain(CANARY);
    return error;
  };
  const wild = { waits: [], clientFor, refusal } as unknown as WildClient;
  beforeEach(async () => {
    wild.waits = [];
    wild.server = await wildServer((_request, response) => {
      json(response, 200, note);
    });
    wild.client = clientFor(wild.server.url);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((client) => client.close()));
    await wild.server.close();
  });
  return wild;
};
