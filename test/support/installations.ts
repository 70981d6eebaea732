/** Installations that serve tenants behind one proxy, and clients that work while a tenant is moved between them. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Ended, runCli, type Running, startCli, UNLIMITED, whenReady } from "./cli.ts";
import { freePort } from "./free-port.ts";
import { documentAt } from "./ingest.ts";
import { CONFIGURATION, DISPUTES } from "./platform.ts";
import type { Database, Dialect } from "./stores.ts";

export const PASSWORD = "correct horse battery staple";

/** A platform as a process, with a database, a file store and commands of its own. */
export type Installation = {
  database: Database;
  port: number;
  /** Runs a command to its end. @throws {Error} unless its status is 0 */
  command(line: readonly string[], input?: string): Promise<Record<string, unknown>>;
  /** Runs a command that may be refused. */
  run(line: readonly string[]): Promise<Ended>;
  /** Starts a command that the caller ends. */
  begin(line: readonly string[]): Running;
  close(): Promise<void>;
};

export const startInstallation = async ({ createMigrated }: Dialect): Promise<Installation> => {
  const database = await createMigrated();
  const env = { ...UNLIMITED, ...database.environment, RECEIVABLES_LOG: "warn" };
  const run: Installation["run"] = (line) => runCli([...line], env);
  const port = await freePort();
  const platform = startCli(["platform", "--port", String(port)], env);
  await whenReady(platform);
  return {
    database,
    port,
    run,
    begin: (line) => startCli([...line], env),
    async command(line, input = "") {
      const { status, stdout, stderr } = await runCli([...line], env, input);
      if (status !== 0) throw new Error(`${line.join(" ")}: ${stderr}`);
      return JSON.parse(stdout) as Record<string, unknown>;
    },
    async close() {
      await platform.end("SIGTERM");
      await database.remove();
    },
  };
};

/** A tenant as its clients know it: an address, a person and a key. */
export type Client = { tenantId: string; base: string; email: string; key: string };

/** Creates a tenant with an administrator and a key. */
export const createClient = async (
  { command }: Installation,
  { tenantId, base }: Pick<Client, "tenantId" | "base">,
): Promise<Client> => {
  const email = `ann@${tenantId}.example`;
  await command(["admin", "tenant", "create", tenantId, "--name", tenantId]);
  const person = ["--email", email, "--first-name", "Ann", "--last-name", "Lee"];
  await command(
    ["admin", "user", "create", "--tenant", tenantId, ...person, "--role", "Administrator"],
    PASSWORD,
  );
  const key = await command(["admin", "key", "issue", "--tenant", tenantId, "--name", "load"]);
  return { tenantId, base, email, key: String(key["apiKey"]) };
};

export type Answer = { status: number; body: unknown };

/** The refusals of clients, by the text of the answer. */
export type Refusals = Map<string, number>;

const MOST_WAIT_MS = 300;

/**
 * Sends requests as a careful client does: a refusal with Retry-After and a lost connection are sent again until the
 * request succeeds, an ended session is renewed.
 */
export const createSender = ({ tenantId, base, email, key }: Client, refusals: Refusals) => {
  let token = "";
  const once = async (method: string, path: string, sent: Sent): Promise<Answer | undefined> => {
    const headers = {
      "Content-Type": "application/json",
      "X-Platform-Auth": token,
      "X-Api-Key": key,
      ...sent.headers,
    };
    const body = sent.body === undefined ? null : JSON.stringify(sent.body);
    const target = base + path.replace("{t}", tenantId);
    const reply = await fetch(target, { method, headers, body }).catch(() => undefined);
    if (reply === undefined) return undefined;
    const text = await reply.text();
    if (reply.status !== 503) return { status: reply.status, body: JSON.parse(text) as unknown };
    refusals.set(text, (refusals.get(text) ?? 0) + 1);
    if (reply.headers.get("retry-after") === null) throw new Error(`without a hint: ${text}`);
    return undefined;
  };
  const login = async (): Promise<boolean> => {
    const answer = await once("POST", "/authentication/v1/login", {
      body: { email, password: PASSWORD },
    });
    if (answer !== undefined) token = (answer.body as { accessToken: string }).accessToken;
    return answer !== undefined;
  };
  return async (method: string, path: string, sent: Sent = {}): Promise<Answer> => {
    for (;;) {
      const answer = await once(method, path, sent);
      if (answer === undefined || (answer.status === 401 && !(await login()))) {
        await delay(Math.random() * MOST_WAIT_MS);
      } else if (answer.status !== 401) return answer;
    }
  };
};

