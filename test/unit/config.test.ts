import { mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createScanner } from "../../src/platform/clamd/scanner.ts";
import { ConfigError, readConfig, settings } from "../../src/config/config.ts";
import { mayCreateDemo } from "../../src/bin/compose/embedded.ts";
import { createMasterKeyReader } from "../../src/config/folder.ts";
import { Secret } from "../../src/kit/secret.ts";
import { verifies } from "../support/verifies.ts";

const FILES: Record<string, string> = {
  "/key": "rcvg_from-a-file\n",
  "/password": " spaces stay \r\n",
  "/empty": "\n",
};

const read = (env: Record<string, string | undefined>) =>
  readConfig({
    env,
    dataFolder: "/data/default",
    readFile: (path) => {
      const text = FILES[path];
      if (text === undefined) throw new Error("ENOENT");
      return text;
    },
  });

const faultsOf = (env: Record<string, string>): readonly string[] => {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
};

describe("the settings", () => {
  verifies("OP-05");
  it("allow a demo tenant on the embedded store alone, without another tenant or credential", () => {
    const others = {
      DATABASE_URL: "postgres://127.0.0.1/other",
      RECEIVABLES_TENANT_ID: "acme",
      RECEIVABLES_API_KEY: "rcvg_x",
      RECEIVABLES_EXT_API_KEY: "rcvx_x",
      RECEIVABLES_EMAIL: "ann@acme.example",
    };
    expect([{}, { RECEIVABLES_TENANT_ID: "demo" }].map(read).map(mayCreateDemo)).toEqual([
      true,
      true,
    ]);
    for (const [name, value] of Object.entries(others)) {
      expect([name, mayCreateDemo(read({ [name]: value }))]).toEqual([name, false]);
    }
  });

  it("are all optional", () => {
    const config = read({});
    expect(config).toMatchObject({
      dataFolder: "/data/default",
      remote: undefined,
      tenantId: undefined,
      mcp: {
        readOnly: false,
        discovery: false,
        confirm: "token",
        answerTokens: 6_000,
        callsPerMinute: 600,
      },
      requestMs: 30_000,
      headerWord: "Platform",
      level: "info",
      unused: [],
    });
    expect(config.mcp.toolsets).toContain("disputes");
    expect(config.lifetimes).toEqual({
      sessionIdle: 900_000,
      sessionNominal: 3_600_000,
      sessionLongest: 43_200_000,
      keyInactivity: 365 * 86_400_000,
    });
  });

  verifies("OP-21");
  it("choose a folder or an S3 service for files", () => {
    const placeOf = (url?: string) => read({ RECEIVABLES_FILES_URL: url }).files;
    expect(placeOf()).toEqual({ folder: "/data/default/files" });
    expect(placeOf("/srv/files")).toEqual({ folder: "/srv/files" });
    expect(placeOf("s3://my-bucket")).toEqual({
      bucket: "my-bucket",
      prefix: "",
      endpoint: undefined,
      region: undefined,
    });
    const endpoint = "http://127.0.0.1:9000";
    expect(placeOf(`s3://bucket/a/b.c/?endpoint=${endpoint}&region=eu-west-1`)).toEqual({
      bucket: "bucket",
      prefix: "a/b.c",
      endpoint,
      region: "eu-west-1",
    });
    const wrong = ["file:///srv/files", "http://bucket/x", "s3://", "s3://Bucket/x", "s3://b/x"];
    wrong.push("s3://key:secret@bucket/x", "s3://bucket/x?endpoint=host", "s3://bucket/a//b");
    wrong.push("s3://bucket/x?acl=public", "s3://bucket/../x#y", "s3://bucket/a b?region=A");
    wrong.push("s3://bucket?endpoint=http://user:secret@host", "s3://bucket:80/x");
    for (const url of wrong) {
      const [fault, ...others] = faultsOf({ RECEIVABLES_FILES_URL: url });
      expect(fault, url).toMatch(/^RECEIVABLES_FILES_URL must be a folder, or s3:/);
      expect(others).toEqual([]);
    }
  });

  it("choose the authentication over HTTP, and the issuer of tokens", () => {
    expect(read({})).toMatchObject({ http: { auth: undefined }, issuer: undefined });
    const config = read({
      RECEIVABLES_OAUTH_ISSUER: "https://issuer.example",
      RECEIVABLES_OAUTH_CLIENT_ID: "mcp",
      RECEIVABLES_OAUTH_CLIENT_SECRET_FILE: "/key",
    });
    expect(config.issuer).toMatchObject({ url: "https://issuer.example", clientId: "mcp" });
    expect(config.issuer?.clientSecret?.reveal()).toBe("rcvg_from-a-file");
    const faults = faultsOf({
      RECEIVABLES_HTTP_AUTH: "issuer",
      RECEIVABLES_OAUTH_AUDIENCE: "x",
      RECEIVABLES_OAUTH_CLIENT_ID: "mcp",
    }).join();
    expect(faults).toContain("HTTP_AUTH is issuer without");
    expect(faults).toContain("AUDIENCE is set without RECEIVABLES_OAUTH_ISSUER");
    expect(faults).toContain("belong together");
    expect(faultsOf({ RECEIVABLES_HTTP_AUTH: "all" })).toEqual([
      "RECEIVABLES_HTTP_AUTH must be one of none, static, builtin, issuer",
    ]);
  });

  it("treat empty values and templates of a desktop host as unset", () => {
    const config = read({
      RECEIVABLES_API_KEY: "",
      RECEIVABLES_BASE_URL: "${user_config.base_url}",
      RECEIVABLES_READ_ONLY: "  ",
      RECEIVABLES_TOOLSETS: " ${user_config.toolsets} ",
    });
    expect(config.remote).toBeUndefined();
    expect(config.credentials.apiKey).toBeUndefined();
    expect(config.mcp.readOnly).toBe(false);
  });

  it("report every fault at once without values", () => {
    const faults = faultsOf({
      RECEIVABLES_READ_ONLY: "canary",
      RECEIVABLES_BASE_URL: "canary://x",
      RECEIVABLES_API_KEY: "canary key",
      RECEIVABLES_SECRET_KEY: "canary",
      RECEIVABLES_REQUEST_SECONDS: "canary",
      RECEIVABLES_PASSWORD_FILE: "/canary",
      RECEIVABLES_CONFIRM: "canary",
      RECEIVABLES_LOG: "canary",
      RECEIVABLES_HTTP_HOSTS: "a b",
      RECEIVABLES_HTTP_ORIGINS: "https://x/path",
      RECEIVABLES_HEADER_WORD: "X-Y",
      RECEIVABLES_EMAIL: "canary",
    });
    expect(faults).toHaveLength(12);
    expect(faults.join("\n")).not.toContain("canary");
    expect(faults.every((fault) => fault.startsWith("RECEIVABLES_"))).toBe(true);
  });

  verifies("HS-03");
  it("take origins as people write them, also those of extensions", () => {
    const origins = (text: string) => read({ RECEIVABLES_HTTP_ORIGINS: text }).http.origins;
    expect(origins("https://a.example/, HTTPS://B.example:443,http://c:80")).toEqual([
      "https://a.example",
      "https://b.example",
      "http://c",
    ]);
    expect(origins("chrome-extension://AbC,tauri://localhost")).toEqual([
      "chrome-extension://abc",
      "tauri://localhost",
    ]);
    for (const bad of ["null", "*", "a.example", "data:x", "file:///x", "https://u@a.example"]) {
      expect([bad, faultsOf({ RECEIVABLES_HTTP_ORIGINS: bad }).length]).toEqual([bad, 1]);
    }
  });

  it("list the known toolsets after an unknown one", () => {
    const [fault] = faultsOf({ RECEIVABLES_TOOLSETS: "disputes,payroll" });
    expect(fault).toContain("payroll");
    expect(fault).toContain("dispute_configuration");
    expect(faultsOf({ RECEIVABLES_TOOLSETS: "," })).toHaveLength(1);
    expect(read({ RECEIVABLES_TOOLSETS: " identity, audit " }).mcp.toolsets).toEqual([
      "audit",
      "identity",
    ]);
  });

  it.each(["0", "-1", "1.5", "1e3", "99999999999", "abc"])("refuse %j as seconds", (value) => {
    expect(faultsOf({ RECEIVABLES_REQUEST_SECONDS: value })).toHaveLength(1);
  });

  it.each([
    "clamd:",
    "clamd:socket",
    "clamd:///x",
    "clamd://host:port",
    "clamd://:3310",
    "http://host:3310",
    "clamd://host:3310/x",
  ])("take %j for no scanner", (value) => {
    expect(faultsOf({ RECEIVABLES_SCANNER: value })).toHaveLength(1);
    expect(() => createScanner(value)).toThrow("clamd");
  });

  it.each(["clamd://av.example:3310", "clamd://[::1]:3310", "clamd://av", "clamd:/run/clamd.ctl"])(
    "accept %j as a scanner",
    (value) => {
      expect(read({ RECEIVABLES_SCANNER: value }).scanner).toBe(value);
      expect(createScanner(value)).toHaveProperty("scan");
    },
  );

  it("define lifetime and base of signed URLs, and the upload folders", () => {
    const { urlLives, publicUrl, uploadFolders } = read({
      RECEIVABLES_UPLOAD_SECONDS: "60",
      RECEIVABLES_PUBLIC_URL: "https://files.example/receivables/",
      RECEIVABLES_UPLOAD_FOLDERS: "/srv/out, /srv/more",
    });
    expect(urlLives).toEqual({ upload: 60_000, download: 3_600_000 });
    expect(publicUrl).toBe("https://files.example/receivables/");
    expect(uploadFolders).toEqual(["/srv/out", "/srv/more"]);
    expect(faultsOf({ RECEIVABLES_PUBLIC_URL: "files.example" })).toHaveLength(1);
    expect(faultsOf({ RECEIVABLES_DOWNLOAD_SECONDS: "0" })).toHaveLength(1);
  });

  it.each(["10.0.0.0/33", "10.0.0/8", "::1/129", "host", "10.0.0.0/8/8", "10.0.0.0/x"])(
    "refuse %j as a network",
    (value) => {
      expect(faultsOf({ RECEIVABLES_TRUSTED_PROXIES: value })).toHaveLength(1);
      expect(faultsOf({ RECEIVABLES_WEBHOOK_ALLOW: value })).toHaveLength(1);
    },
  );

  verifies("D-WH-8", "C-33");
  it("define the four delays of webhooks, and their allowed networks", () => {
    expect(read({}).webhooks).toEqual({ delaysMs: [30e3, 60e3, 120e3, 300e3], allow: [] });
    const given = {
      RECEIVABLES_WEBHOOK_DELAYS_SECONDS: "0, 1,2,86400",
      RECEIVABLES_WEBHOOK_ALLOW: "127.0.0.0/8,::1",
    };
    expect(read(given).webhooks).toEqual({
      delaysMs: [0, 1000, 2000, 86_400_000],
      allow: ["127.0.0.0/8", "::1"],
    });
  });

  it.each(["30,60,120", "30,60,120,300,600", "30,60,120,-1", "30,60,120,86401", "1s,2s,3s,4s"])(
    "refuse %j as delays",
    (value) => {
      expect(faultsOf({ RECEIVABLES_WEBHOOK_DELAYS_SECONDS: value })).toHaveLength(1);
    },
  );

  it("define limits, where 0 is none, and networks of proxies", () => {
    const config = read({
      RECEIVABLES_LOGIN_RATE_MINUTE: "0",
      RECEIVABLES_TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8,127.0.0.1",
    });
    expect(config.limits).toMatchObject({ loginPerMinute: 0, gatewayPerMinute: 600 });
    expect(config.trustedProxies).toEqual(["10.0.0.0/8", "fd00::/8", "127.0.0.1"]);
  });

  it.each(["ftp://x", "http://user:pass@x", "https://x?token=1", "https://x#y", "not a url"])(
    "refuse %j as a base URL",
    (value) => {
      expect(faultsOf({ RECEIVABLES_BASE_URL: value })).toHaveLength(1);
    },
  );

  verifies("C-81");
  it("read a secret from a file and never show it", () => {
    const config = read({
      RECEIVABLES_API_KEY_FILE: "/key",
      RECEIVABLES_PASSWORD_FILE: "/password",
      RECEIVABLES_EMAIL: "a@b.example",
    });
    expect(config.credentials.apiKey?.reveal()).toBe("rcvg_from-a-file");
    expect(config.credentials.password?.reveal()).toBe(" spaces stay ");
    expect(JSON.stringify(config)).not.toMatch(/from-a-file|spaces/);
  });

  it("refuse a secret that is set twice, or in an empty file", () => {
    expect(faultsOf({ RECEIVABLES_API_KEY: "k", RECEIVABLES_API_KEY_FILE: "/key" })).toEqual([
      "RECEIVABLES_API_KEY and RECEIVABLES_API_KEY_FILE are both set: choose one",
    ]);
    expect(faultsOf({ RECEIVABLES_API_KEY_FILE: "/empty" })).toHaveLength(1);
  });

  it("use one address for both services unless two are set", () => {
    expect(read({ RECEIVABLES_BASE_URL: "https://x/y" }).remote).toEqual({
      gateway: "https://x/y",
      export: "https://x/y",
    });
    expect(faultsOf({ RECEIVABLES_EXT_BASE_URL: "https://x" })).toHaveLength(1);
  });

  it("report unknown names, such as a mistyped READ_ONLY", () => {
    const { unused } = read({
      RECEIVABLES_READONLY: "true",
      RECEIVABLES_API_KEY_FILE: "/key",
      X: "1",
    });
    expect(unused).toEqual(["RECEIVABLES_READONLY"]);
  });

  it("have a default and a meaning for the README", () => {
    expect(settings.length).toBeGreaterThan(15);
    for (const { name, default: shown, meaning } of settings) {
      expect(name).toMatch(/^(RECEIVABLES_[A-Z_]+(, …_FILE)?|DATABASE_URL)$/);
      expect(shown).not.toBe("undefined");
      expect(meaning.length).toBeGreaterThan(10);
    }
  });
});

