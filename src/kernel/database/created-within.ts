import { after, minutes } from '../../values/clock.ts'
import { firstIdAt } from '../../values/ids.ts'
import type { Context } from '../contract/context.ts'
import { given, within } from './entity.ts'
import { offsetOf } from './tenant-clock.ts'

/** An instant is taken as a transaction begins, an id a moment later, and by the clock of another machine perhaps. */
const SLACK = minutes(1)

/**
 * Created in a span of the tenant's time, and no further away by the order of the ids: what lies beyond it is not read.
 * A clock that was moved has never been behind the real one, nor further ahead than it is now.
 */
export async function createdWithin(
  prefix: string,
  { from, to }: { readonly from?: Date | undefined; readonly to?: Date | undefined },
  { sql, tenant }: Pick<Context, 'sql' | 'tenant'>,
) {
  const ahead = from && tenant.mode === 'test' ? await offsetOf(sql, tenant) : 0
  return given({
    createdAt: within(from, to),
    id: within(
      from && firstIdAt(prefix, after(from, -ahead - SLACK)),
      to && firstIdAt(prefix, after(to, SLACK)),
    ),
  })
}
