import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import {
  centsColumn,
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'

/** `open` in its month; `final` once the month is over, and unchanged from then on. */
export const statementMachine = stateMachine('statement', { open: ['final'], final: [] })

const schema = defineEntity({
  ...tenantTable('Statement', 'statements'),
  properties: {
    ...recordColumns('statement'),
    walletId: p.text(),
    accountId: plain(p.text()),
    period: plain(p.text()),
    status: p.enum(statementMachine.states).onCreate(() => statementMachine.initial),
    currency: p.enum(['EUR'] as const).onCreate(() => 'EUR' as const),
    /** The values at the last generation. */
    holder: personal(p.text(), 'name', 'vouchers', 'word'),
    iban: personal(nullable.string(), 'account', 'vouchers', 'word'),
    bic: plain(nullable.string()),
    from: timestampColumn().name('covers_from'),
    to: timestampColumn().name('covers_to'),
    openingCents: centsColumn('opening_cents'),
    inCents: centsColumn('in_cents'),
    outCents: centsColumn('out_cents'),
    closingCents: centsColumn('closing_cents'),
    movements: p.bigint(),
    /** Its movements are the account's entries after `beforeVersion`, up to `lastVersion`. */
    beforeVersion: p.bigint(),
    lastVersion: p.bigint(),
  },
})

export class Statement extends schema.class {}
schema.setClass(Statement)

export const statementPeriodAt = (at: Date): string => at.toISOString().slice(0, 7)

export const previousPeriodOf = (at: Date): string =>
  statementPeriodAt(new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1, 1)))

export interface StatementMonth {
  readonly from: Date
  readonly to: Date
}

export function parseStatementPeriod(period: string): StatementMonth {
  const from = new Date(`${period}-01T00:00:00Z`)
  return { from, to: new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1)) }
}
