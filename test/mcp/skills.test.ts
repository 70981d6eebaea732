import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { connectModern, createOptions } from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const ROOT = join(import.meta.dirname, "../../skills");

const Folder = z.object({
  resources: z.array(z.looseObject({ uri: z.string(), mimeType: z.string() })),
});

const connect = async () => {
  const { client } = await connectModern(await createOptions(scriptBroker({})));
  const ask = <S extends z.ZodType>(method: string, params: object, schema: S) =>
    client.request({ method, params } as never, schema) as Promise<z.infer<S>>;
  return { client, ask };
};

type Host = Awaited<ReturnType<typeof connect>>;

/** Reads every file below a folder, by address. */
const walk = async (host: Host, uri: string): Promise<Map<string, string>> => {
  const found = new Map<string, string>();
  const { resources } = await host.ask("resources/directory/read", { uri }, Folder);
  for (const { uri: child, mimeType } of resources) {
    expect(child.startsWith(uri) && child.length > uri.length, `${child} in ${uri}`).toBe(true);
    if (mimeType === "inode/directory") {
      for (const [file, text] of await walk(host, child)) found.set(file, text);
    } else {
      const { contents } = await host.client.readResource({ uri: child });
      found.set(child, contents.map((part) => ("text" in part ? part.text : "")).join(""));
    }
  }
  return found;
};

describe("skills as a host reads them", () => {
  verifies("RC-02");
  it("are the files of the folder skills, found by walking from the root", async () => {
    const files = await walk(await connect(), "skill://");
    const names = readdirSync(ROOT, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) =>
        join(one.parentPath, one.name)
          .slice(ROOT.length + 1)
          .replaceAll("\\", "/"),
      );
    expect([...files.keys()].toSorted()).toEqual(names.map((name) => `skill://${name}`).toSorted());
    for (const [uri, text] of files) {
      expect(text).toBe(readFileSync(join(ROOT, uri.slice("skill://".length)), "utf8"));
    }
  });

  verifies("RC-02");
  it.each([
    "skill:/",
    "skill:///",
    "skill:",
    "",
    "/",
    "skill://nope",
    "skill://month-close/SKILL.md",
    "skill://month-close//references",
    "skill://month-close/../dispute-triage",
    "skill://month-close/%2e%2e/dispute-triage",
    "skill://__proto__",
    "file:///etc",
    "receivables://",
  ])("have no folder %j", async (uri) => {
    const { ask } = await connect();
    await expect(ask("resources/directory/read", { uri }, Folder)).rejects.toMatchObject({
      code: -32602,
    });
  });
});
