import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contract, operations } from "../src/contract/index.ts";
import {
  importsOf,
  packagesOf,
  resolved,
  ROOT,
  type Source,
  sources,
  withoutComments,
  isWithin,
  targetsOf,
} from "./support/sources.ts";
import { REACHES } from "./support/reaches.ts";
import { verifies } from "./support/verifies.ts";

/** The folders that each folder may import from besides itself. All others are refused. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  "src/kit": [],
  "src/contract": ["src/kit"],
  "src/client": ["src/contract", "src/kit"],
  "src/config": ["src/contract", "src/kit", "tools/toolsets.ts"],
  "src/broker": ["src/client", "src/config", "src/contract", "src/kit"],
  "src/platform": ["src/contract", "src/kit", "src/pages"],
  "src/pages": ["src/kit"],
  "src/views": ["src/contract", "src/kit"],
  "src/records": [
    "src/broker",
    "src/kit",
    "src/contract",
    "src/mcp/results/saved-files.ts",
    "src/mcp/http/shared-sessions.ts",
    "src/mcp/tools/asking/replay-guard.ts",
  ],
  "src/oauth": ["src/records", "src/client", "src/broker", "src/contract", "src/kit", "src/pages"],
  "src/server": [
    "src/client",
    "src/config",
    "src/contract/errors.ts",
    "src/kit",
    "src/mcp/http",
    "src/pages",
    "src/platform/figures.ts",
    "src/platform/platform.ts",
  ],
  "src/insights": ["src/client", "src/contract", "src/kit"],
  tools: ["src/contract", "src/insights"],
  prompts: ["src/contract"],
  "src/mcp": [
    "package.json",
    "src/client",
    "src/broker",
    "src/config/settings.ts",
    "src/contract",
    "src/insights",
    "src/kit",
    "src/pages",
    "src/views",
    "tools",
    "prompts",
  ],
  "src/bin": [
    "src/server",
    "src/config",
    "src/records",
    "src/mcp",
    "src/oauth",
    "src/platform",
    "src/broker",
    "src/client",
    "src/contract",
    "src/kit",
    "package.json",
  ],
};

/** Packages that only these files or folders may know. The rest of a package's name may follow. */
const KNOWN_ONLY_TO: Record<string, readonly string[]> = {
  hono: ["src/platform/app.ts"],
  "@hono/": ["src/server"],
  kysely: [
    "src/platform/services/listing.ts",
    "src/platform/store",
    "src/records",
    "src/kit/sqlite",
    "src/kit/postgres",
  ],
  undici: ["src/client"],
  "@aws-sdk/": ["src/platform/files/s3.ts"],
  "oidc-provider": ["src/oauth"],
  "openid-client": ["src/oauth/company-provider.ts"],
  commander: ["src/bin"],
  "prom-client": ["src/server/metrics"],
  "@opentelemetry/": ["src/server/tracing"],
  "lru-cache": [
    "src/mcp/http/bearer.ts",
    "src/mcp/http/callers.ts",
    "src/mcp/http/brief-cache.ts",
    "src/mcp/http/introspection.ts",
    "src/oauth/documents.ts",
    "src/oauth/issuer-people.ts",
    "src/pages/repeats.ts",
  ],
  "ipaddr.js": ["src/kit/network.ts"],
  jose: [
    "src/mcp/http/issuer.ts",
    "src/oauth/identity-assertions.ts",
    "src/oauth/provider-keys.ts",
  ],
  "@modelcontextprotocol/": ["src/mcp", "src/bin", "src/views"],
  esbuild: ["src/views/bundle-view.ts"],
  "@embedpdf/": ["src/mcp/files/formats"],
  "jpeg-js": ["src/mcp/files/formats"],
  htmlparser2: ["src/mcp/files/formats"],
  "postal-mime": ["src/mcp/files/formats"],
};

const code = ["src", "tools", "prompts"].flatMap(sources);

const folderOf = (path: string): string | undefined =>
  Object.keys(MAY_IMPORT).find((folder) => path.startsWith(`${folder}/`));

const refusedImports = (file: Source): string[] => {
  const from = folderOf(file.path);
  if (from === undefined) return [`${file.path} stands in no known folder`];
  const allowed = [from, ...(MAY_IMPORT[from] ?? [])];
  return targetsOf(file)
    .filter((target) => !isWithin(target, allowed))
    .map((target) => `${file.path} imports ${target}`);
};

const bySource = new Map(code.map((file) => [file.path, file]));

