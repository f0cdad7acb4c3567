import { z } from 'zod'
import { area, reaction } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { ByteStream, ResponseFile } from '../../kernel/contract/file.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { definedOnly, withMembers } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { type CsvColumns, csvCell, csvHeader, csvLine } from '../../values/csv.ts'
import { formatDecimal } from '../../values/money.ts'
import { type ZipEntry, zipStream } from '../../values/zip.ts'
import { findWallet } from '../wallets/index.ts'
import { MAX_EXPORTED_STATEMENTS, statementsApi } from './api.ts'
import { renderCamt053 } from './camt053.ts'
import { generateStatement, isAnyStatementDue, TENANTS_WITH_DUE_STATEMENTS_SQL } from './generate.ts'
import { chargedRate, type StatementMovement } from './movements.ts'
import { statementsProcess } from './process.ts'
import { readStatementMovements } from './read-movements.ts'
import { previousPeriodOf, Statement, statementMachine, statementPeriodAt } from './statement.ts'

/** Free text goes through `csvCell`, since strangers may have written it. */
const columns: CsvColumns<StatementMovement> = {
  bookedAt: ({ bookedAt }) => bookedAt.toISOString(),
  valueDate: ({ valueDate }) => valueDate,
  kind: ({ kind }) => csvCell(kind.words),
  counterparty: ({ name }) => csvCell(name),
  counterpartyAccount: ({ iban, walletId }) => csvCell(iban ?? walletId),
  reference: ({ reference }) => csvCell(reference),
  endToEndId: ({ endToEndId }) => csvCell(endToEndId),
  amountCents: ({ amountCents }) => formatDecimal(amountCents),
  balanceCents: ({ balanceCents }) => formatDecimal(balanceCents),
  postingId: ({ postingId }) => postingId,
  originalAmount: ({ original }) => original?.amount ?? '',
  originalCurrency: ({ original }) => original?.currency ?? '',
  exchangeRate: movement => (movement.original ? chargedRate(movement.original, movement) : ''),
}

async function* csvOf(pages: AsyncIterable<readonly StatementMovement[]>): AsyncGenerator<string> {
  yield csvHeader(columns)
  for await (const page of pages)
    yield page.map(movement => csvLine(Object.values(columns).map(column => column(movement)))).join('')
}

const statementResponse = (statement: Statement) =>
  withMembers(statement, { movements: Number(statement.movements) })
type Writer = (
  statement: Statement,
  pages: AsyncIterable<readonly StatementMovement[]>,
  context: ReadContext,
) => ByteStream

interface Format {
  readonly type: string
  readonly extension: string
  readonly write: Writer
}

/**
 * Runs in a thread, which gets the movements page by page, since the layout takes a hundred times as long as
 * reading them.
 */
const pdfOf: Writer = (statement, pages, { systems }) =>
  systems.threads.stream(
    { module: new URL('./thread.ts', import.meta.url), name: 'pdfOf', owner: statement.ownerId },
    [{ ...statement }],
    pages,
  )

const formats = {
  pdf: { type: 'application/pdf', extension: 'pdf', write: pdfOf },
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    write: (_, pages) => csvOf(pages),
  },
  camt053: { type: 'application/xml; charset=utf-8', extension: 'xml', write: renderCamt053 },
} as const satisfies Record<string, Format>

const fileNameOf = ({ period, iban, walletId }: Statement, { extension }: Format): string =>
  `statement-${period}-${iban ?? walletId}.${extension}`

const contentOf = (statement: Statement, { write }: Format, context: ReadContext): ByteStream =>
  write(statement, readStatementMovements(statement, context), context)

async function fileIn(id: string, format: Format, context: ReadContext): Promise<ResponseFile | undefined> {
  const statement = await context.em.findOne(Statement, { id })
  if (!statement) return undefined
  return {
    type: format.type,
    name: fileNameOf(statement, format),
    content: contentOf(statement, format, context),
  }
}

/** Each file is generated once the one before it has been sent. */
async function* exportedFiles(
  statements: readonly Statement[],
  context: ReadContext,
): AsyncGenerator<ZipEntry> {
  for (const statement of statements)
    for (const format of Object.values(formats))
      yield { name: fileNameOf(statement, format), content: contentOf(statement, format, context) }
}

const statements = bindHandlers(statementsApi, {
  async create({ body }, context) {
    const { em, now, refuse } = context
    const { walletId, period = statementPeriodAt(now) } = body
    const [wallet, current] = await Promise.all([
      findWallet(context, walletId),
      em.findOne(Statement, { walletId, period }),
    ])
    if (!wallet) return refuse('wallet_not_found')
    if (period > statementPeriodAt(now)) return refuse('period_not_begun')
    if (period < statementPeriodAt(wallet.createdAt)) return refuse('period_before_wallet')
    return statementResponse(await generateStatement({ wallet, period, current }, context))
  },

  async list({ query: { walletId, period, status } }, { page }) {
    const { data, ...cursor } = await page(Statement, definedOnly({ walletId, period, status }))
    return { ...cursor, data: data.map(statementResponse) }
  },

  async export({ query }, context) {
    const { period = previousPeriodOf(context.now) } = query
    const found = await context.em.find(
      Statement,
      { period },
      { orderBy: { id: 'asc' }, limit: MAX_EXPORTED_STATEMENTS + 1 },
    )
    if (found.length === 0) return context.refuse('no_statements')
    if (found.length > MAX_EXPORTED_STATEMENTS) return context.refuse('too_many_statements')
    const content = zipStream(exportedFiles(found, context), context.now)
    return { type: 'application/zip', name: `statements-${period}.zip`, content }
  },

  get: getRecordAs(Statement, 'statement_not_found', statementResponse),

  pdf: async ({ params }, context) =>
    (await fileIn(params.id, formats.pdf, context)) ?? context.refuse('statement_not_found'),
  csv: async ({ params }, context) =>
    (await fileIn(params.id, formats.csv, context)) ?? context.refuse('statement_not_found'),
  camt053: async ({ params }, context) =>
    (await fileIn(params.id, formats.camt053, context)) ?? context.refuse('statement_not_found'),
})

export const statementsArea = area(
  'Statements',
  'The movements of a wallet in a month, with opening and closing balance.',
  statements,
  {
    aliases: { statements: 'bills' },
    entities: [Statement],
    machines: [statementMachine],
    openRecords: [{ process: statementsProcess, select: TENANTS_WITH_DUE_STATEMENTS_SQL }],
    reactions: {
      // Only this tenant's clock has moved past the end of a month.
      'clock.advanced': reaction(z.unknown(), {}, async (_, { sql, tenant, wake }) => {
        if (await isAnyStatementDue(sql, tenant))
          wake(statementsProcess, { id: tenant.ownerId, agentId: null })
      }),
    },
  },
)
