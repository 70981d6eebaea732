import { type Command, Option } from "commander";
import { SCOPES } from "../../contract/permissions.ts";
import { collect, createGroup, type Define, fromModule } from "./program-parts.ts";

const admin = fromModule(() => import("../commands/admin.ts"));
const evidence = fromModule(() => import("../commands/evidence.ts"));
const accounts = fromModule(() => import("../commands/accounts.ts"));
const demo = fromModule(() => import("../commands/demo.ts"));
const data = fromModule(() => import("../commands/data.ts"));
const backup = fromModule(() => import("../commands/backup.ts"));
const clients = fromModule(() => import("../commands/clients.ts"));
const payments = fromModule(() => import("../commands/payments.ts"));
const rotation = fromModule(() => import("../commands/rotate.ts"));

const GRANT = 'a permission such as "Dispute Management : READ"; may be repeated';
const SWITCHES = "requireResolutionOnClose, requireKnownDocument, requireKnownAccount";
const TENANT = ["--tenant <id>", "the tenant"] as const;
const ONLY_TENANT = ["--tenant <id>", "only of this tenant"] as const;
const CONFIRM = ["--confirm <name>", "the name again; without it nothing is deleted"] as const;
const EMAIL = ["--email <address>", "the user's e-mail address"] as const;
const MEMBER = ["--tenant <id>", "a tenant that the user must belong to"] as const;

const createTenantCommands = (define: Define): Command =>
  createGroup("tenant", "Tenants.", [
    define("create", "Create a tenant.", admin("runTenantCreate"))
      .argument("<id>", "1 to 64 of a-z, 0-9 and -")
      .requiredOption("--name <name>")
      .addOption(
        new Option("--currency-model <model>").choices(["basic", "extended"]).default("basic"),
      )
      .option("--currency <code>", "ISO 4217 code", "USD"),
    define("show", "Show a tenant.", admin("runTenantShow")).argument("<id>"),
    define("set", "Change a tenant's settings.", admin("runTenantSet"))
      .argument("<id>")
      .argument(
        "<pair...>",
        `KEY=true or KEY=false for ${SWITCHES}; timeZone=NAME, such as Europe/Berlin`,
      ),
    define("list", "List the tenants, one per line.", accounts("runTenantList")),
    define("export", "Write everything of a tenant to a new folder.", accounts("runTenantExport"))
      .argument("<id>")
      .argument("<folder>"),
    define(
      "pause",
      "Refuse changes of a tenant that is being moved, until it is resumed.",
      accounts("runTenantPause"),
    ).argument("<id>"),
    define("resume", "Let a paused tenant go on.", accounts("runTenantResume")).argument("<id>"),
    define(
      "delete",
      "Delete a tenant with its records, files, keys, stored secrets and audit log.",
      accounts("runTenantDelete"),
    )
      .argument("<id>")
      .option(...CONFIRM),
  ]);

const createRoleCommands = (define: Define): Command =>
  createGroup("role", "Roles of a tenant.", [
    define("create", "Create a role.", admin("runRoleCreate"))
      .requiredOption(...TENANT)
      .requiredOption("--name <name>")
      .requiredOption("--grant <permission>", GRANT, collect),
    define("list", "List a tenant's roles, one per line.", accounts("runRoleList")).requiredOption(
      ...TENANT,
    ),
    define("update", "Rename a role or replace its permissions.", accounts("runRoleUpdate"))
      .requiredOption(...TENANT)
      .requiredOption("--name <name>", "its present name")
      .option("--rename <name>", "its new name")
      .option("--grant <permission>", GRANT, collect),
    define("delete", "Delete a role that no user has.", accounts("runRoleDelete"))
      .requiredOption(...TENANT)
      .requiredOption("--name <name>")
      .option(...CONFIRM),
  ]);

