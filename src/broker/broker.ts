import type { CallOptions, Client, ClientArgs, CredentialHeaders, Reply } from "../client/port.ts";
import { Problem } from "../contract/errors.ts";
import { contract, HELD_RIGHTS } from "../contract/index.ts";
import { type ArgsOf, type Operation, takesExportKey } from "../contract/operation.ts";
import { MINUTE, SECOND, systemClock, type Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import type { Secret } from "../kit/secret.ts";
import {
  exportHeader,
  keyHeader,
  toLogin,
  MISSING,
  type Origin,
  type Origins,
  SETTING_ORIGINS,
  sessionHeader,
} from "./credentials.ts";
import type { Credentials } from "../config/settings.ts";
import { createRightsRecord, type RightsRecord } from "./held-rights.ts";
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
  /** The origins of the credentials, for refusals; the settings unless given. */
  origins?: Origins | undefined;
  log: Log;
  idleMs?: number;
  clock?: Clock;
  schedule?: Schedule;
};

const IDLE_MS = 15 * MINUTE;
const CLOSE_TIMEOUT_MS = 300;

const isSessionError = (error: unknown): boolean =>
  error instanceof Problem && (error.code === "unauthenticated" || error.code === "token_expired");

const nameRefused = (error: unknown, { name, remedy }: Origin): unknown =>
  error instanceof Problem && error.status === 401
    ? new Problem(
        error.code,
        `The platform refused ${name}: ${error.message}`,
        { ...error.details, remedy },
        error,
      )
    : error;

type Context = BrokerNeeds & { session: SessionKeeper; rights: RightsRecord; origins: Origins };

const createSession = (needs: BrokerNeeds): SessionKeeper =>
  new SessionKeeper({
    client: needs.client,
    nameRefused: (error) => nameRefused(error, (needs.origins ?? SETTING_ORIGINS).password),
    idleMs: needs.idleMs ?? IDLE_MS,
    clock: needs.clock ?? systemClock,
    schedule: needs.schedule ?? systemSchedule,
    log: needs.log,
    login: async () => {
      const login = toLogin(await needs.credentials());
      if (login === undefined) throw MISSING.session();
      return login;
    },
  });

const addTenant = <O extends Operation>(
  { tenantId }: Context,
  operation: O,
  args: ArgsOf<O>,
): ClientArgs<O> => {
  if (!("tenantId" in operation.params.shape)) return args;
  if (tenantId === "") throw MISSING.tenant();
  return { ...args, tenantId };
};

/** Calls with a key; a refusal names its origin. */
const callWithKey = async <O extends Operation>(
  { client }: Context,
  operation: O,
  args: ClientArgs<O>,
  options: CallOptions,
  [headers, origin]: [CredentialHeaders, Origin],
): Promise<Reply<O>> => {
  try {
    return await client.call(operation, args, headers, options);
  } catch (error) {
    throw nameRefused(error, origin);
  }
};

/** Calls with the session, and once more with a new one if the platform refused it before it acted. */
const callWithSession = async <O extends Operation>(
  { client, session, headerWord }: Context,
  operation: O,
  args: ClientArgs<O>,
  options: CallOptions,
): Promise<Reply<O>> => {
  const send = (token: Secret): Promise<Reply<O>> =>
    client.call(operation, args, sessionHeader(headerWord.toLowerCase(), token), options);
  const token = await session.token(options);
  try {
    return await send(token);
  } catch (error) {
    if (!isSessionError(error)) throw error;
    session.drop(token);
    return send(await session.token(options));
  }
};

const callOperation = async <O extends Operation>(
  context: Context,
  operation: O,
  input: ArgsOf<O>,
  options: CallOptions,
): Promise<Reply<O>> => {
  if (operation.effect === "session") {
    throw new TypeError(`${operation.id} is not called with a credential`);
  }
  const args = addTenant(context, operation, input);
  const available = await context.credentials();
  if (takesExportKey(operation)) {
    if (available.extApiKey === undefined) throw MISSING.export();
    const key = exportHeader(available.extApiKey);
    return callWithKey(context, operation, args, options, [key, context.origins.extApiKey]);
  }
  const canLogIn = toLogin(available) !== undefined;
  const { credential } = operation;
  if (credential === "session" && !canLogIn) throw MISSING.keyMaker();
  const prefersSession = credential !== null && canLogIn;
  if (available.apiKey !== undefined && !prefersSession) {
    const key = keyHeader(context.headerWord.toLowerCase(), available.apiKey);
    return callWithKey(context, operation, args, options, [key, context.origins.apiKey]);
  }
  if (!canLogIn) throw MISSING.gateway();
  return callWithSession(context, operation, args, options);
};

/** Calls an operation, and records what its answer says about the rights of the credential. */
const callAndNote = async <O extends Operation>(
  context: Context,
  operation: O,
  args: ArgsOf<O>,
  options: CallOptions,
): Promise<Reply<O>> => {
  const { rights } = context;
  const side = takesExportKey(operation) ? "scopes" : "permissions";
  const onRights: CallOptions["onRights"] = (named) => rights.note(named, side);
  try {
    const reply = await callOperation(context, operation, args, { ...options, onRights });
    rights.noteOutcome(operation.access, true);
    return reply;
  } catch (error) {
    const isRefused = error instanceof Problem && error.code === "forbidden_permission";
    if (isRefused) rights.noteOutcome(operation.access, false);
    throw error;
  }
};

const LEARN_EVERY_MS = MINUTE;
const LEARN_MS = 3 * SECOND;

const createLearnRights = (context: Context): NonNullable<Broker["learnRights"]> => {
  const { client, clock = systemClock } = context;
  let learntAt = -Infinity;
  let learning = Promise.resolve();
  const learn = async (): Promise<void> => {
    const signal = AbortSignal.timeout(LEARN_MS);
    if (!(await client.extensions(signal)).has(HELD_RIGHTS.name)) return;
    const options = { tool: undefined, signal };
    // One cheap read with each credential: their answers name its rights, even if they are refusals.
    await Promise.allSettled([
      callAndNote(context, contract.departments.list, {}, options),
      callAndNote(context, contract.documents.get, { document_number: "-" }, options),
    ]);
  };
  return () => {
    if (clock() - learntAt < LEARN_EVERY_MS) return learning;
    learntAt = clock();
    learning = learn();
    return learning;
  };
};

const closeSession = async ({ session, log }: Context): Promise<void> => {
  if (!session.isOpen) return;
  const signal = AbortSignal.timeout(CLOSE_TIMEOUT_MS);
  await session
    .close({ tool: "session.close", signal })
    .catch(() => log.warn("session.close_failed"));
};

/** Creates the broker, which adds tenant and credential to calls. */
export const createBroker = (needs: BrokerNeeds): Broker => {
  const session = createSession(needs);
  const rights = createRightsRecord(needs.clock ?? systemClock);
  const { origins = SETTING_ORIGINS } = needs;
  const context: Context = { ...needs, session, rights, origins };
  return {
    call: (operation, args, options) => callAndNote(context, operation, args, options),
    login: (options) => session.open(options),
    verify: (options) => session.verify(options),
    logout: (options) => session.close(options),
    extensions: (signal, isNeeded) => needs.client.extensions(signal, isNeeded),
    rights,
    learnRights: createLearnRights(context),
    vault: needs.vault,
    tenantId: needs.tenantId,
    principal: needs.principal,
    close: () => closeSession(context),
  };
};
