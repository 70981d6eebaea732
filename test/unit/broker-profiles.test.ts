import { mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Keychain,
  KeychainError,
  createKeychainProcess,
  createMissingKeychain,
} from "../../src/broker/keychain.ts";
import { toCredentials, type Profile, createSealedProfiles } from "../../src/broker/profiles.ts";
import { Problem } from "../../src/contract/errors.ts";
import { finished, startChild } from "../support/child.ts";
import { verifies } from "../support/verifies.ts";

const CHILD = new URL("./profiles-child.ts", import.meta.url);
const SCRIPT = fileURLToPath(new URL("../../src/bin/keychain.ts", import.meta.url));
const masterKey = async () => Buffer.alloc(32, 7);
const none = createMissingKeychain("nobody has made one");

const profile = (apiKey = "canary-key"): Profile => ({
  name: "work",
  baseUrl: "https://platform.example",
  tenantId: "acme",
  keyId: "k-1",
  credentials: toCredentials({ apiKey, email: "ann@acme.example" }),
});

/** A keychain that holds what it is given, and says so when it is shut. */
const heldKeychain = () => {
  const held = new Map<string, string>();
  let shut = false;
  const opened = <T>(act: () => T) => {
    if (shut) throw new KeychainError("it is locked");
    return act();
  };
  const keychain: Keychain = {
    put: async (account, secret) => opened(() => void held.set(account, secret)),
    get: async (account) => opened(() => held.get(account)),
    remove: async (account) => opened(() => held.delete(account)),
  };
  return { keychain, held, lock: () => (shut = true) };
};

let folder: string;
const profilesWith = (keychain: Keychain) => createSealedProfiles({ folder, masterKey, keychain });

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "profiles-")), "profiles");
});

const onDisk = async () =>
  Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));

const refusalOf = async (act: Promise<unknown>): Promise<string> =>
  act.then(
    () => "",
    (error: unknown) => (error instanceof Problem ? error.message : `no problem: ${String(error)}`),
  );

describe("the stamp of a profile", () => {
  it("differs after each login with any kind of secret, and does not reveal the secret", async () => {
    const profiles = profilesWith(none);
    expect(await profiles.stamp("work")).toBe("");
    const stamps: string[] = [];
    for (const apiKey of ["canary-key", "canary-key", "canary-other"]) {
      await profiles.write(profile(apiKey));
      stamps.push(await profiles.stamp("work"), await profiles.stamp("work"));
    }
    expect(new Set(stamps).size).toBe(3);
    expect(stamps.join("")).not.toContain("canary");
    await profiles.remove("work");
    expect(await profiles.stamp("work")).toBe("");
  });
});

describe("a profile without a keychain", () => {
  verifies("C-38");
  it("is sealed in a file that only the owner can read, and the reason is reported", async () => {
    const kept = await profilesWith(none).write(profile());
    const path = join(folder, "work.sealed");
    expect(kept).toEqual({ in: "sealed_file", path, why: "nobody has made one" });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const [text = ""] = await onDisk();
    expect(text + Buffer.from(text, "base64url").toString()).not.toMatch(/canary|acme/);
    const read = await profilesWith(none).read("work");
    expect(read).toMatchObject({ baseUrl: "https://platform.example", keyId: "k-1" });
    expect(read?.credentials.apiKey?.reveal()).toBe("canary-key");
  });

  it("is listed without secrets, and disappears when it is removed", async () => {
    const profiles = profilesWith(none);
    await profiles.write(profile());
    const listed = await profiles.list();
    expect(listed).toEqual([
      {
        name: "work",
        baseUrl: "https://platform.example",
        tenantId: "acme",
        keyId: "k-1",
        email: "ann@acme.example",
        has: ["apiKey"],
        keptIn: "sealed_file",
      },
    ]);
    expect(await profiles.find("work")).toEqual(listed[0]);
    expect(await profiles.remove("work")).toBe(true);
    expect(await profiles.remove("work")).toBe(false);
    expect([await profiles.list(), await profiles.read("work")]).toEqual([[], undefined]);
  });

  it("cannot be opened after a change, or with another master key", async () => {
    await profilesWith(none).write(profile());
    const other = createSealedProfiles({
      folder,
      masterKey: async () => Buffer.alloc(32, 8),
      keychain: none,
    });
    expect(await refusalOf(other.read("work"))).toContain("log in again");
    await writeFile(join(folder, "work.sealed"), "not sealed");
    expect(await refusalOf(profilesWith(none).read("work"))).toContain("log in again");
  });

  verifies("C-38");
  it("is whole while several processes write and read at once", async () => {
    const children = ["ann", "ben", "cid"].map((who) => startChild(CHILD, [folder, who, "40"]));
    expect(await Promise.all(children.map(finished))).toEqual(["whole", "whole", "whole"]);
    expect(await readdir(folder)).toEqual(["shared.sealed"]);
  });
});

