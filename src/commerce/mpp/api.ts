import { z } from 'zod'
import { accessDenialEvents, accessSubjectRefusals } from '../../cards/access-events/index.ts'
import { mppTokenEvents } from '../../cards/agent-credentials/index.ts'
import { tokenPaymentEvents } from '../../cards/authorizations/index.ts'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent, declareReservedEvent } from '../../kernel/contract/events.ts'
import { emptyBody, notFound, post, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { sealedElsewhereMeta, shownOnceSchema } from '../../kernel/run/outcome.ts'
import { ConversionRecord, rateRefusals } from '../../money/exchange-rates/index.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { anyJsonObjectSchema, freeTextSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import {
  credentialSenders,
  machinePaymentStatuses,
  mppCredentialMachine,
  outcomeWitnesses,
} from './credential.ts'
import {
  MAX_MERCHANT_BODY_LENGTH,
  MAX_MERCHANT_HEADER_LENGTH,
  MAX_MERCHANT_HEADERS,
  merchantHeadersProblem,
  merchantMethods,
} from './merchant-request.ts'
import { MAX_PROTECT_RULES, protectRuleTypes } from './protect-rule.ts'

export const merchantUrlRefusals = {
  url_refused: [400, 'url: this address is refused. Give one that can be reached from the public internet.'],
  https_required: [
    400,
    'url: pay over https. Plain http is only for test mode, at addresses that the operator allows (OUTBOUND_ALLOW_CIDRS).',
  ],
  merchant_mismatch: [400, 'url: the intent is for another merchant than this host.'],
  merchant_denied: [403, 'url: a protect rule denies this host.'],
  merchant_not_allowed: [
    403,
    'url: only what an allow rule covers is paid, and none covers this host. The owner can add one with POST /mpp/protect.',
  ],
} as const satisfies Record<string, RefusalSpec>

export const merchantOfferRefusals = {
  no_challenge: [400, 'url: the merchant asks for no payment.'],
  no_card_offer: [400, 'url: the merchant does not accept card/charge of the scheme Payment.'],
  challenge_unusable: [400, 'url: the challenge of the merchant cannot be used.'],
  challenge_expired: [400, 'url: the challenge of the merchant has expired.'],
  amount_above_held: [400, 'url: the merchant’s amount exceeds the hold of the intent.'],
  currency_unknown: [
    400,
    'url: the merchant’s currency has no reference rate. GET /exchange-rates lists the currencies.',
  ],
  ...rateRefusals,
  network_not_accepted: [400, 'url: the merchant does not accept this card’s network.'],
  digest_mismatch: [400, 'url: the challenge is for another request body.'],
  merchant_key_unusable: [400, 'url: the merchant’s key must not be used for encryption.'],
} as const satisfies Record<string, RefusalSpec>

export const merchantRefusals = {
  merchant_busy: [
    503,
    'The merchant has answered 429 or 5xx, or too many requests to it are unanswered. Nothing was minted or paid. Try again.',
  ],
  merchant_unusable: [
    502,
    'The merchant’s answer cannot be used. Nothing was minted or paid. Try again with a new Idempotency-Key.',
  ],
  merchant_timeout: [
    504,
    'The merchant did not answer in time. Nothing was minted or paid. Try again with a new Idempotency-Key.',
  ],
} as const satisfies Record<string, RefusalSpec>

