import { z } from 'zod'
import { intentPaymentRefusals } from '../../control/intents/index.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { get, list, notFound, post, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps, timeRangeMembers } from '../../values/schemas.ts'
import {
  type RecipientKeyReference,
  recipientKeyMembers,
  recipientKeyRefusals,
} from '../filler-keys/index.ts'
import { accessWays } from './access-event.ts'

export const accessSubjectRefusals = {
  intent_not_found: [404, 'intentId: the agent has no such intent.'],
  ...intentPaymentRefusals,
  card_required: [
    400,
    'cardId: name the card. The agent has no active card, or more than one. GET /cards lists them, POST /cards issues one.',
  ],
  card_not_found: [404, 'cardId: the agent has no such card.'],
  intent_not_approved: [400, 'intentId: name an approved intent that is not paid yet.'],
  intent_being_paid: [
    400,
    'intentId: a payment on the intent is under way. GET /intents/{id} shows its status.',
  ],
  intent_expired: [400, 'intentId: the intent’s deadline has passed. Declare it again.'],
  intent_not_by_card: [400, 'intentId: the payee is paid by a transfer, not by a card.'],
  intent_other_budget: [
    403,
    'intentId: a key or another token declared the intent, so the budget of this token does not count it. Declare the intent with this token.',
  ],
  intent_other_agent: [400, 'intentId: the intent and the card belong to different agents.'],
  intent_other_card: [400, 'intentId: the intent names another card.'],
  card_other_intent: [400, 'The card can only pay another intent.'],
  card_exceeds_token: [
    403,
    'cardId: the card can be charged more than this token may spend, since only what is paid on its intents counts towards its maximum. Use a card that was issued for the intent alone (intentId of POST /cards), or, with a token that has maxAmountEuros, a single-use card whose maxTransactionEuros is at most what the token has left.',
  ],
  card_not_active: [400, 'The card is not active.'],
  agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
} as const satisfies Record<string, RefusalSpec>

export const processorRefusals = {
  processor_silent: [
    504,
    'The processor did not answer in time. Nothing was disclosed. Try again with a new Idempotency-Key.',
  ],
  processor_unusable: [
    502,
    'The processor’s answer cannot be used. Nothing was disclosed. Try again with a new Idempotency-Key.',
  ],
  processor_refused: [502, 'The processor refuses to disclose the card.'],
  disclosure_lost: [
    503,
    'The processor’s answer was lost. Nothing was disclosed. Try again with a new Idempotency-Key.',
  ],
} as const satisfies Record<string, RefusalSpec>

export const accessRefusals = {
  ...accessSubjectRefusals,
  ...recipientKeyRefusals,
  ...processorRefusals,
} as const satisfies Record<string, RefusalSpec>

export const accessWaySchema = z.enum(accessWays).meta({
  description:
    '`access`: the card’s data; `session`, `credential`: the same, by one. `agent_credential`: a network token; `mpp`: one for a machine payment.',
})
const decision = z.enum(['granted', 'denied'])

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
    description: 'RFC 7638 thumbprint of the key to encrypt the data to.',
    examples: ['cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s'],
  })

const AccessEventRecord = z
  .object({
    ...recordHead('accessevent'),
    agentId: id('agent').nullable().meta({
      description: 'The card’s agent. Null if another agent of yours made the request.',
    }),
    delegationId: id('delegation').nullable(),
    actor: z
      .object({ type: z.enum(['key', 'console', 'agent']), id: z.string().nullable() })
      .meta({ description: 'The key, person or token that made the request.' }),
    cardId: id('card').nullable(),
    intentId: id('intent').nullable(),
    purpose: z.string().nullable(),
    way: accessWaySchema,
    sourceId: z
      .string()
      .nullable()
      .meta({
        description: 'The checkout session, credential or machine payment.',
        examples: ['credential_01jd8x2m4ye7k9v0c3q5r6t8wz'],
      }),
    decision,
    reasons: z.array(reason).meta({ description: 'All reasons for the denial.' }),
    outcome: z.enum(['disclosed', 'failed']).nullable().meta({
      description:
        'For a granted request: whether the processor gave the data. Null until its answer is recorded, and for good if the service stopped before.',
    }),
    failure: reason.nullable().meta({ description: 'Why the processor gave no data.' }),
    merchantHost,
    keyThumbprint,
    address: z
      .string()
      .nullable()
      .meta({ description: 'The IP address of the request.', examples: ['203.0.113.7'] }),
    requestId: z.string(),
    ...recordTimestamps,
  })
  .meta({ id: 'AccessEvent' })

