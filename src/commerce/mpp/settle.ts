import { noteDeletion, tokenToDelete } from '../../cards/agent-credentials/index.ts'
import { AnswerNow } from '../../kernel/contract/handlers.ts'
import { externalCall, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Done, ProcessorFailure } from '../../ports/card-processor.ts'
import { after, minutes } from '../../values/clock.ts'
import { MppCredential } from './credential.ts'
import { lockPayment } from './outcome.ts'
import { stepsApi } from './steps-api.ts'

/** A processor that did not answer is told again after this. */
const AGAIN_MS = minutes(10)

/** Does what is due by the tenant's time, and nothing before that or again. */
export const settle: HandlerOf<typeof stepsApi.settle> = async ({ params }, context) => {
  const { now, refuse } = context
  const payment = await lockPayment(params.id, context)
  if (!payment) return refuse('credential_not_found')
  const { status, dueAt } = payment.credential
  if (dueAt === null || dueAt > now) return { acted: false }
  if (status === 'sent') {
    await payment.leaveOpen(
      'Nobody has the answer of the merchant: the service was stopped, or it came too late.',
    )
    return { acted: true }
  }
  const isOpen = status === 'minted' || status === 'indeterminate'
  return { acted: isOpen && (await payment.giveUp('deadline')) }
}

const NOTHING = { acted: false }

export const deleteToken = externalCall(stepsApi.deleteToken, {
  async reserve({ params }, context) {
    const { records, now, refuse } = context
    const credential = await records.lock(MppCredential, params.id)
    if (!credential) return refuse('credential_not_found')
    const isDue = credential.status === 'void' && credential.dueAt !== null && credential.dueAt <= now
    if (!isDue) return new AnswerNow(NOTHING)
    const tokenId = await tokenToDelete(credential.id, context)
    credential.dueAt = tokenId === null ? null : after(now, AGAIN_MS)
    if (tokenId === null) return new AnswerNow(NOTHING)
    return { id: credential.id, mode: credential.mode, tokenId, now: now.toISOString() }
  },
  async call({ id, mode, tokenId, now }, { ports, requestId }): Promise<Done | ProcessorFailure> {
    const { setNetworkToken } = ports.cardProcessor(mode)
    if (!setNetworkToken) return { done: true }
    return setNetworkToken(tokenId, 'deleted', { reference: `${id}-deleted`, requestId, now: new Date(now) })
  },
  async record(answer, { id }, context) {
    const credential = await context.records.lock(MppCredential, id)
    if (await noteDeletion(id, answer, context)) {
      if (credential) credential.dueAt = null
    }
    return { acted: true }
  },
  recover: async () => NOTHING,
})
