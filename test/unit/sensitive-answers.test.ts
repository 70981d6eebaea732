import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CreditApplicationDetail } from "../../src/contract/operations/credit-applications.ts";
import { maskSensitiveAnswers } from "../../src/contract/sensitive-answers.ts";
import { application, field, form, formType, section } from "../support/credit.ts";
import { verifies } from "../support/verifies.ts";

type Fields = Record<string, unknown>;

const detailWith = (...fields: Fields[]) =>
  CreditApplicationDetail.parse(
    application("app", {
      applicationForm: form(formType("External Form", [section("s", fields)])),
    }),
  );

const fieldsIn = (detail: CreditApplicationDetail) =>
  detail.applicationForm?.formType[0]?.sectionList[0]?.fieldsList ?? [];

const answers = (...texts: (string | number | boolean | null)[]): Fields => ({
  allowAdditionalAnswers: true,
  answerDetails: texts.map((answer, index) => ({ answer, index, updated: false })),
});

const read = (more: Fields) => {
  const [first] = fieldsIn(maskSensitiveAnswers(detailWith(field("f", more))));
  return first?.answerDetails.map(({ answer }) => answer);
};

const SECRET = "98-7654321";
const readAs = (displayName: string, more: Fields = {}) =>
  read({ displayName, ...answers(SECRET), ...more });

verifies("D-CRED-6");
describe("sensitive answers", () => {
  it.each([
    "Tax ID",
    "Tax Id Number",
    "Federal Tax ID (EIN)",
    "taxId",
    "TAX_IDENTIFICATION_NUMBER",
    "Taxpayer identification no.",
    "EIN",
    "Employer Identification Number",
    "Social Security Number",
    "SSN",
    "VAT",
    "VAT #",
    "GST No",
    "Bank Account",
    "Bank Account Number",
    "accountNumber",
    "Account No.",
    "Acct #",
    "A/C No.",
    "Checking account",
    "Savings acct.",
    "IBAN",
    "EINNumber",
    "Tax IDs",
    "customerVATNo",
    "taxid",
    "TAXIDNO",
    "bankaccountnumber",
    "Steuer-ID",
    "USt-IdNr.",
    "T\u200bax\u2060 ID",
    "Ｔａｘ　ＩＤ",
  ])("the answer to %s is masked to its last four", (name) => {
    expect(readAs(name)).toEqual(["****4321"]);
    expect(readAs("Question 7", { name })).toEqual(["****4321"]);
  });

  it.each([
    "Tax exempt?",
    "Number of employees",
    "Account holder",
    "Bank name",
    "Accounting notes",
    "Einar's title",
    "Phone number",
    "Identification",
    "Tax notes",
    "Accountant",
    "Current accounts receivable",
    "Protein content",
    "",
  ])("the answer to %s is not", (name) => {
    expect(readAs(name)).toEqual([SECRET]);
  });

  it("are masked in every form, short ones completely", () => {
    const displayName = "Tax ID";
    const said = read({ displayName, ...answers(987_654_321, "1234", "", null, true, "÷12345÷") });
    expect(said).toEqual(["****4321", "****", "", null, true, "****2345"]);
    const [first] = fieldsIn(
      maskSensitiveAnswers(
        detailWith(field("f", { displayName, value: SECRET, values: [SECRET, "11-2223333"] })),
      ),
    );
    expect([first?.value, first?.values]).toEqual(["****4321", ["****4321", "****3333"]]);
  });

  it("include members of the tax and bank sets, and answers of a whole set", () => {
    const members = {
      fieldsSet: [
        field("number", { displayName: "Number", ...answers(SECRET) }),
        field("country", { displayName: "Country", ...answers("Norway") }),
      ],
    };
    const shown = (more: Fields) => {
      const [first] = fieldsIn(
        maskSensitiveAnswers(detailWith(field("set", { ...answers(SECRET), ...more }))),
      );
      const all = [first, ...(first?.fieldsSet ?? [])];
      return all.map((one) => one?.answerDetails[0]?.answer);
    };
    const set = (fieldSetsId: string) => ({
      fieldType: { fieldTypesId: "t", displayName: "Field Set", fieldSetsId },
    });
    expect(shown({ ...set("Tax Id"), ...members })).toEqual(["****4321", "****4321", "****rway"]);
    expect(shown({ ...set("Bank"), ...members })).toEqual(["****4321", "****4321", "Norway"]);
    expect(shown({ ...set("x-1"), displayName: "Bank details", ...members })).toEqual([
      "****4321",
      "****4321",
      "Norway",
    ]);
    expect(shown({ ...set("Address"), ...members })).toEqual([SECRET, SECRET, "Norway"]);
  });

  it("include follow-ups of a sensitive question, but no plain yes or no", () => {
    const [first] = fieldsIn(
      maskSensitiveAnswers(
        detailWith(
          field("f", {
            displayName: "Do you have a tax ID?",
            ...answers("Yes"),
            hasSecondaryQuestions: true,
            secondaryFields: [field("g", { displayName: "Which one?", ...answers(SECRET) })],
          }),
        ),
      ),
    );
    expect(first?.answerDetails[0]?.answer).toBe("Yes");
    expect(first?.secondaryFields[0]?.answerDetails[0]?.answer).toBe("****4321");
  });

  it("include secondary questions, their sets and references", () => {
    const secret = field("ein", { displayName: "EIN", ...answers(SECRET) });
    const detail = CreditApplicationDetail.parse({
      ...detailWith(
        field("f", {
          hasSecondaryQuestions: true,
          secondaryFields: [secret, field("g", { fieldsSet: [secret] })],
        }),
      ),
      tradeReferences: [
        {
          tradeReferenceId: "t",
          createdDate: null,
          referenceName: null,
          referenceEmailAddress: null,
          sectionList: [section("r", [secret])],
          submitted: false,
          submitDate: null,
        },
      ],
    });
    const text = JSON.stringify(maskSensitiveAnswers(detail));
    expect(text).not.toContain(SECRET);
    expect(text.match(/\*{4}4321/g)).toHaveLength(3);
  });

  it("are masked once although masked twice, and nothing else changes", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), fc.boolean(), (texts, isSecret) => {
        const displayName = isSecret ? "Tax ID" : "Trade name";
        const detail = detailWith(field("f", { displayName, ...answers(...texts) }));
        const once = maskSensitiveAnswers(detail);
        expect(maskSensitiveAnswers(once)).toEqual(once);
        if (!isSecret) expect(once).toEqual(detail);
        const masked = fieldsIn(once)[0]?.answerDetails.map(({ answer }) => String(answer)) ?? [];
        const hidden = /^(?:\*{4}[\p{L}\p{N}]{0,4}|yes|no|true|false|)$/iu;
        if (isSecret) for (const one of masked) expect(one).toMatch(hidden);
      }),
    );
  });
});
