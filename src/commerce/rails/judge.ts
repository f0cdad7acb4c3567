import type { Mode, Tenant } from '../../kernel/context.ts'
import type { Sql } from '../../kernel/database.ts'
import { type Paid, paymentsUnder } from '../transfers/transfers.ts'
import type { outcomes } from './api.ts'
import type { BankMessage, OwnNotice, Said } from './bank-message.ts'
import { orderedUnder } from './queue.ts'

export interface Judged {
  readonly endToEndId: string | null
  readonly transferId: string | null
  readonly notice: OwnNotice | null
  readonly reasonCode: string | null
  readonly outcome: (typeof outcomes)[number]
  readonly tenant: Tenant | null
}

/** Of each thing that a message says of payments of ours: which one is meant, and whether it may count. */
export async function judge(message: BankMessage, mode: Mode, sql: Sql): Promise<Judged[]> {
  const { said, isOfAFile } = await completed(message, mode, sql)
  const names = said.flatMap(({ endToEndId }) => endToEndId ?? [])
  const known = new Map((await paymentsUnder(sql, mode, names)).map(paid => [paid.endToEndId, paid]))
  return said.map(one => {
    const paid = isOfAFile ? known.get(one.endToEndId ?? '') : undefined
    const { endToEndId, notice, reasonCode } = one
    const outcome = isOfAFile ? outcomeOf(one, paid) : 'unknown_file'
    const tenant = paid ? { ownerId: paid.ownerId, mode } : null
    return { endToEndId, transferId: paid?.id ?? null, notice, reasonCode, outcome, tenant }
  })
}

/** What a report says of all others in the file is said of each of them. */
async function completed({ said, report }: BankMessage, mode: Mode, sql: Sql) {
  if (!report) return { said, isOfAFile: true }
  const { originalMessageId, ofTheOthers } = report
  const ordered = await orderedUnder(sql, mode, originalMessageId)
  if (ordered.length === 0) return { said: [...said, ...unnamed(report)], isOfAFile: false }
  const named = new Set(said.map(({ endToEndId }) => endToEndId))
  const others = ofTheOthers ? ordered.filter(name => !named.has(name)) : []
  const more = others.map(endToEndId => ({ ...(ofTheOthers as Said), endToEndId, amountEuros: null }))
  return { said: [...said, ...more], isOfAFile: true }
}

/** So that a person sees that a whole file was meant that is none of ours. */
const unnamed = ({ said, ofTheOthers }: NonNullable<BankMessage['report']>): Said[] =>
  said.length === 0
    ? [{ notice: null, reasonCode: null, ...ofTheOthers, endToEndId: null, amountEuros: null }]
    : []

function outcomeOf({ notice, amountEuros }: Said, paid: Paid | undefined): Judged['outcome'] {
  if (!paid) return 'unknown_payment'
  if (notice === null) return 'on_its_way'
  const mayCount = notice === 'rejected' || amountEuros === null || amountEuros === paid.amountEuros
  return mayCount ? 'taken' : 'amount_differs'
}
