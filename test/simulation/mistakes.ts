import type { RequestOptions } from "node:http";
import { MINUTE, SECOND } from "../../src/kit/clock.ts";
import type { FileStore } from "../../src/platform/files/port.ts";
import type { Scanner } from "../../src/platform/scan/port.ts";
import { ATTACHMENT_JOB } from "../../src/platform/services/dispute-attachments/job.ts";
import { type Store, StoreUnavailable } from "../../src/platform/store/port.ts";
import type { Machine } from "./machine.ts";
import type { Life } from "./scheduler.ts";
import {
  changeRows,
  delayStatements,
  rewriteStatements,
  skipStatements,
  wrapStatements,
  type WrapStore,
} from "./statements.ts";

/** What a node gets from its surroundings. */
export type Ports = {
  store: Store;
  files: FileStore;
  scanner: Scanner;
  /** Sends an HTTP request. */
  network: Machine["request"];
  /** Milliseconds before each further attempt of a webhook. */
  delaysMs: readonly number[];
};

export type Wrapper<P extends keyof Ports> = (port: Ports[P], life: Life) => Ports[P];
export type Wrappers = { [P in keyof Ports]?: Wrapper<P> };

/** Wrappers around ports of every node, which make them do something wrong. */
export type Mistake = Wrappers & {
  /** A seed that has found it. A change of the simulation may make it stale; then all seeds are tried. */
  seed: number;
};

/** A condition that is always true and takes the parameter of the one that it replaces. */
const ANY = "? is not null";
const OF_TENANT = /"tenant_id" = \?/;
const CLOSES_DISPUTES = /^update "disputes" .*"document_number"/s;

/** Tells audit entries by their action. */
const isEntry =
  (action: RegExp) =>
  ({ sql, parameters }: { sql: string; parameters: readonly unknown[] }): boolean =>
    sql.startsWith('insert into "audit_logs"') &&
    parameters.some((one) => action.test(String(one)));

/** Changes the counts of windows by their key. */
const changeCounts = (key: RegExp, change: (count: number) => number): WrapStore =>
  changeRows(/"counters"/, (row, [first]) =>
    key.test(String(first)) ? { ...row, count: change(row["count"] as number) } : row,
  );

/** The nodes that have a transaction open. */
const writing = new Set<Life>();

const failWhileLocked: Wrapper<"store"> = (store, life) => ({
  ...store,
  async transaction(act, queue) {
    const isLocked = writing.values().some((other) => other !== life && !other.hasEnded);
    if (isLocked) throw new StoreUnavailable(new Error("database is locked"));
    writing.add(life);
    try {
      return await store.transaction(act, queue);
    } finally {
      writing.delete(life);
    }
  },
});

/** Continues each chain from the head that the node has read first. */
const keepHeads: WrapStore = (store) => {
  const hashes = new Map<unknown, unknown>();
  return changeRows(/^insert into "audit_heads"/, (row, [tenantId]) => {
    const hash = hashes.get(tenantId) ?? row["hash"];
    hashes.set(tenantId, hash);
    return { ...row, hash };
  })(store);
};

/** Lets each node count the disputes of a document on its own. */
const countDisputesAlone: WrapStore = (store) => {
  const counts = new Map<unknown, number>();
  return changeRows(/^insert into "dispute_sequences"/, (row, [, documentNumber]) => {
    const count = counts.get(documentNumber);
    const last = count === undefined ? (row["last"] as number) : count + 1;
    counts.set(documentNumber, last);
    return { last };
  })(store);
};

/** Claims the jobs that were due before the transaction, even if another node has claimed them since. */
const claimFoundBefore: WrapStore = (store) => {
  const found = new Map<string, ReturnType<Parameters<Parameters<typeof wrapStatements>[0]>[1]>>();
  const around = wrapStatements((statement, run) => {
    const { sql, parameters } = statement;
    if (!/^\s*(?:with recursive lanes|select "lane")/.test(sql)) return run(statement);
    const key = JSON.stringify([sql, parameters]);
    const result = found.get(key) ?? run(statement);
    if (!found.delete(key)) found.set(key, result);
    return result;
  });
  return rewriteStatements(
    /^update "jobs" .*tries \+ 1/,
    /"leased_until" = \?$/,
    ANY,
  )(around(store));
};

const acceptAll: Wrapper<"network"> = (send) => (url: URL, options: RequestOptions) => {
  const request = send(url, options);
  request.prependListener("response", (response) => {
    response.statusCode = 204;
  });
  return request;
};

const rejectFiles: Wrapper<"scanner"> = (scanner) => ({
  async scan(file) {
    await scanner.scan(file);
    return { status: "Rejected", failureReasons: [{ code: "EMPTY_FILE", message: "empty" }] };
  },
});

const PERCENT = 0x25;

/** Makes zeros of the first piece of a PDF. */
async function* toZeros(bytes: Parameters<FileStore["put"]>[1]): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    yield piece[0] === PERCENT ? new Uint8Array(piece.byteLength) : piece;
  }
}

