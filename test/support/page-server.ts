import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli, startCli, whenReady } from "./cli.ts";
import { authorizeUrl, register } from "./oauth.ts";

const PASSWORD = "correct horse battery staple";
export const EMAIL = "maria.delgado@demo.example";

export type PageServer = {
  url: string;
  /** Returns the address to which a program sends a person's browser. */
  authorizeUrl(clientName: string): Promise<string>;
  email: string;
  password: string;
  close(): Promise<void>;
};

/** Registers a program, and returns the address at which it asks for access. */
const registerAt = async (url: string, clientName: string): Promise<string> => {
  const client = await register({ url }, { client_name: clientName });
  return authorizeUrl({ url, resource: `${url}/mcp` }, client);
};

/** Starts the server with the built-in sign-in, the demo tenant and one person. */
export const startPageServer = async (
  settings: Record<string, string> = {},
): Promise<PageServer> => {
  const home = await mkdtemp(join(tmpdir(), "pages-"));
  const env = {
    RECEIVABLES_DATA: join(home, "data"),
    RECEIVABLES_HTTP_AUTH: "builtin",
    RECEIVABLES_OAUTH_REGISTRATION: "true",
    RECEIVABLES_LOG: "error",
    ...settings,
  };
  const server = startCli(["http", "--port", "0"], env);
  const { baseUrl: url } = await whenReady(server);
  const names = ["--first-name", "Maria", "--last-name", "Delgado", "--role", "AR Manager"];
  const user = ["user", "create", "--tenant", "demo", "--email", EMAIL, ...names];
  const made = await runCli(["admin", ...user], env, PASSWORD);
  if (made.status !== 0) throw new Error(made.stderr);
  return {
    url,
    authorizeUrl: (clientName) => registerAt(url, clientName),
    email: EMAIL,
    password: PASSWORD,
    async close() {
      await server.end("SIGTERM");
      await rm(home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};
