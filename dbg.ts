import { makeTruth } from "./test/money/truth.ts";
import { createDice } from "./test/support/dice.ts";
const seed = Number(process.argv[2]);
const doc = process.argv[3];
const truth = makeTruth(createDice(seed * 2));
for (const d of truth.documents) if (d.number===doc || d.credit?.of?.number===doc) console.log("doc", d.number, d.customer.name, d.currency, d.amount, d.isShared, d.credit?.of?.number);
for (const b of truth.bookings) if (b.transactions.some(t=>t.shares.some(s=>s.document.number===doc)) || b.returned?.transactions.some(t=>t.shares.some(s=>s.document.number===doc))) console.log(b.account.number, b.account.style, b.day, b.amount, b.reference, b.returned?.amount, JSON.stringify(b.transactions.map(t=>[t.customer.name,t.amount,t.trace,t.text,t.shares.map(s=>[s.document.number,s.paid,s.discount,s.deduction, s.document.amount, s.document.isShared, !!s.document.credit])])));
for (const r of truth.registered) if (r.shares.some(s=>s.document.number===doc)) console.log(r.source, r.id, JSON.stringify(r.shares.map(s=>[s.document.number,s.paid])));
