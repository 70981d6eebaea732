import { join } from "node:path";
import { type Client, UnauthorizedError } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  callWithToken,
  runAdmin,
  runCli,
  type Running,
  startCli,
  whenReady,
} from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { ask } from "../support/raw-http.ts";
import { codeFrom } from "../support/oauth.ts";
import { connectNew, connectOld } from "../support/oauth-host.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const home = useFolder();
const PASSWORD = "correct horse battery staple";

const PEOPLE = { ann: "acme", bob: "bolt" } as const;
type Name = keyof typeof PEOPLE;

const emailOf = (name: Name): string => `${name}@${PEOPLE[name]}.example`;

const loginOf = (name: Name) => ({ email: emailOf(name), password: PASSWORD });

const whoIs = async (client: Pick<Client, "callTool">): Promise<string> => {
  const answer = await client.callTool({ name: "users_profile", arguments: {} });
  return JSON.stringify(answer.structuredContent);
};

for (const dialect of dialects) {
  describe(`people sign in to a running server (${dialect.name})`, () => {
    let database: Database;
    let env: Record<string, string>;
    let servers: Running[];
    let mcpUrl: string;

    const admin = (line: string, input = "") => runAdmin(line.split(" "), env, input);

    beforeAll(async () => {
      database = await dialect.create();
      env = {
        RECEIVABLES_DATA: join(home, dialect.name),
        RECEIVABLES_HTTP_AUTH: "builtin",
        RECEIVABLES_OAUTH_REGISTRATION: "true",
        RECEIVABLES_LOG: "info",
        ...database.environment,
      };
      for (const [name, tenant] of Object.entries(PEOPLE)) {
        const user = `--tenant ${tenant} --email ${emailOf(name as Name)} --role Administrator`;
        await admin(`tenant create ${tenant} --name ${tenant}`);
        await admin(`user create ${user} --first-name ${name} --last-name Lee`, PASSWORD);
      }
      const first = startCli(["http", "--port", "0"], env);
      servers = [first];
      ({ mcpUrl = "" } = await whenReady(first));
    });
    afterAll(async () => {
      await Promise.all(servers.map((server) => server.end("SIGTERM")));
      await database.remove();
    });

    it("complete the flow from a refusal to a tool's answer, with the hosts of 2026 and of 2025", async () => {
      for (const mode of ["auto", "legacy"] as const) {
        const { client, host } = await connectNew(mcpUrl, loginOf("ann"), { mode });
        expect(await whoIs(client)).toContain(emailOf("ann"));
        expect(host.tokens().scope).toContain("read");
        await client.close();
      }
      const { client } = await connectOld(mcpUrl, loginOf("ann"));
      const answer = await client.callTool({ name: "users_profile", arguments: {} });
      expect(JSON.stringify(answer.structuredContent)).toContain(emailOf("ann"));
      await client.close();
    });

    verifies("C-64");
    it("are shown no page under the name of another site that points at the server", async () => {
      for (const path of ["/oauth/account", "/oauth/authorize", "/secrets/x", "/", "/mcp"]) {
        const url = new URL(path, mcpUrl).href;
        const get = (host: string) =>
          ask(url, { method: "GET", headers: { host, accept: "text/html" }, body: "" });
        expect((await get("evil.example")).status, path).toBe(403);
        expect((await get(`localhost:${new URL(url).port}`)).status, path).not.toBe(403);
      }
    });

    verifies("C-62");
    it("grant the scopes that they ticked, also to a host that asks for few", async () => {
      const scope = ["read", "admin"];
      const { client } = await connectOld(mcpUrl, { ...loginOf("ann"), scope });
      const made = await client.callTool({
        name: "departments_create",
        arguments: { code: "ONCE", description: "Once" },
      });
      expect(made.structuredContent, JSON.stringify(made)).toMatchObject({ code: "ONCE" });
      await client.close();
    });

    verifies("C-62");
    it("sign in again when a tool needs more scopes, and keep the others", async () => {
      for (const mode of ["auto", "legacy"] as const) {
        const { client, host, transport } = await connectNew(mcpUrl, loginOf("ann"), { mode });
        expect(host.tokens().scope.split(" ")).not.toContain("write");
        const code = `STEP_${mode}`;
        const call = {
          name: "departments_create",
          arguments: { code, description: code },
        };
        await expect(client.callTool(call)).rejects.toThrow(UnauthorizedError);
        expect(new URL(host.asked()).searchParams.get("scope")?.split(" ")).toEqual(
          expect.arrayContaining(["read", "admin"]),
        );
        const granted = await codeFrom(host.asked(), loginOf("ann"));
        await transport.finishAuth(
          new URLSearchParams({ code: granted, iss: new URL(mcpUrl).origin }),
        );
        const made = await client.callTool(call);
        expect(made.structuredContent, JSON.stringify(made)).toMatchObject({ code });
        expect(await whoIs(client)).toContain(emailOf("ann"));
        await client.close();
      }
    });

    it("have their own rights, at the same time", async () => {
      const [ann, bob] = await Promise.all([
        connectNew(mcpUrl, loginOf("ann")),
        connectNew(mcpUrl, loginOf("bob")),
      ]);
      const told = await Promise.all(
        Array.from({ length: 10 }, (_, turn) => whoIs((turn % 2 === 0 ? ann : bob).client)),
      );
      for (const [turn, text] of told.entries()) {
        expect(text).toContain(emailOf(turn % 2 === 0 ? "ann" : "bob"));
        expect(text).not.toContain(emailOf(turn % 2 === 0 ? "bob" : "ann"));
      }
      await Promise.all([ann.client.close(), bob.client.close()]);
    });

    it("lose access when the platform removes them", async () => {
      const { client, host } = await connectNew(mcpUrl, loginOf("bob"));
      await client.close();
      const token = host.tokens().access_token;
      expect((await callWithToken(mcpUrl, token)).status).toBe(200);
      const user = ["--tenant", PEOPLE.bob, "--email", emailOf("bob")];
      await runCli(["admin", "user", "update", ...user, "--status", "Inactive"], env);
      const refused = await (await callWithToken(mcpUrl, token)).text();
      expect(refused).toContain("Your access has ended. Connect again to sign in.");
      expect((await callWithToken(mcpUrl, token)).status).toBe(401);
    });

    it("stay signed in at a second process, also after the first has ended", async () => {
      const { client, host } = await connectNew(mcpUrl, loginOf("ann"));
      await client.close();
      const other = startCli(["http", "--port", "0"], {
        ...env,
        RECEIVABLES_PUBLIC_URL: new URL(mcpUrl).origin,
      });
      servers.push(other);
      const { mcpUrl: there = "" } = await whenReady(other);
      const answer = await callWithToken(there, host.tokens().access_token);
      expect(await answer.text()).toContain(emailOf("ann"));
      expect((await callWithToken(there, "made-up-token")).status).toBe(401);
      await servers.shift()?.end("SIGKILL");
      expect((await callWithToken(there, host.tokens().access_token)).status).toBe(200);
    });

    it("leave no secret on standard output or in the log", () => {
      for (const { texts } of servers) {
        expect(texts.stdout.trim().split("\n")).toHaveLength(1);
        expect(texts.stderr).not.toContain(PASSWORD);
        expect(texts.stderr).not.toMatch(/rcvg_/);
      }
    });
  });
}

it("cannot sign in over an unencrypted connection", async () => {
  const env = { RECEIVABLES_DATA: join(home, "none"), RECEIVABLES_HTTP_AUTH: "builtin" };
  for (const more of [{}, { RECEIVABLES_PUBLIC_URL: "http://mcp.example" }]) {
    const ended = await runCli(["http", "--host", "0.0.0.0", "--port", "0"], { ...env, ...more });
    expect(ended.status).toBe(1);
    expect(ended.stderr).toContain("RECEIVABLES_PUBLIC_URL=https://");
  }
});
