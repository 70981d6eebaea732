import { join, resolve } from "node:path";
import { DEFAULT_HEADER_WORD } from "../kit/header-word.ts";
import { DAY, SECOND } from "../kit/clock.ts";
import { getCode } from "../kit/error.ts";
import { findProxyFaults, type Proxies, readProxies } from "../kit/proxy.ts";
import { toSecret } from "../kit/secret.ts";
import { CORE, coreToolsets, RESEARCH, toolsetNames } from "../../tools/toolsets.ts";
import { Environment, FROM_FILE } from "./environment.ts";
import { toFilesLocation } from "./files-url.ts";
import type { Credentials, Settings } from "./settings.ts";
import { trimEndOf } from "../kit/text.ts";

export type Remote = { gateway: string; export: string };

/** Requests per minute of one address to operations that need no credential. */
const VISITS_PER_MINUTE = 60;

/** All faults of the settings, one line each; values are not included, as they may be secret. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.name = "ConfigError";
    this.faults = faults;
  }
}

export type Sources = {
  env: Record<string, string | undefined>;
  /** Reads the text of a file that a setting names. */
  readFile: (path: string) => string;
  /** The default data folder. */
  dataFolder: string;
};

type Values = Record<string, string>;

// Claude Desktop passes the placeholder itself when the user left a field empty.
const isUnset = (value: string): boolean =>
  value.trim() === "" || /^\s*\$\{user_config\.[^}]*\}\s*$/.test(value);

const selectSettings = (env: Sources["env"]): Values =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || isUnset(value) || !/^(RECEIVABLES_|DATABASE_URL$)/.test(name)
        ? []
        : [[name, value]],
    ),
  );

const readSettingFile = (
  name: string,
  values: Values,
  readFile: Sources["readFile"],
): { value?: string; fault?: string } => {
  const path = values[`${name}_FILE`];
  if (path === undefined) return {};
  if (name in values) return { fault: `${name} and ${name}_FILE are both set: choose one` };
  try {
    const value = trimEndOf(readFile(path).replace(/^\uFEFF/, ""), "\r\n");
    return value === "" ? { fault: `${name}_FILE names an empty file` } : { value };
  } catch (error) {
    const code = getCode(error);
    const reason = code === undefined ? "" : ` (${code})`;
    return { fault: `${name}_FILE names a file that cannot be read${reason}` };
  }
};

/** Adds the values of `…_FILE` settings; returns the faults of those files too. */
const withFiles = (values: Values, readFile: Sources["readFile"]): [Values, string[]] => {
  const found = { ...values };
  const faults: string[] = [];
  for (const name of FROM_FILE) {
    const { value, fault } = readSettingFile(name, values, readFile);
    if (fault !== undefined) faults.push(fault);
    if (value !== undefined) found[name] = value;
  }
  return [found, faults];
};

export const knownSettings: readonly string[] = [
  ...Object.keys(Environment.shape),
  ...FROM_FILE.map((name) => `${name}_FILE`),
];

/** The settings of the platform. */
const toPlatformConfig = (env: Environment) => ({
  lifetimes: {
    sessionIdle: env.RECEIVABLES_TOKEN_IDLE_SECONDS * SECOND,
    sessionNominal: env.RECEIVABLES_TOKEN_LIFETIME_SECONDS * SECOND,
    sessionLongest: env.RECEIVABLES_TOKEN_MAX_SECONDS * SECOND,
    keyInactivity: env.RECEIVABLES_KEY_INACTIVITY_DAYS * DAY,
  },
  limits: {
    gatewayPerMinute: env.RECEIVABLES_GATEWAY_RATE_MINUTE,
    loginPerMinute: env.RECEIVABLES_LOGIN_RATE_MINUTE,
    visitorPerMinute: VISITS_PER_MINUTE,
    exportPerMinute: env.RECEIVABLES_RATE_MINUTE,
    exportPerHour: env.RECEIVABLES_RATE_HOUR,
  },
  auditReads: env.RECEIVABLES_AUDIT_READS,
  retention: {
    auditLogs: env.RECEIVABLES_AUDIT_RETENTION_DAYS * DAY,
    exportRuns: env.RECEIVABLES_EXPORT_RETENTION_DAYS * DAY,
  },
  webhooks: {
    delaysMs: env.RECEIVABLES_WEBHOOK_DELAYS_SECONDS.map((seconds) => seconds * SECOND),
    allow: env.RECEIVABLES_WEBHOOK_ALLOW,
  },
  urlLives: {
    upload: env.RECEIVABLES_UPLOAD_SECONDS * SECOND,
    download: env.RECEIVABLES_DOWNLOAD_SECONDS * SECOND,
  },
  scanner: env.RECEIVABLES_SCANNER,
  tenantFileBytes: env.RECEIVABLES_TENANT_FILE_MIB * 1024 * 1024,
});

