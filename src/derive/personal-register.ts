import type { Area, Areas } from '../kernel/contract/area.ts'
import { legalGrounds, type PersonalColumn, type PersonalTable } from '../values/personal.ts'

const HEAD = `-- Written by \`npm run openapi\` from the files personal.ts. What becomes of each column about a person when the person is
-- forgotten, and after how many years; and by which columns a table names somebody other than the owner.
create or replace function personal_register() returns table (
  table_name text, owner_column text, column_name text, treatment text, fixed text, years integer, about jsonb)
language sql immutable as $$ values
`

/** A function of the database that says what the register says: it forgets nothing that is not named there. */
export function personalRegister(areas: Areas): string {
  const rows = Object.values(areas).flatMap(({ personal }: Area) =>
    Object.entries(personal).flatMap(([table, entry]) =>
      entry.owner === null
        ? []
        : Object.entries(entry.personal).map(([name, column]) => rowOf(table, entry, [name, column])),
    ),
  )
  return `${HEAD}${rows.sort().join(',\n')}\n$$;\n`
}

function rowOf(
  table: string,
  entry: PersonalTable,
  [name, column]: readonly [string, PersonalColumn],
): string {
  const { forget, ground } = column
  const [treatment, fixed] = typeof forget === 'string' ? [forget, null] : ['value', forget.value]
  const texts = [table, entry.owner ?? 'owner_id', name, treatment, fixed]
  const about = `${literal(JSON.stringify(entry.about ?? {}))}::jsonb`
  return `  (${texts.map(literal).join(', ')}, ${legalGrounds[ground].years}, ${about})`
}

const literal = (text: string | null): string =>
  text === null ? 'null::text' : `'${text.replaceAll("'", "''")}'`