export const mintRefusals = {
  ...accessSubjectRefusals,
  intent_other_merchant: [
    400,
    'intentId: the agent is locked to the first merchant that it paid, and the intent is for another one.',
  ],
  card_cannot_pay: [400, 'The card can no longer pay: it was frozen, closed or replaced in the meantime.'],
  payment_denied: [403, 'The policy of the agent, its card or its risk forbids this payment.'],
  network_tokens_missing: [503, 'The processor of this card issues no network tokens.'],
  processor_silent: [
    504,
    'The card’s processor did not answer in time. Nothing was minted or paid. Try again with a new Idempotency-Key.',
  ],
  processor_unusable: [
    502,
    'The answer of the card’s processor cannot be used. Nothing was minted or paid. Try again with a new Idempotency-Key.',
  ],
  processor_refused: [502, 'The card’s processor refuses to issue a token.'],
  action_required: [
    409,
    'The card’s issuer wants a person to confirm this payment, and names no page for that. Nothing was sent or paid.',
  ],
  asker_not_allowed: [
    403,
    'The key, token or person that asked for this payment may not pay any more: it was revoked, disconnected or removed. Nothing was paid.',
  ],
  asked_by_another: [
    409,
    'Another credential has asked for this payment under this Idempotency-Key. Nothing was paid again.',
  ],
} as const satisfies Record<string, RefusalSpec>

/** The credential may have reached the merchant. */
export const sentRefusals = {
  payment_indeterminate: [
    502,
    'The credential was sent, but the merchant’s answer does not confirm the payment. The money stays held. GET /v1/mpp/credentials shows the outcome.',
  ],
  payment_unanswered: [
    504,
    'The credential was sent, but the merchant did not answer in time. The money stays held. GET /v1/mpp/credentials shows the outcome.',
  ],
} as const satisfies Record<string, RefusalSpec>

const status = z.enum(mppCredentialMachine.states).meta({
  description:
    '`minted`: shown to the caller, who sends it. `sent`: not answered yet. `indeterminate`: outcome unknown. `consumed`: paid. `void`: not paid, or reversed.',
})

const merchant = z.string().meta({
  description: 'The requested host, which is the payee.',
  examples: ['shop.example.com'],
})

const digest = z.string().meta({ examples: ['n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg'] })

const nextAction = z.object({ type: z.literal('redirect'), url: z.url() })