const toRemote = ({
  RECEIVABLES_BASE_URL: gateway,
  RECEIVABLES_EXT_BASE_URL: exportUrl,
}: Environment): Remote | undefined =>
  gateway === undefined ? undefined : { gateway, export: exportUrl ?? gateway };

const toSettings = (env: Environment): Settings => ({
  ...toToolsets(env.RECEIVABLES_TOOLSETS),
  readOnly: env.RECEIVABLES_READ_ONLY,
  discovery: env.RECEIVABLES_DISCOVERY,
  confirm: env.RECEIVABLES_CONFIRM,
  timeZone: env.RECEIVABLES_TIME_ZONE,
  confirmForms: env.RECEIVABLES_CONFIRM_FORMS === "on",
  answerTokens: env.RECEIVABLES_ANSWER_TOKENS,
  callsPerMinute: env.RECEIVABLES_TOOLS_RATE_MINUTE,
});

const toCredentials = (env: Environment): Credentials => ({
  apiKey: toSecret(env.RECEIVABLES_API_KEY),
  extApiKey: toSecret(env.RECEIVABLES_EXT_API_KEY),
  email: env.RECEIVABLES_EMAIL,
  password: toSecret(env.RECEIVABLES_PASSWORD),
});

/** `log.own` is the level that the settings give. */
const toLogConfig = ({ RECEIVABLES_LOG: given }: Environment) => {
  const own = given === "json" ? "info" : given;
  return { level: own ?? "info", log: { own, isJson: given === "json" } } as const;
};

