import { z } from 'zod'
import {
  accessDenialEvents,
  accessEvents,
  accessRefusals,
  accessSubjectRefusals,
  keyThumbprint,
} from '../../cards/access-events/index.ts'
import { authorizationEvents } from '../../cards/authorizations/index.ts'
import {
  namesOneRecipientKey,
  oneRecipientKeyRequired,
  recipientKeyMembers,
} from '../../cards/filler-keys/index.ts'
import { intentPaymentRefusals, payeeRequestRefusals } from '../../control/intents/index.ts'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { secretMeta, shownOnceSchema } from '../../kernel/run/outcome.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { internalPaymentEvents, transferRefusals } from '../transfers/index.ts'
import { checkoutSessionMachine, parseShopHost } from './session.ts'

const status = z.enum(checkoutSessionMachine.states)

const merchantHost = z.string().meta({
  description: 'The shop that the session is bound to.',
  examples: ['shop.example.com'],
})

const SessionRecord = z
  .object({
    ...recordHead('checkoutsession'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent'),
    cardId: id('card'),
    merchantHost,
    status,
    hint: z.string().meta({ description: 'The last four characters of the token.', examples: ['uQxZ'] }),
    expiresAt: instant,
    redeemedAt: instant.nullable(),
    accessEventId: id('accessevent').nullable().meta({ description: 'The access event of the redemption.' }),
    keyThumbprint,
    ...recordTimestamps,
  })
  .meta({ id: 'CheckoutSession' })

const NewSession = SessionRecord.extend({
  token: shownOnceSchema('cst_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4kQz0uT7hXw2mB'),
}).meta({ id: 'CreatedCheckoutSession' })

const RedeemedSession = SessionRecord.extend({
  jwe: shownOnceSchema('eyJhbGciOiJFQ0RILUVTK0EyNTZLVyIsImVuYyI6IkEyNTZHQ00ifQ.…'),
}).meta({ id: 'RedeemedCheckoutSession' })

const SessionEvent = z.object({
  checkoutSessionId: id('checkoutsession'),
  agentId: id('agent'),
  intentId: id('intent'),
  cardId: id('card'),
  merchantHost,
  status,
})

export const unusableSessionRefusals = {
  session_redeemed: [
    410,
    'token: it has already been redeemed; each can be used once. Start another session.',
  ],
  session_expired: [410, 'token: it expired after 15 minutes. Start another session.'],
} as const satisfies Record<string, RefusalSpec>

const Paid = z
  .object({
    status: z.literal('completed'),
    intentId: id('intent'),
    transactionId: id('txn'),
    transferId: id('transfer'),
  })
  .meta({ id: 'ExecutedIntent' })

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'checkout:read' })
const writers = operationsFor({ callers: ['key', 'agent'], scope: 'checkout:write' })