const createUserCommands = (define: Define): Command =>
  createGroup("user", "Users of a tenant.", [
    define(
      "create",
      "Add a user; the password is read from standard input.",
      admin("runUserCreate"),
    )
      .requiredOption(...TENANT)
      .requiredOption(
        "--email <address>",
        "an existing user is added to the tenant and keeps the password",
      )
      .requiredOption("--first-name <name>")
      .requiredOption("--last-name <name>")
      .requiredOption("--role <name>", "may be repeated", collect),
    define(
      "update",
      "Change a user's roles or status; effective at the next request.",
      admin("runUserUpdate"),
    )
      .requiredOption(...TENANT)
      .requiredOption("--email <address>")
      .option("--role <name>", "may be repeated; together they replace the roles", collect)
      .addOption(new Option("--status <status>").choices(["Active", "Inactive"])),
    define("list", "List the users of all tenants, one per line.", accounts("runUserList")).option(
      ...ONLY_TENANT,
    ),
    define(
      "set-password",
      "Set a password, read from standard input; ends the user's sessions and API keys.",
      accounts("runSetPassword"),
    )
      .requiredOption(...EMAIL)
      .option(...MEMBER),
    define(
      "reset-link",
      "Print a link, good once for 30 minutes, with which the person sets a password.",
      accounts("runResetLink"),
    )
      .requiredOption(...EMAIL)
      .option(...MEMBER),
    define("export", "Print what is stored about one person, as JSON.", accounts("runUserExport"))
      .requiredOption(...EMAIL)
      .option(...MEMBER),
    define("delete", "Delete a user and the person's data.", accounts("runUserDelete"))
      .requiredOption(...EMAIL)
      .option("--tenant <id>", "only from this tenant; the last one deletes the person")
      .option(...CONFIRM),
  ]);

const createConfigurationCommands = (define: Define): Command[] => [
  createGroup("reason", "Reasons of a tenant.", [
    define(
      "set",
      "Set the days within which disputes with a reason are to be decided.",
      admin("runReasonSet"),
    )
      .requiredOption(...TENANT)
      .requiredOption("--category <code>")
      .requiredOption("--code <code>")
      .requiredOption("--days <number>", "from the creation; none: those of the tenant"),
  ]),
  createGroup("resolution", "Resolutions of a tenant.", [
    define(
      "set",
      "Choose whether a resolution closes the disputes of a document that closes.",
      admin("runResolutionSet"),
    )
      .requiredOption(...TENANT)
      .requiredOption("--code <code>")
      .addOption(
        new Option("--apply-when-invoice-closed <truth>")
          .choices(["true", "false"])
          .makeOptionMandatory(),
      ),
  ]),
  createGroup("route", "Default assignees of categories.", [
    define("set", "Set a category's default assignee.", admin("runRouteSet"))
      .requiredOption(...TENANT)
      .requiredOption("--category <code>")
      .requiredOption("--assignee <email>"),
  ]),
];

const createKeyCommands = (define: Define): Command =>
  createGroup("key", "Export and ingest keys.", [
    define("issue", "Issue a key; it is shown once.", admin("runKeyIssue"))
      .requiredOption(...TENANT)
      .requiredOption("--name <name>")
      .option("--scopes <list>", `comma list of ${SCOPES.join(", ")}; all by default`),
    define("revoke", "Revoke a key.", admin("runKeyRevoke")).argument("<key-id>"),
    define(
      "list",
      "List the keys without their text, one per line.",
      accounts("runKeyList"),
    ).option(...ONLY_TENANT),
  ]);

const PUBLIC_KEY = ["--public-key <file>", "a public key in PEM"] as const;
const JWKS = ["--jwks <file>", "a JWK set of public keys"] as const;
const SECRET = ["--secret", "create a secret instead, which is shown once"] as const;

const createClientCommands = (define: Define): Command =>
  createGroup("client", "OAuth clients: programs that call without a person.", [
    define("create", "Create a client with the rights of a role.", clients("runClientCreate"))
      .requiredOption(...TENANT)
      .requiredOption("--name <name>")
      .requiredOption("--role <name>")
      .option(...PUBLIC_KEY)
      .option(...JWKS)
      .option(...SECRET),
    define("list", "List the clients, one per line.", clients("runClientList")).option(
      ...ONLY_TENANT,
    ),
    define(
      "rotate",
      "Replace a client's credential; ends the tokens of the former one.",
      clients("runClientRotate"),
    )
      .argument("<client-id>")
      .option(...PUBLIC_KEY)
      .option(...JWKS)
      .option(...SECRET),
    define("delete", "Delete a client; ends its tokens.", clients("runClientDelete")).argument(
      "<client-id>",
    ),
  ]);