const toConfig = (env: Environment, dataFolder: string, unused: string[]) => ({
  dataFolder,
  secretKey: toSecret(env.RECEIVABLES_SECRET_KEY),
  /** The former master key during a rotation. */
  previousSecretKey: toSecret(env.RECEIVABLES_SECRET_KEY_PREVIOUS),
  /** Undefined: SQLite in the data folder. */
  databaseUrl: toSecret(env.DATABASE_URL),
  files: toFilesLocation(env.RECEIVABLES_FILES_URL ?? join(dataFolder, "files")),
  /** Undefined: the embedded platform. */
  remote: toRemote(env),
  /** The profile with the platform's address and credentials; settings in the environment override it. */
  profile: env.RECEIVABLES_PROFILE,
  profilesFile: env.RECEIVABLES_PROFILES_FILE,
  keychain: env.RECEIVABLES_KEYCHAIN,
  tenantId: env.RECEIVABLES_TENANT_ID,
  credentials: toCredentials(env),
  mcp: toSettings(env),
  /** The file of the log of tool calls. */
  localAudit: resolve(env.RECEIVABLES_LOCAL_AUDIT ?? join(dataFolder, "audit.ndjson")),
  /** Folders from which tools may send files, where the host is on this machine. */
  uploadFolders: env.RECEIVABLES_UPLOAD_FOLDERS.map((folder) => resolve(folder)),
  /** The folder for copies of saved tables, where the host is on this machine. */
  saveFolder: env.RECEIVABLES_SAVE_FOLDER && resolve(env.RECEIVABLES_SAVE_FOLDER),
  requestMs: env.RECEIVABLES_REQUEST_SECONDS * SECOND,
  headerWord: env.RECEIVABLES_HEADER_WORD ?? DEFAULT_HEADER_WORD,
  /** The word that the settings give: it takes precedence over that of a profile. */
  ownHeaderWord: env.RECEIVABLES_HEADER_WORD,
  ...toPlatformConfig(env),
  trustedProxies: env.RECEIVABLES_TRUSTED_PROXIES,
  publicUrl: env.RECEIVABLES_PUBLIC_URL,
  http: {
    hosts: env.RECEIVABLES_HTTP_HOSTS,
    origins: env.RECEIVABLES_HTTP_ORIGINS,
    auth: env.RECEIVABLES_HTTP_AUTH,
    tokensFile: env.RECEIVABLES_HTTP_TOKENS_FILE,
    exportKeysFile: env.RECEIVABLES_EXT_API_KEYS_FILE,
    identityProvidersFile: env.RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE,
    registration: env.RECEIVABLES_OAUTH_REGISTRATION,
    /** The company's OpenID provider; undefined: people sign in with passwords only. */
    company: toCompany(env),
    passwords: env.RECEIVABLES_SIGN_IN_PASSWORDS,
  },
  operator: { name: env.RECEIVABLES_OPERATOR_NAME, logo: env.RECEIVABLES_OPERATOR_LOGO },
  /** Undefined: no tokens of an issuer are accepted. */
  issuer: toIssuerSettings(env),
  metricsAddress: env.RECEIVABLES_METRICS_ADDRESS,
  ...toLogConfig(env),
  /** Names in the environment that begin like a setting but are unknown. */
  unused,
});

/** All settings, parsed; times are in milliseconds. `Environment` describes each. */
export type Config = ReturnType<typeof toConfig> & { network: Network };

/** The settings of outgoing requests in the environment: proxies, and additional certificate authorities. */
export type Network = { proxies: Proxies; caFile: string | undefined; usesSystemCa: boolean };

const toNetwork = (env: Sources["env"]): Network => ({
  proxies: readProxies(env),
  caFile: env["NODE_EXTRA_CA_CERTS"] || undefined,
  usesSystemCa: env["NODE_USE_SYSTEM_CA"] === "1",
});

/** The issuer whose access tokens are accepted over HTTP. */
export type IssuerSettings = NonNullable<Config["issuer"]>;

const toIssuerSettings = (env: Environment) =>
  env.RECEIVABLES_OAUTH_ISSUER === undefined
    ? undefined
    : {
        url: env.RECEIVABLES_OAUTH_ISSUER,
        audience: env.RECEIVABLES_OAUTH_AUDIENCE,
        personClaim: env.RECEIVABLES_OAUTH_PERSON_CLAIM,
        clientId: env.RECEIVABLES_OAUTH_CLIENT_ID,
        clientSecret: toSecret(env.RECEIVABLES_OAUTH_CLIENT_SECRET),
      };

const toCompany = ({
  RECEIVABLES_SIGN_IN_ISSUER: issuer,
  RECEIVABLES_SIGN_IN_CLIENT_ID: clientId,
  RECEIVABLES_SIGN_IN_CLIENT_SECRET: secret,
}: Environment) => {
  const clientSecret = toSecret(secret);
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    return undefined;
  }
  return { issuer, clientId, clientSecret };
};

/** Returns faults of the settings of sign-in at the company that are set without each other. */
const checkSignInSettings = (values: Values): string[] => {
  const names = ["ISSUER", "CLIENT_ID", "CLIENT_SECRET"].map(
    (name) => `RECEIVABLES_SIGN_IN_${name}`,
  );
  const missing = names.filter((name) => !(name in values));
  if (missing.length === names.length) {
    return "RECEIVABLES_SIGN_IN_PASSWORDS" in values
      ? ["RECEIVABLES_SIGN_IN_PASSWORDS is set without RECEIVABLES_SIGN_IN_ISSUER"]
      : [];
  }
  return missing.length === 0
    ? []
    : [`${names.join(", ")} belong together: ${missing.join(", ")} is missing`];
};