describe("a profile with a keychain", () => {
  it("needs the keychain: file and master key do not suffice", async () => {
    const { keychain, held, lock } = heldKeychain();
    const profiles = profilesWith(keychain);
    expect(await profiles.write(profile())).toEqual({ in: "keychain" });
    expect(await profiles.list()).toMatchObject([{ name: "work", keptIn: "keychain" }]);
    expect((await profiles.read("work"))?.credentials.apiKey?.reveal()).toBe("canary-key");
    expect((await onDisk()).join("")).not.toContain([...held.values()][0]);
    expect(await refusalOf(profilesWith(none).read("work"))).toMatch(/nobody has made one.*log in/);
    lock();
    expect(await refusalOf(profiles.read("work"))).toMatch(/it is locked.*Unlock it/);
    expect(await profiles.list()).toHaveLength(1);
  });

  it("has one key in the keychain after many writes, and none after its removal", async () => {
    const { keychain, held } = heldKeychain();
    const profiles = profilesWith(keychain);
    await profiles.write(profile("one"));
    await profiles.write(profile("two"));
    expect(held.size).toBe(1);
    expect((await profiles.read("work"))?.credentials.apiKey?.reveal()).toBe("two");
    await profiles.remove("work");
    expect(held.size).toBe(0);
  });

  it("leaves no key in the keychain if the file cannot be written", async () => {
    const { keychain, held } = heldKeychain();
    await writeFile(folder, "a file where the folder should be");
    await expect(profilesWith(keychain).write(profile())).rejects.toThrow("EEXIST");
    expect(held.size).toBe(0);
  });

  it("is read as another process has just written it", async () => {
    const { keychain, held } = heldKeychain();
    const meanwhile: Keychain = {
      ...keychain,
      get: async (account) => {
        // Between the file and the key, once.
        if (held.has(account) && held.size === 1)
          await profilesWith(keychain).write(profile("new"));
        return keychain.get(account);
      },
    };
    await profilesWith(keychain).write(profile("old"));
    let once = true;
    const racing: Keychain = {
      ...keychain,
      get: (account) => {
        const from = once ? meanwhile : keychain;
        once = false;
        return from.get(account);
      },
    };
    const read = await profilesWith(racing).read("work");
    expect(read?.credentials.apiKey?.reveal()).toBe("new");
  });

  it("is reported if its key was removed from the keychain", async () => {
    const { keychain, held } = heldKeychain();
    await profilesWith(keychain).write(profile());
    held.clear();
    expect(await refusalOf(profilesWith(keychain).read("work"))).toContain("log in again");
  });
});

describe("the keychain's process", () => {
  const node = (code: string, withinMs?: number) =>
    createKeychainProcess({ command: process.execPath, args: ["-e", code] }, withinMs);

  it("is ended if it does not respond, and the profile goes into the file", async () => {
    const silent = node("setInterval(() => {}, 1000)", 300);
    expect(await profilesWith(silent).write(profile())).toMatchObject({
      in: "sealed_file",
      why: "it did not answer in time",
    });
    expect((await profilesWith(silent).read("work"))?.name).toBe("work");
  });

  it.each([
    ["prints nothing", "process.exit(3)"],
    ["prints no JSON", "console.log('canary')"],
  ])("that %s is no keychain", async (_what, code) => {
    await expect(node(code).get("x")).rejects.toThrow("did not answer");
  });

  it("counts as no keychain if it does not start", async () => {
    const missing = createKeychainProcess({ command: join(folder, "nothing"), args: [] });
    await expect(missing.get("x")).rejects.toThrow(KeychainError);
  });

  it("gets secrets by pipe, never as arguments", async () => {
    const echo = node(
      `let text = ""; process.stdin.on("data", (chunk) => { text += chunk; }).on("end", () => {
        const { secret } = JSON.parse(text);
        const seen = process.argv.join(" ").includes(secret);
        console.log(JSON.stringify(seen ? { why: "seen" } : { value: secret }));
      });`,
    );
    await expect(echo.put("x", "canary-secret")).resolves.toBeUndefined();
  });
});

describe.runIf(process.platform === "linux")("a machine whose message bus", () => {
  let bus: Server;
  let address: string;
  beforeEach(async () => {
    const path = join(folder, "..", "bus");
    address = `unix:path=${path}`;
    bus = createServer(() => {}).listen(path);
    await once(bus, "listening");
  });
  afterEach(() => bus.close());

  const real = (environment: Record<string, string>, withinMs?: number) =>
    createKeychainProcess(
      {
        command: "/usr/bin/env",
        args: [
          "-i",
          ...Object.entries(environment).map((pair) => pair.join("=")),
          process.execPath,
          SCRIPT,
        ],
      },
      withinMs,
    );

  it("does not respond: the keychain is given up in time", async () => {
    const hangs = real({ DBUS_SESSION_BUS_ADDRESS: address }, 1500);
    expect(await profilesWith(hangs).write(profile())).toMatchObject({
      in: "sealed_file",
      why: "it did not answer in time",
    });
  });

  it("is missing: nothing is put into the kernel's keyring instead", async () => {
    const kept = await profilesWith(real({})).write(profile());
    expect(kept).toMatchObject({ in: "sealed_file", why: expect.stringMatching(/\w{4}/) });
    expect((await profilesWith(none).read("work"))?.keyId).toBe("k-1");
  });
});
