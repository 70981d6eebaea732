import type { z } from "zod";
import { sessionHeader } from "../../broker/credentials.ts";
import type { Profile } from "../../broker/profiles.ts";
import { createClient } from "../../client/client.ts";
import type { CallOptions, Client } from "../../client/port.ts";
import { createRemoteTransport } from "../../client/remote.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import { Login } from "../../contract/operations/auth.ts";
import { createLog, silentLog } from "../../kit/log.ts";
import { isLoopback } from "../../kit/network.ts";
import { Secret } from "../../kit/secret.ts";
import { diagnoseAddress } from "../doctor/address-diagnosis.ts";
import type { Config, Remote } from "../../config/config.ts";
import type { Io } from "./io.ts";

export const CALL_OPTIONS: CallOptions = { tool: "login" };

export const invalidRequest = (message: string): Problem => new Problem("invalid_request", message);

/** Problems of which the platform itself is the author. */
const isDecided = ({ status }: Problem): boolean => [400, 401, 403, 409, 429].includes(status);

/** Returns a problem that names the address, and what is wrong with it, if it is not that of a platform. */
const explainFailure = async (
  error: unknown,
  config: Config,
  { gateway }: Remote,
): Promise<unknown> => {
  if (!(error instanceof Problem) || isDecided(error)) return error;
  const { ok, found, hint } = await diagnoseAddress(gateway, "gateway", config);
  if (ok) return new Problem(error.code, `${gateway}: ${error.message}`, error.details, error);
  return new Problem("unavailable", found, hint === undefined ? {} : { remedy: hint }, error);
};

/** Runs `act` with a client of the platform. A failure names the address, its cause and the remedy. */
export const withClient = async <T>(
  config: Config,
  baseUrls: Remote,
  act: (client: Client) => Promise<T>,
): Promise<T> => {
  const { headerWord, requestMs } = config;
  // Failures are explained to the person, so they are not logged, too.
  const log = config.level === "debug" ? createLog(config.level) : silentLog;
  const transport = createRemoteTransport({ baseUrls, requestMs });
  const client = createClient({ transport, headerWord, log });
  try {
    return await act(client);
  } catch (error) {
    throw await explainFailure(error, config, baseUrls);
  } finally {
    await client.close();
  }
};

/** Options of the commands that send a password to a platform. */
export type PasswordOptions = { allowHttp?: boolean | undefined };

/** Lets a password go over plain http to another machine only if the person agrees. @throws {Problem} */
const checkTransport = async (
  { ask }: Io,
  { gateway }: Remote,
  { allowHttp }: PasswordOptions,
): Promise<void> => {
  const { protocol, hostname } = new URL(gateway);
  if (protocol === "https:" || isLoopback(hostname) || allowHttp === true) return;
  const danger = `${gateway} is not encrypted: others on the way can read your password.`;
  const choice = await ask?.choose(`${danger} Send it?`, [
    { name: "no", value: "no" },
    { name: "yes, the network is private", value: "yes" },
  ]);
  if (choice === "yes") return;
  throw new Problem("invalid_request", danger, {
    remedy: `Use https. On a private network, add --allow-http.`,
  });
};

export type Person = { email: string; password: Secret };

const readPassword = async ({ ask, readInput }: Io, email: string): Promise<Secret> => {
  const text =
    ask === undefined
      ? (await readInput()).replace(/\r?\n$/, "")
      : await ask.hidden(`Password of ${email}`);
  if (text === "")
    throw invalidRequest("No password was given: type it, or send it on standard input.");
  return new Secret(text);
};

/** Reads e-mail address and password from the settings, else from the terminal or standard input. */
export const readPerson = async (
  io: Io,
  { known, remote, ...options }: { known: string | undefined; remote: Remote } & PasswordOptions,
): Promise<Person> => {
  await checkTransport(io, remote, options);
  const { credentials } = io.config;
  const email = credentials.email ?? known ?? (await io.ask?.line("E-mail address"));
  if (email === undefined)
    throw invalidRequest(
      "The e-mail address of the login is missing: set --email or RECEIVABLES_EMAIL.",
    );
  return { email, password: credentials.password ?? (await readPassword(io, email)) };
};

type Opened = z.infer<typeof Login>;

/** A signed-in person's session. */
export type Session = { client: Client; word: string; token: Secret; login: Opened };

type Platform = { client: Client; headerWord: string; gateway: string };

const openSession = async ({ client, gateway }: Platform, { email, password }: Person) => {
  try {
    const args = { email, password: password.reveal() };
    return Login.parse((await client.call(contract.auth.login, args, {}, CALL_OPTIONS)).output);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "invalid_credentials") throw error;
    const message = `${gateway} refused the login of ${email}: ${error.message}`;
    const remedy =
      "Check the spelling of both. If the password was changed, use the new one; if it is forgotten, the platform's administrator makes a link (`admin user reset-link`).";
    throw new Problem(error.code, message, { ...error.details, remedy }, error);
  }
};

/** Explains the refusal of a session that the platform has just opened. */
const explainRefusedSession = (error: unknown, { headerWord, gateway }: Platform): unknown => {
  if (!(error instanceof Problem) || error.code !== "unauthenticated") return error;
  const message = `${gateway} accepted the password, but not the session in the header X-${headerWord}-Auth: ${error.message}`;
  const remedy =
    "The platform's headers have another word: set RECEIVABLES_HEADER_WORD (--header-word) to the word between X- and -Auth; the profile keeps it.";
  return new Problem(error.code, message, { ...error.details, remedy }, error);
};

/** Signs in, runs `act`, and signs out, also after an error. */
export const withSession = async <T>(
  platform: Platform,
  person: Person,
  act: (session: Session) => Promise<T>,
): Promise<T> => {
  const { client, headerWord } = platform;
  const login = await openSession(platform, person);
  const token = new Secret(login.accessToken);
  try {
    return await act({ client, word: headerWord.toLowerCase(), token, login });
  } catch (error) {
    throw explainRefusedSession(error, platform);
  } finally {
    const { accessToken } = login;
    await client
      .call(contract.auth.logout, { accessToken }, {}, CALL_OPTIONS)
      .catch(() => undefined);
  }
};

/** Revokes a key as its owner; returns whether the key is gone. */
export const revokeKey = async (
  { client, word, token }: Session,
  { keyId, tenantId }: Pick<Profile, "keyId" | "tenantId">,
): Promise<boolean> => {
  if (keyId === undefined || tenantId === undefined) return false;
  const header = sessionHeader(word, token);
  return client.call(contract.api_keys.delete, { tenantId, keyId }, header, CALL_OPTIONS).then(
    () => true,
    (error: unknown) => {
      // A key that does not exist is already revoked.
      if (error instanceof Problem) return error.status === 404;
      throw error;
    },
  );
};
