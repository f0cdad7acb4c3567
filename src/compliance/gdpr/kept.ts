import type { Context } from '../../kernel/contract/context.ts'
import { type Ground, legalGrounds } from '../../values/personal.ts'
import { countsOf } from './count-records.ts'
import type { Kept } from './deletion.ts'
import { type Subject, type TableOfSubject, tablesOf } from './tables-of-subject.ts'

/** Terms run from the end of the calendar year, so what is kept is removed with the beginning of another one. */
export const endOf = (ground: Ground, completedAt: Date): Date =>
  new Date(Date.UTC(completedAt.getUTCFullYear() + legalGrounds[ground].years + 1, 0, 1))

const groundsOf = ({ table }: TableOfSubject): Ground[] => [
  ...new Set(Object.values(table.personal).map(({ ground }) => ground)),
]

/** The records of the table that the law has kept: of those about the subject, the ones that its condition is true of. */
function keptIn(table: TableOfSubject): TableOfSubject {
  const { ofSubject, table: entry } = table
  const kept = entry.keptWhile && `(${entry.keptWhile.where})`
  return kept ? { ...table, ofSubject: ofSubject === null ? kept : `${ofSubject} and ${kept}` } : table
}

type Asking = Pick<Context, 'sql' | 'tenant' | 'ports'>

/** What the law keeps about the subject, by ground: the records, their areas, and when they are removed. */
export async function keptOf(subject: Subject, at: Date, context: Asking): Promise<Kept[]> {
  const tables = tablesOf(context.ports.personalAreas(), subject)
    .filter(table => groundsOf(table).some(ground => legalGrounds[ground].years > 0))
    .map(keptIn)
  const counts = await countsOf(tables, subject, context)
  const found = tables.flatMap((table, place) => {
    const records = counts[place] ?? 0
    return records > 0 ? groundsOf(table).map(ground => ({ ground, records, table })) : []
  })
  return (Object.keys(legalGrounds) as Ground[]).flatMap(ground => {
    const own = found.filter(one => one.ground === ground)
    if (own.length === 0 || legalGrounds[ground].years === 0) return []
    const areas = [...new Set(own.map(({ table }) => table.area.name))]
    const records = own.reduce((sum, one) => sum + one.records, 0)
    return [{ ground, records, areas, until: endOf(ground, at).toISOString() }]
  })
}
