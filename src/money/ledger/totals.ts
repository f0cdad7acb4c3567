import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type AccountKind, accountKinds } from './account.ts'

/** All open accounts of a kind together. */
export interface Total {
  readonly accounts: number
  readonly availableEuros: bigint
  readonly heldEuros: bigint
}

const NOTHING: Total = { accounts: 0, availableEuros: 0n, heldEuros: 0n }

interface Sum extends Row {
  readonly kind: AccountKind
  readonly accounts: number
  readonly posted: bigint
  readonly held: bigint
}

const TOTALS = `
select kind, count(*)::int as accounts, sum(posted_cents)::bigint as posted, sum(held_cents)::bigint as held
from ledger_accounts where owner_id = $1 and mode = $2 and closed_at is null group by kind`

/** What a tenant has of each kind of account, read in one statement. */
export async function totalsOf(sql: Sql, { ownerId, mode }: Tenant): Promise<(kind: AccountKind) => Total> {
  const sums = await sql<Sum>(TOTALS, [ownerId, mode])
  return kind => {
    const sum = sums.find(one => one.kind === kind)
    if (!sum) return NOTHING
    const stands = accountKinds[kind].normal === 'credit' ? sum.posted : -sum.posted
    return { accounts: sum.accounts, availableEuros: stands - sum.held, heldEuros: sum.held }
  }
}