/** Every file that is loaded with this one, before anything is asked for by `import()`. */
const loadedWith = (path: string, seen = new Set<string>()): Set<string> => {
  const file = bySource.get(path);
  if (file === undefined || seen.has(path)) return seen;
  seen.add(path);
  for (const { specifier, kind } of importsOf(file)) {
    if (kind === "static" && specifier.startsWith(".")) loadedWith(resolved(path, specifier), seen);
  }
  return seen;
};

describe("imports point at the contract, never from it", () => {
  it("every import, of types too, is one that its folder may make", () => {
    expect(code.flatMap(refusedImports)).toEqual([]);
  });

  it("an upward import is seen in each of its forms", () => {
    const forms = [
      'import { x } from "../contract/errors.ts";',
      'import type { X } from "../contract/errors.ts";',
      'import {\n  x,\n  y,\n} from "../contract/errors.ts";',
      'export * from "../contract/errors.ts";',
      'import "../contract/errors.ts";',
      'const x = await import("../contract/errors.ts");',
      'type X = import("../contract/errors.ts").X;',
    ];
    const refused = forms.map((text) => refusedImports({ path: "src/kit/made-up.ts", text }));
    expect(refused).toEqual(forms.map(() => ["src/kit/made-up.ts imports src/contract/errors.ts"]));
    expect(refusedImports({ path: "src/elsewhere/x.ts", text: "" })).toHaveLength(1);
  });

  it("every relative import names a file with its ending", () => {
    const missing = code.flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => specifier.startsWith("."))
        .filter(({ specifier }) => !existsSync(join(ROOT, resolved(file.path, specifier))))
        .map(({ specifier }) => `${file.path}: ${specifier}`),
    );
    expect(missing).toEqual([]);
  });

  it("the platform and the MCP server's parts never name each other", () => {
    const server = ["src/mcp", "src/oauth", "src/client", "src/broker"];
    const allowedBy = (folder: string) => MAY_IMPORT[folder] ?? [];
    expect(allowedBy("src/platform").filter((name) => server.includes(name))).toEqual([]);
    expect(server.filter((name) => allowedBy(name).includes("src/platform"))).toEqual([]);
  });

  it("the command line loads no platform before it is asked to embed one", () => {
    const loaded = [...loadedWith("src/bin/cli.ts")];
    expect(loaded).toContain("src/bin/cli.ts");
    expect(loaded.filter((path) => path.startsWith("src/platform/"))).toEqual([]);
  });
});

