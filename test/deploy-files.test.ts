import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { knownSettings } from "../src/config/config.ts";
import { ROOT } from "./support/sources.ts";
import { verifies } from "./support/verifies.ts";

const read = (path: string): string => readFileSync(join(ROOT, "deploy", path), "utf8");

type Service = {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: string[] | Record<string, unknown>;
};
const compose = parse(read("docker/compose.yaml"), { merge: true }) as {
  services: Record<string, Service>;
};
const services = Object.entries(compose.services);
const units = readdirSync(join(ROOT, "deploy/systemd")).filter((name) => name.includes("."));

const isOwn = (name: string): boolean => /^(RECEIVABLES_|DATABASE_URL$)/.test(name);

/** Host names of the example that only its own network knows. */
const withoutNames = (text: string): string =>
  text.replaceAll(/\b(?:platform|mcp)-[12]\b/g, "127.0.0.1");

const CLI = join(ROOT, "src/bin/cli.ts");

const has = (program: string): boolean => spawnSync("which", [program]).status === 0;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "deploy-"));
});

/** Runs a checker, and returns its output and exit status. */
const check = (program: string, args: string[]) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  return { status, stdout, output: stdout + stderr };
};

/** Whether these tests run as root, and another user can read the program. */
const MAY_RUN_AS_OTHERS =
  process.getuid?.() === 0 &&
  check("runuser", ["-u", "nobody", "--", process.execPath, CLI, "--version"]).status === 0;

verifies("OP-42");
describe("files for containers", () => {
  it("compose.yaml has two platforms, two MCP servers, database, files and proxy", () => {
    const own = services.filter(([, { image }]) => image === "receivables-mcp");
    const commands = own.map(([, { command = [] }]) => command[0]).toSorted();
    expect(commands).toEqual(["http", "http", "platform", "platform"]);
    const others = services.filter(([, { image }]) => image !== "receivables-mcp");
    const images = others.map(([, { image }]) => image.split(":")[0]);
    expect(new Set(images)).toEqual(new Set(["nginx", "postgres", "minio/minio"]));
    const names = services.map(([name]) => name);
    const needed = services.flatMap(([, { depends_on = [] }]) =>
      Array.isArray(depends_on) ? depends_on : Object.keys(depends_on),
    );
    expect(needed.filter((name) => !names.includes(name))).toEqual([]);
  });

  it("compose.yaml lets MCP servers transfer files: signed URLs have the address that they know", () => {
    const of = (command: string) =>
      services.filter(([, service]) => service.command?.[0] === command);
    const known = of("http").map(([, { environment }]) => environment?.["RECEIVABLES_BASE_URL"]);
    const signed = of("platform").flatMap(
      ([, { environment }]) => environment?.["RECEIVABLES_PUBLIC_URL"] ?? [],
    );
    expect(new Set(known).size).toBe(1);
    expect(signed.filter((url) => !known.includes(url))).toEqual([]);
  });

  it("images have a version, and settings exist", () => {
    const images = [
      ...services.map(([, { image }]) => image).filter((image) => image !== "receivables-mcp"),
      ...[...read("docker/Dockerfile").matchAll(/^FROM (\S+)/gm)].map(([, image = ""]) => image),
    ];
    expect(images.filter((image) => !/:[\w.-]*\d+\.\d+|:RELEASE\.\d/.test(image))).toEqual([]);
    const set = services.flatMap(([, { environment = {} }]) => Object.keys(environment));
    const inImage = [...read("docker/Dockerfile").matchAll(/^ENV (\w+)=/gm)];
    const inUnits = units.flatMap((unit) => [
      ...read(`systemd/${unit}`).matchAll(/^Environment=(\w+)=/gm),
    ]);
    const names = [...set, ...[...inImage, ...inUnits].map(([, name = ""]) => name)];
    expect(names.filter(isOwn).length).toBeGreaterThan(20);
    expect(names.filter((name) => isOwn(name) && !knownSettings.includes(name))).toEqual([]);
  });

  it("the image is built from the lock file, and runs without root", () => {
    const lines = read("docker/Dockerfile").split("\n");
    expect(lines).toContain("COPY package.json package-lock.json .npmrc ./");
    expect(lines).toContain("RUN npm ci");
    expect(lines.lastIndexOf("USER node")).toBeGreaterThan(
      lines.findLastIndex((line) => line.startsWith("FROM")),
    );
    const node = /^FROM node:([\d.]+)-/m.exec(read("docker/Dockerfile"))?.[1];
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      devDependencies: Record<string, string>;
    };
    expect(node).toBe(devDependencies["node"]);
  });
});

