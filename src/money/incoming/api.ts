import { z } from 'zod'
import { skippedEntryReasons } from '../../iso20022/camt.ts'
import { creditSources, unmatchedCreditReasons } from '../../iso20022/credit.ts'
import { internal, operationsFor, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { doneSchema, notFound, post, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { ibanSchema } from '../../values/iban.ts'
import { id } from '../../values/ids.ts'
import type { JsonOf } from '../../values/json-names.ts'
import { cents, moneySchema, positiveMoneySchema } from '../../values/money.ts'
import {
  freeTextSchema,
  labelSchema,
  recordHead,
  recordTimestamps,
  timeRangeMembers,
} from '../../values/schemas.ts'
import { recordedPaymentRefusals } from '../ledger/index.ts'
import { payableReferenceMembers, referenceNumbersIn } from '../references/index.ts'
import { purseRefusal, WalletEvent } from '../wallets/index.ts'
import { arrivedCreditStatuses, incomingCreditMachine } from './incoming-credit.ts'

/** An event about a credit omits the sender, which only the owner may read. */
export const IncomingCreditEvent = z.object({
  creditId: id('credit'),
  walletId: id('wallet').nullable(),
  status: z.enum(incomingCreditMachine.states),
  amountCents: moneySchema,
  reason: z.enum(unmatchedCreditReasons).nullable(),
  source: z.enum(creditSources),
  ...payableReferenceMembers,
})

export const incomingCreditEvents = {
  'incoming.received': declareEvent('Money has been received from outside.', IncomingCreditEvent),
  'wallet.credited': declareEvent(
    'A wallet has received money, by SEPA or from an agent that is being deleted.',
    WalletEvent,
  ),
  'wallet.debited': declareEvent(
    'A wallet has been debited for a debt of its owner, or for a reversed funding.',
    WalletEvent,
  ),
}

const assignedEvent = {
  'incoming.assigned': declareEvent(
    'An unmatched credit has been assigned to its wallet.',
    IncomingCreditEvent,
  ),
}

export const creditArrivalEvents = { ...incomingCreditEvents, ...assignedEvent }

/** A camt.054 with one credit, to an account that belongs to no wallet. */
export const exampleBankFile = [
  'PERvY3VtZW50IHhtbG5zPSJ1cm46aXNvOnN0ZDppc286MjAwMjI6dGVjaDp4c2Q6Y2FtdC4wNTQuMDAxLjA4Ij48QmtUb0NzdG1y',
  'RGJ0Q2R0TnRmY3RuPjxHcnBIZHI+PE1zZ0lkPkVYQU1QTEUtMTwvTXNnSWQ+PC9HcnBIZHI+PE50ZmN0bj48QWNjdD48SWQ+PElC',
  'QU4+REU4OTM3MDQwMDQ0MDUzMjAxMzAwMDwvSUJBTj48L0lkPjwvQWNjdD48TnRyeT48QW10IENjeT0iRVVSIj4yNTAuMDA8L0Ft',
  'dD48Q2R0RGJ0SW5kPkNSRFQ8L0NkdERidEluZD48U3RzPjxDZD5CT09LPC9DZD48L1N0cz48QWNjdFN2Y3JSZWY+MjAyNjExMjAw',
  'MDAxNzwvQWNjdFN2Y3JSZWY+PC9OdHJ5PjwvTnRmY3RuPjwvQmtUb0NzdG1yRGJ0Q2R0TnRmY3RuPjwvRG9jdW1lbnQ+',
].join('')

const mode = z.enum(['test', 'live'])
const status = z.enum(incomingCreditMachine.states)
const text = z.string().nullable()

const IncomingRecord = z
  .object({
    ...recordHead('credit'),
    status: status.meta({
      description:
        '`handed_over`: the record of the platform, or of a paying owner, for money that now belongs to another owner. `returned`: the bank sent the money back.',
    }),
    reason: z
      .enum(unmatchedCreditReasons)
      .nullable()
      .meta({ description: 'Why the credit was not matched to a wallet at first.' }),
    walletId: id('wallet').nullable(),
    ...payableReferenceMembers,
    amountCents: moneySchema,
    source: z.enum(creditSources).meta({
      description:
        '`bank`, or an equivalent: `simulation`, `funding`, `acquirer`. `owner`: a payment from another owner of this installation. `refund`: a refund from one.',
    }),
    bankReference: z.string().meta({ description: 'The bank’s reference.', examples: ['2026112000017'] }),
    iban: text.meta({ description: 'The account that received it.', examples: ['DE58999900010000000001'] }),
    reference: text.meta({ description: 'The payer’s reference text.', examples: ['RF54 0000 0000 42'] }),
    senderName: text.meta({ examples: ['Adler GmbH'] }),
    senderIban: text.meta({ examples: ['DE89370400440532013000'] }),
    endToEndId: text.meta({ examples: ['INV-2026-17'] }),
    valueDate: z.iso.date(),
    returnedAt: instant.nullable().meta({ description: 'The time at which the bank sent the credit back.' }),
    returnReference: text.meta({ examples: ['RET-2026-0007'] }),
    ...recordTimestamps,
  })
  .meta({ id: 'IncomingCredit' })

const Assignment = z
  .strictObject({
    walletId: id('wallet').optional(),
    reference: z
      .string()
      .trim()
      .max(140)
      .refine(
        text => referenceNumbersIn(text).length === 1,
        'must be one reference such as RF18 0000 0000 42',
      )
      .optional()
      .meta({
        description: 'The reference of a wallet, or of a request that the credit pays.',
        examples: ['RF54 0000 0000 42'],
      }),
  })
  .refine(({ walletId, reference }) => (walletId === undefined) !== (reference === undefined), {
    path: ['walletId'],
    message: 'set this or reference, not both',
  })

const exampleAssignment = { walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz' }

const assignmentFails = {
  credit_not_found: notFound('incoming credit'),
  wallet_not_found: [404, 'No such wallet, or it cannot get this credit.'],
  reference_not_found: [404, 'reference: it belongs to no wallet that can get this credit.'],
  wallet_of_card: purseRefusal('walletId'),
  wallet_closed: [400, 'The wallet is closed.'],
  credit_not_unmatched: [400, 'The credit is already in a wallet, or is being assigned.'],
} as const satisfies Record<string, RefusalSpec>

const assignmentEvents = {
  ...assignedEvent,
  'wallet.credited': WalletEvent,
  'wallet.debited': WalletEvent,
}

const identifier = z.string().trim().min(1).max(35)

export const bankFileCounts = {
  messageId: z.string().meta({ description: 'The bank’s ID of the file.', examples: ['CAMT053-2026-11-20'] }),
  entries: z.int().meta({ description: 'The number of entries in the file.' }),
  matched: z.int(),
  unmatched: z.int(),
  known: z.int().meta({ description: 'Number of credits that were already recorded.' }),
}

const FileEvent = z.object({ ...bankFileCounts, skipped: z.int() })

export const SkippedEntryRecord = z.object({ bankReference: text, reason: z.enum(skippedEntryReasons) })

export const bankFileEvents = {
  ...incomingCreditEvents,
  'incoming.file_read': declareEvent('A bank file of credits has been imported.', FileEvent),
}

const BankFileRecord = z
  .object({
    ...bankFileCounts,
    skipped: z.array(SkippedEntryRecord),
  })
  .meta({ id: 'BankFile' })

export const incomingApi = {
  simulate: post('/simulate/sepa/incoming', {
    callers: ['key'],
    scope: 'sandbox:write',
    summary: 'Simulate an incoming SEPA credit',
    description:
      'Test mode only. The credit goes to your wallet with this IBAN, otherwise to the one whose reference (see `GET /billing/sepa-details`) appears in the text. A credit for none of your wallets, or for a closed one, stays in your suspense account until you or the operator assign it.',
    tag: 'Sandbox',
    body: z.strictObject({
      iban: ibanSchema,
      amountCents: positiveMoneySchema(cents(99_999_999_999n)),
      reference: freeTextSchema.nullable().default(null),
      senderName: labelSchema,
      senderIban: ibanSchema.nullable().default(null),
      endToEndId: identifier.nullable().default(null),
      bankReference: identifier.optional().meta({
        description: 'The bank’s reference. Sent twice, it is still one credit. Generated if omitted.',
      }),
    }),
    example: {
      iban: 'DE89 3704 0044 0532 0130 00',
      amountEuros: 250,
      reference: 'Invoice 2026-17',
      senderName: 'Adler GmbH',
    },
    returns: [201, IncomingRecord],
    fails: { test_mode_only: [400, 'Live money comes from a bank. Use a sandbox or test key.'] },
    emits: incomingCreditEvents,
  }),
  list: operator.list('/billing/incoming', {
    summary: 'List incoming credits',
    description: 'Credits of all owners, newest first. `status=unmatched` lists those that must be assigned.',
    filters: {
      status: status.optional(),
      mode: mode.optional(),
      ownerId: id('customer').optional(),
      walletId: id('wallet').optional(),
      ...timeRangeMembers,
    },
    item: IncomingRecord,
  }),
  readFile: operator.post('/billing/incoming/files', {
    summary: 'Import a bank file',
    description:
      'Accepts a camt.053 or camt.054 message of any version. Every booked credit in euros becomes an incoming credit, matched as in `POST /simulate/sepa/incoming`, but with the wallets of all owners; unmatched credits wait in `GET /billing/incoming`.\n\nEntries that were already imported, from this file or another, are left out: the bank’s booking reference (`AcctSvcrRef`) counts once per account. All other entries are listed as skipped; `POST /rails/sepa` accepts the same files, and also processes entries about outgoing payments. A file is imported completely or not at all.',
    limits: { bodyKiB: 1_024 },
    body: z.strictObject({
      content: z
        .base64()
        .min(1)
        .max(1_048_576)
        .meta({ description: 'The file in Base64. The request body may have up to 1 MiB.' }),
      mode: mode.default('live').meta({
        description: 'The mode of the wallets. `test` is for trials: it never reaches live wallets.',
      }),
    }),
    example: { content: exampleBankFile, mode: 'test' },
    returns: [200, BankFileRecord],
    fails: { file_unreadable: [400, 'content: this is not a readable bank file.'] },
    emits: bankFileEvents,
  }),
  assign: operator.post('/billing/incoming/{id}/assign', {
    summary: 'Assign an incoming credit to a wallet',
    description:
      'Moves the credit from suspense into a wallet, once. `reference` names the wallet by its own reference, or by that of a request, which is then paid.\n\nWith `walletId`, the credit pays the request in that wallet that its text names. A credit for a closed wallet, or in an owner’s sandbox, belongs to that owner: it can only go to another wallet of the same owner. Other money is in the platform’s ledger, and moves into the owner’s at once.',
    body: Assignment,
    example: exampleAssignment,
    returns: [200, IncomingRecord],
    fails: assignmentFails,
    emits: {
      'incoming.handed_over': declareEvent(
        'The platform has handed a credit over to the owner of its wallet.',
        IncomingCreditEvent,
      ),
      ...assignmentEvents,
    },
  }),
  returnCredit: operator.post('/billing/incoming/{id}/return', {
    summary: 'Record that a credit was sent back',
    description:
      'For money without an owner here: it matches no wallet, or its account was erased and its wallets are closed. The operator has the bank return it to the sender. This operation records the time and the reference, and debits the suspense account once. Money in the suspense account of an active owner belongs to that owner: `POST /incoming/{id}/assign`.',
    body: z.strictObject({
      reference: identifier.meta({ description: 'The bank’s reference of the return.' }),
      returnedAt: instant
        .optional()
        .meta({ description: 'The time at which the bank sent it back. Defaults to now.' }),
    }),
    example: { reference: 'RET-2026-0007' },
    returns: [200, IncomingRecord],
    fails: {
      credit_not_found: notFound('incoming credit'),
      credit_not_unmatched: [400, 'The credit is in a wallet, is being assigned, or was already sent back.'],
      credit_of_owner: [
        400,
        'The credit belongs to an active owner, who assigns it: POST /incoming/{id}/assign.',
      ],
      time_to_come: [400, 'returnedAt: this must not be in the future, or before the credit arrived.'],
    },
    emits: {
      'incoming.returned': declareEvent('A credit without an owner here was sent back.', IncomingCreditEvent),
    },
  }),
}

const readers = operationsFor({ callers: ['key'], scope: 'billing:read' })

export const ownCreditsApi = {
  own: readers.list('/incoming', {
    summary: 'List your incoming credits',
    description:
      'Money from outside, newest first. `status=unmatched` lists money in your suspense account, which you assign to a wallet.',
    filters: {
      status: z.enum(arrivedCreditStatuses).optional(),
      walletId: id('wallet').optional(),
      ...timeRangeMembers,
    },
    item: IncomingRecord,
  }),
  getOwn: readers.getOne('/incoming/{id}', 'one of your incoming credits', IncomingRecord, {
    credit_not_found: notFound('incoming credit'),
  }),
  assignOwn: post('/incoming/{id}/assign', {
    callers: ['key'],
    scope: 'wallets:fund',
    summary: 'Assign an incoming credit to one of your wallets',
    description:
      'Moves the credit from your suspense account into one of your wallets, once. `reference` names the wallet by its own reference, or by that of a request, which is then paid. With `walletId`, the credit pays the request in that wallet that its text names. The credit first repays what you owe.',
    body: Assignment,
    example: exampleAssignment,
    returns: [200, IncomingRecord],
    fails: assignmentFails,
    emits: assignmentEvents,
  }),
}

const payoutReference = z
  .string()
  .trim()
  .min(1)
  .max(60)
  .meta({ description: 'The bank’s reference of the payment.', examples: ['OUT-2026-0003'] })

const suspenseMembers = {
  ownerId: id('customer'),
  mode,
  suspenseCents: moneySchema.meta({ description: 'The balance of the suspense account.' }),
  creditsCents: moneySchema.meta({
    description: 'Amount of the waiting incoming credits, which are assigned or sent back.',
  }),
  freeCents: moneySchema.meta({
    description:
      'The rest: refunds and returns that arrived while the owner had no open wallet. Can be paid out.',
  }),
}

const SuspenseRecord = z.object({ id: id('account'), ...suspenseMembers }).meta({ id: 'SuspenseAccount' })

const PaidOutEvent = z.object({
  payoutId: payoutReference,
  amountCents: moneySchema,
  freeCents: moneySchema,
})

export const suspenseApi = {
  suspense: operator.list('/billing/suspense', {
    summary: 'List suspense accounts with money',
    description:
      'Suspense accounts of all owners. Incoming credits are assigned or sent back; the rest belongs to the owner, even after an erasure.',
    item: SuspenseRecord,
  }),
  payOut: operator.post('/billing/suspense/payouts', {
    summary: 'Record a payout of a suspense account',
    description:
      'For a refund, dispute outcome or returned transfer that arrived while the owner had no open wallet. The money belongs to the owner: the operator has the bank pay it out, and this operation books it. A reference counts once: with the same owner and amount, the answer is repeated; otherwise it is refused.',
    body: z.strictObject({
      ownerId: id('customer'),
      mode: mode.default('live'),
      amountCents: positiveMoneySchema(),
      reference: payoutReference,
    }),
    example: {
      ownerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz',
      mode: 'test',
      amountEuros: 30,
      reference: 'OUT-2026-0003',
    },
    returns: [200, z.object(suspenseMembers).meta({ id: 'SuspenseBalance' })],
    fails: {
      ...recordedPaymentRefusals,
      exceeds_suspense_balance: [400, 'amountEuros exceeds the suspense balance. Pay out at most that.'],
    },
    emits: {
      'suspense.paid_out': declareEvent(
        'Money on a suspense account has been paid out to its owner.',
        PaidOutEvent,
      ),
    },
  }),
}

const shortText = z.string().max(140).nullable()

const ArrivingCredit = z.object({
  id: id('credit'),
  walletId: id('wallet'),
  amountCents: positiveMoneySchema(),
  reason: z.enum(unmatchedCreditReasons).nullable(),
  source: z.enum(creditSources),
  origin: z.string().max(140),
  bankReference: z.string().max(140),
  part: z.int(),
  iban: shortText,
  reference: shortText,
  senderName: shortText,
  senderIban: shortText,
  endToEndId: shortText,
  valueDate: z.iso.date().max(10),
  fromOwnerId: shortText,
  fromWalletId: shortText,
  ...payableReferenceMembers,
})

const exampleCredit: JsonOf<typeof ArrivingCredit> = {
  id: 'credit_01jd8x2m4ye7k9v0c3q5r6t8wz',
  walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
  amountEuros: 250,
  reason: null,
  source: 'bank',
  origin: 'DE89370400440532013000',
  bankReference: '2026112000017',
  part: 0,
  iban: null,
  reference: 'RF54 0000 0000 42',
  senderName: 'Adler GmbH',
  senderIban: null,
  endToEndId: null,
  valueDate: '2026-11-20',
  fromOwnerId: null,
  fromWalletId: null,
  payableType: null,
  payableId: null,
}

export const creditArrivalContract = {
  callers: [] as const,
  returns: [200, doneSchema] as const,
  body: z.strictObject({ credits: z.array(ArrivingCredit).min(1).max(10_000) }),
  example: { credits: [exampleCredit] },
}

/**
 * The steps by which money of the platform, or of another owner, reaches an owner. Each may be repeated,
 * since a booked credit is not booked again.
 */
export const incomingStepsApi = {
  arrive: post('/billing/incoming/arrivals', {
    summary: 'Book what the platform or another owner has handed over',
    ...creditArrivalContract,
    emits: creditArrivalEvents,
  }),
  finish: internal.post('/billing/incoming/{id}/finish', {
    summary: 'Book a credit whose hand-over was interrupted',
    returns: [200, doneSchema],
  }),
}