const MppCredentialRecord = z
  .object({
    ...recordHead('mppcredential'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent'),
    cardId: id('card'),
    agentCredentialId: id('agentcredential').meta({
      description: 'The network token inside, with its limits.',
    }),
    status,
    sentBy: z.enum(credentialSenders).meta({
      description: 'Who sends it. `service`: `POST /v1/mpp/pay`. `caller`: the caller that minted it.',
    }),
    merchant,
    merchantName: z.string().nullable().meta({ description: 'The name stated by the merchant; unverified.' }),
    url: z.string().meta({
      description: 'The requested URL, without its query.',
      examples: ['https://shop.example.com/reports/42'],
    }),
    method: z.string().meta({ examples: ['GET'] }),
    amountCents: moneySchema.meta({
      description: 'Amount held, in euros. The network’s clearing may be lower.',
    }),
    conversion: ConversionRecord.nullable().meta({
      description: 'Null if the merchant asked for euros.',
    }),
    network: z
      .string()
      .meta({ description: 'The card network, or `stripe` for that method.', examples: ['visa'] }),
    challengeId: z.string(),
    requestDigest: digest.meta({ description: 'SHA-256 of method, address and body of the request.' }),
    credentialDigest: digest.meta({ description: 'SHA-256 of the credential, which is never stored.' }),
    merchantStatus: z
      .int()
      .nullable()
      .meta({ description: 'The merchant’s HTTP status for the paid request.', examples: [200] }),
    receipt: z.string().nullable().meta({
      description: 'The merchant’s `Payment-Receipt`, unchanged. Null unless it is for this payment.',
    }),
    note: z.string().nullable().meta({ description: 'A note about the answer.' }),
    outcomeBy: z.enum(outcomeWitnesses).nullable().meta({
      description:
        'Who reported the outcome: the merchant, the card network, a key or an operator; `deadline`: no one within 31 days.',
    }),
    askedAt: instant,
    sentAt: instant.nullable(),
    answeredAt: instant.nullable(),
    endedAt: instant.nullable(),
    dueAt: instant.nullable().meta({
      description:
        'The time at which an unknown outcome, or a payment that a person has not confirmed, counts as not paid.',
    }),
    nextAction: nextAction.nullable().meta({
      description:
        'What a person must do: confirm the payment at `url`, before `dueAt`. Then the same request goes on.',
    }),
    transactionId: id('txn').nullable(),
    workflowId: z
      .string()
      .nullable()
      .meta({ examples: ['mpp/mppcredential_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
    ...recordTimestamps,
  })
  .meta({ id: 'MppCredential' })

const credentialMembers = {
  credentialId: id('mppcredential'),
  agentId: id('agent'),
  intentId: id('intent'),
  cardId: id('card'),
  status,
  amountCents: moneySchema,
  merchant,
}

const MppCredentialEvent = z.object(credentialMembers)
const MppTransactionEvent = z.object({ ...credentialMembers, transactionId: id('txn') })

export const credentialMintEvents = {
  'mpp.credential.minted': declareEvent(
    'A credential for a machine payment has been minted, and the intent’s payment has begun.',
    MppCredentialEvent,
  ),
}

const MachinePaymentEvent = z.object({
  paymentId: id('mppcredential'),
  agentId: id('agent'),
  intentId: id('intent'),
  cardId: id('card'),
  merchant,
})

export const machinePaymentOrderEvents = {
  'mpp.payment.created': declareEvent(
    'A machine payment has been asked for: the merchant is asked for its price, or a person decides first.',
    MachinePaymentEvent,
  ),
}

export const machinePaymentEndEvents = {
  'mpp.payment.ended': declareEvent(
    'A machine payment has ended before anything was minted: nothing was paid.',
    MachinePaymentEvent.extend({ reason: z.string().meta({ examples: ['no_challenge'] }) }),
  ),
}

export const machinePaymentOutcomeEvents = {
  'mpp.credential.consumed': declareEvent('A machine payment has been paid.', MppCredentialEvent),
  'mpp.transaction.completed': declareEvent(
    'A machine payment has been paid, by this transaction.',
    MppTransactionEvent,
  ),
  'mpp.credential.indeterminate': declareEvent(
    'The outcome of a machine payment is unknown: its money stays held until the outcome is reported.',
    MppCredentialEvent,
  ),
  'mpp.credential.action_required': declareEvent(
    'The card’s issuer wants a person to confirm a machine payment: the money stays held until then.',
    MppCredentialEvent.extend({ nextAction, dueAt: instant }),
  ),
  'mpp.credential.void': declareEvent(
    'A machine payment was not paid: its token is revoked, and the intent can be paid again.',
    MppCredentialEvent,
  ),
}

export const credentialExpiryEvents = {
  'mpp.credential.expired': declareReservedEvent('A credential has expired unused.', MppCredentialEvent),
}

const url = z
  .string()
  .min(1)
  .max(2_048)
  .meta({
    description: 'The URL that asks for payment. Its host is the payee.',
    examples: ['https://shop.example.com/reports/42'],
  })

const subject = {
  intentId: id('intent').meta({ description: 'An approved intent that is not paid yet, for this merchant.' }),
  cardId: id('card').optional().meta({
    description: 'Optional if the intent names its card, or the agent has only one active card.',
  }),
}

const body = z
  .union(
    [z.string().max(MAX_MERCHANT_BODY_LENGTH), anyJsonObjectSchema(200).meta({ maxProperties: 1_000 })],
    { error: 'must be a string or an object' },
  )
  .optional()
  .meta({
    description: 'Request body: a string is sent as it is, an object as JSON.',
    examples: [{ query: 'weather' }],
  })

const headers = z
  .record(z.string().max(100), z.string().max(MAX_MERCHANT_HEADER_LENGTH))
  .meta({ maxProperties: MAX_MERCHANT_HEADERS })
  .superRefine((given, context) => {
    const problem = merchantHeadersProblem(given)
    if (problem) context.addIssue({ code: 'custom', message: problem })
  })
  .optional()
  .meta({
    description:
      'Additional headers. `Authorization` is sent with the payment only if the merchant expects the credential in another header.',
    examples: [{ accept: 'application/json' }],
  })

const Payable = z.strictObject({
  url,
  ...subject,
  method: z
    .enum(merchantMethods)
    .optional()
    .meta({ description: 'Defaults to GET, or to POST with a body.', examples: ['GET'] }),
  headers,
  body,
})

const MppPayment = z
  .object({
    credential_id: id('mppcredential'),
    merchant_status: z.int().meta({ examples: [200] }),
    receipt: z.string().nullable().meta({
      description: 'The merchant’s `Payment-Receipt`, unchanged. Null if it gave none for this payment.',
    }),
    merchant_body: z.record(z.string(), z.unknown()).meta({
      ...sealedElsewhereMeta,
      description:
        'The merchant’s body: a JSON object as it is (whole numbers beyond 2^53 as texts), other JSON as `value`, text as `text`, anything else as `base64` with its `contentType`. At most 1 MiB: a cut body has `truncated`. Card numbers are masked except for the last four digits, and the credential is removed: such a body has `masked`. In an answer that is repeated after ten minutes it is empty, and `note` says why.',
      examples: [{ report: 42 }],
    }),
    note: z
      .string()
      .optional()
      .meta({ description: 'Why there is no receipt, or no body any more. Missing if there are both.' }),
  })
  .meta({ id: 'MppPayment' })

const MachinePaymentRecord = z
  .object({
    ...recordHead('mppcredential'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent'),
    cardId: id('card'),
    status: z.enum(machinePaymentStatuses).meta({
      description:
        '`waiting`: for a person’s approval of the intent, or, with a `reason`, for a merchant that is away. `ordering`: the merchant is asked, and a credential minted. `awaiting_person`: see `nextAction` of the credential. `sent`: not answered yet. `indeterminate`: outcome unknown, and the money stays held. `ended`: not paid.',
    }),
    credentialId: id('mppcredential')
      .nullable()
      .meta({ description: 'Once it is minted: `GET /v1/mpp/credentials/{id}` has its record.' }),
    merchant,
    url: z.string().meta({
      description: 'The requested URL, without its query.',
      examples: ['https://shop.example.com/reports/42'],
    }),
    method: z.string().meta({ examples: ['GET'] }),
    reason: z
      .string()
      .nullable()
      .meta({
        description:
          'The code of why it ended before anything was sent, or of why the merchant is asked again. `interrupted`: its process was; a repetition of the request by its `Idempotency-Key` pays anew.',
        examples: ['no_challenge'],
      }),
    dueAt: instant.nullable().meta({
      description: 'While it waits: when the merchant is asked again, or a minute after the intent ends.',
    }),
    answer: MppPayment.nullable().meta({
      description:
        'What `POST /v1/mpp/pay` answers, for ten minutes, and only for the key or token that has asked for the payment.',
    }),
    ...recordTimestamps,
  })
  .meta({ id: 'MachinePayment' })

const ofBusyMerchant = {
  503: { 'Retry-After': 'Seconds to wait. Those that a busy merchant asks for, up to an hour.' },
} as const

/** An agent may have so many payments that no caller waits for. */
export const MAX_BACKGROUND_PAYMENTS = 100

const CreatedMppCredential = MppCredentialRecord.extend({
  header: z.string().meta({ description: 'The header for the credential.', examples: ['Authorization'] }),
  credential: shownOnceSchema('Payment eyJjaGFsbGVuZ2UiOnsiaWQiOiI…'),
}).meta({ id: 'CreatedMppCredential' })

const credential_not_found = notFound('MPP credential')

const paying = {
  ...merchantUrlRefusals,
  ...merchantOfferRefusals,
  ...mintRefusals,
} as const

const stepEvents = { ...tokenPaymentEvents, ...mppTokenEvents, ...machinePaymentOutcomeEvents }

/** An order emits the first two; a repetition also records that the answer of a dead process is lost. */
export const orderEvents = { ...accessDenialEvents, ...machinePaymentOrderEvents, ...stepEvents }

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'mpp:read' })
const payers = operationsFor({ callers: ['key', 'agent'], scope: 'mpp:pay' })
const owner = operationsFor({ callers: ['key'], scope: 'mpp:protect' })

export const mppApi = {
  pay: payers.post('/v1/mpp/pay', {
    summary: 'Pay a merchant that answers HTTP 402',
    tool: {
      name: 'pay_http_402',
      isCommon: true,
      isFinal: true,
      use: 'Use it where an address has answered with HTTP 402 and the intent for it is approved: it pays once and returns what was bought. If the outcome is open, do not pay in another way: check the intent.',
    },
    description: [
      'Requests the URL, reads the challenge of its 402, mints one credential for it (method `card` or `stripe`: a token of the card for this merchant alone), and repeats the request with it. Returns what the merchant sells, and its receipt.',
      'Before minting, the service checks the intent, the card, the host, the challenge (expiry, amount, network, body, the merchant’s own key), policy and risk. A refusal has paid nothing. Offers in euros are preferred. Before a request other than GET it reads the price and methods that the merchant’s `/openapi.json` publishes (`x-payment-info`), and sends nothing if the intent cannot pay them.',
      'The answer comes within 55 seconds. A payment that is still under way by then goes on: 503 `outcome_unknown` names its id, `GET /v1/mpp/payments/{id}` shows its outcome, and a repetition with the same `Idempotency-Key` waits for it.',
      'A credential is sent once. Any answer other than a 2xx leaves the outcome unknown: 502 or 504, the money stays held, and nothing is minted again until the card network or a key (`POST /v1/mpp/credentials/{id}/resolve`) reports the outcome, or 31 days have passed. A repetition with the same `Idempotency-Key` never pays twice: it waits for the outcome, and gets what was bought for ten minutes. Only the credential that has asked gets it; another one gets 409 `asked_by_another`.',
      '409 `action_required`: the card’s issuer wants a person to confirm the payment at the page of the message, which is also `nextAction` of the credential. Nothing was sent. Once that is done, repeat the request with a new `Idempotency-Key`.',
    ].join('\n\n'),
    run: 'hot-external',
    requires: 'cardProcessor',
    limits: { bodyKiB: 256 },
    http: { headers: ofBusyMerchant },
    body: refuseCardNumbers(Payable, 'this service gives the merchant a network token.'),
    example: {
      url: 'https://shop.example.com/reports/42',
      intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      cardId: 'card_01jd8x2m4ye7k9v0c3q5r6t8wz',
    },
    returns: [200, MppPayment],
    accepted: MachinePaymentRecord,
    goesOnAt: '/v1/mpp/payments/{id}',
    fails: {
      ...paying,
      ...merchantRefusals,
      ...sentRefusals,
      too_many_waiting: [
        400,
        `Of each agent, at most ${MAX_BACKGROUND_PAYMENTS} payments wait. Wait for one of them, or cancel its intent.`,
      ],
    },
    emits: orderEvents,
  }),
  mint: payers.post('/v1/mpp/credentials', {
    summary: 'Mint a credential for a challenge',
    description:
      'For an agent that calls the merchant itself: it sends the challenge, and gets the credential for the named header, shown once. The checks are those of `POST /v1/mpp/pay`; without `url`, the payee is the realm of the challenge. The card network or a key reports the outcome.',
    run: 'hot-external',
    requires: 'cardProcessor',
    limits: { bodyKiB: 256 },
    http: { headers: ofBusyMerchant },
    body: refuseCardNumbers(
      Payable.extend({
        url: url.optional(),
        challenge: z
          .string()
          .min(1)
          .max(32_768)
          .meta({
            description: 'The `WWW-Authenticate` of the 402, unchanged.',
            examples: [
              'Payment id="…", realm="shop.example.com", method="card", intent="charge", request="…"',
            ],
          }),
      }).omit({ headers: true }),
      'this service gives the merchant a network token.',
      { random: ['challenge'] },
    ),
    example: {
      url: 'https://shop.example.com/reports/42',
      challenge: 'Payment id="…", realm="shop.example.com", method="card", intent="charge", request="…"',
      intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz',
    },
    returns: [201, CreatedMppCredential],
    fails: {
      ...paying,
      merchant_busy: merchantRefusals.merchant_busy,
      merchant_unusable: merchantRefusals.merchant_unusable,
      merchant_timeout: merchantRefusals.merchant_timeout,
    },
    emits: orderEvents,
  }),
  list: readers.list('/v1/mpp/credentials', {
    summary: 'List MPP credentials',
    description: 'Newest first.',
    filters: {
      status: status.optional(),
      waitsFor: z
        .enum(['person'])
        .optional()
        .meta({ description: '`person`: payments that a person must confirm at `nextAction.url`.' }),
      agentId: id('agent').optional(),
      intentId: id('intent').optional(),
      cardId: id('card').optional(),
    },
    item: MppCredentialRecord,
  }),
  get: readers.getOne('/v1/mpp/credentials/{id}', 'an MPP credential', MppCredentialRecord, {
    credential_not_found,
  }),
  payment: readers.get('/v1/mpp/payments/{id}', {
    summary: 'Get a machine payment',
    description: 'From the request on, before anything is minted. Its credential has the same id.',
    returns: [200, MachinePaymentRecord],
    fails: { machine_payment_not_found: notFound('machine payment') },
  }),
  resolve: post('/v1/mpp/credentials/{id}/resolve', {
    summary: 'Resolve the outcome of a machine payment',
    description:
      'For an unknown outcome, once the owner has learned it from the merchant. `paid` captures the money; `not_paid` revokes the token and frees the intent. A payment that the card network cleared always counts as paid, and one that it authorized unless the merchant answered 402: its money stays held until the network clears it or gives it back.',
    callers: ['key'],
    scope: 'mpp:resolve',
    body: z.strictObject({ outcome: z.enum(['paid', 'not_paid']), comment: freeTextSchema.optional() }),
    example: { outcome: 'not_paid', comment: 'The merchant has no such order.' },
    returns: [200, MppCredentialRecord],
    fails: {
      credential_not_found,
      credential_over: [400, 'The outcome is already known.'],
      credential_under_way: [409, 'The merchant may still answer: try again two minutes after it was sent.'],
      network_says_paid: [400, 'outcome: the card network has approved the payment: it is paid.'],
    },
    emits: { ...tokenPaymentEvents, ...mppTokenEvents, ...machinePaymentOutcomeEvents },
  }),
  evidence: readers.get('/v1/mpp/credentials/{id}/evidence', {
    summary: 'Get the signed evidence of a machine payment',
    description:
      'A JWS (EdDSA, `typ` `payment-evidence`) over decision, intent, challenge, digests of request and credential, receipt and outcome. Verify it with `/.well-known/jwks.json`.',
    returns: [
      200,
      z
        .object({
          credentialId: id('mppcredential'),
          jws: z.string().meta({ examples: ['eyJhbGciOiJFZERTQSIsImtpZCI6I….eyJvd25lcklkIjoi….c2ln'] }),
        })
        .meta({ id: 'MppEvidence' }),
    ],
    fails: { credential_not_found },
  }),
}

const type = z.enum(protectRuleTypes).meta({
  description: '`deny` takes precedence over `allow`. With an allow rule, only what is allowed is paid.',
})

const RuleRecord = z
  .object({
    ...recordHead('protectrule'),
    type,
    merchant: z.string().meta({ examples: ['*.example.com'] }),
    agentId: id('agent').nullable().meta({ description: 'Null: every agent.' }),
    reason: z.string().nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'ProtectRule' })

const RuleEvent = z.object({
  protectRuleId: id('protectrule'),
  type,
  merchant: z.string(),
  agentId: id('agent').nullable(),
})

const merchant_unclear: RefusalSpec = [
  400,
  'merchant: name a host (shop.example.com), all hosts below a domain (*.example.com) or an origin (https://shop.example.com:8443).',
]

export const protectApi = {
  protect: owner.post('/mpp/protect', {
    summary: 'Add a rule for machine payments',
    description:
      'Rules check the requested URL, before the first request and again before minting: a host, all hosts below a domain, or an origin. If an agent has allow rules, of its own or for every agent, nothing else is paid.',
    body: refuseCardNumbers(
      z.strictObject({
        type,
        merchant: z
          .string()
          .trim()
          .min(1)
          .max(300)
          .meta({ examples: ['*.example.com'] }),
        agentId: id('agent')
          .optional()
          .meta({ description: 'Applies only to this agent. Defaults to every agent.' }),
        reason: freeTextSchema.optional(),
        ...widening.members,
      }),
    ),
    example: { type: 'deny', merchant: '*.example.com', reason: 'Charges twice.' },
    returns: [201, RuleRecord],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      merchant_unclear,
      agent_not_found: [404, 'agentId: no such agent.'],
      rule_exists: [400, 'The same rule already exists.'],
      too_many_rules: [
        400,
        `The limit of ${MAX_PROTECT_RULES.toLocaleString('en')} rules is reached. Delete one.`,
      ],
    },
    emits: {
      ...widening.emits,
      'mpp.protect_rule.created': declareEvent('A rule for machine payments has been added.', RuleEvent),
    },
  }),
  rules: readers.list('/mpp/protect', {
    summary: 'List the rules for machine payments',
    description: 'Newest first. An agent sees its own rules and those for every agent.',
    filters: { type: z.enum(protectRuleTypes).optional(), agentId: id('agent').optional() },
    item: RuleRecord,
  }),
  unprotect: owner.del('/mpp/protect/{id}', {
    summary: 'Delete a rule for machine payments',
    body: z.strictObject(widening.members),
    returns: [204, emptyBody],
    signature: widening.signature,
    fails: { ...widening.fails, protect_rule_not_found: notFound('protect rule') },
    emits: {
      ...widening.emits,
      'mpp.protect_rule.deleted': declareEvent('A rule for machine payments has been deleted.', RuleEvent),
    },
  }),
}

export const mppSteps = {
  /** Asks the merchant, mints, and begins the payment; the intent, the card and the rules are decided again. */
  order: step('mpp.order', {
    summary: 'Ask the merchant for its offer, and mint a credential for it',
    emits: { ...accessDenialEvents, ...stepEvents, ...credentialMintEvents, ...machinePaymentEndEvents },
    calls: 'cardProcessor',
    ownBounds: true,
  }),
  share: step('mpp.share', {
    summary: 'Create the shared payment token of a machine payment',
    emits: stepEvents,
    calls: 'cardProcessor',
    ownBounds: true,
  }),
  /** Commits that it is sent, then sends it; a repetition sends nothing. */
  send: step('mpp.send', {
    summary: 'Send the credential of a machine payment, once',
    emits: stepEvents,
    calls: 'cardProcessor',
    ownBounds: true,
  }),
  /** Opens the outcome of a payment whose merchant is silent, or ends it as not paid. Changes nothing before the deadline. */
  settle: step('mpp.settle', {
    summary: 'Carry out the due step of a machine payment',
    emits: { ...stepEvents, ...machinePaymentEndEvents },
  }),
  deleteToken: step('mpp.deleteToken', {
    summary: 'Delete the token of a machine payment at the processor',
    emits: {},
    calls: 'cardProcessor',
  }),
}
