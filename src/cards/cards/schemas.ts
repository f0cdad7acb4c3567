import { z } from 'zod'
import { PolicyCreate, ruleFields } from '../../control/rules/index.ts'
import { event } from '../../kernel/contract/events.ts'
import { WalletEvent } from '../../money/wallets/index.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { freeText, label, metadata, recordHead, recordTail } from '../../values/schemas.ts'
import { cardMachine, cardUsages, closedReasons } from './card.ts'

export const status = z.enum(cardMachine.states)
export const usage = z.enum(cardUsages).meta({
  description:
    '`single`: the card pays once and closes when that payment has ended. `multi`: it pays until it is closed.',
})
export const displayName = label.meta({ examples: ['Research'] })
export const reason = freeText.min(1).nullable()

const { maxTransactionEuros, dailyLimitEuros, monthlyLimitEuros } = PolicyCreate.shape
const { merchantAllowlist, merchantBlocklist, mccCategories } = PolicyCreate.shape
const { allowedCountries, allowedMccs, blockedMccs } = PolicyCreate.shape

/** Limits as they are written: a limit that is left out is lifted. */
export const LimitsBody = z.strictObject({ maxTransactionEuros, dailyLimitEuros, monthlyLimitEuros })

/** Controls as they are written, bounded as those of a policy: a list that is left out is no rule. */
export const ControlsBody = z.strictObject({
  merchantAllowlist,
  merchantBlocklist,
  allowedCountries,
  allowedMccs,
  blockedMccs,
  mccCategories,
})

const CardLimits = z
  .object({ maxTransactionEuros, dailyLimitEuros, monthlyLimitEuros })
  .meta({ id: 'CardLimits', description: 'Beside the agent’s policy: both hold. Null is no limit.' })

export const CardControls = z
  .object({
    merchantAllowlist: ruleFields.merchantAllowlist,
    merchantBlocklist: ruleFields.merchantBlocklist,
    allowedCountries: ruleFields.allowedCountries,
    allowedMccs: ruleFields.allowedMccs,
    blockedMccs: ruleFields.blockedMccs,
    mccCategories: ruleFields.mccCategories,
  })
  .meta({
    id: 'CardControls',
    description: 'Beside the agent’s policy: both hold. An empty list is no rule.',
  })

const balance = z
  .object({ availableEuros: euros, heldEuros: euros })
  .nullable()
  .meta({ description: 'What the purse has; null without a purse.' })

export const CardRecord = z
  .object({
    ...recordHead('card'),
    agentId: id('agent'),
    status,
    usage,
    displayName: z.string(),
    brand: z
      .string()
      .nullable()
      .meta({ examples: ['visa'] }),
    last4: z
      .string()
      .nullable()
      .meta({ description: 'The last four digits: no answer has more of the number.', examples: ['4242'] }),
    expMonth: z.int().nullable(),
    expYear: z.int().nullable(),
    limits: CardLimits,
    controls: CardControls,
    intentId: id('intent')
      .nullable()
      .meta({ description: 'The only intent that the card pays; it closes with it.' }),
    requestId: id('cardreq')
      .nullable()
      .meta({ description: 'The request of the agent that it was issued for. Null: you have made it.' }),
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
        description: `What the owner gave, or why the service has closed it: ${closedReasons.join(', ')}.`,
        examples: ['spent'],
      }),
    closedAt: instant.nullable(),
    processorProblem: z.string().nullable().meta({
      description: 'Why the processor has not done what the card asks of it; what can be tried again is.',
    }),
    workflowId: z.string().nullable().meta({ description: 'The run to find in the Temporal Web UI.' }),
    metadata,
    ...recordTail,
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

/** What happens to a card: each operation names those that it can bring about. */
export const cardEvents = {
  'card.created': event('A card has been asked of the processor.', CardEvent),
  'card.issued': event('The processor has issued a card.', CardEvent),
  'card.activated': event('A card can be used.', CardEvent),
  'card.frozen': event('A card has been stopped until it is unfrozen.', CardEvent),
  'card.unfrozen': event('A card that was frozen can be used again.', CardEvent),
  'card.closed': event('A card has been closed for good; `reason` says why.', CardEvent),
  'card.rotation_started': event('Another number has been asked for in place of a card’s.', CardEvent),
  'card.rotated': event('A card has a new number.', CardEvent),
  'card.processor_refused': event('The processor has refused what a card asked of it.', CardEvent),
  'card.funded': event(
    'Money has been moved into the purse of a card.',
    CardEvent.extend({
      walletId: id('wallet'),
      fromWalletId: id('wallet'),
      amountEuros: euros,
      balanceEuros: euros,
    }),
  ),
  'card.limits_changed': event(
    'The limits of a card have changed.',
    CardEvent.extend({ maxTransactionEuros, dailyLimitEuros, monthlyLimitEuros }),
  ),
  'card.controls_changed': event(
    'The merchants, countries or categories that a card may pay have changed.',
    CardEvent,
  ),
  'card.details_changed': event('The name or the metadata of a card have changed.', CardEvent),
  'card.shipped': event(
    'A card is on its way by post.',
    CardEvent.extend({
      carrier: z.string().max(200).nullable(),
      trackingNumber: z.string().max(200).nullable(),
    }),
  ),
  'mobile_wallet.updated': event(
    'A card has been put into a phone’s wallet, or taken out of it.',
    MobileWallet,
  ),
}

/** The events of a step of the process: the processor's answer decides which. */
export const stepEvents = {
  'card.issued': cardEvents['card.issued'],
  'card.activated': cardEvents['card.activated'],
  'card.frozen': cardEvents['card.frozen'],
  'card.closed': cardEvents['card.closed'],
  'card.rotated': cardEvents['card.rotated'],
  'card.processor_refused': cardEvents['card.processor_refused'],
}

/** The events when the purse gives back what it has. */
export const purseEvents = { 'wallet.created': WalletEvent, 'wallet.credited': WalletEvent }
