import type { ReadContext, SqlContext } from '../../kernel/contract/context.ts'
import type { PersonalArea, PersonalTable } from '../../values/personal.ts'
import type { DataSubjectType } from './data-export.ts'

export interface DataSubject {
  readonly type: DataSubjectType
  readonly id: string
}

/**
 * A table with rows about the subject. Every condition uses all three parameters: `$1` owner, `$2` mode, `$3`
 * subject.
 */
export interface SubjectTable {
  readonly area: PersonalArea
  readonly name: string
  readonly table: PersonalTable
  readonly ofOwner: string
  readonly ofSubject: string | null
}

const ofOwner = ({ owner }: PersonalTable): string =>
  `${owner === 'id' ? 't.id = $1 and $2::text is not null' : 't.owner_id = $1 and t.mode = $2'} and $3::text is not null`

const placeInRow = (place: string): string => (place.startsWith('(') ? place : `t.${place}`)

function ofSubject(table: PersonalTable, { type }: DataSubject): string | null | undefined {
  if (table.owner === null || Object.keys(table.personal).length === 0) return undefined
  if (type === 'owner') return null
  const places = table.about?.[type]
  return places && `(${places.map(place => `${placeInRow(place)} = $3`).join(' or ')})`
}

export const subjectTables = (areas: readonly PersonalArea[], subject: DataSubject): SubjectTable[] =>
  areas.flatMap(area =>
    Object.entries(area.tables).flatMap(([name, table]) => {
      const condition = ofSubject(table, subject)
      return condition === undefined
        ? []
        : [{ area, name, table, ofOwner: ofOwner(table), ofSubject: condition }]
    }),
  )

export const subjectQueryValues = (subject: DataSubject, { tenant }: SqlContext) => [
  tenant.ownerId,
  tenant.mode,
  subject.id,
]

export async function isKnownSubject(subject: DataSubject, context: ReadContext): Promise<boolean> {
  if (subject.type === 'owner') return true
  const { type } = subject
  const named = subjectTables(context.ports.personalAreas(), subject).filter(({ table }) =>
    table.about?.[type]?.includes('id'),
  )
  const any = named.map(
    ({ name, table }) => `exists (select from ${name} t where ${ofOwner(table)} and t.id = $3)`,
  )
  const text = `select ${any.join(' or ')} as known`
  const [row] = await context.sql<{ known: boolean }>(text, subjectQueryValues(subject, context))
  return row?.known === true
}
