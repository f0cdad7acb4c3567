import { z } from 'zod'
import { DecisionRecord } from '../../control/decisions/index.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { country, formattedText, recordHead, recordTail } from '../../values/schemas.ts'
import { authorizationMachine, sources } from './authorization.ts'

export const status = z.enum(authorizationMachine.states)

export const AuthorizationRecord = z
  .object({
    ...recordHead('cardauth'),
    cardId: id('card').nullable(),
    agentId: id('agent'),
    status: status.meta({
      description:
        '`pending`: a machine payment is under way, and nobody has said yet what became of it; `void`: it came to nothing. `authorized`: held, or collected in part. `cleared`: collected. `reversed`: given back by the merchant. `expired`: not collected in time. `confirmed`: the agent’s checkout says that it is paid, or the receipt of a machine payment, and the network has not spoken yet.',
    }),
    amountEuros: euros.meta({ description: 'What was asked for, with all increments.' }),
    approvedEuros: euros,
    heldEuros: euros.meta({ description: 'What is still held.' }),
    clearedEuros: euros.meta({ description: 'What the merchant has collected.' }),
    refundedEuros: euros,
    merchant: z.string(),
    descriptor: z.string().meta({ description: 'The merchant as the network writes it.' }),
    mcc: z.string().nullable(),
    country: z.string().nullable(),
    source: z.enum(sources).meta({
      description:
        'What pays: the hold of an approved intent, the purse of the card, the wallet of the agent.',
    }),
    walletId: id('wallet'),
    intentId: id('intent').nullable(),
    mppCredentialId: id('mppcredential')
      .nullable()
      .meta({ description: 'The machine payment that began it.' }),
    declineReason: z.string().nullable(),
    decision: DecisionRecord.nullable().meta({
      description: 'The decision about the first request; null if the network never asked.',
    }),
    expiresAt: instant.nullable().meta({ description: 'When what is held is given back.' }),
    transactionId: id('txn').nullable(),
    ...recordTail,
  })
  .meta({ id: 'CardAuthorization' })

const rule = z.object({
  rule: z.string(),
  outcome: z.enum(['pass', 'fail', 'review', 'skip']),
  message: z.string(),
  remedy: z.string().nullable(),
})

export const AuthorizationExplanation = z
  .object({
    authorizationId: id('cardauth'),
    decisionId: id('decision').nullable(),
    decidedAt: instant,
    summary: z.string(),
    intentId: id('intent').nullable(),
    paidFrom: z.string().meta({ description: 'What pays, in words.' }),
    rules: z.array(rule),
    remedies: z.array(z.string()).meta({ description: 'What would make it a yes; empty if it was one.' }),
  })
  .meta({ id: 'CardAuthorizationExplanation' })

const descriptor = z.string().trim().min(1).max(200)

export const SimulatedRequest = z.strictObject({
  amountEuros: euros,
  merchant: descriptor.meta({
    description: 'The merchant as a card network writes it.',
    examples: ['SQ *BOOKSHOP 1234 BERLIN'],
  }),
  url: z.string().trim().min(1).max(300).nullable().default(null).meta({
    description: 'The web address of the merchant, where the network knows it.',
  }),
  mcc: formattedText(/^\d{4}$/, 4, 'a merchant category code has four digits')
    .nullable()
    .default(null),
  country: country.nullable().default(null),
  partialAllowed: z.boolean().default(false),
})

export const SimulatedAnswer = z
  .object({
    approved: z.boolean(),
    approvedEuros: euros,
    reason: z.string(),
    source: z.enum(sources),
    intentId: id('intent').nullable(),
    walletId: id('wallet'),
    decision: DecisionRecord.extend({ id: z.null().meta({ examples: [null] }) }),
    remedies: z.array(z.string()),
  })
  .meta({ id: 'SimulatedCardAuthorization' })
