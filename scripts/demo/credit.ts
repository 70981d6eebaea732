import { z } from "zod";
import type { Work } from "./look.ts";
import { count, dateOf } from "./words.ts";

const Company = z.object({ companyId: z.int(), name: z.string() });

const Listed = z.object({
  applications: z.array(
    z.object({
      applicationId: z.string(),
      applicationStatus: z.object({ statusDate: z.string() }),
      company: Company,
      references: z.object({
        tradeReferenceSubmitCount: z.string(),
        tradeRefReferenceRequestedCount: z.string(),
      }),
    }),
  ),
});

const Answer = z.union([z.string(), z.number(), z.boolean()]);

/** The application as a person reads it: forms with sections of questions and answers. */
const Form = z.object({
  forms: z.array(
    z.object({
      sections: z.array(
        z.object({
          section: z.string(),
          questions: z.array(z.object({ question: z.string(), answer: Answer.nullish() })),
        }),
      ),
    }),
  ),
});

const Score = z.object({
  fibs: z.object({ fibs_score: z.number() }),
  dibs: z.object({ dibs_score: z.number() }),
  creditLimit: z.number(),
});

const DAY_MS = 86_400_000;
const DAYS = 90;
const SHOWN = 14;
const LONGEST = 48;

const answersOf = ({ forms }: z.infer<typeof Form>): [string, string, string][] =>
  forms.flatMap(({ sections }) =>
    sections.flatMap(({ section, questions }) =>
      questions.flatMap(({ question, answer }): [string, string, string][] =>
        (answer ?? "") === ""
          ? []
          : [[section, question.slice(0, LONGEST), String(answer).slice(0, LONGEST)]],
      ),
    ),
  );

/** Reads the credit application that has waited longest for a decision. */
export const readApplication = async ({ session, out, now }: Work): Promise<void> => {
  out.begin("credit", "Read the credit application that has waited longest");
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  const asked = {
    activityType: "APPLICATIONSTATUSDATE",
    startDate: day(now - DAYS * DAY_MS),
    endDate: day(now),
    applicationStatusType: ["Under Review"],
    fields: ["*"],
  };
  const { applications } = await session.call("credit_applications_list", asked, Listed);
  const [oldest] = applications.toSorted((one, other) =>
    one.applicationStatus.statusDate.localeCompare(other.applicationStatus.statusDate),
  );
  if (oldest === undefined) throw new Error("There is no credit application to review.");
  const { applicationId, company, references } = oldest;
  const form = await session.read(`receivables://credit-applications/${applicationId}`);
  const companyId = String(company.companyId);
  const score = await session.call("company_scores_get", { companyId }, Score);
  const since = dateOf(oldest.applicationStatus.statusDate);
  out.say(`${count(applications.length, "application")} under review; this one since ${since}.`);
  out.say(
    `${company.name}: payment outlook ${score.fibs.fibs_score}, viability ${score.dibs.dibs_score}; ` +
      `${references.tradeReferenceSubmitCount} of ${references.tradeRefReferenceRequestedCount} trade references are in.`,
  );
  const answers = answersOf(Form.parse(JSON.parse(form)));
  out.table(["Part", "Question", "Answer"], answers.slice(0, SHOWN));
  out.say("Tax ids and bank accounts reach nobody's model: the server masks them.");
  out.result({ waiting: applications.length, company: company.name, answers: answers.length });
  out.end();
};
