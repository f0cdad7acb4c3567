import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import { after, clock, days } from '../../../values/clock.ts'
import { firstIdAt } from '../../../values/ids.ts'

/** How long a delivery is kept, whatever became of it. Its event is kept for good. */
export const RETENTION_MS = days(30)
const AT_ONCE = 5_000

const EXPIRE = `
delete from deliveries where ctid = any(array(
  select ctid from deliveries where id < $1 order by id limit ${AT_ONCE} for update skip locked))
returning 1`

/** Removes old deliveries, dead letters included, in small steps, so that no request waits for its locks. */
export async function expireDeliveries({ pool }: Database): Promise<void> {
  const before = firstIdAt('delivery', after(clock.real(), -RETENTION_MS))
  let removed = AT_ONCE
  while (removed === AT_ONCE) removed = (await sqlOn(pool)(EXPIRE, [before])).length
}
