import { z } from 'zod'
import { ApprovalProgressRecord, approvalEventMembers } from '../../identity/approvals/index.ts'
import { assertionRefusals } from '../../identity/passkeys/index.ts'
import { agentRequiredRefusal, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { intentPaymentStates, intentPaymentTypes } from '../../kernel/contract/payables.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { OriginalAmountRecord } from '../../values/original-amount.ts'
import {
  labelSchema,
  metadataSchema,
  patternTextSchema,
  recordHead,
  recordTimestamps,
} from '../../values/schemas.ts'
import { DecisionRecord } from '../decisions/index.ts'
import { intentDeciders, intentMachine, intentReceiptStates } from './intent.ts'

export const intentStatusSchema = z.enum(intentMachine.states)

export const mccSchema = patternTextSchema(/^\d{4}$/, 4, 'a merchant category code has four digits')

export const intentMerchantSchema = labelSchema.optional().meta({
  description:
    'The payee. Optional with `beneficiaryId`, `walletId` or `requestId`; a name other than that record’s is refused.',
  examples: ['Bookshop'],
})

export const paymentRequestIdSchema = id('request').nullable().default(null).meta({
  description:
    'The payment request to pay, which may be another owner’s. The payee is its account holder, and the amount its outstanding amount.',
})

interface PayeeReference {
  readonly merchant?: string | undefined
  readonly beneficiaryId: string | null
  readonly walletId: string | null
  readonly requestId: string | null
}

const recordsOf = ({ beneficiaryId, walletId, requestId }: PayeeReference): number =>
  [beneficiaryId, walletId, requestId].filter(one => one !== null).length

export const hasPayee = (reference: PayeeReference): boolean =>
  reference.merchant !== undefined || recordsOf(reference) > 0
export const payeeMissingIssue = {
  path: ['merchant'],
  error: 'name the payee, here or with beneficiaryId, walletId or requestId',
}

export const hasOnePayee = (reference: PayeeReference): boolean => recordsOf(reference) <= 1
export const payeeAmbiguousIssue = {
  path: ['walletId'],
  error: 'send only one of walletId, beneficiaryId and requestId',
}

const DecidedBy = z.object({
  type: z.enum(intentDeciders),
  id: z
    .string()
    .nullable()
    .meta({ examples: ['key_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
  name: z
    .string()
    .nullable()
    .meta({ description: 'Name as given. The name of an operator is not verified.' }),
})

const Payment = z
  .object({
    type: z.enum(intentPaymentTypes).meta({ description: 'The kind of payment.' }),
    id: z.string().meta({ examples: ['transfer_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
    status: z.enum(intentPaymentStates),
    amountCents: moneySchema.meta({
      description:
        'Amount of the payment. For a card payment: the collected amount, once the merchant has collected any.',
    }),
    original: OriginalAmountRecord.nullable(),
    reason: z
      .object({
        code: z.string().meta({ examples: ['AC04'] }),
        message: z.string().meta({ examples: ['The payee’s account is closed.'] }),
      })
      .nullable()
      .meta({ description: 'Why the payment failed or came back, or what it waits for.' }),
    updatedAt: instant,
  })
  .meta({ id: 'IntentPayment' })

export const IntentRecord = z
  .object({
    ...recordHead('intent'),
    agentId: id('agent'),
    status: intentStatusSchema,
    amountCents: moneySchema,
    currency: z.literal('EUR'),
    merchant: z.string(),
    mcc: z.string().nullable(),
    country: z.string().nullable(),
    purpose: z.string(),
    beneficiaryId: id('beneficiary').nullable(),
    walletId: id('wallet').nullable(),
    requestId: id('request').nullable().meta({ description: 'The payment request that the intent pays.' }),
    paymentTokenId: id('paymenttoken')
      .nullable()
      .meta({ description: 'The payment token created with the intent. Only the token names its payee.' }),
    cardId: id('card').nullable(),
    runId: id('run').nullable(),
    delegationId: id('delegation').nullable(),
    clientIntentId: z.string().nullable(),
    possibleDuplicateOf: id('intent').nullable(),
    expiresAt: instant,
    decidedAt: instant.nullable(),
    decidedBy: DecidedBy.nullable(),
    comment: z.string().nullable(),
    approval: ApprovalProgressRecord.nullable().meta({
      description:
        'The approvals that the policy asks several people for. Null if one person approves, or none.',
    }),
    decision: DecisionRecord,
    transactionId: id('txn').nullable(),
    payment: Payment.nullable().meta({
      description:
        'The latest payment on the intent. A completed intent stays completed if its payment is `rejected` or `returned` later: the money was returned, and `reason` says why.',
    }),
    receiptStatus: z.enum(intentReceiptStates).nullable().meta({
      description:
        'How the receipts of the payment match: `mismatch` if one has a different total. Null without receipts.',
    }),
    paymentWaits: z.boolean().meta({
      description: 'A machine payment has waited for the approval: an approved intent is paid at once.',
    }),
    workflowId: z.string().nullable().meta({
      description: 'The workflow’s ID in the Temporal Web UI. Null if the intent never waited for a person.',
    }),
    metadata: metadataSchema,
    ...recordTimestamps,
  })
  .meta({ id: 'Intent' })

export const IntentEvent = z.object({
  intentId: id('intent'),
  agentId: id('agent'),
  runId: id('run').optional(),
  delegationId: id('delegation').optional(),
  cardId: id('card').optional().meta({ description: 'The card that the intent names.' }),
  requestId: id('request').optional().meta({ description: 'The payment request that the intent names.' }),
  paymentTokenId: id('paymenttoken')
    .optional()
    .meta({ description: 'The payment token created with the intent.' }),
  paymentWaits: z.boolean().optional().meta({ description: 'A machine payment waits for the approval.' }),
  personId: id('person').optional().meta({ description: 'The person who approved or denied the intent.' }),
  mandateId: id('mandate').optional().meta({ description: 'The mandate that approved the intent.' }),
  status: intentStatusSchema,
  amountCents: moneySchema,
  merchant: z.string().max(200),
  reason: z.string().max(200).optional(),
})

/** Several people approve. */
export const IntentApprovalEvent = IntentEvent.extend(approvalEventMembers)

const intent_not_found = notFound('intent')
const intent_expired: RefusalSpec = [400, 'The deadline of the intent has passed. Declare it again.']

export const intentLookupRefusals = { intent_not_found }

/** Operations that an assistant may call, and that pay or change an intent, refuse the intents of others. */
export const intentUseRefusals = {
  intent_other_token: [
    403,
    'A key or another token declared this intent. An assistant pays and changes only the intents that it declared: declare another one.',
  ],
} as const satisfies Record<string, RefusalSpec>

/** Operations that pay refuse them as well. A transfer is signed by itself. */
export const intentPaymentRefusals = {
  ...intentUseRefusals,
  intent_unsigned: [
    403,
    'In the console, a person pays only what a passkey has approved, and this intent was approved without one. Pay it with a key or the agent’s token, or declare another intent here and approve it.',
  ],
} as const satisfies Record<string, RefusalSpec>

const { assertion_required: _, ...signatureRefusals } = assertionRefusals

/** For a signature that is sent with the request. Without one, the refusal is `attestation_required`. */
export { signatureRefusals }

export const intentDecisionRefusals = {
  intent_not_found,
  intent_not_waiting: [400, 'The intent is no longer waiting for a decision.'],
  intent_expired,
} as const satisfies Record<string, RefusalSpec>

export const intentCancelRefusals = {
  intent_not_found,
  ...intentUseRefusals,
  intent_closed: [400, 'The intent has already ended.'],
  intent_expired,
  intent_being_paid: [400, 'A payment on the intent is pending. Cancel that payment first.'],
} as const satisfies Record<string, RefusalSpec>

export const payeeMismatchRefusal: RefusalSpec = [
  400,
  'merchant or country: the value differs from the payee’s record. Leave it out.',
]

export const payeeRequestRefusals = {
  request_not_found: [404, 'requestId: no such payment request.'],
  request_not_open: [400, 'requestId: the request is paid or has ended, and cannot be paid.'],
  request_other_amount: [400, 'amountEuros: this must be the outstanding amount of the request.'],
} as const satisfies Record<string, RefusalSpec>

export const budgetLevelRefusals = {
  run_ended: [400, 'The run has ended. Start a new one.'],
  delegation_over: [400, 'The delegation is revoked or has expired. Ask for a new one.'],
  card_closed: [400, 'cardId: the card is closed. Name another one, or none.'],
  card_of_other_intent: [400, 'cardId: the card was issued for another intent, and pays only that one.'],
} as const satisfies Record<string, RefusalSpec>

export const intentRunRefusals = {
  token_revoked: [401, 'The token was revoked. Use another one.'],
  card_not_found: [404, 'cardId: the agent has no such card.'],
  run_not_found: [404, 'runId: the agent has no such run.'],
  run_mismatch: [400, 'runId: the header X-Run-Id names another run. Send only one of them.'],
} as const satisfies Record<string, RefusalSpec>

export const declareIntentRefusals = {
  agent_required: agentRequiredRefusal,
  agent_not_found: notFound('agent'),
  agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
  ...intentRunRefusals,
  ...budgetLevelRefusals,
} as const satisfies Record<string, RefusalSpec>
