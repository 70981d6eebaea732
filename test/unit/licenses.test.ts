import { describe, expect, it } from "vitest";
import { collectLicenses, listPackageFolders } from "../../scripts/build/licenses.ts";
import { verifies } from "../support/verifies.ts";

describe("the licence texts of packages", () => {
  verifies("HS-10");
  it("are those of the innermost package of each file, once", () => {
    expect(
      listPackageFolders([
        "src/bin/cli.ts",
        "node_modules/zod/v4/index.js",
        "node_modules/zod/v4/core.js",
        "../../node_modules/@scope/one/node_modules/two/lib/x.js",
      ]),
    ).toEqual(["node_modules/@scope/one/node_modules/two", "node_modules/zod"]);
  });

  verifies("HS-10");
  it("come from the package's file, or from the licence that it names", async () => {
    const text = await collectLicenses([
      "node_modules/zod/index.js",
      "node_modules/koa-compose/index.js",
      "node_modules/saxes/saxes.js",
    ]);
    expect(text).toMatch(/^zod \d+\.\d+\.\d+ \(MIT\)\n-+\n\nMIT License/m);
    expect(text).toContain("Copyright (c) the authors of koa-compose\n\nPermission is hereby");
    expect(text).toContain("Copyright (c) Louis-Dominique Dubeau <ldd@lddubeau.com>");
  });

  it("are missing loudly: a package without known terms stops the build", async () => {
    await expect(collectLicenses(["node_modules/no-such-package/index.js"])).rejects.toThrow();
  });
});
