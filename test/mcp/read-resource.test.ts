import { expect, it } from "vitest";
import { onEveryStore } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { verifies } from "../support/verifies.ts";
import { createRecords } from "./each-tool.ts";
import { connectScripted, readProblem, withoutAbout } from "./hosts.ts";
import { askAt } from "./insight-host.ts";

const TOOL = "read_resource";

const urisOf = ({ dispute, schedule, document, account, application }: Records): string[] => [
  "receivables://guide",
  "receivables://dispute-configuration",
  "receivables://dispute-configuration/reasons",
  `receivables://disputes/${dispute.disputeId}`,
  `receivables://accounts/${encodeURIComponent(account.account_number)}`,
  `receivables://documents/${encodeURIComponent(document.document_number)}`,
  "receivables://credit-applications",
  `receivables://credit-applications/${application.applicationId}`,
  "receivables://export/schema/cashapp",
  `receivables://export-runs/${schedule.scheduleId}`,
];

onEveryStore("read_resource", (at) => {
  const asking = askAt(at, "resource-tool");

  verifies("WK-01a");
  it("gives what the resource gives", async () => {
    const { host } = asking();
    for (const uri of urisOf(await createRecords(asking(), "resource"))) {
      const { contents } = await host.client.readResource({ uri });
      const [{ mimeType, text } = { mimeType: "", text: "" }] = contents as {
        mimeType: string;
        text: string;
      }[];
      const shown =
        mimeType === "application/json" ? { content: JSON.parse(text) as unknown } : { text };
      expect(withoutAbout(await host.call(TOOL, { uri }))).toEqual({ uri, mimeType, ...shown });
    }
  });
});

verifies("WK-01a");
it("names the known addresses where nothing has the one that was asked for", async () => {
  const { host } = await connectScripted({});
  const problem = readProblem(await host.call(TOOL, { uri: "receivables://nothing" }));
  expect(problem.code).toBe("not_found");
  expect(problem.message).toMatch(
    /receivables:\/\/guide, .*receivables:\/\/disputes\/\{disputeId\}/,
  );
  expect(host.client.getInstructions()).toContain(`${TOOL} reads it`);
});
