import { describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import {
  CreditApplication,
  CreditApplicationDetail,
} from "../../src/contract/operations/credit-applications.ts";
import { estimateTokens } from "../../src/mcp/results/tokens.ts";
import { application, COMPANY, field, form, formType, section } from "../support/credit.ts";
import { sanitizeText } from "../../src/mcp/results/sanitize.ts";
import { HOSTILE } from "./hostile.ts";
import {
  HOSTS,
  connectLegacy,
  connectModern,
  createOptions,
  readProblem,
  readText,
  withoutAbout,
} from "./hosts.ts";
import { createMany } from "./records.ts";
import { type ScriptedReply, scriptBroker } from "./script.ts";
import { withoutNulls } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

type Fields = Record<string, unknown>;

const summary = (index: number, more: Fields = {}) =>
  CreditApplication.parse({
    ...application(`app-${index}`),
    businessUnitIdList: [],
    company: { ...COMPANY, name: `Buyer ${index}` },
    ...more,
  });

const COUNTS = [
  { type: "Under Review", title: "In Review", noOfApplications: 250 },
  { type: "Closed - Declined", title: "Declined", noOfApplications: 3 },
];

/** A platform's pages of applications, with or without a total. */
const pagesOf =
  (rows: readonly unknown[]): ScriptedReply =>
  ({ page, pageSize }) => {
    const from = (Number(page) - 1) * Number(pageSize);
    const applications = rows.slice(from, from + Number(pageSize));
    return { applications, applicationStatusSummary: COUNTS };
  };

const DAYS = { activityType: "LASTMODIFIED", startDate: "2026-01-01", endDate: "2026-06-30" };

const detail = (more: Fields): CreditApplicationDetail =>
  CreditApplicationDetail.parse(application("app-1", more));

const answers = (...texts: unknown[]): Fields => ({
  allowAdditionalAnswers: true,
  answerDetails: texts.map((answer, index) => ({ answer, index, updated: false })).toReversed(),
});

const FORM = form(
  formType("Internal Form", [section("gone", [field("x")])], { status: "Disabled" }),
  formType("External Form", [
    section("Money", [field("z")], { position: 2, status: "Disabled" }),
    section("Terms", [field("terms")], { position: 3 }),
    section(
      "Company",
      [
        field("brands", { position: 3, ...answers("Acme", "Zenith") }),
        field("old", { position: 0, status: "Disabled" }),
        field("exempt", {
          position: 2,
          hasSecondaryQuestions: true,
          secondaryFields: [
            field("until", { position: 2 }),
            field("never", { position: 0, status: "Disabled" }),
            field("certificate", { displayName: "Tax ID", position: 1, ...answers("98-7654321") }),
          ],
        }),
        field("address", {
          position: 1,
          required: false,
          answerDetails: [],
          fieldsSet: [field("city", { position: 2 }), field("street", { position: 1 })],
        }),
        field("hidden", { position: 9, secondaryFields: [field("unannounced")] }),
      ],
      { position: 1 },
    ),
  ]),
);

const PLAYS: Record<string, ScriptedReply> = {
  "credit_applications.list": pagesOf([summary(1), summary(2)]),
  "credit_applications.get": ({ applicationId }) => {
    if (applicationId === "app-1") return detail({ applicationForm: FORM });
    throw new Problem("not_found", "There is none.");
  },
};

const opened = async (plays: Record<string, ScriptedReply>, answerTokens = 20_000) => {
  const broker = scriptBroker(plays);
  const host = await connectModern(await createOptions(broker, { settings: { answerTokens } }));
  const read = async (uri: string): Promise<string> => {
    const { contents } = await host.client.readResource({ uri });
    return (contents as { text?: string }[])[0]?.text ?? "";
  };
  return { broker, host, read };
};

const URI = "receivables://credit-applications/app-1";
const LIST = "receivables://credit-applications";

describe.each(HOSTS)("credit tools (%s)", (_name, open) => {
  verifies("CR-09");
  it("the list has the documented form and the server's cursor", async () => {
    const host = await open(await createOptions(scriptBroker(PLAYS)));
    const result = await host.call("credit_applications_list", { ...DAYS, fields: ["*"] });
    expect(withoutAbout(result)).toEqual({
      applications: [summary(1), summary(2)].map(withoutNulls),
      applicationStatusSummary: COUNTS,
      truncated: false,
      nextCursor: null,
    });
    const unlisted = await host.call("credit_applications_list", { ...DAYS, activityType: "NEW" });
    expect(readProblem(unlisted)).toMatchObject({ code: "invalid_request" });
  });

  verifies("D-CRED-6");
  it("an application is masked, even if the credential may see all of it", async () => {
    const host = await open(await createOptions(scriptBroker(PLAYS)));
    const result = await host.call("credit_applications_get", { applicationId: "app-1" });
    expect(result.structuredContent).toMatchObject({ applicationId: "app-1" });
    for (const text of [JSON.stringify(result.structuredContent), readText(result)]) {
      expect(text).toContain("****4321");
      expect(text).not.toContain("98-7654321");
    }
  });
});

describe("credit tools", () => {
  verifies("C-73");
  it("a long list is split into results within the budget", async () => {
    const rows = createMany(250, (index) => summary(index));
    const { host } = await opened({ "credit_applications.list": pagesOf(rows) }, 6000);
    const found: unknown[] = [];
    for (let cursor: unknown, page = 0; page === 0 || cursor !== null; page += 1) {
      const args = { ...DAYS, fields: ["*"], ...(cursor === undefined ? {} : { cursor }) };
      const result = await host.call("credit_applications_list", args);
      const { structuredContent = {} } = result;
      expect(estimateTokens(JSON.stringify(structuredContent))).toBeLessThanOrEqual(6000);
      expect(estimateTokens(readText(result))).toBeLessThanOrEqual(6000);
      expect(structuredContent["applicationStatusSummary"]).toEqual(COUNTS);
      found.push(...(structuredContent["applications"] as unknown[]));
      cursor = structuredContent["nextCursor"];
      expect(structuredContent["truncated"]).toBe(cursor !== null);
    }
    expect(found).toEqual(rows.map(withoutNulls));
  });

  it("a requested page is returned with a cursor to the next one", async () => {
    const rows = createMany(5, (index) => summary(index));
    const { host, broker } = await opened({ "credit_applications.list": pagesOf(rows) });
    const args = { ...DAYS, pageSize: 2, fields: ["*"] };
    const first = await host.call("credit_applications_list", args);
    const cursor = first.structuredContent?.["nextCursor"];
    const second = await host.call("credit_applications_list", { ...args, cursor });
    expect(second.structuredContent?.["applications"]).toEqual(rows.slice(2, 4).map(withoutNulls));
    expect(broker.seen.map(({ args: { page, pageSize } }) => [page, pageSize])).toEqual([
      [1, 2],
      [2, 2],
    ]);
  });

  it("company_scores_get accepts the id as a number or text", async () => {
    const score = {
      fibs: { fibs_score: 1, fibs_confidence: 2 },
      dibs: { dibs_score: 3, dibs_confidence: 4 },
      creditLimit: 5,
      bankruptcyFlag: 0,
      outOfBusinessFlag: 0,
    };
    const { host, broker } = await opened({ "company_scores.get": () => score });
    for (const companyId of [4711, "4711"]) {
      const result = await host.call("company_scores_get", { companyId });
      expect(withoutAbout(result)).toEqual(score);
    }
    expect(broker.seen.map(({ args }) => String(args["companyId"]))).toEqual(["4711", "4711"]);
  });

  verifies("D-MCP-5");
  it.each(HOSTILE)("%s is removed from results", async (_what, text) => {
    const left = sanitizeText(text, "stored");
    const shown = field("f", { displayName: `Question ${text}`, ...answers(`Answer ${text}.`) });
    const parts = formType("External Form", [section("s", [shown])]);
    const { host, read } = await opened({
      "credit_applications.get": () => detail({ applicationForm: form(parts) }),
    });
    const form2 = JSON.parse(await read(URI)).forms[0].sections[0].questions[0];
    expect(form2.question).toBe(`Question ${left}`);
    expect(form2.answer.startsWith("Answer ")).toBe(true);
    const { structuredContent } = await host.call("credit_applications_get", {
      applicationId: "app-1",
    });
    expect(JSON.stringify(structuredContent)).toContain(JSON.stringify(`Question ${left}`));
  });
});

describe("credit resources", () => {
  verifies("CR-23", "CR-16");
  it("an application has its enabled parts in order, each answer with its question", async () => {
    const { read, broker } = await opened(PLAYS);
    const text = await read(URI);
    const { application: about, forms, truncated } = JSON.parse(text);
    expect(about).toMatchObject({ applicationId: "app-1", company: { name: COMPANY.name } });
    const of = (fieldsId: string) => ({
      question: `Field ${fieldsId}`,
      answer: `answer of ${fieldsId}`,
    });
    expect(forms).toEqual([
      {
        form: "External Form",
        sections: [
          {
            section: "Section Company",
            questions: [
              { question: "Field address", answer: null, parts: [of("street"), of("city")] },
              {
                ...of("exempt"),
                secondary: [{ question: "Tax ID", answer: "****4321" }, of("until")],
              },
              { question: "Field brands", answers: ["Acme", "Zenith"] },
              of("hidden"),
            ],
          },
          { section: "Section Terms", questions: [of("terms")] },
        ],
      },
    ]);
    expect(truncated).toBe(false);
    expect(text).not.toContain("98-7654321");
    expect(broker.seen.map(({ options }) => options.tool)).toEqual(["resources.read"]);
  });

  verifies("CR-23");
  it("references have the same form, with the dates of submission", async () => {
    const reference = {
      bankReferenceId: "b-1",
      createdDate: null,
      referenceName: "First National",
      referenceEmailAddress: null,
      sectionList: [
        section("gone", [field("x")], { position: 0, status: "Disabled" }),
        section("r", [field("iban", { displayName: "IBAN", ...answers("DE8937") })]),
      ],
      submitted: false,
      submitDate: null,
    };
    const { read } = await opened({
      "credit_applications.get": () =>
        detail({ applicationForm: null, bankReferences: [reference] }),
    });
    const { forms, bankReferences } = JSON.parse(await read(URI));
    const { sectionList: _sections, ...about } = reference;
    expect(forms).toEqual([]);
    expect(bankReferences).toEqual([
      {
        ...about,
        sections: [{ section: "Section r", questions: [{ question: "IBAN", answer: "****8937" }] }],
      },
    ]);
  });

  it("the list covers the last 90 days, with a count per status", async () => {
    const { read, broker } = await opened(PLAYS);
    const days = { activityType: "LASTMODIFIED", startDate: "2026-08-22", endDate: "2026-11-20" };
    expect(JSON.parse(await read(LIST))).toEqual({
      ...days,
      applications: [summary(1), summary(2)],
      applicationStatusSummary: COUNTS,
      truncated: false,
    });
    expect(broker.seen[0]?.args).toMatchObject(days);
  });

  verifies("C-73");
  it("both stay within the budget and report truncation", async () => {
    const fields = createMany(200, (index) =>
      field(`f-${index}`, answers("a long story ".repeat(40))),
    );
    const parts = formType("External Form", [section("s", fields)]);
    const { read } = await opened(
      {
        "credit_applications.list": pagesOf(createMany(300, (index) => summary(index))),
        "credit_applications.get": () => detail({ applicationForm: form(parts) }),
      },
      5000,
    );
    for (const uri of [URI, LIST]) {
      const text = await read(uri);
      expect(estimateTokens(text)).toBeLessThanOrEqual(5000);
      expect(JSON.parse(text).truncated).toBe(true);
    }
  });

  it.each([
    "receivables://credit-applications/",
    "receivables://credit-applications/none",
    "receivables://credit-applications/app-1/forms",
    "receivables://credit-applications/%zz",
  ])("do not include %s", async (uri) => {
    const host = await connectLegacy(await createOptions(scriptBroker(PLAYS)));
    await expect(host.client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  });

  it("require their toolset, as does the prompt", async () => {
    const setup = { settings: { toolsets: ["disputes" as const] } };
    const host = await connectLegacy(await createOptions(scriptBroker(PLAYS), setup));
    await expect(host.client.readResource({ uri: URI })).rejects.toMatchObject({ code: -32602 });
    await expect(host.client.readResource({ uri: LIST })).rejects.toMatchObject({ code: -32602 });
    const { prompts } = await host.client.listPrompts();
    expect(prompts.map(({ name }) => name)).not.toContain("review-credit-application");
  });
});

describe("the review of an application", () => {
  verifies("D-CRED-6");
  it("attaches the masked application", async () => {
    const { host } = await opened(PLAYS);
    const { messages } = await host.client.getPrompt({
      name: "review-credit-application",
      arguments: { applicationId: "app-1" },
    });
    const [words, brought] = messages.map(({ content }) => content) as unknown as [
      { text: string },
      { resource: { uri: string; text: string } },
    ];
    expect(words.text).toContain('Review credit application "app-1"');
    expect(brought.resource.uri).toBe(URI);
    expect(JSON.parse(brought.resource.text).application.applicationId).toBe("app-1");
    expect(brought.resource.text).toContain("****4321");
    expect(JSON.stringify(messages)).not.toContain("98-7654321");
  });

  it.each([
    ["", ["app-1", "app-2"]],
    ["APP-2", ["app-2"]],
    ["buyer 1", ["app-1"]],
    ["none", []],
  ])("completes %j to ids of recent applications", async (value, expected) => {
    const { host } = await opened(PLAYS);
    for (const ref of [
      { type: "ref/prompt" as const, name: "review-credit-application" },
      { type: "ref/resource" as const, uri: `${LIST}/{applicationId}` },
    ]) {
      const { completion } = await host.client.complete({
        ref,
        argument: { name: "applicationId", value },
      });
      expect(completion.values).toEqual(expected);
    }
  });
});
