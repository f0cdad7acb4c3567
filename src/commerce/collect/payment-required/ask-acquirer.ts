import { AnswerNow } from '../../../kernel/contract/handlers.ts'
import { externalCall } from '../../../kernel/contract/operation.ts'
import { settlementsApi } from './api.ts'
import { chargeOf } from './begin-settlement.ts'
import { finishSettlement } from './finish-settlement.ts'
import { Settlement } from './settlement.ts'

/** Asks how a charge stands, and records it. A charge that is known by now is left as it is. */
export const askAcquirer = externalCall(settlementsApi.askAcquirer, {
  async reserve({ params }, { records, now, refuse }) {
    const settlement = await records.findOne(Settlement, { id: params.id })
    if (!settlement) return refuse('settlement_not_found')
    if (settlement.status !== 'charging') return new AnswerNow({ done: true })
    const { id, requestId, walletId, mode } = settlement
    return { paying: { id, requestId, walletId }, mode, charge: chargeOf(settlement), now }
  },

  call: ({ mode, charge, now }, { ports, requestId }) =>
    ports.acquirer(mode).stateOf(charge, { requestId, now }),

  /** One that is still open is due again later, so nothing is left to do now. */
  async record(outcome, { paying }, context) {
    await finishSettlement(paying, outcome, context)
    return { done: true }
  },

  recover: async () => ({ done: true }),
})
