import { z } from 'zod'
import { PolicyCreate, policyRuleFields } from '../../control/rules/index.ts'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, post, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { WalletEvent } from '../../money/wallets/index.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, positiveMoneySchema } from '../../values/money.ts'
import {
  freeTextSchema,
  inputMetadataSchema,
  labelSchema,
  metadataSchema,
  recordHead,
  recordTimestamps,
  timeRangeMembers,
} from '../../values/schemas.ts'
import { cardClosedReasons, cardMachine, cardUsages } from './card.ts'

const status = z.enum(cardMachine.states)
export const cardUsageSchema = z.enum(cardUsages).meta({
  description:
    '`single`: the card pays once and closes when that payment has ended. `multi`: it pays until it is closed.',
})
export const cardDisplayName = labelSchema.meta({ examples: ['Research'] })
const reason = freeTextSchema.min(1).nullable()

const { maxTransactionCents, dailyLimitCents, monthlyLimitCents } = PolicyCreate.shape
const { merchantAllowlist, merchantBlocklist, mccCategories } = PolicyCreate.shape
const { allowedCountries, allowedMccs, blockedMccs } = PolicyCreate.shape

const LimitsBody = z.strictObject({ maxTransactionCents, dailyLimitCents, monthlyLimitCents })

/** Has the bounds of a policy. A list that is left out is no rule. */
export const CardControlsBody = z.strictObject({
  merchantAllowlist,
  merchantBlocklist,
  allowedCountries,
  allowedMccs,
  blockedMccs,
  mccCategories,
})

const CardLimits = z
  .object({ maxTransactionCents, dailyLimitCents, monthlyLimitCents })
  .meta({ id: 'CardLimits', description: 'Limits in addition to the agent’s policy. Null: no limit.' })

export const CardControls = z
  .object({
    merchantAllowlist: policyRuleFields.merchantAllowlist,
    merchantBlocklist: policyRuleFields.merchantBlocklist,
    allowedCountries: policyRuleFields.allowedCountries,
    allowedMccs: policyRuleFields.allowedMccs,
    blockedMccs: policyRuleFields.blockedMccs,
    mccCategories: policyRuleFields.mccCategories,
  })
  .meta({
    id: 'CardControls',
    description: 'Restrictions in addition to the agent’s policy. Empty list: no restriction.',
  })

const balance = z
  .object({ availableCents: moneySchema, heldCents: moneySchema })
  .nullable()
  .meta({ description: 'The balance of the purse; null without a purse.' })

const CardRecord = z
  .object({
    ...recordHead('card'),
    agentId: id('agent'),
    status,
    usage: cardUsageSchema,
    displayName: z.string(),
    brand: z
      .string()
      .nullable()
      .meta({ examples: ['visa'] }),
    last4: z
      .string()
      .nullable()
      .meta({
        description: 'The last four digits. No answer contains more of the number.',
        examples: ['4242'],
      }),
    expMonth: z.int().nullable(),
    expYear: z.int().nullable(),
    limits: CardLimits,
    controls: CardControls,
    intentId: id('intent')
      .nullable()
      .meta({ description: 'The only intent that the card pays. The card closes with it.' }),
    requestId: id('cardreq')
      .nullable()
      .meta({ description: 'The agent’s request that led to the card. Null: you issued it yourself.' }),
    walletId: id('wallet').nullable().meta({
      description:
        'The purse: a wallet that only this card pays from. Null: the card pays from the agent’s wallet.',
    }),
    balance,
    frozenReason: z.string().nullable(),
    closedReason: z
      .string()
      .nullable()
      .meta({
        description: `The owner’s reason, or the service’s reason for closing the card: ${cardClosedReasons.join(', ')}.`,
        examples: ['spent'],
      }),
    closedAt: instant.nullable(),
    processorProblem: z.string().nullable().meta({
      description: 'Why the processor did not apply a change of the card. Temporary failures are retried.',
    }),
    workflowId: z.string().nullable().meta({ description: 'The run’s ID in the Temporal Web UI.' }),
    metadata: metadataSchema,
    ...recordTimestamps,
  })
  .meta({ id: 'Card' })

export const CardEvent = z.object({
  cardId: id('card'),
  agentId: id('agent'),
  intentId: id('intent').optional(),
  requestId: id('cardreq').optional(),
  status,
  last4: z
    .string()
    .nullable()
    .meta({ examples: ['4242'] }),
  reason: z.string().max(200).optional(),
})

