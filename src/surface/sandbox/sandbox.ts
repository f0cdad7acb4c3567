import type { z } from 'zod'
import { CardMessage } from '../../cards/authorizations/index.ts'
import { Dispute } from '../../commerce/disputes/index.ts'
import { area } from '../../kernel/contract/area.ts'
import {
  bindHandlers,
  type ContextOf,
  externalCall,
  type Handlers,
  type InputOf,
} from '../../kernel/contract/operation.ts'
import type { Ports, SignedDeliveryResult, Systems } from '../../kernel/contract/ports.ts'
import { Problem, type Refusal } from '../../kernel/contract/problem.ts'
import { readClockAim, reserveClockMove } from '../../kernel/database/tenant-clock.ts'
import type { CardMessageContent, CardReply, SignedCardMessage } from '../../ports/card-processor.ts'
import { clock, days, minutes } from '../../values/clock.ts'
import { type Cents, cents } from '../../values/money.ts'
import { sandboxApi } from './api.ts'
import { cardNetworkApi } from './card-network-api.ts'
import * as content from './card-network-content.ts'
import {
  type NetworkMessageContext,
  type NetworkMessageInput,
  prepareNetworkMessage,
  type SandboxNetworkContext,
  type SentNetworkMessages,
} from './card-network-message.ts'
import type { NetworkAnswer } from './card-network-schemas.ts'

const RECEIVE_OPERATION = 'authorizations.receive'

/**
 * Each message is a request of its own, as over HTTP, so that its changes have its request id. The last reply
 * is the answer. A late one counts as declined once that is reported.
 */
async function deliver(
  { signed, ifLate, messageId }: SentNetworkMessages,
  { systems, service }: Pick<Ports, 'systems' | 'service'>,
): Promise<SignedDeliveryResult> {
  const send = ({ body, headers }: SignedCardMessage): Promise<SignedDeliveryResult> =>
    service.deliver(RECEIVE_OPERATION, {
      body: Buffer.from(body),
      headers,
      requestId: messageId,
      address: null,
    })
  let answer: SignedDeliveryResult = { unsigned: 'Nothing was sent.' }
  for (const message of signed) answer = await send(message)
  const reply = 'unsigned' in answer ? undefined : readReply(answer, systems)
  if (ifLate && reply?.kind === 'declined' && reply.isLate) await sendWhileBusy(() => send(ifLate))
  return answer
}

async function sendWhileBusy(send: () => Promise<unknown>, attempts = 5): Promise<void> {
  try {
    await send()
  } catch (error) {
    if (attempts === 1 || !(error instanceof Problem && error.code === 'busy')) throw error
    await sendWhileBusy(send, attempts - 1)
  }
}

const readReply = (
  { status, body }: Pick<Taken, 'status' | 'body'>,
  systems: Pick<Systems, 'cardProcessor'>,
): CardReply | undefined =>
  status === 200 ? systems.cardProcessor('test').replyIn?.({ status, headers: {}, body }) : undefined

/**
 * Signs a message, and delivers it by the operation that serves all messages. Answers with the reply to the
 * network.
 */
const simulate = <B extends NetworkMessageInput>(
  contentOf: (
    body: B,
    known: NetworkMessageContext,
    context: SandboxNetworkContext,
  ) => CardMessageContent | Refusal,
) => ({
  reserve: ({ body }: { readonly body: B }, context: SandboxNetworkContext) =>
    prepareNetworkMessage(body, context, known => contentOf(body, known, context)),
  call: deliver,
  record,
  recover,
})

const disputeHandler: Handlers<typeof cardNetworkApi>['disputeCard'] = {
  ...simulate(content.disputeDecisionContent),
  async reserve({ body }: InputOf<typeof cardNetworkApi.disputeCard>, context) {
    const dispute = await context.em.findOne(Dispute, { id: body.disputeId })
    if (!dispute) return context.refuse('dispute_not_found')
    const about = dispute.cardId === null ? body : { ...body, cardId: dispute.cardId }
    return prepareNetworkMessage(about, context, () => content.disputeDecisionContent(body))
  },
}

const cardNetwork: Handlers<typeof cardNetworkApi> = {
  authorizeCard: simulate(content.authorizationContent),
  incrementCard: simulate(content.incrementContent),
  reverseCard: simulate(content.reversalContent),
  voidCard: simulate(content.voidContent),
  expireCard: simulate(content.expiryContent),
  clearCard: simulate(content.clearingContent),
  refundCard: simulate(content.refundContent),
  disputeCard: disputeHandler,
  shipCard: simulate(content.shippingContent),
  changeMobileWallet: simulate(content.mobileWalletContent),
}