const toToolsets = (chosen = ["all"]): Pick<Settings, "toolsets" | "coreOf" | "research"> => {
  const research = chosen.includes(RESEARCH);
  if (chosen.includes("all")) return { toolsets: toolsetNames, research };
  if (!chosen.includes(CORE)) {
    return { toolsets: toolsetNames.filter((name) => chosen.includes(name)), research };
  }
  const coreOf = coreToolsets.filter((name) => !chosen.includes(name));
  const enabled = new Set<string>(["insights", ...coreToolsets, ...chosen]);
  return { toolsets: toolsetNames.filter((name) => enabled.has(name)), coreOf, research };
};

/** Returns faults of issuer settings that are set without each other. */
const checkIssuerSettings = (values: Values): string[] => {
  const has = (name: string): boolean => `RECEIVABLES_OAUTH_${name}` in values;
  const lacking = ["AUDIENCE", "CLIENT_ID", "CLIENT_SECRET", "PERSON_CLAIM"]
    .filter((name) => has(name) && !has("ISSUER"))
    .map((name) => `RECEIVABLES_OAUTH_${name} is set without RECEIVABLES_OAUTH_ISSUER`);
  if (has("CLIENT_ID") !== has("CLIENT_SECRET")) {
    lacking.push("RECEIVABLES_OAUTH_CLIENT_ID and RECEIVABLES_OAUTH_CLIENT_SECRET belong together");
  }
  if (values["RECEIVABLES_HTTP_AUTH"] === "issuer" && !has("ISSUER")) {
    lacking.push("RECEIVABLES_HTTP_AUTH is issuer without RECEIVABLES_OAUTH_ISSUER");
  }
  return lacking;
};

// Compiling the schema costs more than it saves in a single parse.
const PARSED_ONCE = { jitless: true };

/** Returns the names that begin like a setting but are none. */
export const findUnknownSettings = (env: Sources["env"]): string[] =>
  Object.keys(selectSettings(env)).filter((name) => !knownSettings.includes(name));

/** Parses the settings. @throws {ConfigError} with all faults */
export const readConfig = ({ env, readFile, dataFolder }: Sources): Config => {
  const named = selectSettings(env);
  const [values, faults] = withFiles(named, readFile);
  const { data, error } = Environment.safeParse(values, PARSED_ONCE);
  faults.push(
    ...(error?.issues ?? []).map((issue) => `${issue.path.map(String).join(".")} ${issue.message}`),
  );
  if (values["RECEIVABLES_EXT_BASE_URL"] !== undefined && !("RECEIVABLES_BASE_URL" in values)) {
    faults.push("RECEIVABLES_EXT_BASE_URL is set without RECEIVABLES_BASE_URL");
  }
  const { RECEIVABLES_SECRET_KEY: key, RECEIVABLES_SECRET_KEY_PREVIOUS: previous } = values;
  if (previous !== undefined && previous.trim() === key?.trim()) {
    faults.push("RECEIVABLES_SECRET_KEY_PREVIOUS is the current master key: set the former one");
  }
  faults.push(
    ...checkIssuerSettings(values),
    ...checkSignInSettings(values),
    ...findProxyFaults(readProxies(env)),
  );
  if (data === undefined || faults.length > 0) throw new ConfigError(faults);
  const folder = resolve(data.RECEIVABLES_DATA ?? dataFolder);
  return { ...toConfig(data, folder, findUnknownSettings(env)), network: toNetwork(env) };
};

/** The name, default and meaning of every setting, for documents and help. */
export const settings: readonly { name: string; default: string; meaning: string }[] =
  Object.entries(Environment.shape).map(([name, schema]) => {
    const { description, shown } = schema.meta() ?? {};
    const asFile = (FROM_FILE as readonly string[]).includes(name);
    return {
      name: asFile ? `${name}, …_FILE` : name,
      default: String(shown),
      meaning: String(description),
    };
  });
