import type { Areas } from '../kernel/contract/area.ts'
import { legalGrounds, type PersonalColumn, type PersonalTable } from '../values/personal.ts'
import { personalDataOf } from './personal-areas.ts'

const HEAD = `-- Written by \`npm run openapi\` from what each noun says of its columns. What becomes of each column about a person when the person is
-- forgotten, and after how many years; and by which columns of the row it is about a person other than the owner.
create or replace function personal_register() returns table (
  table_name text, owner_column text, column_name text, treatment text, fixed text, years integer, about jsonb)
language sql immutable as $$ values
`

/**
 * Writes a database function with the register of personal data. Erasure changes only columns that the
 * register names.
 */
export function personalDataRegisterSql(areas: Areas): string {
  const rows = [...personalDataOf(areas).values()].flatMap(personal =>
    Object.entries(personal).flatMap(([table, entry]) =>
      entry.owner === null
        ? []
        : Object.entries(entry.personal).map(([name, column]) => rowOf(table, entry, [name, column])),
    ),
  )
  return `${HEAD}${rows.sort().join(',\n')}\n$$;\n`
}

const KEPT_HEAD = `-- Written by \`npm run openapi\` from what each noun says of its columns. Which records of a table the law has kept, as a condition by the
-- row, which is called \`t\`; of any other table all of them.
create or replace function kept_while(of_table text) returns text language sql immutable as $$ select case of_table
`

export function retentionFunctionSql(areas: Areas): string {
  const cases = [...personalDataOf(areas).values()].flatMap(personal =>
    Object.entries(personal).flatMap(([table, entry]) =>
      entry.keptWhile?.where ? [`  when ${literal(table)} then ${literal(entry.keptWhile.where)}`] : [],
    ),
  )
  return `${KEPT_HEAD}${cases.sort().join('\n')}\n  else 'true'\nend $$;\n`
}

function rowOf(
  table: string,
  entry: PersonalTable,
  [name, column]: readonly [string, PersonalColumn],
): string {
  const { forget, ground } = column
  const [treatment, fixed] =
    typeof forget === 'string' ? [forget, null] : (Object.entries(forget)[0] as [string, string])
  const texts = [table, entry.owner ?? 'owner_id', name, treatment, fixed]
  const about = `${literal(JSON.stringify(aboutOf(entry, [name, column])))}::jsonb`
  return `  (${texts.map(literal).join(', ')}, ${legalGrounds[ground].years}, ${about})`
}

/**
 * Finds the columns that name the subject of a column. A person who only acted is erased as the actor,
 * together with address and device.
 */
function aboutOf(entry: PersonalTable, [name, { kind }]: readonly [string, PersonalColumn]) {
  const isOfActor = kind === 'network' || kind === 'device'
  const concerns = (place: string): boolean => {
    const [column = ''] = place.split(' ')
    const isActor = column in entry.personal || column.endsWith('_by_id')
    return !isActor || isOfActor || column === name
  }
  const found = Object.entries(entry.about ?? {}).map(
    ([type, places]) => [type, places.filter(concerns)] as const,
  )
  return Object.fromEntries(found.filter(([, places]) => places.length > 0))
}

const literal = (text: string | null): string =>
  text === null ? 'null::text' : `'${text.replaceAll("'", "''")}'`
