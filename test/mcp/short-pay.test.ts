import { describe, expect, it } from "vitest";
import { z } from "zod";
import { investigateShortPay } from "../../prompts/investigate-short-pay.ts";
import { PaymentQueryBody, parseSelection } from "../../src/contract/payments/query.ts";
import { connectLegacy, createOptions } from "./hosts.ts";
import { scriptBroker } from "./script.ts";

const asked = (text: string): unknown => {
  const [, filters = ""] = /filters (\{.*\}), and fields/.exec(text) ?? [];
  const [, fields = ""] = /and fields ([^.]*)\./.exec(text) ?? [];
  return {
    source: "cashapp",
    filters: JSON.parse(filters) as unknown,
    fields: fields.split(",").map((name) => name.trim()),
  };
};

describe("the investigation of short payments", () => {
  it.each(["0100042", 'A "quoted" \\ number'])("contains a valid query for %s", (number) => {
    const text = investigateShortPay.text({ accountNumber: number });
    expect(parseSelection(PaymentQueryBody, asked(text)).faults).toBeUndefined();
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
    await host.close();
  });
});