const MobileWallet = z.object({
  cardId: id('card'),
  agentId: id('agent'),
  status: z.enum(['requested', 'active', 'suspended', 'deleted']),
  last4: z.string().nullable(),
  wallet: z.enum(['apple_pay', 'google_pay', 'samsung_pay', 'other']),
  tokenId: z.string().max(200),
})

export const cardEvents = {
  'card.created': declareEvent('A card has been requested from the processor.', CardEvent),
  'card.issued': declareEvent('The processor has issued a card.', CardEvent),
  'card.activated': declareEvent('A card has been activated.', CardEvent),
  'card.frozen': declareEvent('A card has been frozen.', CardEvent),
  'card.unfrozen': declareEvent('A card has been unfrozen.', CardEvent),
  'card.closed': declareEvent('A card has been permanently closed; `reason` says why.', CardEvent),
  'card.rotation_started': declareEvent('A new number has been requested for a card.', CardEvent),
  'card.rotated': declareEvent('A card has a new number.', CardEvent),
  'card.processor_refused': declareEvent('The processor has refused a change of a card.', CardEvent),
  'card.funded': declareEvent(
    'The purse of a card has been funded.',
    CardEvent.extend({
      walletId: id('wallet'),
      fromWalletId: id('wallet'),
      amountCents: moneySchema,
      balanceCents: moneySchema,
    }),
  ),
  'card.limits_changed': declareEvent(
    'The limits of a card have changed.',
    CardEvent.extend({ maxTransactionCents, dailyLimitCents, monthlyLimitCents }),
  ),
  'card.controls_changed': declareEvent(
    'The merchants, countries or categories that a card may pay have changed.',
    CardEvent,
  ),
  'card.details_changed': declareEvent('The name or the metadata of a card have changed.', CardEvent),
  'card.shipped': declareEvent(
    'A card is on its way by post.',
    CardEvent.extend({
      carrier: z.string().max(200).nullable(),
      trackingNumber: z.string().max(200).nullable(),
    }),
  ),
  'mobile_wallet.updated': declareEvent(
    'A card has been added to a phone’s wallet, or removed from it.',
    MobileWallet,
  ),
}

export const purseEvents = { 'wallet.created': WalletEvent, 'wallet.credited': WalletEvent }

const card_not_found = notFound('card')

const stateFails = {
  card_not_found,
  card_closed: [400, 'The card is permanently closed.'],
  card_pending: [400, 'The processor has not issued the card yet. Wait until it has, or close the card.'],
} as const satisfies Record<string, RefusalSpec>

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'cards:read' })
const owner = operationsFor({ callers: ['key'], scope: 'cards:write' })
const card = [200, CardRecord] as const

const NO_NUMBERS = 'no operation on cards accepts card numbers.'

/** No body may contain a card number: the service must never receive one. */
const body = <T extends z.ZodRawShape>(shape: T) => refuseCardNumbers(z.strictObject(shape), NO_NUMBERS)

