import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, type Source, sources, withoutComments, targetsOf } from "./support/sources.ts";

const PLATFORM = "src/platform/";

/** The folders and files of src/platform that each folder, or file beside the folders, may import. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  store: ["money.ts"],
  jobs: ["store"],
  files: ["jobs", "store"],
  formats: [],
  scan: ["formats"],
  clamd: ["scan"],
  webhooks: ["jobs", "store"],
  exports: ["files", "jobs", "store", "webhooks"],
  services: [
    "credentials.ts",
    "exports",
    "files",
    "handlers.ts",
    "ignored-fields.ts",
    "jobs",
    "json-rows.ts",
    "login-guard.ts",
    "money.ts",
    "passwords.ts",
    "preconditions.ts",
    "rate-limiter.ts",
    "reset-tokens.ts",
    "scan",
    "store",
    "webhooks",
  ],
  http: [
    "credentials.ts",
    "files",
    "handlers.ts",
    "ignored-fields.ts",
    "json-rows.ts",
    "preconditions.ts",
    "rate-limiter.ts",
    "reset-tokens.ts",
    "roll-back.ts",
    "services",
    "store",
  ],
  import: ["money.ts", "roll-back.ts", "services", "store"],
  admin: [
    "credentials.ts",
    "evidence-heads.ts",
    "files",
    "import",
    "passwords.ts",
    "reset-tokens.ts",
    "services",
    "store",
  ],
  demo: [
    "admin",
    "credentials.ts",
    "exports",
    "files",
    "http",
    "import",
    "passwords.ts",
    "services",
    "store",
  ],
  "credentials.ts": ["store"],
  "evidence-heads.ts": ["store"],
  "figures.ts": ["store"],
  "handlers.ts": ["files", "preconditions.ts", "store"],
  "passwords.ts": ["password-judge.ts"],
  "login-guard.ts": ["store"],
  "rate-limiter.ts": ["store"],
  "reset-tokens.ts": ["credentials.ts", "store"],
  "readiness.ts": ["files", "store"],
  "retention.ts": ["credentials.ts", "files", "store"],
  "roll-back.ts": ["store"],
  "app.ts": ["handlers.ts", "http", "services"],
  "platform.ts": [
    "app.ts",
    "credentials.ts",
    "evidence-heads.ts",
    "exports",
    "figures.ts",
    "files",
    "handlers.ts",
    "http",
    "jobs",
    "login-guard.ts",
    "rate-limiter.ts",
    "readiness.ts",
    "reset-tokens.ts",
    "retention.ts",
    "scan",
    "services",
    "store",
    "webhooks",
  ],
};

const files = sources("src/platform");

/** The folder of a path below src/platform, or its name if it is in none. */
const partOf = (path: string): string => path.slice(PLATFORM.length).split("/")[0] ?? "";

const importedParts = (file: Source): string[] =>
  targetsOf(file)
    .filter((target) => target.startsWith(PLATFORM))
    .map(partOf)
    .filter((part) => part !== partOf(file.path));

const refusedImports = (file: Source): string[] => {
  const allowed = MAY_IMPORT[partOf(file.path)] ?? [];
  return importedParts(file)
    .filter((part) => !allowed.includes(part))
    .map((part) => `${file.path} imports ${part}`);
};

describe("layers of src/platform", () => {
  it("every import, of types too, is one that its folder may make", () => {
    expect(files.flatMap(refusedImports)).toEqual([]);
  });

  it("the allowed imports have no cycle", () => {
    const reaches = (from: string, seen = new Set<string>()): Set<string> => {
      for (const to of MAY_IMPORT[from] ?? []) {
        if (seen.has(to)) continue;
        seen.add(to);
        reaches(to, seen);
      }
      return seen;
    };
    expect(Object.keys(MAY_IMPORT).filter((part) => reaches(part).has(part))).toEqual([]);
  });

  it("an import of the HTTP layer by the store or a service is refused", () => {
    const text = 'import type { X } from "../http/context.ts";';
    for (const folder of ["store", "services"]) {
      expect(refusedImports({ path: `${PLATFORM}${folder}/x.ts`, text })).toHaveLength(1);
    }
  });
});

describe("SQL", () => {
  /** A query of Kysely or a condition of one, SQL as text, and the drivers of the databases. */
  const SQL =
    /\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|where|innerJoin|leftJoin)\(|\bsql(?:<[^>]*>)?`|\.introspection\b|from "(?:node:sqlite|pg)"/;
  /** The databases' own folders, and the drivers that both databases share: what a connection needs for itself. */
  const PLACES = [`${PLATFORM}store/`, "src/records/", "src/kit/sqlite/", "src/kit/postgres/"];
  const isOutside = ({ path, text }: Source): boolean =>
    SQL.test(withoutComments(text)) && !PLACES.some((place) => path.startsWith(place));

  it("is used in the folders of the databases only", () => {
    expect(
      sources("src")
        .filter(isOutside)
        .map(({ path }) => path),
    ).toEqual([]);
  });

  it.each([
    'db.selectFrom("disputes")',
    'query.where("id", "=", id)',
    "sql`select 1`",
    "sql<Row>`select 1`",
    'import { DatabaseSync } from "node:sqlite";',
  ])("%s in a service is refused", (text) => {
    expect(isOutside({ path: `${PLATFORM}services/x.ts`, text })).toBe(true);
    expect(isOutside({ path: `${PLATFORM}store/queries/x.ts`, text })).toBe(false);
  });
});

describe("one store behind two databases", () => {
  const filesIn = (folder: string): string[] =>
    readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".ts"));
  const list = (dialect: string): string[] => filesIn(`${PLATFORM}store/${dialect}`);

  it("both dialects have the same files; the sign-in shares some of SQLite's", () => {
    const sqlite = new Set([...list("sqlite"), ...filesIn("src/kit/sqlite")]);
    expect(list("postgres")).not.toEqual([]);
    expect([...sqlite].toSorted()).toEqual(list("postgres").toSorted());
  });

  it("only the dialects' folders ask which database it is", () => {
    const asks = /\bisPostgres\b|\bisSqlite\b|PostgresAdapter|SqliteAdapter|from "pg(?:-[\w-]+)?"/;
    const stores = [`${PLATFORM}store`, "src/records", "src/kit"];
    const own = stores.flatMap((store) => [`${store}/sqlite/`, `${store}/postgres/`]);
    const users = sources("src").filter(({ text }) => asks.test(withoutComments(text)));
    const isOwn = ({ path }: Source): boolean => own.some((folder) => path.startsWith(folder));
    expect(users.filter((file) => !isOwn(file)).map(({ path }) => path)).toEqual([]);
    expect(users.filter(isOwn)).not.toEqual([]);
  });
});
