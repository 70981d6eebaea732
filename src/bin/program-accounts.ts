/** The commands that list, export and delete what the other `admin` commands have created. */
import type { Command } from "commander";
import { collect, createCommand, type Run } from "./program-parts.ts";

const load = () => import("./commands/accounts.ts");

export const TENANT = ["--tenant <id>", "the tenant"] as const;
const ONLY_TENANT = ["--tenant <id>", "only of this tenant"] as const;
const CONFIRM = ["--confirm <name>", "the name again; without it nothing is deleted"] as const;
const EMAIL = ["--email <address>", "the user's e-mail address"] as const;
const MEMBER = ["--tenant <id>", "a tenant that the user must belong to"] as const;

type User = { email: string; tenant?: string };
const toUser = ({ email, tenant }: User) => ({
  email,
  ...(tenant === undefined ? {} : { tenantId: tenant }),
});

type Confirm = { confirm?: string };

export const createTenantAccountCommands = (run: Run): Command[] => [
  createCommand("list", "List the tenants, one per line.").action(
    (_options: unknown, self: Command) => run(self, async (io) => (await load()).runTenantList(io)),
  ),
  createCommand("export", "Write everything of a tenant to a new folder.")
    .argument("<id>")
    .argument("<folder>")
    .action((tenantId: string, folder: string, _options: unknown, self: Command) =>
      run(self, async (io) => (await load()).runTenantExport(io, { tenantId, folder })),
    ),
  createCommand(
    "delete",
    "Delete a tenant with its records, files, keys, stored secrets and audit log.",
  )
    .argument("<id>")
    .option(...CONFIRM)
    .action((tenantId: string, { confirm }: Confirm, self: Command) => {
      const wish = { tenantId, ...(confirm === undefined ? {} : { confirm }) };
      return run(self, async (io) => (await load()).runTenantDelete(io, wish));
    }),
];

type Role = { tenant: string; name: string };

export const createRoleAccountCommands = (run: Run, grant: string): Command[] => [
  createCommand("list", "List a tenant's roles, one per line.")
    .requiredOption(...TENANT)
    .action(({ tenant }: { tenant: string }, self: Command) =>
      run(self, async (io) => (await load()).runRoleList(io, tenant)),
    ),
  createCommand("update", "Rename a role or replace its permissions.")
    .requiredOption(...TENANT)
    .requiredOption("--name <name>", "its present name")
    .option("--rename <name>", "its new name")
    .option("--grant <permission>", grant, collect)
    .action((options: Role & { rename?: string; grant?: string[] }, self: Command) => {
      const { tenant: tenantId, name, rename, grant: grants } = options;
      const change = {
        tenantId,
        name,
        ...(rename === undefined ? {} : { rename }),
        ...(grants === undefined ? {} : { grants }),
      };
      return run(self, async (io) => (await load()).runRoleUpdate(io, change));
    }),
  createCommand("delete", "Delete a role that no user has.")
    .requiredOption(...TENANT)
    .requiredOption("--name <name>")
    .option(...CONFIRM)
    .action(({ tenant: tenantId, ...role }: Role & Confirm, self: Command) => {
      const { name, confirm } = role;
      const wish = { tenantId, name, ...(confirm === undefined ? {} : { confirm }) };
      return run(self, async (io) => (await load()).runRoleDelete(io, wish));
    }),
];

export const createUserAccountCommands = (run: Run): Command[] => [
  createCommand("list", "List the users of all tenants, one per line.")
    .option(...ONLY_TENANT)
    .action(({ tenant }: { tenant?: string }, self: Command) =>
      run(self, async (io) => (await load()).runUserList(io, tenant)),
    ),
  createCommand(
    "set-password",
    "Set a password, read from standard input; ends the user's sessions and API keys.",
  )
    .requiredOption(...EMAIL)
    .option(...MEMBER)
    .action((options: User, self: Command) =>
      run(self, async (io) => (await load()).runSetPassword(io, toUser(options))),
    ),
  createCommand(
    "reset-link",
    "Print a link, good once for 30 minutes, with which the person sets a password.",
  )
    .requiredOption(...EMAIL)
    .option(...MEMBER)
    .action((options: User, self: Command) =>
      run(self, async (io) => (await load()).runResetLink(io, toUser(options))),
    ),
  createCommand("export", "Print what is stored about one person, as JSON.")
    .requiredOption(...EMAIL)
    .option(...MEMBER)
    .action((options: User, self: Command) =>
      run(self, async (io) => (await load()).runUserExport(io, toUser(options))),
    ),
  createCommand("delete", "Delete a user and the person's data.")
    .requiredOption(...EMAIL)
    .option("--tenant <id>", "only from this tenant; the last one deletes the person")
    .option(...CONFIRM)
    .action(({ confirm, ...options }: User & Confirm, self: Command) => {
      const wish = { ...toUser(options), ...(confirm === undefined ? {} : { confirm }) };
      return run(self, async (io) => (await load()).runUserDelete(io, wish));
    }),
];

export const createKeyListCommand = (run: Run): Command =>
  createCommand("list", "List the keys without their text, one per line.")
    .option(...ONLY_TENANT)
    .action(({ tenant }: { tenant?: string }, self: Command) =>
      run(self, async (io) => (await load()).runKeyList(io, tenant)),
    );
