import { z } from 'zod'
import { operationsFor, operator } from '../../kernel/contract/callers.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, signedMoneySchema } from '../../values/money.ts'
import { recordHead, recordTimestamps, searchTextSchema, timeRangeMembers } from '../../values/schemas.ts'
import { ledgerAccountKindNames } from './account.ts'

const signed = signedMoneySchema.meta({ description: 'Credits are positive, debits negative.' })
const version = z.int().min(0).meta({ description: 'The number of entries of the account.' })

const accountIdentity = {
  currency: z.literal('EUR'),
  kind: z.enum(ledgerAccountKindNames),
  normal: z.enum(['debit', 'credit']).meta({ description: 'The normal side of the account.' }),
  walletId: id('wallet').nullable(),
}
const accountBalance = {
  postedCents: signed,
  heldCents: moneySchema,
  availableCents: signedMoneySchema.meta({ description: 'Posted balance less held amount.' }),
  version,
}

export const LedgerAccountRecord = z
  .object({
    ...recordHead('account'),
    ...accountIdentity,
    ...accountBalance,
    closedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'LedgerAccount' })

const BalanceRecord = z
  .object({ accountId: id('account'), ...accountIdentity, ...accountBalance })
  .meta({ id: 'LedgerBalance' })

const reference = z.object({
  type: z.string().meta({ examples: ['transfer'] }),
  id: z.string().meta({ examples: ['transfer_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
})
const kind = z.string().meta({ description: 'The posting template.', examples: ['transfer'] })
const valueDate = z.iso.date()

const EntryRecord = z
  .object({
    accountId: id('account'),
    postingId: id('posting'),
    amountCents: signed,
    heldCents: signedMoneySchema.meta({ description: 'The change of the held amount.' }),
    balanceAfterCents: signed,
    heldAfterCents: moneySchema,
    version,
    bookedAt: instant,
  })
  .meta({ id: 'LedgerEntry' })

const PostingRecord = z
  .object({
    ...recordHead('posting'),
    currency: z.literal('EUR'),
    kind,
    reference,
    bookedAt: instant,
    valueDate,
  })
  .meta({ id: 'LedgerPosting' })

export const PostingWithEntries = PostingRecord.extend({ entries: z.array(EntryRecord) }).meta({
  id: 'LedgerPostingWithEntries',
})

const readers = operationsFor({ callers: ['key'], scope: 'ledger:read' })
const account_not_found = notFound('account')

const proving = {
  description:
    'Reads every entry and checks that the versions of an account have no gap, its balance is the sum of its entries, its held amount is the sum of its open holds, and everything sums to zero. Writes continue meanwhile.',
  run: 'read',
  returns: [
    200,
    z.object({
      ok: z.boolean(),
      accounts: z.int(),
      entries: z.int(),
      sums: z.array(z.object({ currency: z.literal('EUR'), sumCents: signedMoneySchema })),
      problems: z.array(z.string()).meta({ description: 'The first 100 problems.' }),
    }),
  ],
} as const

const verifying = [
  409,
  'A verification of this ledger is running. Wait for its answer, then try again.',
] as const satisfies RefusalSpec

export const ledgerApi = {
  accounts: readers.list('/ledger/accounts', {
    summary: 'List the accounts of the ledger',
    filters: { kind: z.enum(ledgerAccountKindNames).optional(), walletId: id('wallet').optional() },
    item: LedgerAccountRecord,
  }),
  account: readers.getOne('/ledger/accounts/{id}', 'an account of the ledger', LedgerAccountRecord, {
    account_not_found,
  }),
  entries: readers.list('/ledger/accounts/{id}/entries', {
    summary: 'List the entries of an account',
    description: 'Newest first. Each entry has the balance after it, so the newest has the current balance.',
    filters: timeRangeMembers,
    item: EntryRecord.extend({ kind, reference, valueDate }).meta({ id: 'LedgerAccountEntry' }),
    fails: { account_not_found },
  }),
  transfers: readers.list('/ledger/transfers', {
    summary: 'List the postings',
    filters: {
      kind: searchTextSchema,
      referenceId: id('intent')
        .optional()
        .meta({ description: 'The record that moved the money, such as a transfer or an intent.' }),
      ...timeRangeMembers,
    },
    item: PostingRecord,
  }),
  transfer: readers.get('/ledger/transfers/{id}', {
    summary: 'Get a posting with all its entries',
    description: 'The entries of a posting sum to zero. A hold or a release has one entry, with amount 0.',
    returns: [200, PostingWithEntries],
    fails: { posting_not_found: notFound('posting') },
  }),
  balances: readers.list('/ledger/balances', {
    summary: 'Get the balances of all accounts, now or at a given time',
    description: 'At any time, the balances of all accounts sum to zero.',
    filters: {
      at: instant.optional().meta({ description: 'Time of the balances. Defaults to now.' }),
    },
    item: BalanceRecord,
  }),
  verify: readers.post('/ledger/verify', {
    ...proving,
    summary: 'Verify the ledger',
    fails: { verifying },
  }),
  verifyOwner: operator.post('/customers/{id}/ledger/verify', {
    ...proving,
    summary: 'Verify the ledger of an owner',
    description: `${proving.description} Money of unknown owners is in the platform’s ledger, \`customer_house\`.`,
    body: z.strictObject({ mode: z.enum(['test', 'live']).default('live') }),
    example: { mode: 'live' },
    fails: { customer_not_found: notFound('customer'), verifying },
  }),
}
