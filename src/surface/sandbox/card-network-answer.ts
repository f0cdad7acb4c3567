import type { z } from 'zod'
import { CardMessage } from '../../cards/authorizations/index.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { CardReply } from '../../ports/card-processor.ts'
import type { NetworkContext, Sent } from './card-network-message.ts'
import type { NetworkAnswer } from './card-network-schemas.ts'

type Answer = z.output<typeof NetworkAnswer>
export type Received = Awaited<ReturnType<Ports['deliver']>>

export const record = async (received: Received, sent: Sent, context: NetworkContext): Promise<Answer> =>
  'unsigned' in received
    ? tell(sent, refused(received.unsigned), context)
    : tell(sent, replyTo(received, context), context)

/** After a crash: what the stored message was answered with, if it had come in. */
export async function recover(sent: Sent, context: NetworkContext): Promise<Answer | Refusal> {
  const stored = await context.records.findOne(CardMessage, { id: sent.messageId })
  if (!stored) return context.refuse('not_delivered')
  return tell(sent, replyTo({ status: stored.answerStatus, body: stored.answerBody }, context), context)
}

type Outcome = Pick<Answer, 'reply' | 'approvedEuros' | 'reason'>

const refused = (reason: string): Outcome => ({ reply: 'refused', approvedEuros: null, reason })

function replyTo({ status, body }: { status: number; body: string }, { ports }: NetworkContext): Outcome {
  if (status !== 200) return refused(body)
  const reply = ports.cardProcessor('test').replyIn?.({ status, headers: {}, body })
  return reply ? outcomeOf(reply) : refused(body)
}

const outcomeOf = (reply: CardReply): Outcome => ({
  reply: reply.kind,
  approvedEuros: reply.kind === 'approved' ? reply.approvedEuros : null,
  reason: reply.kind === 'declined' ? reply.reason : null,
})

function tell(
  { cardId, messageId, sentAt, kind, named }: Sent,
  outcome: Outcome,
  { emit }: NetworkContext,
): Answer {
  const { cents, ...ids } = named
  const amountEuros = cents === null ? null : BigInt(cents)
  const { authorizationId } = ids
  emit('card_network.message_sent', {
    cardId,
    messageId,
    kind,
    authorizationId,
    amountEuros,
    reply: outcome.reply,
  })
  return { cardId, messageId, sentAt: new Date(sentAt), ...ids, amountEuros, ...outcome }
}
