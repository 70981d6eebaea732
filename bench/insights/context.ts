import { createClient } from "../../src/client/client.ts";
import { createInProcessTransport } from "../../src/client/in-process.ts";
import type { Transport } from "../../src/client/port.ts";
import { extensions } from "../../src/contract/index.ts";
import { utcCalendar } from "../../src/contract/insights/calendar.ts";
import { INSIGHT_LIMITS, type InsightContext } from "../../src/insights/insight.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { createLog } from "../../src/kit/log.ts";
import { closeAtEnd } from "../measure.ts";
import { type Bench, type Ledger, openLedgers } from "../platform/ledger.ts";
import { fillAccounts, fillDocuments } from "../platform/listed-rows.ts";
import { fillPayments } from "../platform/payment-rows.ts";

/** 1,000,000 rows and 100,000 disputes are what insights are meant for. */
export const PAYMENT_ROWS = Number(process.env["BENCH_INSIGHT_ROWS"] ?? 200_000);
export const DISPUTES = Number(process.env["BENCH_INSIGHT_DISPUTES"] ?? 100_000);

/** Accounts, and as many documents. */
const ACCOUNTS = Number(process.env["BENCH_ACCOUNTS"] ?? 50_000);

type Options = {
  /** Called after each page. */
  seen?: () => void;
  /** The platform announces its extensions. */
  isExtended?: boolean;
  /** Carries the calls; in this process by default. */
  transport?: Transport;
};

type OneTenant = Bench<readonly [Ledger]>;

let shared: Promise<OneTenant> | undefined;

/** One tenant with payments and disputes for all of these. */
const openShared = (): Promise<OneTenant> => {
  shared ??= (async () => {
    const bench = await openLedgers([DISPUTES]);
    await fillPayments(bench.store, bench.ledgers[0].tenantId, PAYMENT_ROWS);
    closeAtEnd(() => bench.close());
    return bench;
  })();
  return shared;
};

let isListed = false;

/** The tenant with accounts and documents too, for tools that list and read them. */
export const openTenant = async () => {
  const { store, platform, ledgers } = await openShared();
  const [ledger] = ledgers;
  if (!isListed) {
    await fillAccounts(store, ledger.tenantId, ACCOUNTS);
    await fillDocuments(store, ledger.tenantId, ACCOUNTS);
  }
  isListed = true;
  return { platform, ledger };
};

/** Creates a context over a tenant, which reads pages unless it is extended. */
export const createContext = (
  { platform, ledgers: [{ tenantId, apiKey, ingestKey }] }: OneTenant,
  { seen = () => {}, isExtended = false, transport }: Options = {},
): InsightContext => {
  const fetch = async (request: Request) => platform.fetch(request);
  const client = createClient({
    transport: transport ?? createInProcessTransport({ fetch, requestMs: 60_000 }),
    headerWord: "Platform",
    log: createLog("error"),
  });
  const { signal } = new AbortController();
  return {
    extensions: new Set(isExtended ? extensions : []),
    limits: INSIGHT_LIMITS,
    skip: 0,
    isWhole: false,
    now: systemClock,
    calendar: utcCalendar,
    signal,
    call(operation, args) {
      const credential: Record<string, string> =
        operation.service === "gateway"
          ? { "x-platform-api-key": apiKey }
          : { "x-api-key": ingestKey };
      const isTenant = "tenantId" in operation.params.shape;
      const all = isTenant ? { ...args, tenantId } : args;
      return client.call(operation, all, credential, { tool: "bench", signal });
    },
    progress: async () => seen(),
    endsAt: Infinity,
  };
};

/** Creates a context over one tenant with payments and disputes. */
export const withContext = async (options?: Options): Promise<InsightContext> =>
  createContext(await openShared(), options);