const AccessEventEvent = z.object({
  accessEventId: id('accessevent'),
  cardId: id('card').nullable(),
  agentId: id('agent').nullable(),
  intentId: id('intent').nullable(),
  way: accessWaySchema,
  decision,
  merchantHost,
  reasons: z.array(z.string()).meta({ examples: [['card_not_active']] }),
})

export const accessDenialEvents = {
  'card.access_denied': declareEvent('A request for card data was denied.', AccessEventEvent),
}

export const accessEvents = {
  'card.access_granted': declareEvent('A request for card data was granted.', AccessEventEvent),
  ...accessDenialEvents,
  'card.access_failed': declareEvent('The processor did not give the card data.', AccessEventEvent),
}

const nonce = z.string().min(1).max(200).optional().meta({
  description:
    'Replaces the key, only with an owner’s key: the nonce of the processor’s own elements, which show the card in the browser that made the nonce.',
})

const namesOneReader = ({
  publicKeyJwk,
  fillerKeyId,
  nonce,
}: RecipientKeyReference & { nonce?: string | undefined }) =>
  [publicKeyJwk, fillerKeyId, nonce].filter(reader => reader !== undefined).length === 1

const Access = z
  .object({
    accessEventId: id('accessevent'),
    cardId: id('card'),
    intentId: id('intent'),
    keyThumbprint,
    jwe: shownOnceSchema('eyJhbGciOiJFQ0RILUVTK0EyNTZLVyIsImVuYyI6IkEyNTZHQ00ifQ.…'),
    ephemeralKey: shownOnceSchema('ephkey_test_…'),
    expiresAt: instant.nullable().meta({ description: 'The time at which the ephemeral key expires.' }),
  })
  .meta({ id: 'CardAccess' })

const filters = {
  cardId: id('card').optional(),
  agentId: id('agent').optional(),
  intentId: id('intent').optional(),
  decision: decision.optional(),
  way: accessWaySchema.optional(),
  ...timeRangeMembers,
}

export const accessEventsApi = {
  access: post('/cards/{id}/access', {
    summary: 'Get card data, encrypted to a key',
    description: [
      'Number, expiry and CVC are returned only as a compact JWE (A256GCM) for the named key: the service cannot read it. Its protected header has the intent and the thumbprint of the key (`kid`). An owner’s key may name any key; an agent, and a person in the console, only a registered filler key.',
      'Requires an active card and an approved, unpaid intent of the card’s agent. Each request is recorded, granted or denied (`GET /access-events`). The JWE is shown once; a replay has none.',
    ].join('\n\n'),
    tag: 'Cards',
    callers: ['key', 'agent'],
    scope: 'cards:reveal',
    run: 'external',
    requires: 'cardProcessor',
    limits: { bodyKiB: 256 },
    body: refuseCardNumbers(
      z
        .strictObject({
          intentId: id('intent'),
          purpose: z
            .string()
            .trim()
            .min(1)
            .max(200)
            .meta({
              description: 'The purpose of the request.',
              examples: ['Fill the payment form of the shop'],
            }),
          ...recipientKeyMembers,
          nonce,
        })
        .refine(namesOneReader, {
          path: ['publicKeyJwk'],
          error: 'send exactly one of publicKeyJwk, fillerKeyId and nonce',
        }),
    ),
    example: {
      intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      purpose: 'Fill the payment form of the shop',
      publicKeyJwk: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    },
    returns: [200, Access],
    fails: {
      ...accessRefusals,
      nonce_of_agent: [403, 'nonce: only an owner’s API key may send one. Name a filler key.'],
      ephemeral_keys_missing: [
        503,
        'nonce: the processor of this card has no elements to show the card. Name a key instead.',
      ],
    },
    emits: accessEvents,
  }),
  list: list('/access-events', {
    summary: 'List access events',
    description:
      'Every request for card data, newest first: by whom, for which intent and shop, to which key, granted or denied and why. The records cannot be changed.',
    callers: ['key', 'agent'],
    scope: 'access-events:read',
    filters,
    item: AccessEventRecord,
  }),
  get: get('/access-events/{id}', {
    summary: 'Get an access event',
    callers: ['key', 'agent'],
    scope: 'access-events:read',
    returns: [200, AccessEventRecord],
    fails: { access_event_not_found: notFound('access event') },
  }),
}