verifies("OP-42");
describe("files for machines", () => {
  it.skipIf(!has("nginx"))("nginx accepts its example", () => {
    writeFileSync(join(folder, "site.conf"), withoutNames(read("nginx/receivables.conf")));
    const main = join(folder, "nginx.conf");
    const paths = `pid ${folder}/pid; error_log stderr;`;
    writeFileSync(main, `${paths} events {} http { include ${folder}/site.conf; }`);
    const { status, output } = check("nginx", ["-t", "-p", folder, "-c", main]);
    expect(status, output).toBe(0);
    expect(output).not.toContain("[warn]");
  });

  it.skipIf(!has("caddy"))("Caddy accepts its example", () => {
    const path = join(ROOT, "deploy/caddy/Caddyfile");
    const { status, output } = check("caddy", [
      "validate",
      "--config",
      path,
      "--adapter",
      "caddyfile",
    ]);
    expect(status, output).toBe(0);
  });

  verifies("OP-13");
  it.skipIf(!has("caddy"))(
    "Caddy passes the clients that MCP servers name on to the platforms",
    () => {
      const path = join(ROOT, "deploy/caddy/Caddyfile");
      const args = ["adapt", "--config", path, "--adapter", "caddyfile"];
      const { stdout } = check("caddy", args);
      type Handler = { upstreams: { dial: string }[]; trusted_proxies?: string[] };
      const handlers: Handler[] = [];
      JSON.parse(stdout, (_key, value: unknown) => {
        if (typeof value === "object" && value !== null && "upstreams" in value) {
          handlers.push(value as Handler);
        }
        return value;
      });
      const trusting = handlers.filter(({ trusted_proxies }) => trusted_proxies !== undefined);
      expect(handlers).toHaveLength(2);
      expect(trusting.map(({ upstreams }) => upstreams[0]?.dial)).toEqual(["platform-1:8080"]);
    },
  );

  it.skipIf(!has("systemd-analyze"))("systemd accepts the units", () => {
    for (const unit of units) {
      const text = read(`systemd/${unit}`).replaceAll("/usr/bin/receivables-mcp", process.execPath);
      writeFileSync(join(folder, unit), text);
    }
    const paths = units.map((unit) => join(folder, unit));
    const { status, output } = check("systemd-analyze", ["verify", "--man=no", ...paths]);
    const own = output.split("\n").filter((line) => line.includes("receivables"));
    expect(own, output).toEqual([]);
    expect(status, output).toBe(0);
  });

  it("a unit waits between starts for longer than systemd counts them", () => {
    // Five starts within ten seconds are the most that systemd tries by default.
    const servers = units.map((unit) => read(`systemd/${unit}`));
    const restarting = servers.filter((text) => text.includes("Restart=on-failure"));
    expect(restarting).toHaveLength(2);
    for (const text of restarting) {
      expect(Number(/^RestartSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(2);
    }
  });

  it("no unit opens the data folder to others", () => {
    const using = units
      .map((unit) => read(`systemd/${unit}`))
      .filter((text) => /^StateDir/m.test(text));
    expect(using).toHaveLength(3);
    expect(using.filter((text) => !text.includes("\nStateDirectoryMode=0700\n"))).toEqual([]);
  });

  it.skipIf(!MAY_RUN_AS_OTHERS)(
    "commands of root run as the service's user, with its settings and key",
    () => {
      const place = mkdtempSync("/var/tmp/deploy-");
      const at = (name: string): string => join(place, name);
      chmodSync(place, 0o755);
      for (const name of ["etc", "data"]) mkdirSync(at(name), { mode: 0o700 });
      execFileSync("chown", ["nobody", at("data")]);
      writeFileSync(at("etc/secret.key"), "0123456789abcdef".repeat(4), { mode: 0o600 });
      const program = `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`;
      writeFileSync(at("receivables-mcp"), program);
      const script = read("systemd/receivables-admin")
        .replaceAll("/etc/receivables", at("etc"))
        .replaceAll("/var/lib/receivables", at("data"))
        .replaceAll("/usr/bin/receivables-mcp", at("receivables-mcp"))
        .replaceAll("-u receivables", "-u nobody");
      writeFileSync(at("admin"), script);
      for (const name of ["receivables-mcp", "admin"]) chmodSync(at(name), 0o755);
      // A shell that read the settings would run what follows the &.
      const settings = "# settings\nRECEIVABLES_PUBLIC_URL=http://a.example/?&false";
      writeFileSync(at("etc/platform.env"), settings);
      const wrong = check(at("admin"), ["admin", "tenant", "list"]);
      expect([wrong.status, wrong.output]).toEqual([2, expect.stringContaining("PUBLIC_URL")]);
      writeFileSync(at("etc/platform.env"), "RECEIVABLES_LOG=silent");
      const made = check(at("admin"), ["admin", "tenant", "create", "acme", "--name", "Acme"]);
      expect(made.status, made.output).toBe(0);
      expect(check("find", [at("data"), "-not", "-user", "nobody"]).output).toBe("");
      expect(readdirSync(at("data"))).not.toContain("secret.key");
      rmSync(place, { recursive: true });
    },
  );

  it("the checkers are installed where every change is tested", () => {
    const script = execFileSync("cat", [join(ROOT, ".ci/run")], { encoding: "utf8" });
    for (const name of ["nginx", "caddy", "systemd", "postgresql"]) expect(script).toContain(name);
  });
});