export const cardsApi = {
  create: owner.post('/cards', {
    summary: 'Issue a card for an agent',
    description: [
      'If the processor answers in time, the card is `active`, or `inactive` with `activate: false`. Otherwise it is `pending`, and its process continues until there is an answer: `card.issued`, or `card.closed` with `processor_refused`. A lost or late answer never causes a second card.',
      'Limits and controls apply in addition to the agent’s policy: a payment that either forbids is declined. With `intentId`, an approved and unpaid intent of the agent, the card pays only that intent, once, and closes with it: its `usage` is `single`. A single-use card closes when its payment has ended.',
    ].join('\n\n'),
    run: 'external',
    requires: 'cardProcessor',
    limits: { bodyKiB: 256 },
    body: refuseCardNumbers(
      z
        .strictObject({
          agentId: id('agent'),
          usage: cardUsageSchema,
          displayName: cardDisplayName.optional().meta({ description: 'Defaults to the agent’s name.' }),
          limits: LimitsBody.prefault({}),
          controls: CardControlsBody.prefault({}),
          activate: z
            .boolean()
            .default(true)
            .meta({ description: 'Whether the card can pay as soon as it is issued.' }),
          intentId: id('intent')
            .nullable()
            .default(null)
            .meta({ description: 'The only intent that the card pays.' }),
          metadata: inputMetadataSchema.default({}),
          ...widening.members,
        })
        .refine(({ usage, intentId }) => intentId === null || usage === 'single', {
          path: ['usage'],
          message: 'must be single with intentId: the card pays only that intent, once',
        }),
      NO_NUMBERS,
    ),
    example: {
      agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      usage: 'multi',
      displayName: 'Research',
      limits: { maxTransactionEuros: 50 },
    },
    returns: [201, CardRecord],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      agent_not_found: notFound('agent'),
      agent_not_active: [400, 'The agent is frozen or being deleted: no card can be issued for it.'],
      intent_not_found: [404, 'intentId: the agent has no such intent.'],
      intent_not_approved: [400, 'intentId: the intent is not approved.'],
      intent_being_paid: [400, 'intentId: a payment on the intent is under way or done.'],
      intent_expired: [400, 'intentId: the intent’s deadline has passed. Declare it again.'],
      intent_paid_by_transfer: [400, 'intentId: the payee is paid by a transfer, not by a card.'],
      intent_has_card: [409, 'intentId: the intent already has a card. Close that one first.'],
      processor_refused: [400, 'The processor refused to issue the card.'],
    },
    emits: {
      ...widening.emits,
      'card.created': cardEvents['card.created'],
      'card.issued': cardEvents['card.issued'],
      'card.activated': cardEvents['card.activated'],
      'card.closed': cardEvents['card.closed'],
    },
  }),
  list: readers.list('/cards', {
    summary: 'List cards',
    description: 'Newest first, including closed ones.',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      intentId: id('intent').optional(),
      ...timeRangeMembers,
    },
    item: CardRecord,
  }),
  get: readers.getOne('/cards/{id}', 'a card', CardRecord, { card_not_found }),
  update: owner.patch('/cards/{id}', {
    summary: 'Rename a card, or change its metadata',
    body: refuseCardNumbers(
      z.strictObject({ displayName: cardDisplayName, metadata: metadataSchema }).partial(),
      NO_NUMBERS,
    ),
    example: { displayName: 'Papers' },
    returns: card,
    fails: stateFails,
    emits: { 'card.details_changed': cardEvents['card.details_changed'] },
  }),
  activate: owner.post('/cards/{id}/activate', {
    summary: 'Activate a card',
    description: 'For a card that was issued with `activate: false`.',
    body: body(widening.members),
    returns: card,
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...stateFails,
      card_not_inactive: [400, 'Only an inactive card can be activated.'],
    },
    emits: { ...widening.emits, 'card.activated': cardEvents['card.activated'] },
  }),
  freeze: owner.post('/cards/{id}/freeze', {
    summary: 'Freeze a card',
    description:
      'Every authorization is declined immediately, even if the processor does not know yet. Earlier authorizations can still be cleared.',
    body: body({ reason: reason.default(null) }),
    example: { reason: 'Unusual spending' },
    returns: card,
    fails: {
      card_not_found,
      card_closed: stateFails.card_closed,
      card_not_active: [400, 'Only an active card can be frozen.'],
    },
    emits: { 'card.frozen': cardEvents['card.frozen'] },
  }),
  unfreeze: owner.post('/cards/{id}/unfreeze', {
    summary: 'Unfreeze a card',
    body: body(widening.members),
    returns: card,
    signature: widening.signature,
    fails: {
      ...widening.fails,
      card_not_found,
      card_closed: stateFails.card_closed,
      card_not_frozen: [400, 'Only a frozen card can be unfrozen.'],
    },
    emits: { ...widening.emits, 'card.unfrozen': cardEvents['card.unfrozen'] },
  }),
  close: owner.post('/cards/{id}/close', {
    summary: 'Close a card',
    description:
      'Permanent. Every authorization is declined immediately; earlier ones can still be cleared. The balance of the purse returns to the agent’s wallet, and held amounts follow when they are released.',
    body: body({ reason: reason.default(null) }),
    example: { reason: 'No longer needed' },
    returns: card,
    fails: { card_not_found, card_closed: stateFails.card_closed },
    emits: { 'card.closed': cardEvents['card.closed'] },
  }),
  rotate: owner.post('/cards/{id}/rotate', {
    summary: 'Replace the number of a card',
    description:
      'The card’s ID, limits, controls and purse stay. The process requests the number from the processor; `card.rotated` reports it. From then on, the old number still pays for `overlapMinutes`, and is then closed; its authorizations can still be cleared.',
    requires: 'cardProcessor',
    body: body({
      overlapMinutes: z
        .int()
        .min(0)
        .max(10_080)
        .default(0)
        .meta({ description: 'Minutes for which the old number still pays.' }),
    }),
    example: { overlapMinutes: 60 },
    returns: card,
    fails: {
      ...stateFails,
      rotation_under_way: [409, 'A new number has already been requested. Wait for card.rotated.'],
    },
    emits: { 'card.rotation_started': cardEvents['card.rotation_started'] },
  }),
  setLimits: owner.put('/cards/{id}/limits', {
    summary: 'Set the limits of a card',
    description:
      'The limits apply in addition to the agent’s policy, from the next authorization on. A limit that you leave out is removed.',
    body: refuseCardNumbers(LimitsBody.extend(widening.members), NO_NUMBERS),
    example: { maxTransactionEuros: 25, dailyLimitEuros: 100 },
    returns: card,
    signature: widening.signature,
    fails: { ...widening.fails, ...stateFails },
    emits: { ...widening.emits, 'card.limits_changed': cardEvents['card.limits_changed'] },
  }),
  fund: post('/cards/{id}/fund', {
    callers: ['key'],
    scope: 'wallets:fund',
    summary: 'Fund the purse of a card',
    description:
      'The money comes from `fromWalletId`, which defaults to the agent’s wallet. From then on, the card pays from its purse, a wallet that only this card pays from. The first funding opens it.\n\nThe balance left when the card closes returns to the agent’s wallet, or to your oldest open wallet if that one is closed.',
    body: body({ amountCents: positiveMoneySchema(), fromWalletId: id('wallet').optional() }),
    example: { amountEuros: 20 },
    returns: card,
    fails: {
      card_not_found,
      card_closed: stateFails.card_closed,
      wallet_not_found: [404, 'fromWalletId: no such wallet.'],
      same_wallet: [400, 'fromWalletId: this is the purse of the card. Name another wallet.'],
      wallet_of_card: [400, 'fromWalletId: a card’s purse can only be used by its card.'],
      wallet_not_active: [400, 'The paying wallet is frozen or closed.'],
      insufficient_funds: [400, 'The wallet’s available balance is too low.'],
    },
    emits: { 'card.funded': cardEvents['card.funded'], 'wallet.created': WalletEvent },
  }),
}

