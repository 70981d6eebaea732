import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, startCli, whenReady, runAdmin } from "../support/cli.ts";
import { makeClientKeys } from "../support/client-keys.ts";
import { type Company, startCompany } from "../support/company.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const SUITE = join(
  import.meta.dirname,
  "../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);
const HOST = join(import.meta.dirname, "../support/conformance/auth-client.ts");
const SCENARIOS = [
  "auth/client-credentials-jwt",
  "auth/client-credentials-basic",
  "auth/enterprise-managed-authorization",
];
const IDP = { id: "the-host", secret: "a-secret-of-the-host" };
const EMAIL = "ann@acme.example";

type Ran = { status: number; stdout: string; stderr: string };

const run = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 1 << 24 };
    const child = execFile(process.execPath, args, options, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? 1, stdout, stderr }),
    );
  });

const home = useFolder();
const certificates = join(home, "company.pem");
let env: Record<string, string>;
let company: Company;
let server: Running;
let mcpUrl: string;
const keys = makeClientKeys();
const ids: Record<string, string> = {};
let secret: string;

const admin = (args: string[], input = "") => runAdmin(args, env, input);

beforeAll(async () => {
  const [file, publicKey] = [join(home, "providers.json"), join(home, "job.pub")];
  company = await startCompany({
    host: "127.0.0.1",
    employees: { ann: { email: EMAIL, email_verified: true } },
    clients: [{ ...IDP, redirectUris: ["https://host.example/callback"] }],
  });
  env = {
    RECEIVABLES_DATA: join(home, "data"),
    RECEIVABLES_HTTP_AUTH: "builtin",
    RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE: file,
    NODE_EXTRA_CA_CERTS: certificates,
  };
  await writeFile(certificates, company.certificate);
  await writeFile(publicKey, keys.publicPem);
  await admin(["tenant", "create", "acme", "--name", "Acme"]);
  const person = ["--first-name", "Ann", "--last-name", "Lee", "--role", "Agent"];
  const named = ["--tenant", "acme", "--email", EMAIL];
  await admin(["user", "create", ...named, ...person], "correct horse battery staple");
  const job = ["client", "create", "--tenant", "acme", "--name", "Job", "--role", "Viewer"];
  ids["key"] = String((await admin([...job, "--public-key", publicKey]))["clientId"]);
  const made = await admin([...job, "--secret"]);
  ids["secret"] = String(made["clientId"]);
  secret = String(made["clientSecret"]);
  const provider = { issuer: company.issuer, clients: [ids["secret"]] };
  await writeFile(file, JSON.stringify([provider]), { mode: 0o600 });
  server = startCli(["http", "--port", "0"], env);
  ({ mcpUrl = "" } = await whenReady(server));
  company.registerHost(mcpUrl.replace(/\/mcp$/, ""), ids["secret"]);
});
afterAll(async () => {
  await server.end("SIGTERM");
  await company.close();
});

/** The context that the suite gives a host in a scenario, for this server and the company's provider. */
const contextOf = async (scenario: string): Promise<Record<string, string>> => {
  if (scenario === "auth/client-credentials-jwt") {
    const key = { private_key_pem: keys.privatePem, signing_algorithm: "ES256" };
    return { client_id: ids["key"] ?? "", ...key };
  }
  const client = { client_id: ids["secret"] ?? "", client_secret: secret };
  if (scenario === "auth/client-credentials-basic") return client;
  return {
    ...client,
    idp_client_id: IDP.id,
    idp_client_secret: IDP.secret,
    idp_id_token: await company.idToken("ann", IDP.id),
    idp_token_endpoint: `${company.issuer}/token`,
  };
};

describe("sign-in without a browser, by the official suite", () => {
  // The suite plays the server for a host. That the same host then gets a token here shows that both sides agree.
  it.each(SCENARIOS)("has a host that passes %s", async (scenario) => {
    const out = join(home, scenario);
    const command = `${process.execPath} ${HOST}`;
    const { stdout } = await run([
      SUITE,
      "client",
      "--command",
      command,
      "--scenario",
      scenario,
      "-o",
      out,
    ]);
    const [folder = ""] = (await readdir(out, { recursive: true })).filter((name) =>
      name.endsWith("checks.json"),
    );
    const checks = JSON.parse(await readFile(join(out, folder), "utf8")) as { status: string }[];
    const failed = checks.filter(({ status }) => !["SUCCESS", "INFO"].includes(status));
    expect(failed, stdout).toEqual([]);
    expect(checks.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThan(1);
  });

  verifies("RC-10", "RC-11");
  it.each(SCENARIOS)("serves that host in %s", async (scenario) => {
    const { status, stdout, stderr } = await run([HOST, mcpUrl], {
      NODE_EXTRA_CA_CERTS: certificates,
      MCP_CONFORMANCE_SCENARIO: scenario,
      MCP_CONFORMANCE_CONTEXT: JSON.stringify(await contextOf(scenario)),
    });
    expect(status, stderr).toBe(0);
    expect(JSON.parse(stdout)).toContain("disputes_list");
  });

  it("passes the scenario of the metadata of authorization servers", async () => {
    const url = mcpUrl.replace(/\/mcp$/, "");
    const scenario = ["--scenario", "authorization-server-metadata-endpoint"];
    const { status, stdout } = await run([SUITE, "authorization", "--url", url, ...scenario]);
    expect(status, stdout).toBe(0);
  });
});
