import { fileURLToPath } from "node:url";
import { Agent } from "undici";
import { createClient } from "../../src/client/client.ts";
import { createRemoteTransport } from "../../src/client/remote.ts";
import { contract } from "../../src/contract/index.ts";
import type { CallArguments, Operation } from "../../src/contract/operation.ts";
import { silentLog } from "../../src/kit/log.ts";
import { type Benchmark, cpuMs, inTurn, interleaved } from "../measure.ts";
import { withServer } from "../server-process.ts";

const SERVER = fileURLToPath(new URL("server.ts", import.meta.url));
const CREDENTIAL = { "x-platform-api-key": "a key as long as a real one, more or less" };
const DISPUTES = "/dispute/v1/tenants/t/disputes";

type Side = { about: string; operation: Operation; args: CallArguments; path: string };

const SIDES: Record<string, Side & { calls: number }> = {
  "client-record": {
    about: "CPU of a call of one record through the client / through bare undici with JSON.parse",
    operation: contract.disputes.get,
    args: { tenantId: "t", disputeId: "dispute-0" },
    path: `${DISPUTES}/dispute-0`,
    calls: 500,
  },
  "client-page": {
    about: "CPU of a call of 100 records through the client / through bare undici with JSON.parse",
    operation: contract.disputes.list,
    args: { tenantId: "t", Page: 1, PageSize: 100 },
    path: `${DISPUTES}?Page=1&PageSize=100`,
    calls: 100,
  },
};

/** CPU time of this process for one of so many calls, one after the other, in milliseconds. */
const perCall = async (calls: number, call: () => Promise<unknown>): Promise<number> =>
  (await cpuMs(() => inTurn(calls, call))) / calls;

const benchmark = (
  name: string,
  { about, operation, args, path, calls }: Side & { calls: number },
): Benchmark => ({
  name,
  about,
  unit: "ms CPU",
  aim: null,
  run: (options) =>
    withServer([SERVER], async ({ url }: { url: string }) => {
      const baseUrls = { gateway: url, export: url };
      const transport = createRemoteTransport({ baseUrls, requestMs: 30_000 });
      const client = createClient({ transport, headerWord: "Platform", log: silentLog });
      const agent = new Agent({ connections: 32, allowH2: false });
      const headers = { ...CREDENTIAL, accept: "application/json" };
      const bare = async (): Promise<unknown> => {
        const { body } = await agent.request({ origin: url, path, method: "GET", headers });
        return body.json();
      };
      const samples = await interleaved(
        {
          ours: () =>
            perCall(calls, () =>
              client.call(operation, args, CREDENTIAL, { tool: "disputes_get" }),
            ),
          base: () => perCall(calls, bare),
        },
        { ...options, warmUp: 6 },
      );
      await Promise.all([client.close(), agent.destroy()]);
      return samples;
    }),
});

export const clientBenchmarks: readonly Benchmark[] = Object.entries(SIDES).map(([name, side]) =>
  benchmark(name, side),
);
