import { z } from 'zod'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { fileSchema } from '../../kernel/contract/file.ts'
import { notFound } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { patternTextSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { statementMachine } from './statement.ts'

const period = patternTextSchema(/^\d{4}-(0[1-9]|1[0-2])$/, 7, 'a month is written YYYY-MM').meta({
  description: 'A month, in UTC.',
  examples: ['2026-10'],
})

/** The wallets of one exported file. */
export const MAX_EXPORTED_STATEMENTS = 1_000

const status = z.enum(statementMachine.states).meta({
  description:
    '`open`: covers the current month up to `to`. `final`: covers a whole month, and never changes.',
})

const figures = {
  openingCents: moneySchema.meta({ description: 'The balance at the beginning of the month.' }),
  closingCents: moneySchema.meta({
    description: 'The balance at `to`: the opening balance and all movements.',
  }),
}

export const StatementRecord = z
  .object({
    ...recordHead('statement'),
    walletId: id('wallet'),
    period,
    status,
    holder: z.string(),
    iban: z.string().nullable(),
    bic: z.string().nullable(),
    currency: z.literal('EUR'),
    from: instant,
    to: instant.meta({ description: 'Includes movements booked before this time.' }),
    ...figures,
    inCents: moneySchema,
    outCents: moneySchema,
    movements: z.int().min(0).meta({ description: 'The number of movements; holds do not count.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Statement' })

export const StatementFinalEvent = z.object({
  statementId: id('statement'),
  walletId: id('wallet'),
  period,
  status,
  ...figures,
})

const readers = operationsFor({ callers: ['key'], scope: 'statements:read' })
const statement_not_found = notFound('statement')
const fails = { statement_not_found }

const writers = operationsFor({ callers: ['key'], scope: 'statements:write' })

export const statementsApi = {
  create: writers.post('/statements', {
    limits: { oneAtATime: true },
    summary: 'Create the statement of a month',
    description: [
      'Statements are generated on the first of the next month for every wallet with entries; in test mode, when your clock passes the end of a month. There is one per wallet and month, updated by another request while it is `open`.',
      'A statement shows booked movements, not holds. Closed wallets keep their statements.',
    ].join('\n\n'),
    body: z.strictObject({
      walletId: id('wallet'),
      period: period
        .optional()
        .meta({ description: 'The month, `YYYY-MM` in UTC. Defaults to the current one.' }),
    }),
    example: { walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [201, StatementRecord],
    fails: {
      wallet_not_found: notFound('wallet'),
      period_not_begun: [400, 'period: this month has not begun yet.'],
      period_before_wallet: [400, 'period: the wallet was opened after this month.'],
    },
    emits: {
      'bill.updated': declareEvent('A monthly statement has been created or updated.', StatementFinalEvent),
    },
  }),
  list: readers.list('/statements', {
    summary: 'List statements',
    filters: { walletId: id('wallet').optional(), period: period.optional(), status: status.optional() },
    item: StatementRecord,
  }),
  export: readers.get('/statements/export', {
    limits: { oneAtATime: true },
    isReport: true,
    readsClock: true,
    summary: 'Export the statements of a month',
    description:
      'One ZIP file with the statements of all wallets for a month, each as PDF, CSV and camt.053. It is generated during the download.',
    query: z.strictObject({
      period: period.optional().meta({ description: 'A month, in UTC; the last full month by default.' }),
    }),
    returns: [200, fileSchema('application/zip')],
    fails: {
      no_statements: [
        404,
        'period: there are no statements of this month. They are generated after it ends; POST /statements creates one now.',
      ],
      too_many_statements: [
        400,
        `period: more than ${MAX_EXPORTED_STATEMENTS.toLocaleString('en')} wallets have a statement of this month. Download each: GET /statements lists them.`,
      ],
    },
  }),
  get: readers.getOne('/statements/{id}', 'a statement', StatementRecord, fails),
  pdf: readers.get('/statements/{id}/pdf', {
    limits: { oneAtATime: true },
    isReport: true,
    summary: 'Get a statement as PDF',
    description: 'A4. Text that is too long for its line ends in `…`; the other formats have it in full.',
    returns: [200, fileSchema('application/pdf')],
    fails,
  }),
  csv: readers.get('/statements/{id}/csv', {
    limits: { oneAtATime: true },
    isReport: true,
    summary: 'Get a statement as CSV',
    description:
      'RFC 4180 in UTF-8, one movement per line, ISO dates, amounts with a dot and two decimals. Text that a spreadsheet would read as a formula gets an apostrophe.',
    returns: [200, fileSchema('text/csv')],
    fails,
  }),
  camt053: readers.get('/statements/{id}/camt053', {
    limits: { oneAtATime: true },
    isReport: true,
    summary: 'Get a statement as camt.053',
    description:
      'ISO 20022 camt.053.001.08. The closing balance is `CLBD`, or `ITBD` in an `open` statement.',
    returns: [200, fileSchema('application/xml')],
    fails,
  }),
}