type Answer = z.output<typeof NetworkAnswer>
type Taken = Exclude<SignedDeliveryResult, { readonly unsigned: string }>

async function record(
  received: SignedDeliveryResult,
  sent: SentNetworkMessages,
  context: SandboxNetworkContext,
): Promise<Answer> {
  const outcome = 'unsigned' in received ? refused(received.unsigned) : replyTo(received, context)
  return emitSent(sent, outcome, context)
}

/** Returns the stored answer to the last message after a crash, if the message had arrived. */
async function recover(sent: SentNetworkMessages, context: SandboxNetworkContext): Promise<Answer | Refusal> {
  const stored = await context.em.findOne(CardMessage, { id: sent.lastMessageId })
  if (!stored) return context.refuse('not_delivered')
  return emitSent(sent, replyTo({ status: stored.answerStatus, body: stored.answerBody }, context), context)
}

type Outcome = Pick<Answer, 'reply' | 'approvedCents' | 'reason'>

const refused = (reason: string): Outcome => ({ reply: 'refused', approvedCents: null, reason })

function replyTo(answer: Pick<Taken, 'status' | 'body'>, { systems }: SandboxNetworkContext): Outcome {
  const reply = readReply(answer, systems)
  return reply ? outcomeOf(reply) : refused(answer.body)
}

const outcomeOf = (reply: CardReply): Outcome => ({
  reply: reply.kind,
  approvedCents: reply.kind === 'approved' ? reply.approvedCents : null,
  reason: reply.kind === 'declined' ? reply.reason : null,
})

function finalReply({ says }: SentNetworkMessages, amountCents: Cents | null, answered: Outcome): Outcome {
  if (says === null || answered.reply === 'refused') return answered
  const isApproved = says === 'approved'
  return {
    reply: says,
    approvedCents: isApproved ? amountCents : null,
    reason: isApproved ? null : 'The answer of the service came too late for the card network.',
  }
}

function emitSent(sent: SentNetworkMessages, answered: Outcome, { emit }: SandboxNetworkContext): Answer {
  const { cardId, messageId, sentAt, kind, named } = sent
  const { cents: amount, ...ids } = named
  const amountCents = amount === null ? null : cents(amount)
  const outcome = finalReply(sent, amountCents, answered)
  const { authorizationId } = ids
  emit('card_network.message_sent', {
    cardId,
    messageId,
    kind,
    authorizationId,
    amountCents,
    reply: outcome.reply,
  })
  return { cardId, messageId, sentAt: new Date(sentAt), ...ids, amountCents, ...outcome }
}

const clockResponse = (now: Date) => ({
  now,
  offsetSeconds: Math.max(0, Math.round((now.getTime() - clock.milliseconds()) / 1_000)),
})

async function recordAdvance({ tenant, now, emit }: ContextOf<typeof sandboxApi.advance>) {
  const response = clockResponse(now)
  emit('clock.advanced', { ownerId: tenant.ownerId, ...response })
  return response
}

const sandbox = bindHandlers(
  { ...sandboxApi, ...cardNetworkApi },
  {
    ...cardNetwork,
    async clock(_, { now, sql, tenant }) {
      const aimMs = await readClockAim(sql, tenant)
      return { ...clockResponse(now), movesTo: aimMs === null ? null : clock.tenant(aimMs) }
    },

    advance: externalCall(sandboxApi.advance, {
      async reserve({ body }, { tenant, sql, refuse }) {
        if (tenant.mode !== 'test') return refuse('test_mode_only')
        const by = minutes(body.minutes ?? 0) + days(body.days ?? 0) + (body.seconds ?? 0) * 1_000
        const toMs = await reserveClockMove(sql, tenant, by)
        return toMs === undefined ? refuse('clock_too_far') : { tenant, toMs }
      },
      call: ({ tenant, toMs }, { service }) => service.advanceClock(tenant, toMs),
      record: (_answer, _reserved, context) => recordAdvance(context),
      recover: (_reserved, context) => recordAdvance(context),
    }),
  },
)

export const sandboxArea = area(
  'Sandbox',
  'Test mode only: advance the clock, and simulate the card network.',
  sandbox,
)
