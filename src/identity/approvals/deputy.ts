import { defineEntity, p } from '@mikro-orm/core'
import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { recordColumns, tenantTable, timestampColumn } from '../../kernel/database/entity.ts'
import { personal, personalTable } from '../../kernel/database/personal.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { quoted } from '../../statements/index.ts'
import { addMs, days } from '../../values/clock.ts'
import { formatMinute } from '../../values/minute.ts'
import type { Person } from '../customers/index.ts'

export const MAX_DEPUTIES = 20
const MAX_DAYS = 90

const schema = defineEntity({
  ...tenantTable('Deputy', 'deputies'),
  ...personalTable({ about: { person: ['person_id', 'deputy_id'] } }),
  properties: {
    ...recordColumns('deputy'),
    /** In whose place the deputy may approve. */
    personId: p.text(),
    deputyId: personal(p.text(), 'name', 'contract', 'word'),
    from: timestampColumn().name('starts_at'),
    until: timestampColumn().name('ends_at'),
  },
})

/** Who may approve in place of a person, for a span by the tenant's clock. */
export class Deputy extends schema.class {}
schema.setClass(Deputy)

export const deputyEvent = ({ id: recordId, personId, deputyId, from, until }: Deputy) => ({
  recordId,
  personId,
  deputyId,
  from,
  until,
})

type Span = Pick<Deputy, 'from' | 'until'>

/** What is wrong with the span, and the remedy. */
export function spanProblem({ from, until }: Span, now: Date): string | undefined {
  if (until <= from) return 'until: it is not after from. Choose a later time.'
  if (until <= now) return 'until: it has passed. Choose a later time.'
  if (from > addMs(now, days(MAX_DAYS)))
    return `from: it is more than ${MAX_DAYS} days ahead. Choose an earlier time.`
  return until > addMs(from, days(MAX_DAYS))
    ? `until: the span is longer than ${MAX_DAYS} days. Choose an earlier time.`
    : undefined
}

export const doSpansOverlap = (one: Span, other: Span): boolean =>
  one.from < other.until && other.from < one.until

export const mayHaveOrBeDeputy = (person: Person | undefined): boolean =>
  person?.status === 'active' && person.role !== 'viewer'

/** People name and end deputies for themselves, and with people:write for others. */
export const isForOther = (personId: string, { type, id, scopes }: Actor): boolean =>
  !(type === 'console' && id === personId) && !scopes.has('people:write')

/** What the person who names a deputy, or an owner, signs. */
export const namingInWords = (
  { id, name }: Person,
  deputy: Person,
  { from, until }: Span,
): StatedWidening => ({
  of: 'person',
  id,
  name,
  field: 'Deputy',
  from: 'none',
  to: `${quoted(deputy.name)} (${deputy.id}), ${formatMinute(from)} to ${formatMinute(until)}`,
})

const RUNNING = `
select deputy_id as "deputyId", person_id as "personId" from deputies
where (owner_id, mode) = ($1, $2) and starts_at <= $3 and ends_at > $3 order by person_id`

/** In whose place who may approve now. */
export const readRunningDeputies = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  now: Date,
): Promise<readonly Pick<Deputy, 'deputyId' | 'personId'>[]> =>
  sql<Pick<Deputy, 'deputyId' | 'personId'> & Row>(RUNNING, [ownerId, mode, now])
