import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type AccountKind, accountKinds } from './account.ts'

/** The sum of a tenant's open accounts of one kind. */
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

/** Reads the totals of all kinds of accounts in one statement. */
export async function totalsOf(sql: Sql, { ownerId, mode }: Tenant): Promise<(kind: AccountKind) => Total> {
  const sums = await sql<Sum>(TOTALS, [ownerId, mode])
  return kind => {
    const sum = sums.find(total => total.kind === kind)
    if (!sum) return NOTHING
    const balance = accountKinds[kind].normal === 'credit' ? sum.posted : -sum.posted
    return { accounts: sum.accounts, availableEuros: balance - sum.held, heldEuros: sum.held }
  }
}