describe("metrics and traces cost nothing where they are off", () => {
  verifies("OP-31", "OP-32");
  it.each(["http", "platform", "stdio"])("%s loads neither before it starts", (command) => {
    const loaded = [
      ...loadedWith(`src/bin/commands/${command}.ts`),
      ...loadedWith("src/bin/cli/main.ts"),
    ];
    expect(loaded.filter((path) => /^src\/server\/(metrics|tracing)\//.test(path))).toEqual([]);
    expect(bySource.has("src/server/metrics/server.ts")).toBe(true);
    expect(bySource.has("src/server/tracing/export.ts")).toBe(true);
  });
});

/** An import between two children of one folder: the folder, the child that imports, the imported one. */
const siblingImport = (from: string, target: string): [string, string, string] => {
  const a = from.split("/");
  const b = target.split("/");
  let depth = 0;
  while (depth < a.length - 1 && depth < b.length - 1 && a[depth] === b[depth]) depth += 1;
  return [a.slice(0, depth).join("/"), a[depth] ?? "", b[depth] ?? ""];
};

/** The path from a child back to itself, or undefined where there is none. */
const cycleFrom = (start: string, edges: Map<string, Set<string>>): string[] | undefined => {
  const seen = new Set<string>();
  const walk = (node: string, path: string[]): string[] | undefined => {
    for (const next of edges.get(node) ?? []) {
      if (next === start) return [...path, node, next];
      if (seen.has(next)) continue;
      seen.add(next);
      const found = walk(next, [...path, node]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(start, []);
};

/** Each cycle among the files and folders that share a folder, types included. */
const cyclesAmong = (files: readonly Source[]): string[] => {
  const folders = new Map<string, Map<string, Set<string>>>();
  for (const file of files) {
    for (const target of targetsOf(file)) {
      const [folder, from, to] = siblingImport(file.path, target);
      if (folder === "" || from === to) continue;
      const edges = folders.get(folder) ?? new Map<string, Set<string>>();
      folders.set(folder, edges);
      edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  }
  return [...folders].flatMap(([folder, edges]) =>
    [...edges.keys()]
      .map((child) => cycleFrom(child, edges))
      .filter((cycle) => cycle !== undefined)
      .map((cycle) => `${folder}: ${cycle.join(" -> ")}`),
  );
};

describe("there are no cycles", () => {
  it("among files or folders, at any level, types included", () => {
    expect(cyclesAmong(code)).toEqual([]);
  });

  it("a cycle between folders is found though no two files form one", () => {
    const files = [
      { path: "src/x/a/one.ts", text: 'import { two } from "../b/two.ts";' },
      { path: "src/x/b/three.ts", text: 'import type { Four } from "../a/four.ts";' },
    ];
    expect(cyclesAmong(files)).toEqual(["src/x: a -> b -> a", "src/x: b -> a -> b"]);
  });
});

describe("the outside world is reached from few places", () => {
  it.each(Object.entries(KNOWN_ONLY_TO))("%s is known only to %s", (name, places) => {
    const users = code.filter((file) =>
      packagesOf(file).some(
        (used) => used === name || used.startsWith(name.endsWith("/") ? name : `${name}/`),
      ),
    );
    expect(users.map(({ path }) => path).filter((path) => !isWithin(path, places))).toEqual([]);
    expect(users).not.toEqual([]);
  });

  it("the kit needs a word distance, addresses, a cache and SQL of databases alone, and the contract, tools and prompts need zod alone", () => {
    const pure = code.filter(({ path }) =>
      isWithin(path, ["src/kit", "src/contract", "tools", "prompts"]),
    );
    const used = pure.flatMap((file) => packagesOf(file).map((name) => `${file.path}: ${name}`));
    const isPure = (line: string): boolean =>
      line === "src/kit/nearest.ts: leven" ||
      line === "src/kit/network.ts: ipaddr.js" ||
      line === "src/kit/windows.ts: lru-cache" ||
      (line.startsWith("src/kit/sqlite/") && line.endsWith(": kysely")) ||
      line === "src/kit/postgres/lock.ts: kysely" ||
      line === "src/kit/postgres/changes.ts: pg" ||
      /^src\/kit\/postgres\/(?:pool|client|hosts)\.ts: pg$/.test(line) ||
      (line.endsWith(": zod") && !line.startsWith("src/kit/"));
    expect(used.filter((line) => !isPure(line))).toEqual([]);
  });

  verifies("C-01");
  it.each(REACHES)("$what: only where allowed", ({ word, allowed }) => {
    const users = code.filter(({ text }) => word.test(withoutComments(text)));
    expect(users.map(({ path }) => path).filter((path) => !isWithin(path, allowed))).toEqual([]);
  });
});

const namesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".ts"));

describe("one noun, one file name in every layer", () => {
  const files = Object.keys(contract).map((noun) => `${noun.replaceAll("_", "-")}.ts`);

  it("in contract/operations, where nothing else stands", () => {
    expect(namesIn("src/contract/operations").toSorted()).toEqual(files.toSorted());
  });

  it("in platform/services", () => {
    const services = namesIn("src/platform/services");
    expect(files.filter((name) => !services.includes(name))).toEqual([]);
  });

  it("no file is called after nothing in particular", () => {
    const vague = /(^|\/)(utils?|helpers?|common|misc|manager|impl)\.ts$/i;
    expect(code.map(({ path }) => path).filter((path) => vague.test(path))).toEqual([]);
  });
});

describe("special cases are declared with the operation", () => {
  const COMPARISONS = [
    /\bcontract\.\w+\.\w+\.id\b/,
    /\boperation\.id\.(?:startsWith|endsWith|includes)\b/,
    /\boperation\.id [!=]==/,
    /\.(?:includes|has)\(operation\.id\)/,
    /\bid\.(?:startsWith|endsWith)\(["'`][\w]*\.[\w]*["'`]\)/,
  ];
  const ids = operations.map(({ id }) => id.replace(".", "\\."));
  const literal = new RegExp(`["'\`](?:${ids.join("|")})["'\`]`);
  const ALLOWED = ["src/contract", "src/platform/services", "src/platform/store", "tools"];

  const comparesIds = ({ path, text }: Source): boolean => {
    const bare = withoutComments(text);
    return (
      !isWithin(path, ALLOWED) && [...COMPARISONS, literal].some((pattern) => pattern.test(bare))
    );
  };

  it("no file outside contract, services and tools compares ids of operations", () => {
    expect(code.filter(comparesIds).map(({ path }) => path)).toEqual([]);
  });

  it("finds each form of comparison", () => {
    const forms = [
      "if (operation.id === x) y();",
      "const asked = contract.auth.login.id;",
      'if (one.id === "auth.login") y();',
      'return operation.id.startsWith("api_keys.");',
      'return !id.endsWith(".get_by_id");',
      "return NAMES.has(operation.id);",
    ];
    const found = forms.filter((text) => comparesIds({ path: "src/mcp/made-up.ts", text }));
    expect(found).toEqual(forms);
  });
});
