import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'

/** The sums of an account's credits and debits; holds and releases are no movements. */
export interface Flow {
  readonly movements: bigint
  readonly inEuros: Euros
  readonly outEuros: Euros
}

/** The entries of an account with versions after one and up to another. */
export interface EntryRange {
  readonly accountId: string
  readonly after: bigint
  readonly upTo: bigint
}

const FLOW = `
select count(*) as movements, coalesce(sum(amount_cents) filter (where amount_cents > 0), 0)::bigint as "inEuros",
  coalesce(-sum(amount_cents) filter (where amount_cents < 0), 0)::bigint as "outEuros"
from ledger_entries
where account_id = $1 and version > $2 and version <= $3 and amount_cents <> 0 and owner_id = $4 and mode = $5`

/** The most entries that one statement adds up, so that none takes long. */
const SLICE = 200_000n

export async function flowOf(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { accountId, after, upTo }: EntryRange,
): Promise<Flow> {
  let flow: Flow = { movements: 0n, inEuros: 0n, outEuros: 0n }
  for (let from = after; from < upTo; from += SLICE) {
    const to = from + SLICE < upTo ? from + SLICE : upTo
    const [part] = await sql<Flow & Row>(FLOW, [accountId, from, to, ownerId, mode])
    if (part) flow = addFlows(flow, part)
  }
  return flow
}

export const addFlows = (first: Flow, second: Flow): Flow => ({
  movements: first.movements + second.movements,
  inEuros: first.inEuros + second.inEuros,
  outEuros: first.outEuros + second.outEuros,
})

/** Locks a wallet's account and closes the time before an instant: later postings are booked after it. */
export const sealWallet = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  walletId: string,
  at: Date,
): Promise<void> => {
  await sql('select ledger_seal($1, $2, $3, $4)', [ownerId, mode, walletId, at])
}
