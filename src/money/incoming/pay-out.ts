import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import { isPosted, openBook } from '../ledger/index.ts'
import type { suspenseApi } from './suspense-api.ts'

const WAITING = `(select coalesce(sum(c.amount_cents), 0)::bigint from incoming_credits c
  where c.owner_id = a.owner_id and c.mode = a.mode and c.status = 'unmatched')`

const ACCOUNTS = `
select a.id, a.owner_id as "ownerId", a.mode, a.posted_cents as "suspenseEuros", ${WAITING} as "creditsEuros"
from ledger_accounts a
where a.kind = 'suspense' and a.posted_cents <> 0 and a.id > $1 order by a.id limit $2`

interface SuspenseRow extends Row, Tenant {
  readonly id: string
  readonly suspenseEuros: Euros
  readonly creditsEuros: Euros
}

const free = ({ suspenseEuros, creditsEuros }: Pick<SuspenseRow, 'suspenseEuros' | 'creditsEuros'>): Euros =>
  suspenseEuros > creditsEuros ? suspenseEuros - creditsEuros : 0n

export const suspense: HandlerOf<typeof suspenseApi.suspense> = async (_, { sql, pageBy }) => {
  const { data, ...cursor } = await pageBy((after, most) => sql<SuspenseRow>(ACCOUNTS, [after ?? '', most]))
  return { ...cursor, data: data.map(row => ({ ...row, freeEuros: free(row) })) }
}

const OF_TENANT = `select ${WAITING} as "creditsEuros" from (values ($1::text, $2::text)) as a (owner_id, mode)`

/** Asked once the account is locked: credits come in and go only under that lock. */
async function waiting(sql: Sql, { ownerId, mode }: Tenant): Promise<Euros> {
  const [row] = await sql<Row & { creditsEuros: Euros }>(OF_TENANT, [ownerId, mode])
  return row?.creditsEuros ?? 0n
}

/** Books what the bank has paid to the owner out of the suspense account, beside what credits have brought there. */
export const payOut: HandlerOf<typeof suspenseApi.payOut> = async ({ body }, context) => {
  const { sql, emit, refuse, sendAlong } = context
  const { ownerId, mode, amountEuros, reference } = body
  const [customer] = await sql('select id from customers where id = $1', [ownerId])
  if (!customer) return refuse('customer_not_found')
  const tenant = { ownerId, mode }
  context.actFor(tenant)
  const cause = { type: 'suspense_payout', id: reference }
  const [book, isKnown, creditsEuros] = await Promise.all([
    openBook(sql, context, { wallets: [], others: ['bank', 'suspense'] }),
    isPosted(sql, tenant, 'suspense_payout', cause),
    waiting(sql, tenant),
  ])
  const standing = () => {
    const suspenseEuros = book.available('suspense')
    return { ...tenant, suspenseEuros, creditsEuros, freeEuros: free({ suspenseEuros, creditsEuros }) }
  }
  if (isKnown) return standing()
  const { freeEuros } = standing()
  if (amountEuros > freeEuros)
    return refuse('beyond_suspense', `amountEuros: ${formatEuros(freeEuros)} can be paid out to this owner.`)
  book.move('suspense_payout', 'suspense', 'bank', amountEuros, cause)
  sendAlong(book.post(sql))
  const left = standing()
  emit('suspense.paid_out', { payoutId: reference, amountEuros, freeEuros: left.freeEuros })
  return left
}