describe("the master key", () => {
  let folder: string;
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), "key-")), "data");
  });

  it("is created once by concurrent readers, and is private", async () => {
    const asked = Array.from({ length: 12 }, () =>
      createMasterKeyReader({ secretKey: undefined, dataFolder: folder })(),
    );
    const keys = new Set((await Promise.all(asked)).map((key) => key.toString("hex")));
    expect(keys.size).toBe(1);
    expect([...keys][0]?.length).toBeGreaterThanOrEqual(64);
    const path = join(folder, "secret.key");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect([...keys]).toEqual([Buffer.from((await readFile(path, "utf8")).trim()).toString("hex")]);
  });

  it("is the configured one if there is one", async () => {
    const text = "0123456789abcdef".repeat(4);
    const key = await createMasterKeyReader({ secretKey: new Secret(text), dataFolder: folder })();
    expect(key.toString()).toBe(text);
    await expect(stat(join(folder, "secret.key"))).rejects.toThrow("ENOENT");
  });

  it("is not replaced if the file is damaged", async () => {
    await createMasterKeyReader({ secretKey: undefined, dataFolder: folder })();
    await writeFile(join(folder, "secret.key"), "short");
    await expect(
      createMasterKeyReader({ secretKey: undefined, dataFolder: folder })(),
    ).rejects.toThrow("contains no master key");
  });
});
