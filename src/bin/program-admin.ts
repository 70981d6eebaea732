import { type Command, Option } from "commander";
import {
  createKeyListCommand,
  createRoleAccountCommands,
  createTenantAccountCommands,
  createUserAccountCommands,
  TENANT,
} from "./program-accounts.ts";
import { createKeepingCommands } from "./program-keeping.ts";
import { type Run, createGroup, createCommand, collect } from "./program-parts.ts";

const load = () => import("./commands/admin.ts");

const GRANT = 'a permission such as "Dispute Management : READ"; may be repeated';
const SWITCHES = "requireResolutionOnClose, requireKnownDocument, requireKnownAccount";

const truth = ["true", "false"];

const createTenantCommands = (run: Run): Command =>
  createGroup("tenant", "Tenants.", [
    createCommand("create", "Create a tenant.")
      .argument("<id>", "1 to 64 of a-z, 0-9 and -")
      .requiredOption("--name <name>")
      .addOption(
        new Option("--currency-model <model>").choices(["basic", "extended"]).default("basic"),
      )
      .option("--currency <code>", "ISO 4217 code", "USD")
      .action(
        (
          tenantId: string,
          options: { name: string; currencyModel: "basic" | "extended"; currency: string },
          self: Command,
        ) => {
          const { name, currencyModel, currency } = options;
          return run(self, async (io) =>
            (await load()).runTenantCreate(io, { tenantId, name, currencyModel, currency }),
          );
        },
      ),
    createCommand("show", "Show a tenant.")
      .argument("<id>")
      .action((id: string, _options: unknown, self: Command) =>
        run(self, async (io) => (await load()).runTenantShow(io, id)),
      ),
    createCommand("set", "Change a tenant's switches.")
      .argument("<id>")
      .argument("<pair...>", `KEY=true or KEY=false; the keys are ${SWITCHES}`)
      .action((id: string, pairs: string[], _options: unknown, self: Command) =>
        run(self, async (io) => (await load()).runTenantSet(io, id, pairs)),
      ),
    ...createTenantAccountCommands(run),
  ]);

const createRoleCommands = (run: Run): Command =>
  createGroup("role", "Roles of a tenant.", [
    createCommand("create", "Create a role.")
      .requiredOption(...TENANT)
      .requiredOption("--name <name>")
      .requiredOption("--grant <permission>", GRANT, collect)
      .action((options: { tenant: string; name: string; grant: string[] }, self: Command) => {
        const { tenant: tenantId, name, grant: grants } = options;
        return run(self, async (io) =>
          (await load()).runRoleCreate(io, { tenantId, name, grants }),
        );
      }),
    ...createRoleAccountCommands(run, GRANT),
  ]);

type NewUser = {
  tenant: string;
  email: string;
  firstName: string;
  lastName: string;
  role: string[];
};
type UserChange = {
  tenant: string;
  email: string;
  role?: string[];
  status?: "Active" | "Inactive";
};

const createUserCommands = (run: Run): Command =>
  createGroup("user", "Users of a tenant.", [
    createCommand("create", "Add a user; the password is read from standard input.")
      .requiredOption(...TENANT)
      .requiredOption(
        "--email <address>",
        "an existing user is added to the tenant and keeps the password",
      )
      .requiredOption("--first-name <name>")
      .requiredOption("--last-name <name>")
      .requiredOption("--role <name>", "may be repeated", collect)
      .action((options: NewUser, self: Command) => {
        const { tenant: tenantId, role: roleNames, email, firstName, lastName } = options;
        const made = { tenantId, email, firstName, lastName, roles: roleNames };
        return run(self, async (io) => (await load()).runUserCreate(io, made));
      }),
    createCommand("update", "Change a user's roles or status; effective at the next request.")
      .requiredOption(...TENANT)
      .requiredOption("--email <address>")
      .option("--role <name>", "may be repeated; together they replace the roles", collect)
      .addOption(new Option("--status <status>").choices(["Active", "Inactive"]))
      .action(({ tenant: tenantId, email, role, status }: UserChange, self: Command) => {
        const change = {
          tenantId,
          email,
          ...(role === undefined ? {} : { roles: role }),
          ...(status === undefined ? {} : { status }),
        };
        return run(self, async (io) => (await load()).runUserUpdate(io, change));
      }),
    ...createUserAccountCommands(run),
  ]);