export const checkoutApi = {
  createSession: writers.post('/checkout/sessions', {
    summary: 'Begin a checkout at a shop',
    tool: {
      name: 'begin_checkout',
      isCommon: true,
      use: 'Use it to pay an approved intent by card at a shop: it gives a token for the program that fills the form. You never see the number of the card, and must not ask for it.',
    },
    description: [
      'For an approved, unpaid intent. The token can be used once within 15 minutes, for this intent at this shop: `POST /checkout/credential` redeems it for the card data, encrypted to the filler’s key. The agent that starts the session never sees the number.',
      'If the merchant of the intent is a host, the shop must be that host. `cardId` is optional if the intent names its card, or the agent has only one active card.',
    ].join('\n\n'),
    body: refuseCardNumbers(
      z.strictObject({
        intentId: id('intent'),
        merchantUrl: z
          .string()
          .max(2_000)
          .refine(url => parseShopHost(url) !== undefined, {
            error: 'an https address of a shop, as in https://shop.example.com/checkout',
          })
          .meta({
            description: 'The page with the payment form. Only its host counts.',
            examples: ['https://shop.example.com/checkout'],
          }),
        cardId: id('card').optional(),
      }),
    ),
    example: {
      intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      merchantUrl: 'https://shop.example.com/checkout',
    },
    returns: [201, NewSession],
    fails: {
      ...accessSubjectRefusals,
      merchant_mismatch: [400, 'merchantUrl: the intent is for another merchant than this shop.'],
    },
    emits: {
      ...accessDenialEvents,
      'checkout_session.created': declareEvent('A checkout at a shop has begun.', SessionEvent),
    },
  }),
  sessions: readers.list('/checkout/sessions', {
    summary: 'List checkout sessions',
    description: 'Newest first, without their tokens.',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      intentId: id('intent').optional(),
    },
    item: SessionRecord,
  }),
  session: readers.getOne('/checkout/sessions/{id}', 'a checkout session', SessionRecord, {
    session_not_found: notFound('checkout session'),
  }),
  credential: writers.post('/checkout/credential', {
    summary: 'Redeem the token of a checkout session',
    description:
      'Returns the card data as a compact JWE for the filler’s key, once; afterwards 410. The protected header has `intentId` and `merchantHost`: a filler fills the form of that host only. An agent may name only a filler key that its owner has registered. If the processor gives no data, the token can be redeemed again.',
    run: 'external',
    requires: 'cardProcessor',
    limits: { bodyKiB: 256 },
    body: refuseCardNumbers(
      z
        .strictObject({
          token: z
            .string()
            .min(1)
            .max(200)
            .meta({ ...secretMeta, examples: ['cst_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
          ...recipientKeyMembers,
        })
        .refine(namesOneRecipientKey, oneRecipientKeyRequired),
    ),
    example: {
      token: 'cst_01jd8x2m4ye7k9v0c3q5r6t8wz',
      publicKeyJwk: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    },
    returns: [200, RedeemedSession],
    fails: {
      session_not_found: [404, 'token: none of your sessions has it.'],
      ...unusableSessionRefusals,
      ...accessRefusals,
    },
    emits: {
      ...accessEvents,
      'checkout_session.redeemed': declareEvent(
        'The token of a checkout has been redeemed for the data of a card.',
        SessionEvent,
      ),
      'checkout_session.reopened': declareEvent(
        'The processor gave no data for a checkout, whose token can be redeemed again.',
        SessionEvent,
      ),
    },
  }),
  execute: writers.post('/checkout/execute', {
    summary: 'Pay an intent whose payee is a wallet or a payment request',
    tool: {
      name: 'pay_intent',
      isCommon: true,
      isFinal: true,
      use: 'Use it to pay an approved intent whose payee is a wallet or a payment request: the whole amount moves immediately and cannot be recalled.',
    },
    description: [
      'The whole amount moves immediately from the agent’s wallet to the wallet that the intent names, on the service’s own rail, and the intent is completed. Equivalent to `POST /transfers` with this `intentId`, with the same checks.',
      'A payment request can be paid while it is open, by exactly the amount due. If it belongs to another owner, the money leaves your ledger with this answer and usually enters the other one immediately, at the latest within two minutes. A payment that arrives after the request was paid or has ended stays with its holder, who can refund it.',
    ].join('\n\n'),
    run: 'hot',
    body: refuseCardNumbers(z.strictObject({ intentId: id('intent') })),
    example: { intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [200, Paid],
    fails: {
      ...transferRefusals,
      ...intentPaymentRefusals,
      ...payeeRequestRefusals,
      intent_not_by_wallet: [
        400,
        'intentId: the payee is neither a wallet nor a payment request. Pay a merchant by card (POST /checkout/sessions), a beneficiary with POST /transfers.',
      ],
    },
    emits: internalPaymentEvents,
  }),
  expireSession: internal.post('/checkout/sessions/{id}/expire', {
    summary: 'Expire a checkout session',
    returns: [200, z.object({ expired: z.boolean() })],
    fails: { session_not_found: notFound('checkout session') },
    emits: { 'checkout_session.expired': declareEvent('A checkout has expired unredeemed.', SessionEvent) },
  }),
  confirm: writers.post('/checkout/confirm', {
    summary: 'Confirm that an intent was paid',
    description:
      'For an agent, or the program that filled in the payment form for it, once the shop has accepted the payment. The intent is completed and its hold captured. The card network reports the same payment before or after: both are one transaction. A confirmation that the network does not report is refunded in full after 31 days.',
    run: 'hot',
    http: { keyRequired: true },
    body: refuseCardNumbers(z.strictObject({ intentId: id('intent') })),
    example: { intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [
      200,
      z
        .object({
          status: z.literal('completed'),
          intentId: id('intent'),
          transactionId: id('txn'),
        })
        .meta({ id: 'CheckoutConfirmation' }),
    ],
    fails: {
      intent_not_found: [404, 'intentId: no such intent.'],
      intent_not_approved: [400, 'intentId: only an approved intent can be paid, and only once.'],
      intent_being_paid: [
        400,
        'intentId: a transfer or a machine payment on the intent is under way. A checkout cannot confirm it.',
      ],
      intent_confirmed: [400, 'intentId: the payment has already been confirmed.'],
      intent_expired: [400, 'intentId: the intent’s deadline has passed. Declare it again.'],
      intent_other_payee: [
        400,
        'intentId: the payee is a wallet or a beneficiary. Pay it with POST /checkout/execute or POST /transfers.',
      ],
      intent_other_merchant: [
        400,
        'intentId: the agent is locked to the first merchant that it paid, and the intent is for another one.',
      ],
      agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
    },
    emits: authorizationEvents,
  }),
}
