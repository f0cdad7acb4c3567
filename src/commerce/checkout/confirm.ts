import {
  type CardBatch,
  confirmationBlocker,
  confirmPayment,
  loadConfirmations,
  writeCardBatch,
} from '../../cards/authorizations/index.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { reaches } from '../../kernel/database/entity.ts'
import type { confirmApi } from './confirm-api.ts'

/** Confirms payments in group commits: whatever witness comes first makes the transaction, the others link to it. */
export const confirm: HandlerOf<typeof confirmApi.confirm> = {
  load(requests, sql) {
    const [first] = requests
    if (!first) throw new Error('a batch without requests')
    return loadConfirmations(
      sql,
      first,
      requests.map(({ input }) => input.body.intentId),
    )
  },
  decide({ input: { body }, actor }, batch: CardBatch, context) {
    const intent = batch.payments.find(body.intentId)
    if (!intent || !reaches(actor, intent)) return context.refuse('intent_not_found')
    const blocker = confirmationBlocker(intent, batch)
    if (blocker) return context.refuse(blocker)
    const transactionId = confirmPayment(intent, batch, context)
    return { status: 'completed' as const, intentId: intent.id, transactionId }
  },
  write: (batch: CardBatch, sql) => writeCardBatch(batch, sql),
}
