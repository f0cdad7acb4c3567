import { z } from 'zod'
import { PolicyCreate } from '../../control/rules/index.ts'
import { widening } from '../../identity/passkeys/index.ts'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { agentRequiredRefusal, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { integerSchema } from '../../kernel/contract/page.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { cents, moneySchema, positiveMoneySchema } from '../../values/money.ts'
import { agentIdSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { accessEvents, accessRefusals } from '../access-events/index.ts'
import { namesOneRecipientKey, oneRecipientKeyRequired, recipientKeyMembers } from '../filler-keys/index.ts'
import { agentCredentialMachine } from './agent-credential.ts'

const status = z.enum(agentCredentialMachine.states)

const AgentCredentialRecord = z
  .object({
    ...recordHead('agentcredential'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent').nullable(),
    mppCredentialId: id('mppcredential').nullable().meta({
      description: 'The only machine payment that the token pays. Only that merchant has the token.',
    }),
    cardId: id('card'),
    status,
    merchantScope: z.array(z.string()).meta({ examples: [['*.example.com']] }),
    amountLimitCents: moneySchema,
    spentCents: moneySchema.meta({ description: 'Amount spent and authorized so far.' }),
    maxCharges: z.int().nullable(),
    charges: z.int(),
    expiresAt: instant,
    revokedAt: instant.nullable(),
    last4: z
      .string()
      .nullable()
      .meta({ description: 'Last digits of the network token, not of the card.', examples: ['4242'] }),
    processorProblem: z.string().nullable().meta({
      description:
        'Why the processor did not apply the last change. The service enforces it regardless; repeat the operation.',
    }),
    accessEventId: id('accessevent'),
    keyThumbprint: z.string().meta({ examples: ['cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s'] }),
    ...recordTimestamps,
  })
  .meta({ id: 'AgentCredential' })

const AgentCredentialEvent = z.object({
  agentCredentialId: id('agentcredential'),
  agentId: id('agent'),
  intentId: id('intent').nullable(),
  cardId: id('card'),
  status,
  amountLimitCents: moneySchema,
})

const ChargeEvent = z.object({
  agentCredentialId: id('agentcredential'),
  mppCredentialId: id('mppcredential').nullable(),
  agentId: id('agent'),
  intentId: id('intent').nullable(),
  cardId: id('card'),
  status,
  amountCents: moneySchema,
  transactionId: id('txn').nullable(),
})

export const agentCredentialChargeEvents = {
  'agent_credential.charged': declareEvent(
    'The card network has authorized or cleared a payment by a network token.',
    ChargeEvent,
  ),
  'agent_credential.declined': declareEvent(
    'A payment by a network token was declined, or its approval was withdrawn, was reversed or has expired.',
    ChargeEvent,
  ),
}

export const agentCredentialEvents = {
  'agent_credential.created': declareEvent(
    'A network token has been requested from the processor.',
    AgentCredentialEvent,
  ),
  'agent_credential.issued': declareEvent(
    'A network token with its own limits has been issued to an agent.',
    AgentCredentialEvent,
  ),
  'agent_credential.failed': declareEvent(
    'The processor did not issue a network token.',
    AgentCredentialEvent,
  ),
  'agent_credential.suspended': declareEvent('A network token has been suspended.', AgentCredentialEvent),
  'agent_credential.resumed': declareEvent(
    'A suspended network token has been resumed.',
    AgentCredentialEvent,
  ),
  'agent_credential.revoked': declareEvent('A network token has been revoked.', AgentCredentialEvent),
  'agent_credential.expired': declareEvent('A network token has expired.', AgentCredentialEvent),
}

const LONGEST_SECONDS = 30 * 86_400
const HIGHEST_LIMIT = cents(10_000_000n)

const CreatedAgentCredential = AgentCredentialRecord.extend({
  jwe: shownOnceSchema('eyJhbGciOiJFQ0RILUVTK0EyNTZLVyIsImVuYyI6IkEyNTZHQ00ifQ.…'),
}).meta({ id: 'CreatedAgentCredential' })

const lookupRefusals = { agent_credential_not_found: notFound('agent credential') }
const endedReason: RefusalSpec = [
  400,
  'The agent credential has already been revoked, has expired or has failed.',
]

const stateChange = {
  run: 'external',
  requires: 'cardProcessor',
  returns: [200, AgentCredentialRecord],
} as const

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'credentials:read' })
const writers = operationsFor({ callers: ['key', 'agent'], scope: 'credentials:write' })

export const agentCredentialsApi = {
  create: writers.post('/v1/agent-credentials', {
    summary: 'Issue a network token to an agent',
    description: [
      'The token represents a card, and is encrypted as a compact JWE to the named key. It has its own merchants, limit, number of charges and lifetime: each authorization is checked against them, and against the policy and the card.',
      'With `intentId`, the token pays only that intent. Without one, it pays what the policy lets the agent pay; a token of a delegation, or with a budget, must name an intent. An agent may name only a filler key that its owner has registered.',
    ].join('\n\n'),
    run: 'external',
    requires: 'cardProcessor',
    limits: { bodyKiB: 256 },
    body: refuseCardNumbers(
      z
        .strictObject({
          agentId: agentIdSchema,
          intentId: id('intent').optional(),
          cardId: id('card'),
          merchantScope: z
            .array(PolicyCreate.shape.merchantAllowlist.unwrap().element)
            .min(1)
            .max(100)
            .meta({
              description:
                'Names or hosts of merchants, including `*.example.com`, as in the allowlist of a policy.',
              examples: [['shop.example.com']],
            }),
          amountLimitCents: positiveMoneySchema(HIGHEST_LIMIT).meta({
            description: 'Maximum total of all charges.',
          }),
          ttlSeconds: integerSchema(30, LONGEST_SECONDS).meta({ examples: [3_600] }),
          maxCharges: integerSchema(1, 10_000).nullable().default(null),
          ...recipientKeyMembers,
          ...widening.members,
        })
        .refine(namesOneRecipientKey, oneRecipientKeyRequired),
    ),
    example: {
      agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      cardId: 'card_01jd8x2m4ye7k9v0c3q5r6t8wz',
      merchantScope: ['shop.example.com'],
      amountLimitEuros: 50,
      ttlSeconds: 3_600,
      maxCharges: 1,
      publicKeyJwk: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    },
    returns: [201, CreatedAgentCredential],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...accessRefusals,
      agent_required: agentRequiredRefusal,
      agent_not_found: [404, 'agentId: no such agent.'],
      card_other_agent: [400, 'cardId: the card belongs to another agent.'],
      intent_required: [400, 'intentId: a token of a delegation, or with a budget, must name an intent.'],
      above_intent: [400, 'amountLimitEuros: this exceeds the intent’s amount.'],
      merchant_mismatch: [400, 'merchantScope: the merchant of the intent is missing. Add it.'],
      network_tokens_missing: [503, 'The processor of this card issues no network tokens.'],
    },
    emits: {
      ...widening.emits,
      ...accessEvents,
      'agent_credential.created': agentCredentialEvents['agent_credential.created'],
      'agent_credential.issued': agentCredentialEvents['agent_credential.issued'],
      'agent_credential.failed': agentCredentialEvents['agent_credential.failed'],
    },
  }),
  list: readers.list('/v1/agent-credentials', {
    summary: 'List agent credentials',
    description: 'Newest first.',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      cardId: id('card').optional(),
    },
    item: AgentCredentialRecord,
  }),
  get: readers.getOne(
    '/v1/agent-credentials/{id}',
    'an agent credential',
    AgentCredentialRecord,
    lookupRefusals,
  ),
  revoke: writers.post('/v1/agent-credentials/{id}/revoke', {
    ...stateChange,
    summary: 'Revoke an agent credential',
    description:
      'The service declines its payments immediately, regardless of the processor’s answer. If the processor did not apply the change, `processorProblem` says why: repeat the request.',
    fails: { ...lookupRefusals, agent_credential_over: endedReason },
    emits: { 'agent_credential.revoked': agentCredentialEvents['agent_credential.revoked'] },
  }),
  suspend: writers.post('/v1/agent-credentials/{id}/suspend', {
    ...stateChange,
    summary: 'Suspend an agent credential',
    description:
      'The service declines its payments immediately until it is resumed, regardless of the processor’s answer. If the processor did not apply the change, `processorProblem` says why: repeat the request.',
    fails: {
      ...lookupRefusals,
      agent_credential_over: endedReason,
      agent_credential_pending: [400, 'The processor has not issued the token yet. Revoke it instead.'],
    },
    emits: { 'agent_credential.suspended': agentCredentialEvents['agent_credential.suspended'] },
  }),
  resume: writers.post('/v1/agent-credentials/{id}/resume', {
    ...stateChange,
    callers: ['key'],
    summary: 'Resume an agent credential',
    description: 'The token pays again once the processor has confirmed it.',
    body: refuseCardNumbers(z.strictObject(widening.members)),
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...lookupRefusals,
      agent_credential_over: endedReason,
      agent_credential_not_suspended: [400, 'The agent credential is not suspended.'],
      processor_silent: [
        504,
        'The processor did not answer in time. The token stays suspended: try again with a new Idempotency-Key.',
      ],
      processor_unusable: [
        502,
        'The answer of the processor cannot be used. The token stays suspended: try again with a new Idempotency-Key.',
      ],
      processor_refused: [502, 'The processor refuses to resume the token. It stays suspended.'],
    },
    emits: {
      ...widening.emits,
      'agent_credential.resumed': agentCredentialEvents['agent_credential.resumed'],
    },
  }),
  expire: internal.post('/v1/agent-credentials/{id}/expire', {
    summary: 'Expire an agent credential',
    returns: [200, z.object({ expired: z.boolean() })],
    fails: lookupRefusals,
    emits: { 'agent_credential.expired': agentCredentialEvents['agent_credential.expired'] },
  }),
}
