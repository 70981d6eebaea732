import { Command, InvalidArgumentError, Option } from "commander";
import type { Name } from "../../config/environment.ts";
import type { Io } from "../commands/io.ts";

/** A command's own code. It receives the command's arguments, then its options. */
export type Act = (io: Io, ...given: never[]) => Promise<unknown>;

/** Reads the settings for a command and runs it. */
export type Run = (
  self: Command,
  act: (io: Io) => Promise<unknown>,
  /** Whether the command itself reports unknown settings; for all others they stop the start. */
  acceptsUnknown: boolean,
) => Promise<unknown>;

/** Settings that can also be given as an option, which takes precedence. */
const OPTIONS = {
  data: ["RECEIVABLES_DATA", "--data <folder>", "the data folder"],
  log: ["RECEIVABLES_LOG", "--log <level>", "level of the log on stderr, or json"],
  tenantId: ["RECEIVABLES_TENANT_ID", "--tenant-id <id>", "the tenant to work for"],
  profile: ["RECEIVABLES_PROFILE", "--profile <name>", "the profile"],
  email: ["RECEIVABLES_EMAIL", "--email <address>", "e-mail address of the login"],
  toolsets: [
    "RECEIVABLES_TOOLSETS",
    "--toolsets <list>",
    "comma list of toolsets, or core, or all",
  ],
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
  headerWord: [
    "RECEIVABLES_HEADER_WORD",
    "--header-word <word>",
    "the word in the platform's header names",
  ],
  extBaseUrl: ["RECEIVABLES_EXT_BASE_URL", "--ext-base-url <url>", "its export service"],
} as const satisfies Record<string, readonly [Name, string, string]>;

type Key = keyof typeof OPTIONS;

const COMMON: readonly Key[] = ["data", "log"];
export const REMOTE: readonly Key[] = ["baseUrl", "extBaseUrl", "headerWord", "tenantId"];
/** The settings of an MCP server. */
export const SERVER: readonly Key[] = [
  "profile",
  "toolsets",
  "readOnly",
  "discovery",
  "confirm",
  ...REMOTE,
];
export const PERSON: readonly Key[] = ["profile", "email"];

/** Creates a command with the options of its settings. */
export type Define = (
  name: string,
  meaning: string,
  act: Act,
  more?: { settings?: readonly Key[]; acceptsUnknown?: boolean },
) => Command;

export const createDefine =
  (run: Run): Define =>
  (name, meaning, act, { settings = [], acceptsUnknown = false } = {}) => {
    const made = new Command(name).description(meaning);
    for (const [setting, flags, text] of [...settings, ...COMMON].map((key) => OPTIONS[key])) {
      made.addOption(new Option(flags, `${text} (${setting})`));
    }
    return made.action(async (...given: unknown[]) => {
      // The last one is the command itself.
      const own = given.slice(0, -1) as never[];
      await run(made, (io) => act(io, ...own), acceptsUnknown);
    });
  };

/** The names of a module's functions that a command can be. */
type ActName<M> = { [Name in keyof M]: M[Name] extends Act ? Name : never }[keyof M];

/** Returns a function that makes a function of a module, by its name, a command's code. It is loaded when it runs. */
export const fromModule =
  <M>(load: () => Promise<M>) =>
  (name: ActName<M>): Act =>
  async (io, ...given) =>
    ((await load())[name] as Act)(io, ...given);

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

/** An empty address, as of a variable that is not set, would be all addresses of this machine. */
export const parseHost = (text: string): string => {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("It must be an address or a name of this machine.");
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
