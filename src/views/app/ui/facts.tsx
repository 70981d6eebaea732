import type { ComponentChild } from "preact";
import { money } from "../format.ts";
import type { Total } from "../answers.ts";

/** Names and values of a record; those without a value are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [string, ComponentChild])[] }) => (
  <dl class="facts">
    {facts
      .filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== "–")
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);

/** Amounts, one line per currency. */
export const Amounts = ({ totals }: { totals: readonly Total[] }) => (
  <>
    {totals.length === 0 && <span class="amount">0</span>}
    {totals.map(({ currencyCode, amount }) => (
      <span class="amount" key={currencyCode}>
        {money(amount, currencyCode)}
      </span>
    ))}
  </>
);
