import { expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { verifies } from "../support/verifies.ts";

const NO_FOLDER = { RECEIVABLES_DATA: "/nonexistent/data" };

verifies("OP-07");
it.each([["stdio"], ["http"], ["platform"], ["admin tenant show acme"], ["audit"]])(
  "an unknown setting stops %s and names the nearest known one",
  async (line) => {
    const env = { ...NO_FOLDER, RECEIVABLES_TOOLSET: "canary" };
    const { status, stdout, stderr } = await runCli(line.split(" "), env);
    expect([status, stdout, stderr]).toEqual([
      2,
      "",
      "RECEIVABLES_TOOLSET is not a setting. Did you mean RECEIVABLES_TOOLSETS?\n",
    ]);
  },
);

verifies("OP-07");
it("unknown settings are named together with wrong values", async () => {
  const { status, stderr } = await runCli(["platform"], {
    ...NO_FOLDER,
    RECEIVABLES_READ_ONLI: "true",
    RECEIVABLES_QUITE_UNLIKE_ANYTHING: "1",
    RECEIVABLES_READ_ONLY: "perhaps",
  });
  expect([status, stderr.trimEnd().split("\n")]).toEqual([
    2,
    [
      "RECEIVABLES_READ_ONLY must be true or false",
      "RECEIVABLES_READ_ONLI is not a setting. Did you mean RECEIVABLES_READ_ONLY?",
      "RECEIVABLES_QUITE_UNLIKE_ANYTHING is not a setting. Unset it; docs/settings.md lists the settings.",
    ],
  ]);
});
