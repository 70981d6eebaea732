import { describe, expect, it } from "vitest";
import { z } from "zod";
import { investigateShortPay } from "../../prompts/investigate-short-pay.ts";
import { parsePaymentSummary } from "../../src/contract/insights/payment-summary.ts";
import { connectLegacy, createOptions } from "./hosts.ts";
import { scriptBroker } from "./script.ts";

/** Returns the call of payments_summarize that the prompt asks for. */
const asked = (text: string): unknown => {
  const [, filters = "", groupBy = "", measures = "", topRows = ""] =
    /"filters": (\{.*?\}), "groupBy": (\[.*?\]), "measures": (\[.*?\]), "topRows": (\d+)/.exec(
      text,
    ) ?? [];
  return JSON.parse(
    `{"source":"cashapp","filters":${filters},"groupBy":${groupBy},"measures":${measures},"topRows":${topRows}}`,
  );
};

describe("the investigation of short payments", () => {
  it.each(["0100042", 'A "quoted" \\ number'])("asks for a valid summary of %s", (number) => {
    const text = investigateShortPay.text({ accountNumber: number }, () => true);
    expect(parsePaymentSummary(asked(text)).faults).toBeUndefined();
    const { filters } = z
      .object({ filters: z.object({ accountNumber: z.object({ eq: z.string() }) }) })
      .parse(asked(text));
    expect(filters.accountNumber.eq).toBe(number);
  });

  it("attaches the reasons of disputes", async () => {
    const broker = scriptBroker({ "reasons.list": () => [{ reasonId: "r-1", code: "SHORT" }] });
    const host = await connectLegacy(await createOptions(broker));
    const { messages } = await host.client.getPrompt({
      name: "investigate-short-pay",
      arguments: { accountNumber: "0100042" },
    });
    expect(messages).toHaveLength(2);
    expect(JSON.stringify(messages[1])).toContain("SHORT");
  });
});
