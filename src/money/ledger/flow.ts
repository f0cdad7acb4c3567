import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'

/** What has come in and gone out by some entries of an account; what was only held or let go is no movement. */
export interface Flow {
  readonly movements: bigint
  readonly inEuros: Euros
  readonly outEuros: Euros
}

/** The entries of an account after one version, up to another. */
export interface EntryRange {
  readonly accountId: string
  readonly after: bigint
  readonly upTo: bigint
}

const FLOW = `
select count(*) as movements, coalesce(sum(amount_cents) filter (where amount_cents > 0), 0)::bigint as "inEuros",
  coalesce(-sum(amount_cents) filter (where amount_cents < 0), 0)::bigint as "outEuros"
from ledger_entries where account_id = $1 and version > $2 and version <= $3 and amount_cents <> 0`

/** So many entries are added up at once: no statement takes long. */
const SLICE = 200_000n

export async function flowOf(sql: Sql, { accountId, after, upTo }: EntryRange): Promise<Flow> {
  let flow: Flow = { movements: 0n, inEuros: 0n, outEuros: 0n }
  for (let from = after; from < upTo; from += SLICE) {
    const to = from + SLICE < upTo ? from + SLICE : upTo
    const [part] = await sql<Flow & Row>(FLOW, [accountId, from, to])
    if (part) flow = addFlows(flow, part)
  }
  return flow
}

export const addFlows = (one: Flow, other: Flow): Flow => ({
  movements: one.movements + other.movements,
  inEuros: one.inEuros + other.inEuros,
  outEuros: one.outEuros + other.outEuros,
})

/** Holds the wallet's account, and from now on nothing is booked on it before this instant. */
export const sealWallet = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  walletId: string,
  at: Date,
): Promise<void> => {
  await sql('select ledger_seal($1, $2, $3, $4)', [ownerId, mode, walletId, at])
}
