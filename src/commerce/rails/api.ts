import { z } from 'zod'
import { bankMessageKinds } from '../../iso20022/bank-message.ts'
import { paymentNoticeKinds } from '../../iso20022/payment-notice.ts'
import { internal, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { beneficiaryNameSchema } from '../../money/beneficiaries/index.ts'
import {
  bankFileCounts,
  bankFileEvents,
  exampleBankFile,
  SkippedEntryRecord,
} from '../../money/incoming/index.ts'
import { purseRefusal } from '../../money/wallets/index.ts'
import { sepaSchemes } from '../../ports/sepa-rail.ts'
import { instant } from '../../values/clock.ts'
import { ibanSchema } from '../../values/iban.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, positiveMoneySchema } from '../../values/money.ts'
import { patternTextSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { sepaTransferEvents, TransferRecord, transferReferenceSchema } from '../transfers/index.ts'
import { sepaFileMachine, sepaReportStates } from './sepa-file.ts'

const mode = z.enum(['test', 'live'])

export const bankReportOutcomes = [
  'taken',
  'on_its_way',
  'unknown_payment',
  'unknown_file',
  'unknown_status',
  'amount_differs',
] as const

const ReportedPaymentRecord = z.object({
  endToEndId: z.string().nullable(),
  transferId: id('transfer').nullable(),
  status: z
    .string()
    .nullable()
    .meta({ description: 'As in the bank’s pain.002. Null for a camt message.', examples: ['RVNM'] }),
  notice: z.enum(paymentNoticeKinds).nullable(),
  reasonCode: z
    .string()
    .nullable()
    .meta({ examples: ['AC04'] }),
  amountCents: moneySchema.nullable().meta({ description: 'Null if the file gives no amount.' }),
  outcome: z.enum(bankReportOutcomes).meta({
    description:
      '`taken`: the transfer is updated within seconds. `on_its_way`: no change. `unknown_payment`: not known as sent in this mode; a booked debit can be assigned. `unknown_file`: the bank reports a file that was not made in this mode; no change. `unknown_status`: the bank’s status is unknown here; nothing changes, and a person must check it. `amount_differs`: a person must check it.',
  }),
  note: z.string().nullable().meta({ description: 'A note for a person. Null if there is none.' }),
})

const MessageRecord = z
  .object({
    ...recordHead('sepamessage'),
    kind: z.enum(bankMessageKinds),
    messageId: z.string(),
    sha256: z.string(),
    payments: z
      .array(ReportedPaymentRecord)
      .meta({ description: 'Reports in the file about this service’s payments.' }),
    credits: z
      .object({ ...bankFileCounts, skipped: z.array(SkippedEntryRecord) })
      .nullable()
      .meta({
        description: 'For a camt message: the credits, as `POST /billing/incoming/files` returns them.',
      }),
    ...recordTimestamps,
  })
  .meta({ id: 'SepaMessage' })

const FileRecord = z
  .object({
    ...recordHead('sepafile'),
    scheme: z.enum(sepaSchemes),
    status: z.enum(sepaFileMachine.states),
    closesAt: instant.meta({ description: 'The cut-off, until which the file takes payments.' }),
    executeOn: z.iso.date(),
    messageId: z.string(),
    payments: z.int(),
    totalCents: moneySchema,
    sha256: z.string().nullable(),
    madeAt: instant.nullable(),
    handedOverAt: instant.nullable(),
    report: z.enum(sepaReportStates).nullable().meta({
      description:
        'The bank’s report. `late`: it has not come by `reportDueAt`. `received`: the bank has reported on the file, or booked one of its payments. Null if none is awaited and none has come.',
    }),
    reportDueAt: instant
      .nullable()
      .meta({ description: '`SEPA_REPORT_HOURS` of bank days after the hand-over.' }),
    reportedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'SepaFile' })

const readDescription = [
  'Files from the bank: pain.002 (status of payments), camt.053 and camt.054 (bookings), in any version. The kind is detected from the message.',
  'A rejection reverses the transfer. A booked debit with its `endToEndId` and the same amount settles it; a credit that returns it brings the money back. All other credits in euros are processed as with `POST /billing/incoming/files`. Entries that name no payment of this service are listed and change nothing.',
  'The verification of payee comes in a pain.002, too, with RCVC (match), RVMC (close match), RVNM (no match), RVNA (not possible) or, of a whole file, RVCM (some do not match): it becomes the transfer’s `payeeCheck`, and all but a match wait for `POST /transfers/{id}/confirm-payee`. An unknown status or reason is kept as the bank writes it, with a `note`; the rest of the file is processed.',
  'A file counts once: the same bytes get the recorded answer, and repeated entries of another file change nothing. It is processed as a whole or not at all. A file with a document type, more than 32 levels, more than 32 attributes or 65,536 characters of text in one element, or more than 200,000 elements is refused, and the refusal names the place. A file contains at most 10,000 bookings or payments.',
].join('\n\n')

export const railsApi = {
  read: operator.post('/rails/sepa', {
    summary: 'Process a file from the bank',
    description: readDescription,
    limits: { bodyKiB: 1_024 },
    body: z.strictObject({
      content: z.base64().min(1).max(1_048_576).meta({
        description: 'The file in Base64. The request body may have up to 1 MiB.',
      }),
      mode: mode.default('live').meta({ description: 'The mode of the payments and wallets in the file.' }),
    }),
    example: { content: exampleBankFile, mode: 'test' },
    returns: [200, MessageRecord],
    fails: { file_unreadable: [400, 'content: this is not a readable bank file.'] },
    emits: {
      ...bankFileEvents,
      'sepa.message_read': declareEvent(
        'A file from the bank has been read.',
        z.object({
          sepaMessageId: id('sepamessage'),
          kind: z.enum(bankMessageKinds),
          messageId: z.string(),
          payments: z.int(),
          taken: z.int(),
          unknown: z
            .int()
            .meta({ description: 'Number of payments with an unknown status: a person must check them.' }),
        }),
      ),
    },
  }),
  assign: operator.post('/rails/sepa/{id}/assign', {
    summary: 'Assign a debit to the wallet that paid',
    description:
      'For a booked debit of a payment that is not known as sent, usually because the database was restored to an earlier instant: the bank has paid, and the money is still in the wallet.\n\nThe transfer with this `endToEndId` is created again under its ID, or continued if it was cancelled or rejected, and is `completed`. If it is created, its scheme is `sct_inst` where the bank transaction code has the family `IRCT`, otherwise `sct`. The wallet is debited in any case: holds stay, and the owner owes what is missing. A debit counts once, in whichever files it is; later files about it change the transfer as usual. A debit whose return has been read is refused, since the two cancel out.',
    body: z.strictObject({
      endToEndId: patternTextSchema(
        /^0[0-9a-hjkmnp-tv-z]{25}$/,
        26,
        'must be a reference of this service, the 26 characters after `transfer_`',
      ).meta({ examples: ['01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
      walletId: id('wallet').meta({ description: 'The wallet that paid.' }),
      payee: z.strictObject({ name: beneficiaryNameSchema, iban: ibanSchema }).optional().meta({
        description: 'Needed if the transfer is unknown. The file in the folder `sent` names the payee.',
      }),
      reference: transferReferenceSchema
        .nullable()
        .default(null)
        .meta({ description: 'The purpose, if the transfer is unknown.', examples: ['Invoice 4711'] }),
    }),
    example: {
      endToEndId: '01jd8x2m4ye7k9v0c3q5r6t8wz',
      walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      payee: { name: 'Adler GmbH', iban: 'DE89 3704 0044 0532 0130 00' },
    },
    returns: [200, TransferRecord],
    fails: {
      message_not_found: notFound('bank file'),
      debit_not_found: [
        404,
        'endToEndId: the file has no booked debit in euros with this reference and an amount.',
      ],
      wallet_not_found: [404, 'walletId: no such wallet in the mode of the file.'],
      wallet_of_card: purseRefusal('walletId'),
      wallet_closed: [400, 'The wallet is closed. Assign the debit to another wallet of its owner.'],
      wallet_not_payer: [400, 'walletId: the transfer pays from another wallet. Use that wallet.'],
      payee_missing: [400, 'payee: it is needed, since the transfer is unknown. See the folder `sent`.'],
      amount_differs: [409, 'The bank has debited another amount than that of the transfer. Ask the bank.'],
      debit_not_open: [409, 'The debit is already booked.'],
      debit_returned: [
        409,
        'The bank has returned this debit, so bank and books agree. Nothing is left to assign.',
      ],
    },
    emits: {
      ...sepaTransferEvents,
      'sepa.debit_assigned': declareEvent(
        'A debit of a bank file has been assigned to the wallet that paid.',
        z.object({
          sepaMessageId: id('sepamessage'),
          transferId: id('transfer'),
          walletId: id('wallet'),
          amountCents: moneySchema,
          owedCents: moneySchema.meta({ description: 'Amount that the wallet lacked. The owner owes it.' }),
        }),
      ),
    },
  }),
  messages: operator.list('/rails/sepa', {
    summary: 'List the files from the bank',
    description: 'Newest first, each with its outcome.',
    filters: { mode: mode.optional(), kind: z.enum(bankMessageKinds).optional() },
    item: MessageRecord,
  }),
  files: operator.list('/rails/sepa/files', {
    summary: 'List the files for the bank',
    description:
      'Newest first: one for each cut-off and scheme, and one for each instant payment. `open` still accepts payments, `empty` had none at its cut-off, `handed_over` is in the bank’s folder or was fetched from there. `report=late` lists those that the bank should have reported on.',
    filters: {
      mode: mode.optional(),
      status: z.enum(sepaFileMachine.states).optional(),
      report: z.enum(sepaReportStates).optional(),
    },
    item: FileRecord,
  }),
}

const queueStatus = [
  200,
  z.object({ standing: z.enum(['waiting', 'ordered', 'taken_out']).nullable() }),
] as const

const FileEvent = z.object({ fileId: id('sepafile'), messageId: z.string(), payments: z.int() })
const PaymentEvent = z.object({ transferId: id('transfer'), fileId: id('sepafile') })

/** The queue of the rail by files. */
export const sepaQueueApi = {
  enqueue: internal.post('/rails/sepa/queue/{ownerId}/{id}', {
    summary: 'Put a payment into the next file',
    requires: 'sepaRail',
    body: z.strictObject({
      scheme: z.enum(sepaSchemes),
      endToEndId: z.string().max(35),
      amountCents: positiveMoneySchema(),
      payee: z.object({ name: z.string().max(140), iban: ibanSchema, bic: z.string().max(11).nullable() }),
      reference: z.string().max(140).nullable(),
      until: instant.nullable().meta({ description: 'From then on, it is no longer put into a file.' }),
    }),
    example: {
      scheme: 'sct',
      endToEndId: '01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 12.5,
      payee: { name: 'Adler GmbH', iban: 'DE89 3704 0044 0532 0130 00', bic: null },
      reference: 'Invoice 4711',
      until: null,
    },
    returns: queueStatus,
    emits: {
      'sepa.payment_queued': declareEvent('A payment waits for the next file to the bank.', PaymentEvent),
    },
  }),
  standing: internal.get('/rails/sepa/queue/{ownerId}/{id}', {
    summary: 'Get the queue status of a payment',
    returns: queueStatus,
  }),
  takeOut: internal.post('/rails/sepa/queue/{ownerId}/{id}/take-out', {
    summary: 'Remove a payment from its open file',
    returns: queueStatus,
    emits: {
      'sepa.payment_taken_out': declareEvent(
        'A payment has been removed from a file before its hand-over.',
        PaymentEvent,
      ),
    },
  }),
}

/** Each step may be repeated. A step that is not due changes nothing. */
export const sepaFileSteps = {
  make: step('rails.make', {
    summary: 'Make a file',
    emits: {
      'sepa.file_made': declareEvent('A file for the bank has been made.', FileEvent),
      'sepa.file_empty': declareEvent('A file for the bank had no payments at its cut-off.', FileEvent),
    },
  }),
  stage: step('rails.stage', {
    summary: 'Stage a file for the bank',
    calls: 'sepaRail',
    emits: { 'sepa.file_staged': declareEvent('A file for the bank has been staged.', FileEvent) },
  }),
  release: step('rails.release', {
    summary: 'Release a file to the bank',
    calls: 'sepaRail',
    emits: { 'sepa.file_handed_over': declareEvent('A file has been released to the bank.', FileEvent) },
  }),
  reportLate: step('rails.reportLate', {
    summary: 'Say that the bank’s report about a file is late',
    emits: {
      'sepa.report_late': declareEvent(
        'The bank has not reported on a file within `SEPA_REPORT_HOURS`.',
        FileEvent,
      ),
    },
  }),
  tell: step('rails.tell', {
    summary: 'Apply the bank’s notice to a transfer',
    emits: sepaTransferEvents,
  }),
  takeReport: step('rails.takeReport', {
    summary: 'Note that all notices of a report are applied',
    emits: {},
  }),
}
