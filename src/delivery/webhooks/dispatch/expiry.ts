import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import { after, clock, days } from '../../../values/clock.ts'
import { firstIdAt } from '../../../values/ids.ts'

/** Whatever became of it: the event itself stays. */
export const KEPT_MS = days(30)
const AT_ONCE = 5_000

const EXPIRE = `
delete from deliveries where ctid = any(array(
  select ctid from deliveries where id < $1 order by id limit ${AT_ONCE} for update skip locked))
returning 1`

/** Removes old deliveries, dead letters among them. Small steps: nobody waits for it. */
export async function expireDeliveries({ pool }: Database): Promise<void> {
  const before = firstIdAt('delivery', after(clock.real(), -KEPT_MS))
  let removed = AT_ONCE
  while (removed === AT_ONCE) removed = (await sqlOn(pool)(EXPIRE, [before])).length
}
