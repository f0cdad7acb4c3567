import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { formatEuros } from '../../values/money.ts'
import { settleCharge } from '../incoming/index.ts'
import { ACQUIRER_ACCOUNTS, isPosted, openBook, totalsOf } from '../ledger/index.ts'
import type { acquirerApi } from './acquirer-api.ts'

export const acquirer: HandlerOf<typeof acquirerApi.acquirer> = async (_, { sql, tenant }) => {
  const { availableEuros: owedEuros } = (await totalsOf(sql, tenant))('clearing_acquirer')
  return { currency: 'EUR', owedEuros }
}

/** Books a payment of the acquirer on the ledger of the owner whose payers it has charged. */
export const acquirerPaid: HandlerOf<typeof acquirerApi.acquirerPaid> = async ({ body }, context) => {
  const { sql, emit, refuse, sendAlong } = context
  const { ownerId, mode, amountEuros, reference } = body
  const [customer] = await sql('select id from customers where id = $1', [ownerId])
  if (!customer) return refuse('customer_not_found')
  const tenant = { ownerId, mode }
  context.actFor(tenant)
  const cause = { type: 'acquirer_payout', id: reference }
  const [book, isKnown] = await Promise.all([
    openBook(sql, context, { wallets: [], others: ACQUIRER_ACCOUNTS }),
    isPosted(sql, tenant, 'collect_settle', cause),
  ])
  const owed = book.available('clearing_acquirer')
  if (isKnown) return { currency: 'EUR', owedEuros: owed }
  if (amountEuros > owed)
    return refuse('above_owed', `amountEuros: the acquirer owes ${formatEuros(owed)} to this owner.`)
  settleCharge({ amountEuros, cause }, book)
  sendAlong(book.post(sql))
  const owedEuros = book.available('clearing_acquirer')
  emit('acquirer.paid', { payoutId: reference, amountEuros, owedEuros })
  return { currency: 'EUR', owedEuros }
}
