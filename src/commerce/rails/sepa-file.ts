import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { centsColumn, nullable, timestampColumn, timestampColumns } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { sepaSchemes } from '../../ports/sepa-rail.ts'
import { newId } from '../../values/ids.ts'

/** A file collects payments until its cut-off, is written once, staged in the bank's folder, and then handed over. */
export const sepaFileMachine = stateMachine('sepa_file', {
  open: ['made', 'empty'],
  made: ['staged'],
  staged: ['handed_over'],
  handed_over: [],
  empty: [],
})

/** The bank’s report about a file that was handed over. None is awaited about an instant payment. */
export const sepaReportStates = ['awaited', 'late', 'received'] as const

const schema = defineEntity({
  name: 'SepaFile',
  tableName: 'sepa_files',
  ...personalTable({ owner: null }),
  properties: {
    id: p
      .text()
      .primary()
      .onCreate(() => newId('sepafile')),
    ...timestampColumns(),
    ownerId: p.text(),
    mode: p.enum(['test', 'live'] as const),
    scheme: plain(p.enum(sepaSchemes)),
    closesAt: timestampColumn(),
    executeOn: p.date().$type<string>(),
    status: p.enum(sepaFileMachine.states).onCreate(() => sepaFileMachine.initial),
    messageId: plain(p.text()),
    payments: p.integer(),
    totalCents: centsColumn('total_cents'),
    content: personal(nullable.string(), 'payment', 'vouchers', 'word'),
    sha256: plain(nullable.string()),
    madeAt: nullable.instant(),
    handedOverAt: nullable.instant(),
    report: plain(nullable.enum(sepaReportStates)),
    reportDueAt: nullable.instant(),
    reportedAt: nullable.instant(),
    dueAt: nullable.instant(),
  },
})

export class SepaFile extends schema.class {
  get fileName(): string {
    return `${this.scheme}-${this.executeOn}-${this.messageId}.xml`
  }

  get isOpen(): boolean {
    return this.dueAt !== null || this.report === 'late'
  }
}
schema.setClass(SepaFile)

/** `isOpen` in SQL. */
export const OPEN_FILE_SQL = `(due_at is not null or report = 'late')`

/** Literal: PostgreSQL would not use the index over late files for a parameter. */
export const LATE_FILE_SQL = `report = 'late'`
