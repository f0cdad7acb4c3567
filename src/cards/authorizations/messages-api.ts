import { z } from 'zod'
import { AgentEvent } from '../../control/agents/index.ts'
import { paidEvents } from '../../control/intents/index.ts'
import { riskEvents } from '../../control/risk/index.ts'
import { event } from '../../kernel/contract/events.ts'
import { post } from '../../kernel/contract/operation.ts'
import { arrivedEvents } from '../../money/refunds/index.ts'
import { id } from '../../values/ids.ts'
import { chargeEvents } from '../agent-credentials/index.ts'
import { noticeEvents } from '../cards/index.ts'
import type { IncomingMessage } from './network/incoming-message.ts'

/** The answer to a message of the processor, as its own bytes. */
export const MessageAnswer = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
})

const MessageEvent = z.object({
  cardId: id('card'),
  agentId: id('agent'),
  messageId: z.string(),
  reason: z.string(),
})

/** Only the door makes one, from a message whose signature is proven. */
export const incomingMessage = z.custom<IncomingMessage>(
  value => typeof value === 'object' && value !== null && 'message' in value,
  'must be a message of the card processor',
)

/** The events of everything that changes a payment by card. */
export const authorizationEvents = { ...arrivedEvents, ...paidEvents }

export const messagesApi = {
  /** Gives back what the network has not collected by its time, and nothing before that or again. */
  expire: post('/rails/card-processor/authorizations/{id}/expire', {
    summary: 'Expire an authorization',
    callers: [],
    run: 'hot',
    returns: [200, z.object({ expired: z.boolean() })],
    emits: { ...authorizationEvents, ...chargeEvents },
  }),
  /** News about a card itself: it was shipped, put into a mobile wallet, closed by the processor. */
  notice: post('/rails/card-processor/notices', {
    summary: 'Take news of the card processor about a card',
    callers: [],
    body: incomingMessage,
    returns: [200, MessageAnswer],
    emits: noticeEvents,
  }),
  /** The door runs it once the signature of a message is proven. */
  take: post('/rails/card-processor/messages', {
    summary: 'Take a message of the card processor',
    callers: [],
    run: 'hot',
    body: incomingMessage,
    returns: [200, MessageAnswer],
    emits: {
      ...authorizationEvents,
      ...chargeEvents,
      ...riskEvents,
      'agent.frozen': AgentEvent,
      'card.message_refused': event(
        'A message of the card processor has come under the id of another one, and was refused.',
        MessageEvent,
      ),
    },
  }),
}
