import type { CallOptions, Client, CredentialHeaders, Reply } from "../client/port.ts";
import { Problem } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import { MINUTE, systemClock, type Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import {
  type Credentials,
  exportHeader,
  keyHeader,
  toLogin,
  MISSING,
  sessionHeader,
} from "./credentials.ts";
import type { Broker, Vault } from "./port.ts";
import { type Schedule, SessionKeeper, systemSchedule } from "./session.ts";

export type BrokerNeeds = {
  client: Client;
  vault: Vault;
  headerWord: string;
  /** Empty if none is configured. */
  tenantId: string;
  principal: string;
  /** Called at the first use, because the embedded platform creates its own credentials. */
  credentials: () => Promise<Credentials>;
  log: Log;
  idleMs?: number;
  clock?: Clock;
  schedule?: Schedule;
};

const IDLE_MS = 15 * MINUTE;
const CLOSE_TIMEOUT_MS = 300;

const isSessionError = (error: unknown): boolean =>
  error instanceof Problem && (error.code === "unauthenticated" || error.code === "token_expired");

const nameRefusedKey = (error: unknown, setting: string): unknown =>
  error instanceof Problem && error.status === 401
    ? new Problem(
        error.code,
        `The platform refused the key in ${setting}: ${error.message}`,
        error.details,
        error,
      )
    : error;

export const createBroker = ({
  client,
  vault,
  headerWord,
  tenantId,
  principal,
  credentials,
  log,
  idleMs = IDLE_MS,
  clock = systemClock,
  schedule = systemSchedule,
}: BrokerNeeds): Broker => {
  const word = headerWord.toLowerCase();
  const session = new SessionKeeper({
    client,
    idleMs,
    clock,
    schedule,
    log,
    login: async () => {
      const login = toLogin(await credentials());
      if (login === undefined) throw MISSING.session();
      return login;
    },
  });

  const argsFor = (operation: Operation, args: Record<string, unknown>) => {
    if (!("tenantId" in operation.params.shape)) return args;
    if (tenantId === "") throw MISSING.tenant();
    return { ...args, tenantId };
  };

  const withKey = async (
    operation: Operation,
    args: Record<string, unknown>,
    options: CallOptions,
    [headers, setting]: [CredentialHeaders, string],
  ): Promise<Reply> => {
    try {
      return await client.call(operation, args, headers, options);
    } catch (error) {
      throw nameRefusedKey(error, setting);
    }
  };

  // The platform refused the session before it acted, so the call can be repeated.
  const withSession = async (
    operation: Operation,
    args: Record<string, unknown>,
    options: CallOptions,
  ): Promise<Reply> => {
    const token = await session.token(options);
    try {
      return await client.call(operation, args, sessionHeader(word, token), options);
    } catch (error) {
      if (!isSessionError(error)) throw error;
      session.drop(token);
      const fresh = await session.token(options);
      return client.call(operation, args, sessionHeader(word, fresh), options);
    }
  };

  const call: Broker["call"] = async (operation, given, options) => {
    if (operation.effect === "session") {
      throw new TypeError(`${operation.id} is not called with a credential`);
    }
    const args = argsFor(operation, given);
    const has = await credentials();
    if (operation.service !== "gateway") {
      if (has.extApiKey === undefined) throw MISSING.export();
      const key = exportHeader(has.extApiKey);
      return withKey(operation, args, options, [key, "RECEIVABLES_EXT_API_KEY"]);
    }
    const canLogIn = toLogin(has) !== undefined;
    const { credential } = operation;
    if (credential === "session" && !canLogIn) throw MISSING.keyMaker();
    const wantsSession = credential !== null && canLogIn;
    if (has.apiKey !== undefined && !wantsSession) {
      const key = keyHeader(word, has.apiKey);
      return withKey(operation, args, options, [key, "RECEIVABLES_API_KEY"]);
    }
    if (!canLogIn) throw MISSING.gateway();
    return withSession(operation, args, options);
  };

  return {
    call,
    login: (options) => session.open(options),
    verify: (options) => session.verify(options),
    logout: (options) => session.close(options),
    vault,
    tenantId,
    principal,
    async close() {
      if (!session.isOpen) return;
      const signal = AbortSignal.timeout(CLOSE_TIMEOUT_MS);
      await session
        .close({ tool: "session.close", signal })
        .catch(() => log.warn("session.close_failed"));
    },
  };
};
