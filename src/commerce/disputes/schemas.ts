import { z } from 'zod'
import { type Failure, missing } from '../../kernel/contract/operation.ts'
import { disputeReasons } from '../../ports/card-disputes.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { recordHead, recordTail } from '../../values/schemas.ts'
import { findings } from './dispute.ts'
import { disputeMachine } from './state.ts'

export const status = z.enum(disputeMachine.states)

export const reason = z.enum(disputeReasons).meta({
  description:
    '`unauthorized`, `fraud`: nobody of yours has paid this; the money is given back while it is looked into. The others say what is wrong with what was paid for.',
})

export const finding = z.enum(findings).meta({
  description:
    'What was found out: the payment was authorized, or the owner has acted fraudulently or with gross negligence (Directive (EU) 2015/2366, Articles 72 and 74).',
})

export const DisputeRecord = z
  .object({
    ...recordHead('dispute'),
    agentId: id('agent').nullable(),
    delegationId: id('delegation').nullable(),
    transactionId: id('txn'),
    cardId: id('card').nullable(),
    merchant: z.string().meta({ examples: ['Bookshop'] }),
    reason,
    description: z.string(),
    status,
    amountEuros: euros.meta({ description: 'What is disputed.' }),
    refundedEuros: euros.meta({
      description: 'What the merchant has refunded of it meanwhile: the dispute is about the rest.',
    }),
    creditedEuros: euros.meta({
      description: 'What you have of it just now, provisionally until it is decided.',
    }),
    creditDueAt: instant.nullable().meta({
      description: 'When you are given the money provisionally; null where that is done or is not due.',
    }),
    evidenceIds: z.array(id('evidence')),
    evidenceDueAt: instant.nullable().meta({
      description:
        'Until when it waits for evidence. Then what is there is submitted; where nothing is, it lapses.',
    }),
    submittedAt: instant.nullable(),
    cardFrozen: z.boolean().meta({ description: 'Whether the card was frozen with it.' }),
    processorProblem: z.string().nullable().meta({
      description: 'What the card processor has not done, and why; null while all is well.',
    }),
    finding: z.object({ finding, reasons: z.string(), at: z.iso.datetime() }).nullable().meta({
      description: 'What the operator has found out about a payment that is said to be unauthorized.',
    }),
    resolution: z.string().nullable().meta({ description: 'How it has ended, in words.' }),
    resolvedAt: instant.nullable(),
    workflowId: z.string().meta({ description: 'The run to find in the Temporal Web UI.' }),
    ...recordTail,
  })
  .meta({ id: 'Dispute' })

const dispute_not_found = missing('dispute')

export const lookupFails = { dispute_not_found } as const satisfies Record<string, Failure>

export const amountFails = {
  amount_too_high: [
    400,
    'amountEuros: no more than is left of the payment after refunds and other disputes can be disputed.',
  ],
  too_late: [
    400,
    'It is too late: an unauthorized payment can be disputed for 13 months, any other for 120 days.',
  ],
} as const satisfies Record<string, Failure>