type Sent = { body?: unknown; headers?: Record<string, string> };
export type Send = ReturnType<typeof createSender>;

const requireStatus = ({ status, body }: Answer, wanted: number): Record<string, unknown> => {
  if (status === wanted) return body as Record<string, unknown>;
  throw new Error(`${status} ${JSON.stringify(body)}`);
};

/** Creates a dispute of the tenant; returns the path of its notes. */
export const createNotes = async (send: Send): Promise<string> => {
  const create = async (path: string, body: object) =>
    requireStatus(await send("POST", path, { body }), 201);
  await create(`${CONFIGURATION}/categories`, { code: "PRICE", description: "Pricing" });
  const reason = { code: "WRONG", description: "Wrong price", categoryCode: "PRICE" };
  const { reasonId } = await create(`${CONFIGURATION}/reasons`, reason);
  const dispute = { amount: 10, accountNumber: "A-1", documentNumber: "INV-1", reasonId };
  const { disputeId } = await create(DISPUTES, dispute);
  return `${DISPUTES}/${String(disputeId)}/disputenotes`;
};

/** The history of one writer: what was acknowledged, in order. */
export type History = { acknowledged: string[]; read(): Promise<string[]> };

/** Writes until the signal; each change is acknowledged before the next one is sent. */
export type Writer = (signal: AbortSignal) => Promise<void>;

const write = async (
  { acknowledged }: History,
  signal: AbortSignal,
  act: (text: string) => Promise<void>,
  name: string,
): Promise<void> => {
  while (!signal.aborted) {
    const text = `${name} ${acknowledged.length + 1}`;
    await act(text);
    acknowledged.push(text);
  }
};

/** Adds notes: each is there once, however often its request was sent. */
const createNoteWriter = (send: Send, path: string, name: string) => {
  const history: History = {
    acknowledged: [],
    async read() {
      const { body } = await send("GET", `${path}?Page=1&PageSize=1000`);
      const texts = (body as { content: string }[]).map(({ content }) => content);
      return texts.filter((text) => text.startsWith(`${name} `));
    },
  };
  const writer: Writer = (signal) =>
    write(
      history,
      signal,
      async (text) => {
        const headers = { "Idempotency-Key": randomUUID() };
        requireStatus(await send("POST", path, { body: { content: text }, headers }), 201);
      },
      name,
    );
  return { history, writer };
};

/** Changes the name of an account over and over. */
const createAccountWriter = (send: Send, name: string) => {
  const path = `/api/v1/ingest/accounts/${name}`;
  const history: History = {
    acknowledged: [],
    read: async () => [String((await send("GET", path)).body?.["name" as never])],
  };
  const writer: Writer = (signal) =>
    write(
      history,
      signal,
      async (text) => {
        const body = { name: text, currency: "EUR" };
        const { status, body: answer } = await send("PUT", path, { body });
        if (status >= 300) throw new Error(`${status} ${JSON.stringify(answer)}`);
      },
      name,
    );
  return { history, writer };
};

/** Creates documents, each once. */
const createDocumentWriter = (send: Send, name: string) => {
  const numbers: string[] = [];
  const history: History = {
    acknowledged: numbers,
    async read() {
      const answers = await Promise.all(
        numbers.map((number) => send("GET", documentAt(number.replace(" ", "-")))),
      );
      return numbers.filter((_, place) => answers[place]?.status === 200);
    },
  };
  const writer: Writer = (signal) =>
    write(
      history,
      signal,
      async (text) => {
        const dates = { invoice_date: "2026-01-31", due_date: "2026-03-02" };
        const headers = { "Idempotency-Key": randomUUID() };
        const body = { account_number: "A-1", ...dates };
        const path = documentAt(text.replace(" ", "-"));
        requireStatus(await send("POST", path, { body, headers }), 201);
      },
      name,
    );
  return { history, writer };
};

/** Writers of every kind, as many clients. */
export const createWriters = (client: Client, path: string, refusals: Refusals) =>
  [0, 1].flatMap((number) => [
    createNoteWriter(createSender(client, refusals), path, `note-${number}`),
    createAccountWriter(createSender(client, refusals), `account-${number}`),
    createDocumentWriter(createSender(client, refusals), `document-${number}`),
  ]);
