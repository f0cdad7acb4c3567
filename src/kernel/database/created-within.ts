import { addMs, minutes } from '../../values/clock.ts'
import { firstIdAt } from '../../values/ids.ts'
import type { SqlContext } from '../contract/context.ts'
import { definedOnly, halfOpenRangeCondition } from './entity.ts'
import { readClockOffset } from './tenant-clock.ts'

/** `createdAt` is read as a transaction begins; the id is made a moment later, perhaps by another machine's clock. */
const SLACK = minutes(1)

interface Period {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/**
 * The condition for records created in a period of the tenant's time. It bounds the ids, too, which are
 * ordered by time, so the primary key finds the period. A moved clock was never behind real time, nor further
 * ahead than it is now.
 */
export async function createdWithinCondition(
  prefix: string,
  { from, to }: Period,
  { sql, tenant }: SqlContext,
) {
  const ahead = from && tenant.mode === 'test' ? await readClockOffset(sql, tenant) : 0
  return definedOnly({
    createdAt: halfOpenRangeCondition(from, to),
    id: idRangeCondition(prefix, { from: from && addMs(from, -ahead), to }),
  })
}

/** The ids of all records made in a period of real time, and of a few made up to a minute before or after it. */
export const idRangeCondition = (prefix: string, { from, to }: Period) =>
  halfOpenRangeCondition(
    from && firstIdAt(prefix, addMs(from, -SLACK)),
    to && firstIdAt(prefix, addMs(to, SLACK)),
  )
