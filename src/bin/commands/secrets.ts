import type { Vault } from "../../broker/port.ts";
import { Problem } from "../../contract/errors.ts";
import type { Config } from "../../config/config.ts";
import { replacePrivateFile } from "../../kit/replace-file.ts";
import { silentLog } from "../../kit/log.ts";
import { createShared } from "../compose/compose.ts";
import type { Io } from "./io.ts";

export const withVault = async <T>(
  config: Config,
  act: (vault: Vault) => Promise<T>,
): Promise<T> => {
  const { vault, close } = createShared(config, silentLog);
  return act(vault).finally(close);
};

const createUnknownSecret = (name: string): Problem =>
  new Problem("not_found", `There is no secret ${name.slice(0, 100)}; "secrets list" names them.`);

export const listSecrets = async ({ config, print, notify }: Io): Promise<void> => {
  const secrets = await withVault(config, (vault) => vault.list());
  for (const secret of secrets) print(secret);
  if (secrets.length === 0)
    notify("There is no secret yet: tools that create keys and webhooks store them here.");
};

const NO_TERMINAL =
  "Secrets are shown on a terminal only, and standard output is not one. Use --out FILE.";

/** Shows a secret on a terminal or writes it to a private file, never to a pipe that a model may read. */
export const showSecret = async (
  { config, print, isTerminal }: Io,
  name: string,
  { out }: { out?: string },
): Promise<void> => {
  const value = await withVault(config, (vault) => vault.show(name));
  if (value === undefined) throw createUnknownSecret(name);
  if (out === undefined) {
    if (!isTerminal) throw new Problem("invalid_request", NO_TERMINAL);
    print({ name, value });
    return;
  }
  replacePrivateFile(out, `${value}\n`);
  print({ name, out });
};

export const removeSecret = async ({ config, print }: Io, name: string): Promise<void> => {
  if (!(await withVault(config, (vault) => vault.remove(name)))) throw createUnknownSecret(name);
  print({ name, removed: true });
};