const createAuditCommands = (define: Define): Command =>
  createGroup("audit", "The audit log of a tenant.", [
    define(
      "verify",
      "Check that no entry was altered, removed, added or moved; exit status 1 if so.",
      admin("runAuditVerify"),
    )
      .argument("<id>")
      .option("--head <file>", "compare with a stored head; - is standard input"),
    define(
      "head",
      "Print the signed end of the log, to store outside the database.",
      evidence("runAuditHead"),
    ).argument("<id>"),
    define(
      "key",
      "Print the public key with which others check evidence.",
      evidence("runAuditKey"),
    ).option("--rotate", "replace the key first; what it signed stays valid"),
    define(
      "evidence",
      "Write the entries of some days to a new file that others can check with the public key.",
      evidence("runAuditEvidence"),
    )
      .argument("<id>")
      .argument("<file>")
      .requiredOption("--from <day>", "the first day, in the tenant's time zone")
      .requiredOption("--to <day>", "the last day"),
  ]);

const DOUBT = ["<doubt-id>", "the id of the line in the list"] as const;

const createDoubtCommands = (define: Define): Command =>
  createGroup("doubtful", "Payments that may repeat another payment.", [
    define("list", "List them, one per line.", payments("runDoubtList")).argument(
      "<id>",
      "the tenant",
    ),
    define("same", "Remove a payment that repeats another one.", payments("runDoubtSame"))
      .argument("<id>", "the tenant")
      .argument(...DOUBT),
    define("different", "Keep a payment as one of its own.", payments("runDoubtDifferent"))
      .argument("<id>", "the tenant")
      .argument(...DOUBT),
  ]);

const createPaymentCommands = (define: Define): Command =>
  createGroup("payments", "Payments of a tenant.", [
    define(
      "match",
      "Match payments that have unapplied money with the documents that they name.",
      payments("runPaymentsMatch"),
    ).argument("<id>"),
    createDoubtCommands(define),
  ]);

const createStoreCommands = (define: Define): Command[] => [
  createGroup("demo", "The demo tenant.", [
    define("create", "Create it in a store that does not have it.", demo("runDemoCreate")),
    define(
      "reset",
      "Delete it with all changes, and create it again with the dates of today.",
      demo("runDemoReset"),
    ).option("--confirm <id>", "the tenant's id, demo"),
    define(
      "key",
      "Create keys for the REST API of the demo tenant; they are shown once.",
      demo("runDemoKey"),
    ),
  ]),
  createGroup("data", "The data folder.", [
    define(
      "remove",
      "Remove everything that this program stored on this machine; servers must be stopped.",
      data("removeData"),
    ).option("--confirm <folder>", "the path of the data folder"),
  ]),
  createGroup("files", "The file store.", [
    define(
      "adopt",
      "Record the file store of RECEIVABLES_FILES_URL as the database's, after its files were copied there.",
      admin("runFilesAdopt"),
    ),
  ]),
  define(
    "backup",
    "Copy the embedded store and its files, also while servers run.",
    backup("backUp"),
  ).argument("<folder>", "a folder that is empty, or does not exist yet"),
  define(
    "restore",
    "Restore a backup into a data folder that has no tenant.",
    backup("restore"),
  ).argument("<folder>", "the folder of the backup"),
  createGroup("secrets", "The master key.", [
    define(
      "rotate",
      "Seal again what RECEIVABLES_SECRET_KEY_PREVIOUS sealed, also while servers run; repeatable.",
      rotation("rotateSecrets"),
    ),
  ]),
];

export const createAdminCommand = (define: Define): Command =>
  createGroup(
    "admin",
    "Set up tenants, roles, users, routes, keys and clients, and check audit logs, also while servers run.",
    [
      createTenantCommands(define),
      createRoleCommands(define),
      createUserCommands(define),
      ...createConfigurationCommands(define),
      createKeyCommands(define),
      createClientCommands(define),
      createAuditCommands(define),
      createPaymentCommands(define),
      ...createStoreCommands(define),
    ],
  );
