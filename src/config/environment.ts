import { z } from "zod";
import { parseOrigin } from "../kit/cors.ts";
import { HEADER_WORD } from "../kit/header-word.ts";
import { LEVELS } from "../kit/log.ts";
import { findUrlFault } from "../kit/postgres/url.ts";
import { PROFILE_NAME } from "../kit/profile-name.ts";
import { isGuarded } from "../kit/network.ts";
import { FilesUrl } from "./files-url.ts";
import { CORE, RESEARCH, toolsetNames } from "../../tools/toolsets.ts";
import {
  areDelays,
  DAY_SECONDS,
  describeSetting,
  Flag,
  isScanner,
  keptDays,
  Key,
  list,
  Networks,
  rateOf,
  refuse,
  Text,
  Toolsets,
  Url,
  wholeNumber,
  ZoneName,
} from "./setting-kinds.ts";

/** Authentication methods of the MCP endpoint over HTTP. */
export const HTTP_AUTH = ["none", "static", "builtin", "issuer"] as const;

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i;
const METRICS_ADDRESS = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+):\d{1,5}$/i;

const optional = <S extends z.ZodType>(schema: S, meaning: string, shown = "unset") =>
  schema.optional().meta(describeSetting(meaning, shown));

const withDefault = <S extends z.ZodType>(
  schema: S,
  value: z.output<S>,
  meaning: string,
  shown = String(value),
) => schema.default(value as never).meta(describeSetting(meaning, shown));

