import { Pool } from "undici";
import { startCli, whenReady } from "../support/cli.ts";

export type Asked = {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
};

export type Answer = {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies freely
  body: any;
  headers: Record<string, string | string[] | undefined>;
};

/** The platform as a process of its own, and connections to it that are kept alive. */
export type Server = {
  pid: number;
  url: string;
  /** Rejects when the connection or the deadline ends before the whole answer is there. */
  send(asked: Asked): Promise<Answer>;
  /** Ends the process as the power would. */
  kill(): Promise<void>;
  /** Cuts all connections, so that what is under way is done or not, and never answered. */
  cut(): Promise<void>;
  stop(): Promise<void>;
  stderr(): string;
};

/** An answer that takes longer is a hang. Longer than three waits for S3, or a login of PgBouncer at PostgreSQL. */
export const DEADLINE_MS = 90_000;

/** The answer, or undefined if the connection ended before it. @throws the TimeoutError of a hang */
export const unlessCut = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "TimeoutError") throw error;
    return undefined;
  });

const UNLIMITED = { RECEIVABLES_GATEWAY_RATE_MINUTE: "0", RECEIVABLES_LOGIN_RATE_MINUTE: "0" };

/** Sends requests over the connections of a pool. */
export const createSender =
  (poolOf: () => Pool, deadlineMs = DEADLINE_MS): Server["send"] =>
  async ({ method, path, headers = {}, body }) => {
    const answer = await poolOf().request({
      method,
      path,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(deadlineMs),
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: text === "" ? undefined : (JSON.parse(text) as unknown),
    };
  };

export const startServer = async (
  environment: Record<string, string>,
  connections: number,
  command: "platform" | "http" = "platform",
): Promise<Server> => {
  const running = startCli([command, "--port", "0"], {
    ...UNLIMITED,
    RECEIVABLES_LOG: "warn",
    ...environment,
  });
  const ready = await whenReady(running).catch(async (error: unknown) => {
    await running.end("SIGTERM");
    throw error;
  });
  const url = command === "http" ? new URL(ready.mcpUrl ?? "").origin : ready.baseUrl;
  const connect = (): Pool => new Pool(url, { connections, pipelining: 1 });
  let pool = connect();
  let isOver = false;
  return {
    pid: running.pid,
    url,
    send: createSender(() => pool),
    stderr: () => running.texts.stderr,
    async kill() {
      if (isOver) return;
      isOver = true;
      const { status } = await running.end("SIGKILL");
      if (!pool.destroyed) await pool.destroy();
      if (status !== null) throw new Error(`it ended by itself: ${running.texts.stderr}`);
    },
    async cut() {
      const former = pool;
      pool = connect();
      await former.destroy();
    },
    async stop() {
      isOver = true;
      await pool.destroy();
      await running.end("SIGTERM");
    },
  };
};
