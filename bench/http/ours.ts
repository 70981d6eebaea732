import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMcpListener, type Served } from "../../src/server/serve.ts";
import type { Broker } from "../../src/broker/port.ts";
import { assertOutput, type Operation, type OutputOf } from "../../src/contract/operation.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { createLog } from "../../src/kit/log.ts";
import { createCallLog } from "../../src/mcp/tools/call-log.ts";
import { createOpenGate } from "../../src/mcp/http/gate.ts";
import { createOwnCaller } from "../../src/mcp/caller.ts";
import { createHttpServer } from "../../src/mcp/http/http-server.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { createReplayFolder } from "../../src/mcp/tools/asking/replay-guard.ts";
import { serveLocally } from "../serving.ts";
import { makeDispute } from "../dispute.ts";

const REPLY = {
  status: 200,
  etag: '"1"',
  requestId: "request-1",
  total: null,
  ignoredFields: [],
};

const DISPUTE: unknown = makeDispute(1);

const answerOf = <O extends Operation>(operation: O): OutputOf<O> => {
  assertOutput(operation, DISPUTE, () => {
    throw new TypeError(`no benchmark calls ${operation.id}`);
  });
  return DISPUTE;
};

const unused = (): Promise<never> => Promise.reject(new Error("no benchmark uses this"));

// The platform answers at once: what is measured is this server's own part.
const broker: Broker = {
  call: async (operation) => ({ ...REPLY, output: answerOf(operation) }),
  login: unused,
  verify: unused,
  logout: unused,
  extensions: async () => new Set(),
  vault: { put: unused, list: unused, show: unused, remove: unused },
  tenantId: "bench",
  principal: "bench",
  close: async () => {},
};

/** The real transport, tools and log of calls, over a platform that responds at once. */
export const serveOurs = async (): Promise<Pick<Served, "url" | "close">> => {
  const folder = mkdtempSync(join(tmpdir(), "bench-mcp-"));
  const [log, key, now] = [createLog("silent"), Buffer.alloc(32, 1), systemClock];
  const settings = {
    toolsets: toolsetNames,
    readOnly: false,
    confirm: "token" as const,
    answerTokens: 20_000,
    callsPerMinute: 0,
  };
  const needs = {
    caller: "bench",
    broker,
    key,
    replayGuard: createReplayFolder(join(folder, "replay"), now),
    callLog: createCallLog({
      path: join(folder, "audit.ndjson"),
      transport: "http",
      key,
      now,
      log,
    }),
    log,
    now,
    settings,
    transfers: { put: unused, get: unused },
    uploadFolders: [],
  };
  const front = { settings, version: "1.0.0", log, open: async () => needs };
  const mcp = createHttpServer(front, { gate: createOpenGate(createOwnCaller("bench")) });
  const served = await serveLocally(createMcpListener(mcp));
  return {
    url: `${served.url}/mcp`,
    async close() {
      await mcp.close();
      await served.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