const createConfigurationCommands = (run: Run): Command[] => [
  createGroup("resolution", "Resolutions of a tenant.", [
    createCommand(
      "set",
      "Choose whether a resolution closes the disputes of a document that closes.",
    )
      .requiredOption(...TENANT)
      .requiredOption("--code <code>")
      .addOption(
        new Option("--apply-when-invoice-closed <truth>").choices(truth).makeOptionMandatory(),
      )
      .action(
        (
          options: { tenant: string; code: string; applyWhenInvoiceClosed: string },
          self: Command,
        ) => {
          const { tenant: tenantId, code, applyWhenInvoiceClosed } = options;
          const wish = { tenantId, code, value: applyWhenInvoiceClosed === "true" };
          return run(self, async (io) => (await load()).runResolutionSet(io, wish));
        },
      ),
  ]),
  createGroup("route", "Default assignees of categories.", [
    createCommand("set", "Set a category's default assignee.")
      .requiredOption(...TENANT)
      .requiredOption("--category <code>")
      .requiredOption("--assignee <email>")
      .action((options: { tenant: string; category: string; assignee: string }, self: Command) => {
        const { tenant: tenantId, category, assignee } = options;
        return run(self, async (io) =>
          (await load()).runRouteSet(io, { tenantId, category, assignee }),
        );
      }),
  ]),
];

const createKeyCommands = (run: Run): Command =>
  createGroup("key", "Export and ingest keys.", [
    createCommand("issue", "Issue a key; it is shown once.")
      .requiredOption(...TENANT)
      .requiredOption("--name <name>")
      .option("--scopes <list>", "comma list; all by default")
      .action((options: { tenant: string; name: string; scopes?: string }, self: Command) => {
        const { tenant: tenantId, name, scopes } = options;
        const chosen =
          scopes === undefined ? {} : { scopes: scopes.split(",").map((scope) => scope.trim()) };
        return run(self, async (io) =>
          (await load()).runKeyIssue(io, { tenantId, name, ...chosen }),
        );
      }),
    createCommand("revoke", "Revoke a key.")
      .argument("<key-id>")
      .action((keyId: string, _options: unknown, self: Command) =>
        run(self, async (io) => (await load()).runKeyRevoke(io, keyId)),
      ),
    createKeyListCommand(run),
  ]);

const createAuditCommands = (run: Run): Command =>
  createGroup("audit", "The audit log of a tenant.", [
    createCommand(
      "verify",
      "Check that no entry was altered, removed, added or moved; exit status 1 if so.",
    )
      .argument("<id>")
      .option("--head <file>", "compare with a stored head; - is standard input")
      .action((tenantId: string, options: { head?: string }, self: Command) =>
        run(self, async (io) => (await load()).runAuditVerify(io, tenantId, options)),
      ),
    createCommand("head", "Print the signed end of the log, to store outside the database.")
      .argument("<id>")
      .action((tenantId: string, _options: unknown, self: Command) =>
        run(self, async (io) => (await load()).runAuditHead(io, tenantId)),
      ),
  ]);

const createDemoCommands = (run: Run): Command =>
  createGroup("demo", "The demo tenant.", [
    createCommand("create", "Create it in a store that does not have it.").action(
      (_options: unknown, self: Command) =>
        run(self, async (io) => (await load()).runDemoCreate(io)),
    ),
  ]);

const createFilesCommands = (run: Run): Command =>
  createGroup("files", "The file store.", [
    createCommand(
      "adopt",
      "Record the file store of RECEIVABLES_FILES_URL as the database's, after its files were copied there.",
    ).action((_options: unknown, self: Command) =>
      run(self, async (io) => (await load()).runFilesAdopt(io)),
    ),
  ]);

export const createAdminCommand = (run: Run): Command =>
  createGroup(
    "admin",
    "Set up tenants, roles, users, routes and keys and check audit logs, also while servers run.",
    [
      createTenantCommands(run),
      createRoleCommands(run),
      createUserCommands(run),
      ...createConfigurationCommands(run),
      createKeyCommands(run),
      createAuditCommands(run),
      createDemoCommands(run),
      createFilesCommands(run),
      ...createKeepingCommands(run),
    ],
  );