/** The schema of the environment. A secret can be read from a file instead, which `…_FILE` names. */
export const Environment = z.object({
  RECEIVABLES_DATA: optional(
    Text,
    "folder of the embedded store and of sealed secrets; several processes can share it",
    "the user's data folder for the app",
  ),
  DATABASE_URL: optional(
    Text.superRefine((text, { addIssue }) => {
      const message = findUrlFault(text);
      if (message !== undefined) addIssue({ code: "custom", message });
    }),
    "PostgreSQL database of the store; of several hosts (`postgres://USER@A:5432,B:5432/NAME?target_session_attrs=read-write`) the one that accepts writes is used",
    "unset: embedded SQLite",
  ),
  RECEIVABLES_FILES_URL: FilesUrl,
  RECEIVABLES_SECRET_KEY: optional(
    Text.min(32, refuse("must have at least 32 characters")),
    "master key of sealed secrets and cursors: 32 random bytes as hex or base64, or a passphrase of at least 32 characters; all nodes must use the same one",
    "created in the data folder, mode 0600",
  ),
  RECEIVABLES_SECRET_KEY_PREVIOUS: optional(
    Text.min(32, refuse("must have at least 32 characters")),
    "the former master key during a rotation: it opens what it sealed, and seals nothing",
  ),
  RECEIVABLES_BASE_URL: optional(
    Url,
    "gateway of a remote platform for the MCP server",
    "unset: the embedded platform",
  ),
  RECEIVABLES_EXT_BASE_URL: optional(
    Url,
    "export service of a remote platform",
    "RECEIVABLES_BASE_URL",
  ),
  RECEIVABLES_TENANT_ID: optional(
    Text.max(128).regex(/^\P{C}+$/u, "must be a tenant id"),
    "the tenant that the MCP server works for",
    "`demo` when embedded",
  ),
  RECEIVABLES_API_KEY: optional(Key, "API key for the gateway; used instead of a login"),
  RECEIVABLES_EXT_API_KEY: optional(
    Key,
    "key for the export and ingest services; without one their tools are not listed",
  ),
  RECEIVABLES_EMAIL: optional(
    z.string().email("must be an e-mail address"),
    "e-mail address of the login for the gateway, used without an API key and to create API keys",
  ),
  RECEIVABLES_PASSWORD: optional(Text.max(1024), "password of that login"),
  RECEIVABLES_PROFILE: withDefault(
    Text.regex(PROFILE_NAME, "must be a name of a-z, 0-9, dot, dash and underscore"),
    "default",
    "profile that the MCP server uses; over HTTP, for callers without a profile of their own",
  ),
  RECEIVABLES_PROFILES_FILE: optional(
    Text,
    "JSON file, mode 0600, of profiles: `{NAME: {baseUrl, extBaseUrl, tenantId, apiKey, extApiKey, email, password, subjects}}`, each secret also as `…File`; a profile without baseUrl uses the embedded platform",
  ),
  RECEIVABLES_KEYCHAIN: withDefault(
    z.enum(["auto", "off"], refuse("must be auto or off")),
    "auto",
    "where `login` stores the encryption key of profiles: `auto` in the operating system's keychain if there is one, `off` never in the keychain",
  ),
  RECEIVABLES_TOOLSETS: optional(
    Toolsets,
    `comma list of ${toolsetNames.join(", ")}; or ${CORE}: insights and the tools of daily work, for hosts that take few tools; ${RESEARCH}, beside others, adds search and fetch for hosts for research`,
    "all",
  ),
  RECEIVABLES_READ_ONLY: withDefault(Flag, false, "only tools that change nothing"),
  RECEIVABLES_DISCOVERY: withDefault(
    Flag,
    false,
    "list only the insights and three tools that find, describe and call the others",
  ),
  RECEIVABLES_CONFIRM: withDefault(
    z.enum(["token", "refuse"], refuse("must be token or refuse")),
    "token",
    "how a tool confirms a change when the user can be asked neither by a form or a view of the host nor on a page of this server: `token` returns a token for a second call, `refuse` refuses the call",
  ),
  RECEIVABLES_CONFIRM_FORMS: withDefault(
    z.enum(["on", "off"], refuse("must be on or off")),
    "on",
    "`off` for hosts that announce forms and decline them by themselves: a person is asked in another way",
  ),
  RECEIVABLES_TIME_ZONE: optional(
    ZoneName,
    "time zone whose days insights count, such as Europe/Berlin, where the platform does not tell the tenant's",
    "UTC",
  ),
  RECEIVABLES_ANSWER_TOKENS: wholeNumber(
    6_000,
    [1_000, 1_000_000],
    "largest size of one tool result, in tokens",
  ),
  RECEIVABLES_LOCAL_AUDIT: optional(
    Text,
    "the MCP server's own log of tool calls; `receivables-mcp audit` reads it",
    "`audit.ndjson` in the data folder",
  ),
  RECEIVABLES_UPLOAD_FOLDERS: withDefault(
    list,
    [],
    "comma list of folders from which the upload tool may read files over stdio",
    "empty",
  ),
  RECEIVABLES_SAVE_FOLDER: optional(
    Text,
    "folder into which tables that tools save are copied over stdio",
    "unset: they are resources only",
  ),
  RECEIVABLES_REQUEST_SECONDS: wholeNumber(
    30,
    [1, 3600],
    "timeout of one platform request in seconds, including retries",
  ),
  RECEIVABLES_HEADER_WORD: optional(
    Text.regex(HEADER_WORD, "must be a word of letters and digits"),
    "the word in header names such as `X-Platform-Auth`",
    "that of the profile, else `Platform`",
  ),
  RECEIVABLES_TOKEN_IDLE_SECONDS: wholeNumber(
    900,
    [1, DAY_SECONDS],
    "seconds after which an unused session ends",
  ),
  RECEIVABLES_TOKEN_LIFETIME_SECONDS: wholeNumber(
    3600,
    [1, 7 * DAY_SECONDS],
    "seconds after its login or last verification when a session ends",
  ),
  RECEIVABLES_TOKEN_MAX_SECONDS: wholeNumber(
    43_200,
    [1, 30 * DAY_SECONDS],
    "seconds after its login when a session ends in any case",
  ),
  RECEIVABLES_KEY_INACTIVITY_DAYS: wholeNumber(
    365,
    [1, 3650],
    "days after which an unused API key expires",
  ),
  RECEIVABLES_PUBLIC_URL: optional(
    Url,
    "public base URL of this server behind a proxy: for upload and download URLs, the MCP endpoint and the sign-in",
    "from the request",
  ),
  RECEIVABLES_DOWNLOAD_SECONDS: wholeNumber(
    3600,
    [1, 7 * DAY_SECONDS],
    "lifetime of a download URL in seconds",
  ),
  RECEIVABLES_UPLOAD_SECONDS: wholeNumber(
    900,
    [1, DAY_SECONDS],
    "lifetime of an upload URL in seconds",
  ),
  RECEIVABLES_SCANNER: optional(
    Text.refine(isScanner, "must be clamd://HOST:PORT or clamd:/SOCKET"),
    "the clamd that looks for malware in uploaded files, as `clamd://host:port` or `clamd:/socket`; the built-in checks, which always run, know dangerous contents but no malware",
    "built in",
  ),
  RECEIVABLES_TENANT_FILE_MIB: wholeNumber(
    10_240,
    [1, 1_000_000_000],
    "storage quota of one tenant's files, in MiB: attachments, PDFs of documents, runs",
  ),
  RECEIVABLES_TOOLS_RATE_MINUTE: rateOf(600, "MCP tool calls a minute per caller"),
  RECEIVABLES_GATEWAY_RATE_MINUTE: rateOf(
    600,
    "gateway requests a minute per person, with all their sessions and keys",
  ),
  RECEIVABLES_LOGIN_RATE_MINUTE: rateOf(
    20,
    "logins a minute per address, and per person at an address known for them",
  ),
  RECEIVABLES_RATE_MINUTE: rateOf(1000, "export requests a minute per tenant"),
  RECEIVABLES_RATE_HOUR: rateOf(50_000, "export requests an hour per tenant"),
  RECEIVABLES_EXPORT_RETENTION_DAYS: keptDays(30, "the rows of a completed export run"),
  RECEIVABLES_AUDIT_READS: withDefault(
    z.enum(["mcp", "all"], refuse("must be mcp or all")),
    "mcp",
    "reads in the audit log: those of MCP tools (`mcp`), or `all`",
  ),
  RECEIVABLES_AUDIT_RETENTION_DAYS: keptDays(400, "entries of the audit log"),
  RECEIVABLES_TRUSTED_PROXIES: withDefault(
    Networks,
    [],
    "comma list of networks (CIDR) of proxies whose X-Forwarded-For is trusted",
    "empty",
  ),
  RECEIVABLES_WEBHOOK_DELAYS_SECONDS: withDefault(
    list
      .refine(
        areDelays,
        "must be four whole numbers of seconds up to 86400, with commas between them",
      )
      .transform((seconds) => seconds.map(Number)),
    [30, 60, 120, 300],
    "seconds before a webhook's attempts 2 to 5",
  ),
  RECEIVABLES_WEBHOOK_ALLOW: withDefault(
    Networks,
    [],
    "comma list of non-public networks (CIDR) that webhooks may call, also over http",
    "empty",
  ),
  RECEIVABLES_HTTP_HOSTS: optional(
    list.refine(
      (hosts) => hosts.every((host) => HOST.test(host)),
      "must be a comma list of host names",
    ),
    "comma list of Host values of the MCP endpoint that are accepted besides loopback names and the server's own address",
    "empty",
  ),
  RECEIVABLES_HTTP_ORIGINS: optional(
    list
      .refine(
        (origins) => origins.every((origin) => parseOrigin(origin) !== undefined),
        "must be a comma list of origins such as https://host.example",
      )
      .transform((origins) => origins.flatMap((origin) => parseOrigin(origin) ?? [])),
    "comma list of Origin values of the MCP endpoint, by scheme, name and port, that are accepted besides loopback names and the server's own address",
    "empty",
  ),
  RECEIVABLES_HTTP_AUTH: optional(
    z.enum(HTTP_AUTH, refuse(`must be one of ${HTTP_AUTH.join(", ")}`)),
    "how clients authenticate over HTTP: `none`, `static` tokens, the `builtin` sign-in, or tokens of an `issuer`",
    "`none` on loopback with the demo tenant, `issuer` if RECEIVABLES_OAUTH_ISSUER is set, else `static`",
  ),
  RECEIVABLES_HTTP_TOKENS_FILE: optional(
    Text,
    "file, mode 0600, of static tokens, one per line: `TOKEN PROFILE SCOPES`; the scopes are a comma list of read, write and admin",
    "`http-tokens` in the data folder, created with one token that is shown once",
  ),
  RECEIVABLES_EXT_API_KEYS_FILE: optional(
    Text,
    "JSON file, mode 0600: `{TENANT: {apiKey, roles: [ROLE, …]}}`, or `apiKeyFile`: with the `builtin` sign-in, people with a role that is named use the export and ingest tools of their tenant with that key",
  ),
  RECEIVABLES_OPERATOR_NAME: optional(
    Text.max(80).regex(/^\P{C}+$/u, "must be one line of at most 80 characters"),
    "who runs the server, as its pages for people say it",
    "the platform's host name, if it is a public one",
  ),
  RECEIVABLES_OPERATOR_LOGO: optional(
    Text,
    "logo of the pages for people: a PNG, SVG or WebP file of at most 64 KiB",
    "the mark of the program",
  ),
  RECEIVABLES_OAUTH_REGISTRATION: withDefault(
    Flag,
    false,
    "allow dynamic client registration (RFC 7591) at the `builtin` sign-in, for hosts without a client metadata document",
  ),
  RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE: optional(
    Text,
    "JSON file, mode 0600, of the company's identity providers whose assertions (ID-JAG, RFC 7523) the `builtin` sign-in accepts: `[{issuer, audience, claim, clients, emailVerified}]`",
  ),
  RECEIVABLES_SIGN_IN_ISSUER: optional(
    Url.refine(isGuarded, "must be an https URL, or one of this machine"),
    "the company's OpenID provider at which people sign in with the `builtin` sign-in",
  ),
  RECEIVABLES_SIGN_IN_CLIENT_ID: optional(
    Text.max(512),
    "this server's client id at RECEIVABLES_SIGN_IN_ISSUER",
  ),
  RECEIVABLES_SIGN_IN_CLIENT_SECRET: optional(Text.max(1024), "client secret for that client id"),
  RECEIVABLES_SIGN_IN_PASSWORDS: withDefault(
    Flag,
    true,
    "`false`: the `builtin` sign-in accepts no passwords, only RECEIVABLES_SIGN_IN_ISSUER",
  ),
  RECEIVABLES_OAUTH_ISSUER: optional(
    Url.refine(isGuarded, "must be an https URL, or one of this machine"),
    "OAuth or OpenID Connect issuer whose access tokens are accepted",
  ),
  RECEIVABLES_OAUTH_AUDIENCE: optional(
    Text.max(512).regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces"),
    "audience (`aud`) that the issuer's tokens must have",
    "the address of the MCP endpoint",
  ),
  RECEIVABLES_OAUTH_CLIENT_ID: optional(
    Text.max(512),
    "OAuth client id for token introspection (RFC 7662), used for opaque tokens",
  ),
  RECEIVABLES_OAUTH_CLIENT_SECRET: optional(
    Text.max(1024),
    "client secret for token introspection",
  ),
  RECEIVABLES_OAUTH_PERSON_CLAIM: optional(
    Text.max(128).regex(/^[\x21-\x7e]+$/, "must be the name of a claim"),
    "claim of the issuer's tokens with the e-mail address of a person of the embedded platform, such as `email`; for people whose subject no profile lists",
  ),
  RECEIVABLES_METRICS_ADDRESS: optional(
    Text.regex(METRICS_ADDRESS, "must be HOST:PORT"),
    "address of `/metrics` in Prometheus' format, as `HOST:PORT`, for `platform` and `http`; it has no authentication",
    "unset: off",
  ),
  RECEIVABLES_LOG: optional(
    z.enum([...LEVELS, "json"], refuse(`must be one of ${LEVELS.join(", ")}, json`)),
    "level of the log on stderr: JSON lines, at a terminal lines of text; `json` gives JSON lines at a terminal, too",
    "`info`; for servers at a terminal `warn`",
  ),
});
export type Environment = z.output<typeof Environment>;
export type Name = keyof Environment;

/** Settings whose value can be read from a file, which `NAME_FILE` names. */
export const FROM_FILE = [
  "RECEIVABLES_SECRET_KEY",
  "RECEIVABLES_SECRET_KEY_PREVIOUS",
  "RECEIVABLES_API_KEY",
  "RECEIVABLES_EXT_API_KEY",
  "RECEIVABLES_EMAIL",
  "RECEIVABLES_PASSWORD",
  "RECEIVABLES_OAUTH_CLIENT_SECRET",
  "RECEIVABLES_SIGN_IN_CLIENT_SECRET",
] as const satisfies readonly Name[];
