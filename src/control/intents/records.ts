import { z } from 'zod'
import { instant } from '../../kernel/clock.ts'
import { id } from '../../kernel/ids.ts'
import { euros } from '../../kernel/money.ts'
import { exactly, label, metadata, recordHead, recordTail } from '../../kernel/schemas.ts'
import { DecisionRecord } from '../policies/policies.ts'
import { deciders, intentMachine } from './intent.ts'

export const status = z.enum(intentMachine.states)

export const mcc = exactly(/^\d{4}$/, 4, 'a merchant category code has four digits')

/** Whom it pays, as far as it is said by name. */
export const merchant = label.optional().meta({
  description:
    'The payee. Where `beneficiaryId` or `walletId` is given, it is the name of that one and may be left out; another name is refused.',
  examples: ['Bookshop'],
})

interface Saying {
  readonly merchant?: string | undefined
  readonly beneficiaryId: string | null
  readonly walletId: string | null
}

export const namesPayee = ({ merchant, beneficiaryId, walletId }: Saying): boolean =>
  merchant !== undefined || beneficiaryId !== null || walletId !== null
export const unnamedPayee = {
  path: ['merchant'],
  error: 'say whom it pays, here or with beneficiaryId or walletId',
}

export const namesOnePayee = ({ beneficiaryId, walletId }: Saying): boolean =>
  beneficiaryId === null || walletId === null
export const twoPayees = { path: ['walletId'], error: 'give it or beneficiaryId, not both' }

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
