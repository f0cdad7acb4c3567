import type { Context } from '../../kernel/contract/context.ts'
import type { PersonalArea, PersonalTable } from '../../values/personal.ts'
import type { SubjectType } from './data-export.ts'

export interface Subject {
  readonly type: SubjectType
  readonly id: string
}

/** A table with rows about the subject, and the condition that finds them: `$1` owner, `$2` mode, `$3` subject. */
export interface TableOfSubject {
  readonly area: PersonalArea
  readonly name: string
  readonly table: PersonalTable
  readonly condition: string
}

/** Every condition names all three parameters, so that each statement is given the same. */
const ofOwner = ({ owner }: PersonalTable): string =>
  owner === 'id' ? 't.id = $1 and $2::text is not null' : 't.owner_id = $1 and t.mode = $2'

function conditionOf(table: PersonalTable, { type }: Subject): string | undefined {
  if (table.owner === null || Object.keys(table.personal).length === 0) return undefined
  if (type === 'owner') return `${ofOwner(table)} and $3::text is not null`
  const columns = table.about?.[type]
  return columns && `${ofOwner(table)} and (${columns.map(column => `t.${column} = $3`).join(' or ')})`
}

/** The tables that hold something about the subject, area by area. */
export const tablesOf = (areas: readonly PersonalArea[], subject: Subject): TableOfSubject[] =>
  areas.flatMap(area =>
    Object.entries(area.tables).flatMap(([name, table]) => {
      const condition = conditionOf(table, subject)
      return condition ? [{ area, name, table, condition }] : []
    }),
  )

type Asking = Pick<Context, 'sql' | 'tenant' | 'ports'>

const valuesOf = (subject: Subject, { tenant }: Asking) => [tenant.ownerId, tenant.mode, subject.id]

/** Whether the tenant has such a record. */
export async function isKnown(subject: Subject, context: Asking): Promise<boolean> {
  if (subject.type === 'owner') return true
  const { type } = subject
  const named = tablesOf(context.ports.personalAreas(), subject).filter(({ table }) =>
    table.about?.[type]?.includes('id'),
  )
  const any = named.map(
    ({ name, table }) => `exists (select from ${name} t where ${ofOwner(table)} and t.id = $3)`,
  )
  const text = `select ${any.join(' or ')} as known`
  const [row] = await context.sql<{ known: boolean }>(text, valuesOf(subject, context))
  return row?.known === true
}

export async function countRecords(subject: Subject, context: Asking): Promise<bigint> {
  const counts = tablesOf(context.ports.personalAreas(), subject).map(
    ({ name, condition }) => `(select count(*) from ${name} t where ${condition})`,
  )
  const text = `select (${counts.join(' + ')})::text as records`
  const [row] = await context.sql<{ records: string }>(text, valuesOf(subject, context))
  return BigInt(row?.records ?? 0)
}
