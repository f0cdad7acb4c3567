import { z } from 'zod'
import { messageKinds } from '../../iso20022/bank-message.ts'
import { noticeKinds } from '../../iso20022/payment-notice.ts'
import { event } from '../../kernel/contract/events.ts'
import { get, list, post } from '../../kernel/contract/operation.ts'
import { creditCounts, exampleBankFile, fileEvents, SkippedRecord } from '../../money/incoming/index.ts'
import { schemes } from '../../ports/sepa-rail.ts'
import { instant } from '../../values/clock.ts'
import { iban } from '../../values/iban.ts'
import { id } from '../../values/ids.ts'
import { euros, positiveEuros } from '../../values/money.ts'
import { recordHead, recordTail } from '../../values/schemas.ts'
import { sepaTransferEvents } from '../transfers/index.ts'
import { fileMachine } from './sepa-file.ts'

const mode = z.enum(['test', 'live'])

export const outcomes = [
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
    .meta({ description: 'As the bank’s pain.002 writes it; null of a camt message.', examples: ['RVNM'] }),
  notice: z.enum(noticeKinds).nullable(),
  reasonCode: z
    .string()
    .nullable()
    .meta({ examples: ['AC04'] }),
  outcome: z.enum(outcomes).meta({
    description:
      '`taken`: the transfer follows within seconds. `on_its_way`: nothing changes by it. `unknown_payment`, `unknown_file`: of none that this mode has sent. `unknown_status`: the bank’s status has no meaning here, nothing changes by it, and a person must look. `amount_differs`: a person must look.',
  }),
  note: z.string().nullable().meta({ description: 'What a person should know of it; null if nothing.' }),
})

const MessageRecord = z
  .object({
    ...recordHead('sepamessage'),
    kind: z.enum(messageKinds),
    messageId: z.string(),
    sha256: z.string(),
    payments: z.array(ReportedPaymentRecord).meta({ description: 'What it says of payments of ours.' }),
    credits: z
      .object({ ...creditCounts, skipped: z.array(SkippedRecord) })
      .nullable()
      .meta({
        description: 'Of a camt message: what came in, as `POST /billing/incoming/files` answers it.',
      }),
    ...recordTail,
  })
  .meta({ id: 'SepaMessage' })

const FileRecord = z
  .object({
    ...recordHead('sepafile'),
    scheme: z.enum(schemes),
    status: z.enum(fileMachine.states),
    closesAt: instant.meta({ description: 'Its cut-off: until then it takes payments.' }),
    executeOn: z.iso.date(),
    messageId: z.string(),
    payments: z.int(),
    totalEuros: euros,
    sha256: z.string().nullable(),
    madeAt: instant.nullable(),
    handedOverAt: instant.nullable(),
    ...recordTail,
  })
  .meta({ id: 'SepaFile' })

const readDescription = [
  'The door for what the bank sends: pain.002 (how payments stand), camt.053 and camt.054 (what is booked), in any version of them. The kind is told from the message.',
  'A rejection undoes the transfer. A booked debit under its `endToEndId`, over the same amount, settles it; a credit that returns it brings the money back. All other credits in euros come in as `POST /billing/incoming/files` says. What names no payment of ours is listed and changes nothing.',
  'The verification of payee comes in a pain.002, too, with RCVC (match), RVMC (close match), RVNM (no match), RVNA (not possible) or, of a whole file, RVCM (some do not match): it becomes the transfer’s `payeeCheck`, and all but a match wait for `POST /transfers/{id}/confirm-payee`. A status or a reason that is not known here is kept as the bank writes it, with a `note`, and refuses nothing: the rest of the file counts.',
  'A file counts once: the same bytes again are answered with what was recorded, and what another file repeats changes nothing. It is read as a whole or not at all. A document type is refused, and so is what no message of a bank has: more than 32 levels, more than 32 attributes or 65,536 characters of text in one element, more than 200,000 elements. The refusal says where. A file tells of 10,000 bookings or payments at most.',
].join('\n\n')