const storeZeros: Wrapper<"files"> = (files) => ({
  ...files,
  put: (key, bytes, maxBytes) => files.put(key, toZeros(bytes), maxBytes),
});

const countAttachmentTries = changeRows(/select jobs\.\* from places/, (row) =>
  row["kind"] === ATTACHMENT_JOB ? { ...row, tries: (row["tries"] as number) + 1 } : row,
);

const planLater = wrapStatements((statement, run) => {
  if (!statement.sql.startsWith('update "schedules" set "next_run_at"')) return run(statement);
  const [at, ...others] = statement.parameters;
  return run({ ...statement, parameters: [(at as number) + SECOND, ...others] });
});

const isPaymentChange = /^insert into "cashapp_payments".* on conflict/s;

/** Mistakes that the simulation must find. */
export const MISTAKES: Record<string, Mistake> = {
  "any answer counts as delivered": { seed: 9, network: acceptAll },
  "audit entry outside its transaction": {
    seed: 8,
    store: delayStatements(isEntry(/^(?!import\.)[a-z_]+\.[a-z_]+$/)),
  },
  "busy store not waited for": { seed: 1, store: failWhileLocked },
  "chain head read outside the lock": { seed: 1, store: keepHeads },
  "clean file rejected": { seed: 3, scanner: rejectFiles },
  "code of a dispute counted by each node": { seed: 29, store: countDisputesAlone },
  "disputes of a closed document left open": {
    seed: 16,
    store: skipStatements(({ sql }) => CLOSES_DISPUTES.test(sql)),
  },
  "document not reopened": {
    seed: 77,
    store: rewriteStatements(
      /^insert into "documents"/,
      /"status" = "?excluded"?\."?status"?/,
      `"status" = case documents.status when 'closed' then 'closed' else excluded.status end`,
    ),
  },
  "idempotency key acts twice": {
    seed: 27,
    store: rewriteStatements(/^insert/, /"idempotency_keys"."expires_at" <= \?/, ANY),
  },
  "entry of an import outside its transaction": {
    seed: 3,
    store: delayStatements(isEntry(/^import\./)),
  },
  "job claimed by both nodes": { seed: 1, store: claimFoundBefore },
  "limit lets one more in": { seed: 2, store: changeCounts(/^(?!password:)/, (n) => n - 1) },
  "login without audit entry": { seed: 1, store: skipStatements(isEntry(/^auth\.logged_in$/)) },
  "no limit of the gateway": { seed: 2, store: changeCounts(/^gateway:/, () => 0) },
  "no limit per hour": { seed: 2, store: changeCounts(/:hour$/, () => 0) },
  "one guess more than an account admits": {
    seed: 1,
    store: changeCounts(/^password:/, (n) => n - 1),
  },
  "files of other nodes not counted": {
    seed: 5,
    store: changeRows(/sum\("file_size"\)/, (row) => ({ ...row, bytes: 0 })),
  },
  "files counted twice": {
    seed: 5,
    store: changeRows(/sum\("file_size"\)/, (row) => ({
      ...row,
      bytes: 2 * Number(row["bytes"]),
    })),
  },
  "old audit entries not removed": {
    seed: 20,
    store: skipStatements(({ sql }) => /^delete from "audit_logs" .*"seq" <= /.test(sql)),
  },
  "payment of an advice outside its transaction": {
    seed: 5,
    store: delayStatements(({ sql }) => sql.startsWith('insert into "cashapp_payments"')),
  },
  "payment that waits not matched": {
    seed: 2,
    store: skipStatements(({ sql }) => isPaymentChange.test(sql)),
  },
  "PDF stored as zeros": { seed: 2, files: storeZeros },
  "scan given up too early": { seed: 10, store: countAttachmentTries },
  "sixth delivery attempt": { seed: 9, delaysMs: (delays) => [...delays, MINUTE] },
  "run of a slot added before the slot is claimed": {
    seed: 3,
    store: delayStatements(({ sql }) =>
      /^update "(?:jobs" set "lease" = \?, "leased_until" = \?, "due_at"|schedules)"/.test(sql),
    ),
  },
  "slots drift": { seed: 1, store: planLater },
  "rows of a snapshot not recorded": {
    seed: 1,
    store: skipStatements(({ sql }) => sql.startsWith('insert into "run_chunks"')),
  },
  "tenant missing in a cascade": {
    seed: 65,
    store: rewriteStatements(CLOSES_DISPUTES, OF_TENANT, ANY),
  },
  "tenant missing in a deletion": {
    seed: 7,
    store: rewriteStatements(/^delete from "webhooks"/, OF_TENANT, ANY),
  },
  "tenant missing in a query": {
    seed: 12,
    store: rewriteStatements(/^select \* from "(?:schedules|export_runs)"/, OF_TENANT, ANY),
  },
  "window outlives a clock set back": {
    seed: 2,
    store: rewriteStatements(
      /^insert into "counters"/,
      /and counters.window_ends_at < \?/,
      `and ${ANY}`,
    ),
  },
};
