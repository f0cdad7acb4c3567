import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { formatEuros } from '../../values/money.ts'
import { settleCharge } from '../incoming/index.ts'
import { ACQUIRER_ACCOUNTS, openForRecord, totalsOf } from '../ledger/index.ts'
import type { acquirerApi } from './acquirer-api.ts'

export const acquirer: HandlerOf<typeof acquirerApi.acquirer> = async (_, { sql, tenant }) => {
  const { availableEuros: owedEuros } = (await totalsOf(sql, tenant))('clearing_acquirer')
  return { currency: 'EUR', owedEuros }
}

const PAYOUT = { kind: 'collect_settle', causeType: 'acquirer_payout', accounts: ACQUIRER_ACCOUNTS } as const

/** Books a payment of the acquirer on the ledger of the owner whose payers it has charged. */
export const acquirerPaid: HandlerOf<typeof acquirerApi.acquirerPaid> = async ({ body }, context) => {
  const { sql, emit, refuse, sendAlong } = context
  const { amountEuros, reference } = body
  const opened = await openForRecord(body, PAYOUT, context)
  if (opened instanceof Refusal) return opened
  const { book, cause, isBooked } = opened
  const owed = book.available('clearing_acquirer')
  if (isBooked) return { currency: 'EUR', owedEuros: owed }
  if (amountEuros > owed)
    return refuse('above_owed', `amountEuros: the acquirer owes ${formatEuros(owed)} to this owner.`)
  settleCharge({ amountEuros, cause }, book)
  sendAlong(book.post(sql))
  const owedEuros = book.available('clearing_acquirer')
  emit('acquirer.paid', { payoutId: reference, amountEuros, owedEuros })
  return { currency: 'EUR', owedEuros }
}
