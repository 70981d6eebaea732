import { useState } from "preact/hooks";
import { listOf, numberOf, recordOf, textsOf } from "../answers.ts";
import { moment, plainText } from "../format.ts";
import type { Fields } from "../host.ts";
import { Packet } from "../packet/packet.tsx";
import { hasTool, useSession } from "../session.ts";
import { Entry } from "../ui/fields.tsx";
import { Empty, Failure, Loading, Notes } from "../ui/status.tsx";
import { useCall } from "../ui/use-call.ts";
import { AccountBody } from "./body.tsx";

/** Accounts that match, when the name fits several. */
const Candidates = ({
  items,
  open,
}: {
  items: readonly Fields[];
  open: (account: string) => void;
}) => (
  <section class="card">
    <h2>Which account?</h2>
    <ul class="plain">
      {items.map(({ accountNumber, name }) => (
        <li key={plainText(accountNumber)}>
          <button type="button" class="link" onClick={() => open(plainText(accountNumber))}>
            {plainText(name) || plainText(accountNumber)}
          </button>{" "}
          <span class="meta">{plainText(accountNumber)}</span>
        </li>
      ))}
    </ul>
  </section>
);

const nameOf = (item: Fields | undefined): string => {
  const { name, accountNumber } = recordOf(item?.["account"]);
  return plainText(name) || plainText(accountNumber);
};

/** One customer: open documents, disputes, payments, credit and notes; another one can be looked up. */
export const AccountSheet = () => {
  const { opening } = useSession();
  const asked = plainText(opening.args["account"]);
  const [account, setAccount] = useState(asked);
  const [dispute, setDispute] = useState<string>();
  const args = account === "" ? undefined : { account };
  const { answer, problem, isLoading, reload } = useCall(
    "account_overview",
    args,
    asked === "" ? undefined : opening.reply,
  );
  const items = listOf(answer?.["items"]);
  const isOne = items.length === 1 && "account" in (items[0] ?? {});
  const look = (text: string): void => {
    if (text.trim() !== "") setAccount(text.trim());
  };
  if (dispute !== undefined) {
    return (
      <Packet
        key={dispute}
        disputeId={dispute}
        back={{ text: "Account", go: () => setDispute(undefined) }}
        open={setDispute}
      />
    );
  }
  return (
    <main aria-busy={isLoading}>
      <header class="head">
        <div>
          <h1>{isOne ? nameOf(items[0]) : "Account sheet"}</h1>
          {answer && (
            <p class="meta">
              {isOne ? "Account sheet as of" : "As of"} {moment(answer["asOf"])}
            </p>
          )}
        </div>
        <Entry
          label="Find an account"
          placeholder="Number or name"
          value={account}
          onChange={look}
        />
      </header>
      {account === "" && <Empty>Type an account number or a part of its name.</Empty>}
      {isLoading && <Loading what="Reading the account" />}
      {problem && <Failure problem={problem} retry={reload} />}
      {answer && numberOf(answer["rowCount"]) === 0 && <Empty>No account matches.</Empty>}
      {isOne && items[0] && (
        <AccountBody item={items[0]} open={hasTool("dispute_packet") ? setDispute : undefined} />
      )}
      {!isOne && items.length > 0 && <Candidates items={items} open={setAccount} />}
      <Notes notes={isOne ? textsOf(answer?.["notes"]) : []} />
    </main>
  );
};