export const railsApi = {
  read: post('/rails/sepa', {
    summary: 'Take a file of the bank',
    description: readDescription,
    callers: ['dash'],
    limits: { bodyKiB: 1_024 },
    body: z.strictObject({
      content: z.base64().min(1).max(1_048_576).meta({
        description: 'The file, in Base64; with it the body has at most 1 MiB.',
      }),
      mode: mode.default('live').meta({ description: 'Whose payments and wallets it is about.' }),
    }),
    example: { content: exampleBankFile, mode: 'test' },
    returns: [200, MessageRecord],
    fails: { file_unreadable: [400, 'content: this is no file of a bank that can be read.'] },
    emits: {
      ...fileEvents,
      'sepa.message_read': event(
        'A file of the bank has been read.',
        z.object({
          sepaMessageId: id('sepamessage'),
          kind: z.enum(messageKinds),
          messageId: z.string(),
          payments: z.int(),
          taken: z.int(),
          unknown: z
            .int()
            .meta({ description: 'How many have a status that is not known: a person must look.' }),
        }),
      ),
    },
  }),
  messages: list('/rails/sepa', {
    summary: 'List the files of the bank',
    description: 'Newest first, with what came of each.',
    callers: ['dash'],
    filters: { mode: mode.optional(), kind: z.enum(messageKinds).optional() },
    item: MessageRecord,
  }),
  files: list('/rails/sepa/files', {
    summary: 'List the files for the bank',
    description:
      'Newest first: one for each cut-off and scheme, an instant payment in one at once. `open` takes payments still, `empty` had none at its cut-off, `handed_over` lies in the folder of the bank or has been fetched from there.',
    callers: ['dash'],
    filters: { mode: mode.optional(), status: z.enum(fileMachine.states).optional() },
    item: FileRecord,
  }),
}

const queueStatus = [
  200,
  z.object({ standing: z.enum(['waiting', 'ordered', 'taken_out']).nullable() }),
] as const

const done = [200, z.object({ done: z.boolean() })] as const

const FileEvent = z.object({ fileId: id('sepafile'), messageId: z.string(), payments: z.int() })
const PaymentEvent = z.object({ transferId: id('transfer'), fileId: id('sepafile') })

/** Each step may be repeated: a step that is not due changes nothing. */
export const stepsApi = {
  enqueue: post('/rails/sepa/queue/{ownerId}/{id}', {
    summary: 'Put a payment into the next file',
    callers: [],
    requires: 'sepaRail',
    body: z.strictObject({
      scheme: z.enum(schemes),
      endToEndId: z.string().max(35),
      amountEuros: positiveEuros(),
      payee: z.object({ name: z.string().max(140), iban, bic: z.string().max(11).nullable() }),
      reference: z.string().max(140).nullable(),
    }),
    example: {
      scheme: 'sct',
      endToEndId: '01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 12.5,
      payee: { name: 'Adler GmbH', iban: 'DE89 3704 0044 0532 0130 00', bic: null },
      reference: 'Invoice 4711',
    },
    returns: queueStatus,
    emits: { 'sepa.payment_queued': event('A payment waits for the next file to the bank.', PaymentEvent) },
  }),
  standing: get('/rails/sepa/queue/{ownerId}/{id}', {
    summary: 'How a payment stands in the files',
    callers: [],
    returns: queueStatus,
  }),
  takeOut: post('/rails/sepa/queue/{ownerId}/{id}/take-out', {
    summary: 'Take a payment out of its file as long as that takes more',
    callers: [],
    returns: queueStatus,
    emits: {
      'sepa.payment_taken_out': event(
        'A payment has been taken out of a file that has not left.',
        PaymentEvent,
      ),
    },
  }),
  /** Writes the file at its cut-off; its content never changes afterwards. */
  make: post('/rails/sepa/files/{id}/make', {
    summary: 'Make a file',
    callers: [],
    requires: 'sepaRail',
    returns: done,
    emits: {
      'sepa.file_made': event('A file for the bank has been made.', FileEvent),
      'sepa.file_empty': event(
        'The cut-off of a file for the bank has passed with nothing in it.',
        FileEvent,
      ),
    },
  }),
  stage: post('/rails/sepa/files/{id}/stage', {
    summary: 'Lay a file down for the bank',
    callers: [],
    run: 'outside',
    requires: 'sepaRail',
    returns: done,
    emits: {
      'sepa.file_staged': event(
        'A file for the bank has been laid down, and is not given out yet.',
        FileEvent,
      ),
    },
  }),
  release: post('/rails/sepa/files/{id}/release', {
    summary: 'Let the bank have a file',
    callers: [],
    run: 'outside',
    requires: 'sepaRail',
    returns: done,
    emits: { 'sepa.file_handed_over': event('A file is where the bank’s client fetches it.', FileEvent) },
  }),
  tell: post('/rails/sepa/notices/{id}/tell', {
    summary: 'Let a transfer follow what the bank has told of it',
    callers: [],
    returns: done,
    emits: sepaTransferEvents,
  }),
}
