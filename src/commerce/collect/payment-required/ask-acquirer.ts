import { AnswerNow } from '../../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import type { ChargeOutcome } from '../../../ports/acquirer.ts'
import type { settlementsApi } from './api.ts'
import { chargeOf } from './begin-settlement.ts'
import { finishSettlement, type Paying } from './finish-settlement.ts'
import { Settlement } from './settlement.ts'

/** A charge whose outcome is not known. */
interface Open {
  readonly paying: Paying
  readonly mode: Settlement['mode']
  readonly charge: ReturnType<typeof chargeOf>
  readonly now: Date
}

/** Asks how a charge stands, and records it. A charge that is known by now is left as it is. */
export const askAcquirer: HandlerOf<typeof settlementsApi.askAcquirer> = {
  async reserve({ params }, { records, now, refuse }) {
    const settlement = await records.findOne(Settlement, { id: params.id })
    if (!settlement) return refuse('settlement_not_found')
    if (settlement.status !== 'charging') return new AnswerNow({ done: true })
    const { id, requestId, walletId, mode } = settlement
    return { paying: { id, requestId, walletId }, mode, charge: chargeOf(settlement), now }
  },

  async call(reserved, { ports, requestId }) {
    const { mode, charge, now } = reserved as Open
    return ports.acquirer(mode).stateOf(charge, { requestId, now })
  },

  /** One that is still open is due again later, so nothing is left to do now. */
  async record(outcome, reserved, context) {
    await finishSettlement((reserved as Open).paying, outcome as ChargeOutcome, context)
    return { done: true }
  },

  recover: async () => ({ done: true }),
}
