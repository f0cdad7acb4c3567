import { takeOnce } from '../../../cards/authorizations/index.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import type { DisputeNews } from '../../../ports/card-processor.ts'
import { lockDispute } from '../lock-dispute.ts'
import { withWord } from '../money/standing.ts'
import { settle } from '../settle.ts'
import type { stepsApi } from '../steps-api.ts'

/** Takes what the network says of a dispute: a fact, whatever has become of the dispute by now. */
export const notice: HandlerOf<typeof stepsApi.notice> = async ({ body }, context) => {
  const { disputeId, says, amountEuros } = body.message.content as DisputeNews
  const { id, sentAt } = body.message
  // Locks what the order of locks puts first, also where the same message is being taken just now.
  const locked = await lockDispute(disputeId, context)
  return takeOnce(body, context, async () => {
    if (!locked || locked.dispute.cardId !== body.cardId) return
    const { dispute } = locked
    const cents = amountEuros === null ? null : String(amountEuros)
    dispute.words = withWord(dispute.words, { id, says, at: sentAt.toISOString(), cents })
    settle(locked, context)
  })
}
