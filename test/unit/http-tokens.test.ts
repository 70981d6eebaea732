import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createTokensFile, openTokensFile } from "../../src/bin/compose/tokens-file.ts";
import { createLog } from "../../src/kit/log.ts";
import {
  parseTokens,
  type StaticToken,
  createStaticVerifier,
} from "../../src/mcp/http/static-tokens.ts";
import { verifies } from "../support/verifies.ts";

const A = `canary-${"a".repeat(40)}`;
const B = `canary-${"b".repeat(40)}`;
const KEY = Buffer.alloc(32, 3);

const verified = (token: string, tokens: readonly StaticToken[], key = KEY) =>
  createStaticVerifier(async () => tokens, key)(token);

describe("a line of the file of tokens", () => {
  it("names a token, a profile and scopes; blank lines and remarks are ignored", async () => {
    const { tokens, faults } = parseTokens(`# who\n\n  ${A}\tann  read,write \r\n${B} bob read\n`);
    expect(faults).toEqual([]);
    expect(await verified(A, tokens)).toMatchObject({ profile: "ann", scopes: ["read", "write"] });
    expect(await verified(B, tokens)).toMatchObject({ profile: "bob", scopes: ["read"] });
    expect(await verified(`${A}x`, tokens)).toBe("invalid");
    expect(await verified("", tokens)).toBe("invalid");
    expect(JSON.stringify(tokens)).not.toContain("canary");
  });

  it("is reported by its number if it is wrong, without its token", () => {
    const wrong = [
      A,
      `${A} ann`,
      `${A} ann read extra`,
      `short ann read`,
      `${A}"quoted" ann read`,
      `${A} ../ann read`,
      `${A} ann read,everything`,
      `${A} ann read,`,
      `${B} bob read`,
      `${B} bob write`,
    ];
    const { tokens, faults } = parseTokens(wrong.join("\n"));
    expect(faults.map((fault) => Number(/^line (\d+)/.exec(fault)?.[1]))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 10,
    ]);
    expect(faults.at(-1)).toBe("line 10 has the token of line 9");
    expect(faults.join()).not.toContain("canary");
    expect(tokens).toHaveLength(1);
  });

  it("defines a caller whose id hides the token, is stable, and depends on the profile", async () => {
    const idOf = async (line: string, key = KEY) => {
      const bearer = await verified(A, parseTokens(line).tokens, key);
      if (typeof bearer === "string") throw new Error(bearer);
      return bearer.id;
    };
    const id = await idOf(`${A} ann read`);
    expect(id).toMatch(/^[\w-]{22}$/);
    expect(await idOf(`# later\n${A} ann read,write`)).toBe(id);
    expect(await idOf(`${A} bob read`)).not.toBe(id);
    expect(await idOf(`${A} ann read`, Buffer.alloc(32, 4))).not.toBe(id);
  });
});

describe("the file of tokens", () => {
  let folder: string;
  let path: string;
  let lines: string[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tokens-"));
    path = join(folder, "data", "http-tokens");
    lines = [];
  });

  const log = createLog("debug", (line) => lines.push(line));
  const open = () => openTokensFile({ path, isProfile: async (name) => name !== "nobody", log });
  const write = (text: string, mode = 0o600) => writeFile(path, text, { mode });
  const fault = async (): Promise<string> => {
    const error: unknown = await open().then(
      () => undefined,
      (caught: unknown) => caught,
    );
    return error instanceof Error ? error.message : "";
  };

  it("is created once, readable by its owner only, with a random token", async () => {
    const made = await Promise.all([1, 2, 3].map(() => createTokensFile(path, "default")));
    const [token = "", ...others] = made.filter((one) => one !== undefined);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(others).toEqual([]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const tokens = await (await open())();
    expect(await verified(token, tokens)).toMatchObject({
      profile: "default",
      scopes: ["read", "write", "admin"],
    });
    expect(await createTokensFile(path, "default")).toBeUndefined();
  });

  verifies("C-63");
  it.each(["all", "*", "full", "read:*", "readwrite"])(
    "has no scope %s: none includes others",
    (scope) => {
      const { tokens, faults } = parseTokens(`${A} ann ${scope}\n`);
      expect([tokens, faults]).toEqual([[], [expect.stringContaining("unknown scope")]]);
    },
  );

  it("is refused at the start with every fault and no token", async () => {
    expect(await fault()).toContain("ENOENT");
    await createTokensFile(path, "default");
    await chmod(path, 0o640);
    expect(await fault()).toContain("chmod 600");
    await chmod(path, 0o600);
    await write("# nothing\n");
    expect(await fault()).toContain("has no token");
    await write(`${A} nobody read\n${B} bob reads\n`);
    const all = await fault();
    expect(all).toContain("line 1 names an unknown profile: nobody");
    expect(all).toContain("line 2 has an unknown scope");
    expect(all).not.toContain("canary");
  });

  it("is read again when it has changed: a removed token is refused at the next request", async () => {
    await createTokensFile(path, "default");
    await write(`${A} ann read\n${B} bob read\n`);
    const verify = createStaticVerifier(await open(), KEY);
    expect(await verify(A)).toMatchObject({ profile: "ann" });
    await write(`${B} bob write\n`);
    expect(await verify(A)).toBe("invalid");
    expect(await verify(B)).toMatchObject({ scopes: ["write"] });
  });

  it("loses only faulty lines when it becomes invalid later, and all if it cannot be read", async () => {
    await createTokensFile(path, "default");
    await write(`${A} ann read\n${B} bob read\n`);
    const verify = createStaticVerifier(await open(), KEY);
    await write(`${A} ann read\n${B} bob reading\n`);
    expect(await verify(A)).toMatchObject({ profile: "ann" });
    expect(await verify(B)).toBe("invalid");
    await chmod(path, 0o644);
    expect(await verify(A)).toBe("invalid");
    await chmod(path, 0o600);
    expect(await verify(A)).toMatchObject({ profile: "ann" });
    await rm(path);
    expect(await verify(A)).toBe("invalid");
    expect(lines.join("")).toContain("line 2 has an unknown scope");
    expect(lines.join("")).toContain("chmod 600");
    expect(lines.join("")).not.toContain("canary");
  });

  it("explains its format", async () => {
    await createTokensFile(path, "default");
    expect(await readFile(path, "utf8")).toMatch(/^# .*TOKEN PROFILE SCOPES\n/);
  });
});
