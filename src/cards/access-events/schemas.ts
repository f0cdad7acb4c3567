import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTail } from '../../values/schemas.ts'
import { accessWays } from './access-event.ts'

export const way = z.enum(accessWays).meta({
  description:
    '`access`: of the card itself. `session`: by a checkout session. `credential`: by a credential. `agent_credential`: a network token. `mpp`: the network token of a machine payment, encrypted to its merchant.',
})
export const decision = z.enum(['granted', 'denied'])

const reason = z.object({
  code: z.string().meta({ examples: ['card_not_active'] }),
  message: z.string().meta({ examples: ['The card is frozen: unfreeze it first.'] }),
})

const merchantHost = z
  .string()
  .nullable()
  .meta({ description: 'The shop that the data is bound to.', examples: ['shop.example.com'] })

export const keyThumbprint = z
  .string()
  .nullable()
  .meta({
    description: 'The RFC 7638 thumbprint of the key that the data was to be encrypted to.',
    examples: ['cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s'],
  })

export const AccessEventRecord = z
  .object({
    ...recordHead('accessevent'),
    agentId: id('agent').nullable().meta({
      description: 'The agent whose card it is. Null if another agent of yours has asked for it.',
    }),
    delegationId: id('delegation').nullable(),
    actor: z
      .object({ type: z.enum(['key', 'console', 'agent']), id: z.string().nullable() })
      .meta({ description: 'The key, the person or the token that asked.' }),
    cardId: id('card').nullable(),
    intentId: id('intent').nullable(),
    purpose: z.string().nullable(),
    way,
    sourceId: z
      .string()
      .nullable()
      .meta({
        description: 'The checkout session, the credential or the machine payment.',
        examples: ['credential_01jd8x2m4ye7k9v0c3q5r6t8wz'],
      }),
    decision,
    reasons: z.array(reason).meta({ description: 'Why it was denied: all that stood against it.' }),
    outcome: z.enum(['disclosed', 'failed']).nullable().meta({
      description:
        'Of what was granted: whether the processor has given the data. Null while it is asked, and if the service stopped before its answer was recorded.',
    }),
    failure: reason.nullable().meta({ description: 'Why the processor has given nothing.' }),
    merchantHost,
    keyThumbprint,
    address: z
      .string()
      .nullable()
      .meta({ description: 'Where the request came from.', examples: ['203.0.113.7'] }),
    requestId: z.string(),
    ...recordTail,
  })
  .meta({ id: 'AccessEvent' })

const AccessEventEvent = z.object({
  accessEventId: id('accessevent'),
  cardId: id('card').nullable(),
  agentId: id('agent').nullable(),
  intentId: id('intent').nullable(),
  way,
  decision,
  merchantHost,
  reasons: z.array(z.string()).meta({ examples: [['card_not_active']] }),
})

/** Denials also of what comes before an ask for data: a session or credential that was not made. */
export const denialEvents = {
  'card.access_denied': event('Somebody has asked for the data of a card in vain.', AccessEventEvent),
}

/** The events of every ask for the data of a card. */
export const accessEvents = {
  'card.access_granted': event('Somebody may have the data of a card.', AccessEventEvent),
  ...denialEvents,
  'card.access_failed': event('The processor has not given the data of a card.', AccessEventEvent),
}
