import { TOO_LATE_MESSAGE } from '../../../src/cards/authorizations/card-checks.ts'
import type { Sql } from '../../../src/kernel/contract/sql.ts'
import { bearer, post, type Stage } from '../stage.ts'
import type { Payer, Tally } from './payments.ts'

/** What the service has stored of the payments of the soak, all owners together. */
const STORED = `
with mine as (select unnest($1::text[]) as owner_id),
  paid as (select t.* from transactions t join mine using (owner_id) where t.status = 'completed'),
  card as (select a.* from card_authorizations a join mine using (owner_id)),
  machine as (select c.* from mpp_credentials c join mine using (owner_id))
select
  (select count(*) from paid where type = 'card')::int as "cards paid",
  (select count(*) from paid where type = 'mpp')::int as "machine payments paid",
  (select count(*) from transfers t join mine using (owner_id) where t.status = 'completed')::int as "transfers paid",
  (select count(*) from transactions t join mine using (owner_id) where t.status not in ('completed', 'declined')
    and t.type <> 'fee')::int as "payments without an end",
  (select count(*) from card where decline_reason = $2)::int as "late answers stored as declined",
  (select count(*) from card where status not in ('cleared', 'declined') or held_cents > 0
    or (status = 'declined' and (decline_reason is distinct from $2 or captured_cents > 0)))::int as "other authorizations",
  (select count(*) from machine where status = 'consumed')::int as "machine payments consumed",
  (select count(*) from machine where status = 'consumed' and receipt is null)::int as "paid without delivery",
  (select count(*) from machine where status <> 'consumed' and (status <> 'void' or transaction_id is not null))::int
    as "machine payments without an end",
  (select coalesce(sum(h.remaining_cents), 0) from ledger_holds h join mine using (owner_id))::int as "cents held",
  (select coalesce(sum(i.hold_cents), 0) from intents i join mine using (owner_id) where i.status = 'approved')::int
    as "cents held for intents that can be paid again"`

type Stored = Readonly<Record<string, number>>

/** What must be stored where nothing is lost, made twice, paid without delivery, or held for a declined payment. */
function expectedBy(tallies: readonly Tally[], stored: Stored): Stored {
  const of = (...ends: string[]) =>
    tallies.flatMap(tally => ends.map(end => tally[end] ?? 0)).reduce((sum, count) => sum + count, 0)
  return {
    'cards paid': of('card paid'),
    'machine payments paid': of('machine paid'),
    'transfers paid': of('wallets paid', 'intentTransfer paid', 'sepa paid'),
    'payments without an end': 0,
    'late answers stored as declined': of('card declined', 'machine declined'),
    'other authorizations': 0,
    'machine payments consumed': of('machine paid'),
    'paid without delivery': 0,
    'machine payments without an end': 0,
    'cents held': stored['cents held for intents that can be paid again'] ?? 0,
  }
}

/** Compares the answers to the callers with what is stored, and verifies each ledger. Returns each contradiction. */
export async function contradictions(
  { api }: Pick<Stage, 'api'>,
  sql: Sql,
  payers: readonly Payer[],
  tallies: readonly Tally[],
): Promise<string[]> {
  const ids = payers.map(({ ownerId }) => ownerId)
  const [stored = {}] = await sql<Record<string, number>>(STORED, [ids, TOO_LATE_MESSAGE])
  const books = Object.entries(expectedBy(tallies, stored)).flatMap(([name, expected]) =>
    stored[name] === expected ? [] : [`${name}: ${stored[name]} in place of ${expected}`],
  )
  const ledgers = await Promise.all(
    payers.map(payer => post(api, '/ledger/verify', {}, bearer(payer)) as Promise<Record<string, unknown>>),
  )
  const wrong = ledgers.flatMap(({ ok, problems }) => (ok === true ? [] : [JSON.stringify(problems)]))
  return [...books, ...wrong]
}
