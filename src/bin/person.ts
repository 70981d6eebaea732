import type { z } from "zod";
import { sessionHeader } from "../broker/credentials.ts";
import type { Profile } from "../broker/profiles.ts";
import { createClient } from "../client/client.ts";
import type { CallOptions, Client } from "../client/port.ts";
import { createRemoteTransport } from "../client/remote.ts";
import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import { Login } from "../contract/operations/auth.ts";
import { createLog } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import type { Config, Remote } from "./config.ts";
import type { Io } from "./io.ts";

export const CALL_OPTIONS: CallOptions = { tool: "login" };

export const invalidRequest = (message: string): Problem => new Problem("invalid_request", message);

export const withClient = async <T>(
  config: Config,
  baseUrls: Remote,
  act: (client: Client) => Promise<T>,
): Promise<T> => {
  const { headerWord, requestMs } = config;
  const log = createLog(config.level);
  const transport = createRemoteTransport({ baseUrls, requestMs });
  const client = createClient({ transport, headerWord, log });
  try {
    return await act(client);
  } finally {
    await client.close();
  }
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
export const readPerson = async (io: Io, known: string | undefined): Promise<Person> => {
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

/** Signs in, runs `act`, and signs out, also after an error. */
export const withSession = async <T>(
  { client, headerWord }: { client: Client; headerWord: string },
  { email, password }: Person,
  act: (session: Session) => Promise<T>,
): Promise<T> => {
  const args = { email, password: password.reveal() };
  const login = Login.parse(
    (await client.call(contract.auth.login, args, {}, CALL_OPTIONS)).output,
  );
  const token = new Secret(login.accessToken);
  try {
    return await act({ client, word: headerWord.toLowerCase(), token, login });
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
