import { Command, InvalidArgumentError, Option } from "commander";
import type { Name } from "./environment.ts";
import type { Io } from "./io.ts";

/** Reads the settings for a command and runs it. */
export type Run = (
  self: Command,
  act: (io: Io) => Promise<void>,
  /** Whether the command itself reports unknown settings; for all others they stop the start. */
  options?: { acceptsUnknown: boolean },
) => Promise<void>;

/** Settings that can also be given as an option, which takes precedence. */
const OPTIONS = {
  data: ["RECEIVABLES_DATA", "--data <folder>", "the data folder"],
  log: ["RECEIVABLES_LOG", "--log <level>", "level of the log on stderr"],
  tenantId: ["RECEIVABLES_TENANT_ID", "--tenant-id <id>", "the tenant to work for"],
  profile: ["RECEIVABLES_PROFILE", "--profile <name>", "the profile"],
  email: ["RECEIVABLES_EMAIL", "--email <address>", "e-mail address of the login"],
  toolsets: ["RECEIVABLES_TOOLSETS", "--toolsets <list>", "comma list of toolsets, or all"],
  readOnly: ["RECEIVABLES_READ_ONLY", "--read-only", "only tools that read"],
  discovery: [
    "RECEIVABLES_DISCOVERY",
    "--discovery",
    "list a few tools that find and call the others",
  ],
  confirm: [
    "RECEIVABLES_CONFIRM",
    "--confirm <how>",
    "token or refuse, if the host cannot ask the user",
  ],
  baseUrl: ["RECEIVABLES_BASE_URL", "--base-url <url>", "a remote platform's gateway"],
  extBaseUrl: ["RECEIVABLES_EXT_BASE_URL", "--ext-base-url <url>", "its export service"],
} as const satisfies Record<string, readonly [Name, string, string]>;

type Key = keyof typeof OPTIONS;

export const COMMON: readonly Key[] = ["data", "log"];
export const TOOLS: readonly Key[] = ["toolsets", "readOnly", "discovery", "confirm"];
export const REMOTE: readonly Key[] = ["baseUrl", "extBaseUrl", "tenantId"];
export const PROFILE: readonly Key[] = ["profile"];
export const PERSON: readonly Key[] = ["profile", "email"];

/** Creates a command with the options of its settings. */
export const createCommand = (
  name: string,
  meaning: string,
  keys: readonly Key[] = [],
): Command => {
  const made = new Command(name).description(meaning);
  for (const [setting, flags, text] of [...keys, ...COMMON].map((key) => OPTIONS[key])) {
    made.addOption(new Option(flags, `${text} (${setting})`));
  }
  return made;
};

/** Creates a command that only contains other commands. */
export const createGroup = (
  name: string,
  meaning: string,
  commands: readonly Command[],
): Command => {
  const made = new Command(name).description(meaning);
  for (const one of commands) made.addCommand(one);
  return made;
};

// An option of the same name may mean something else: --confirm of admin commands is no setting.
const isSetting = ({ options }: Command, setting: string): boolean =>
  options.some(({ description }) => description.endsWith(`(${setting})`));

/** Converts a command's options to environment settings. */
export const readSettingOptions = (self: Command): Record<string, string> => {
  const options: Record<string, unknown> = self.opts();
  return Object.fromEntries(
    Object.entries(OPTIONS).flatMap(([key, [setting]]) =>
      options[key] === undefined || !isSetting(self, setting)
        ? []
        : [[setting, String(options[key])]],
    ),
  );
};

export const parsePort = (text: string): number => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
};

/** Collects an option that may be repeated. */
export const collect = (value: string, before: string[] | undefined): string[] => [
  ...(before ?? []),
  value,
];
