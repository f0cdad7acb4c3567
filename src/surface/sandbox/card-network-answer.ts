import type { z } from 'zod'
import { CardMessage } from '../../cards/authorizations/index.ts'
import type { Delivered } from '../../kernel/contract/ports.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { CardReply } from '../../ports/card-processor.ts'
import type { Euros } from '../../values/money.ts'
import type { NetworkContext, Sent } from './card-network-message.ts'
import type { NetworkAnswer } from './card-network-schemas.ts'

type Answer = z.output<typeof NetworkAnswer>
type Taken = Exclude<Delivered, { readonly unsigned: string }>

export async function record(received: Delivered, sent: Sent, context: NetworkContext): Promise<Answer> {
  const outcome = 'unsigned' in received ? refused(received.unsigned) : replyTo(received, context)
  return tell(sent, outcome, context)
}

/** After a crash: what the last message was answered with, if it had come in. */
export async function recover(sent: Sent, context: NetworkContext): Promise<Answer | Refusal> {
  const stored = await context.records.findOne(CardMessage, { id: sent.lastMessageId })
  if (!stored) return context.refuse('not_delivered')
  return tell(sent, replyTo({ status: stored.answerStatus, body: stored.answerBody }, context), context)
}

type Outcome = Pick<Answer, 'reply' | 'approvedEuros' | 'reason'>

const refused = (reason: string): Outcome => ({ reply: 'refused', approvedEuros: null, reason })

function replyTo({ status, body }: Pick<Taken, 'status' | 'body'>, { ports }: NetworkContext): Outcome {
  if (status !== 200) return refused(body)
  const reply = ports.cardProcessor('test').replyIn?.({ status, headers: {}, body })
  return reply ? outcomeOf(reply) : refused(body)
}

const outcomeOf = (reply: CardReply): Outcome => ({
  reply: reply.kind,
  approvedEuros: reply.kind === 'approved' ? reply.approvedEuros : null,
  reason: reply.kind === 'declined' ? reply.reason : null,
})

/** What the network was told in the end: the word of the processor wins over our answer. */
function lastWord({ says }: Sent, amountEuros: Euros | null, answered: Outcome): Outcome {
  if (says === null || answered.reply === 'refused') return answered
  const isApproved = says === 'approved'
  return {
    reply: says,
    approvedEuros: isApproved ? amountEuros : null,
    reason: isApproved ? null : 'The answer of the service came too late for the card network.',
  }
}

function tell(sent: Sent, answered: Outcome, { emit }: NetworkContext): Answer {
  const { cardId, messageId, sentAt, kind, named } = sent
  const { cents, ...ids } = named
  const amountEuros = cents === null ? null : BigInt(cents)
  const outcome = lastWord(sent, amountEuros, answered)
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
