import { z } from 'zod'
import { intentPaidEvents } from '../../control/intents/index.ts'
import { REASON_CODE_PATTERN } from '../../iso20022/reason-codes.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { incomingCreditEvents } from '../../money/incoming/index.ts'
import { refundArrivedEvents } from '../../money/refunds/index.ts'
import { transactionEvents } from '../../money/transactions/index.ts'
import { payeeCheckResults, sepaSchemes } from '../../ports/sepa-rail.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { patternTextSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { transferKinds, transferMachine, transferRecallStates } from './transfer.ts'

export const transferStatusSchema = z.enum(transferMachine.states)

export const sepaSchemeSchema = z
  .enum(sepaSchemes)
  .meta({ description: '`sct` settles within a bank day, `sct_inst` within ten seconds.' })

export const isoReasonSchema = patternTextSchema(
  REASON_CODE_PATTERN,
  4,
  'a code of ISO 20022 has four letters or digits, as AC04',
)

const at = z.iso.datetime().meta({ examples: ['2026-11-20T09:30:00.000Z'] })

const Reason = z.object({
  code: z.string().meta({
    description:
      'A code of ISO 20022 or of the service: `indeterminate`, `payee_not_confirmed`, `wallet_frozen`.',
    examples: ['AC04'],
  }),
  message: z.string().meta({ examples: ['The payee’s account is closed.'] }),
})

export const TransferRecord = z
  .object({
    ...recordHead('transfer'),
    agentId: id('agent')
      .nullable()
      .meta({ description: 'The agent whose wallet pays. Null if it is your own wallet.' }),
    fromWalletId: id('wallet'),
    toWalletId: id('wallet')
      .nullable()
      .meta({ description: 'Null for a SEPA payment, and for another owner’s wallet.' }),
    beneficiaryId: id('beneficiary').nullable().meta({
      description: 'Null between wallets, and for a return to the account that the money came from.',
    }),
    intentId: id('intent').nullable(),
    kind: z.enum(transferKinds),
    scheme: sepaSchemeSchema.nullable(),
    amountCents: moneySchema,
    parts: z
      .array(z.object({ walletId: id('wallet'), amountCents: moneySchema }))
      .nullable()
      .meta({ description: 'The parts of a split.' }),
    reference: z.string().nullable(),
    endToEndId: z
      .string()
      .nullable()
      .meta({
        description: 'The banks’ reference of the payment.',
        examples: ['01jd8x2m4ye7k9v0c3q5r6t8wz'],
      }),
    status: transferStatusSchema,
    payeeCheck: z
      .object({
        result: z.enum(payeeCheckResults),
        suggestedName: z.string().nullable(),
        code: z
          .string()
          .nullable()
          .meta({
            description:
              'Status in the bank’s report (RCVC, RVMC, RVNM, RVNA, RVCM). Null before the bank has the order. Of several reports, the most doubtful counts.',
            examples: ['RVNM'],
          }),
        at,
      })
      .nullable()
      .meta({ description: 'The payee bank’s verification of name and IBAN.' }),
    payeeConfirmedAt: instant
      .nullable()
      .meta({ description: 'The time at which the payee was confirmed despite the bank’s doubt.' }),
    reason: Reason.nullable().meta({
      description:
        'Why the transfer was rejected, cancelled or returned. While it is `submitted`, `indeterminate` means that the bank has not reported the outcome: the service asks again, and nothing is paid twice.',
    }),
    recall: z
      .object({
        status: z.enum(transferRecallStates),
        at,
        reason: z.string(),
        answeredAt: at.nullable(),
        answer: Reason.nullable(),
      })
      .nullable()
      .meta({ description: 'The recall and its answer.' }),
    submittedAt: instant.nullable(),
    completedAt: instant.nullable(),
    transactionId: id('txn').nullable(),
    workflowId: z
      .string()
      .nullable()
      .meta({ description: 'The run’s ID in the Temporal Web UI. Null if nothing is waited for.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Transfer' })

export const TransferEvent = z.object({
  transferId: id('transfer'),
  fromWalletId: id('wallet'),
  toWalletId: id('wallet').nullable(),
  beneficiaryId: id('beneficiary').nullable(),
  status: transferStatusSchema,
  amountCents: moneySchema,
  waitsFor: z
    .enum(['payee'])
    .optional()
    .meta({ description: '`payee`: a person confirms the payee, or cancels the transfer.' }),
  reason: z.string().max(200).optional(),
})

export const SplitEvent = TransferEvent.extend({
  parts: z.array(z.object({ walletId: id('wallet'), amountCents: moneySchema })),
})

export const transferEvents = {
  'payment.updated': declareEvent(
    'The status of a transfer has changed, or it waits for a person.',
    TransferEvent,
  ),
  'transfer.completed': declareEvent('A transfer has been completed.', TransferEvent),
  'transfer.failed': declareEvent('A transfer has failed.', TransferEvent),
  'transfer.returned': declareEvent('A completed transfer has been returned.', TransferEvent),
}

export const internalPaymentEvents = {
  ...transferEvents,
  ...transactionEvents,
  ...intentPaidEvents,
  ...incomingCreditEvents,
}

export const completedTransferEvents = { ...transferEvents, ...transactionEvents, ...intentPaidEvents }

export const sepaTransferEvents = { ...transferEvents, ...refundArrivedEvents, ...intentPaidEvents }