export const cardControlsApi = {
  get: readers.get('/cards/{id}/controls', {
    summary: 'Get the controls of a card',
    returns: [200, CardControls],
    fails: { card_not_found },
  }),
  set: owner.put('/cards/{id}/controls', {
    summary: 'Set the controls of a card',
    description:
      'Sets which merchants, countries and categories the card may pay, in addition to the agent’s policy: a payment that either forbids is declined. A list that you leave out does not restrict.',
    limits: { bodyKiB: 256 },
    body: refuseCardNumbers(CardControlsBody.extend(widening.members), NO_NUMBERS),
    example: { merchantAllowlist: ['Bookshop'], allowedCountries: ['DE'] },
    returns: [200, CardControls],
    signature: widening.signature,
    fails: { ...widening.fails, ...stateFails },
    emits: { ...widening.emits, 'card.controls_changed': cardEvents['card.controls_changed'] },
  }),
}

/** Each step may be repeated. A step that is not due changes nothing. */
export const cardSteps = {
  issue: step('cards.issue', {
    summary: 'Request a card from the processor',
    calls: 'cardProcessor',
    emits: {
      'card.issued': cardEvents['card.issued'],
      'card.activated': cardEvents['card.activated'],
      'card.closed': cardEvents['card.closed'],
    },
  }),
  replace: step('cards.replace', {
    summary: 'Request a new number for a card from the processor',
    calls: 'cardProcessor',
    emits: {
      'card.rotated': cardEvents['card.rotated'],
      'card.closed': cardEvents['card.closed'],
      'card.processor_refused': cardEvents['card.processor_refused'],
    },
  }),
  tell: step('cards.tell', {
    summary: 'Send the state, limits and controls of a card to the processor',
    calls: 'cardProcessor',
    emits: {
      'card.frozen': cardEvents['card.frozen'],
      'card.processor_refused': cardEvents['card.processor_refused'],
    },
  }),
  /** Closes nothing before its time, by the tenant's clock. */
  end: step('cards.end', {
    summary: 'Close a replaced number, or a card, at its end',
    emits: { 'card.closed': cardEvents['card.closed'] },
  }),
  closeForAgent: step('cards.endForAgent', {
    summary: 'Close the cards of an agent that is being deleted',
    emits: { 'card.closed': cardEvents['card.closed'], ...purseEvents },
  }),
  returnPurse: step('cards.returnPurse', {
    summary: 'Return the balance of a closed card’s purse',
    emits: purseEvents,
  }),
}
