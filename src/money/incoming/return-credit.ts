import { forgottenOwners, PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { openBook } from '../ledger/index.ts'
import type { incomingApi } from './api.ts'
import { namedCredit } from './assign-destination.ts'
import { causeOf, creditEvent, creditMachine, IncomingCredit } from './incoming-credit.ts'

/** Books what the bank has sent back: the money leaves the suspense account on which it waited, the platform's or the owner's. */
export const returnCredit: HandlerOf<typeof incomingApi.returnCredit> = async ({ params, body }, context) => {
  const { records, sql, emit, refuse, sendAlong } = context
  const holder = await namedCredit(sql, params.id)
  if (!holder) return refuse('credit_not_found')
  const { ownerId, mode } = holder
  const isOwners = ownerId !== PLATFORM_OWNER && !(await forgottenOwners(sql, [ownerId])).has(ownerId)
  if (isOwners) return refuse('credit_of_owner')
  context.actFor({ ownerId, mode })
  const [book, credit] = await Promise.all([
    openBook(sql, context, { wallets: [], others: ['bank', 'suspense'] }),
    records.findOne(IncomingCredit, { ownerId, mode, id: params.id }, { lock: true }),
  ])
  if (credit?.status !== 'unmatched') return refuse('credit_not_unmatched')
  const { returnedAt = context.now } = body
  if (body.returnedAt && (returnedAt > context.now || returnedAt < new Date(credit.valueDate)))
    return refuse('time_to_come')
  book.move('credit_return', 'suspense', 'bank', credit.amountEuros, causeOf(credit))
  creditMachine.move(credit, 'returned')
  Object.assign(credit, { returnedAt, returnReference: body.reference })
  emit('incoming.returned', creditEvent(credit))
  sendAlong(book.post(sql))
  return credit
}
