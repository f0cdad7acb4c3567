import { z } from 'zod'
import { instant } from '../../kernel/clock.ts'
import { id } from '../../kernel/ids.ts'
import { euros } from '../../kernel/money.ts'
import { exactly, metadata, recordHead, recordTail } from '../../kernel/schemas.ts'
import { DecisionRecord } from '../policies/policies.ts'
import { deciders, intentMachine } from './intent.ts'

export const status = z.enum(intentMachine.states)

export const mcc = exactly(/^\d{4}$/, 4, 'a merchant category code has four digits')

const DecidedBy = z.object({
  type: z.enum(deciders),
  id: z
    .string()
    .nullable()
    .meta({ examples: ['key_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
  name: z.string().nullable().meta({ description: 'As given; that of an operator is proved by nothing.' }),
})

export const IntentRecord = z
  .object({
    ...recordHead('intent'),
    agentId: id('agent'),
    status,
    amountEuros: euros,
    currency: z.literal('EUR'),
    merchant: z.string(),
    mcc: z.string().nullable(),
    country: z.string().nullable(),
    purpose: z.string(),
    beneficiaryId: id('beneficiary').nullable(),
    walletId: id('wallet').nullable(),
    cardId: id('card').nullable(),
    runId: id('run').nullable(),
    delegationId: id('delegation').nullable(),
    clientIntentId: z.string().nullable(),
    possibleDuplicateOf: id('intent').nullable(),
    expiresAt: instant,
    decidedAt: instant.nullable(),
    decidedBy: DecidedBy.nullable(),
    comment: z.string().nullable(),
    decision: DecisionRecord,
    transactionId: id('txn').nullable(),
    workflowId: z
      .string()
      .nullable()
      .meta({ description: 'The run to find in the Temporal Web UI; null where nobody is waited for.' }),
    metadata,
    ...recordTail,
  })
  .meta({ id: 'Intent' })

export const IntentEvent = z.object({
  intentId: id('intent'),
  agentId: id('agent'),
  runId: id('run').optional(),
  delegationId: id('delegation').optional(),
  status,
  amountEuros: euros,
  merchant: z.string().max(200),
  reason: z.string().max(200).optional(),
})
