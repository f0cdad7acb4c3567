import { countSpend, isBehind } from '../../insight/spend/index.ts'
import { sqlOn } from '../../kernel/database/prepared-sql.ts'
import { everySoOften } from '../../platform/rounds.ts'
import type { OpenRuntime, Part } from '../runtime.ts'

/** With a step, the sums are a second behind the payments at most. Reports do not wait: they add what is missing. */
const LOOK_EVERY = 700

/** Keeps the sums of what was spent. Any number may run: one counts, and the others look again later. */
export function startSpend({ database, log }: Pick<OpenRuntime, 'database' | 'log'>): Part {
  const sql = sqlOn(database.pool)
  let isStopping = false
  const count = async (): Promise<void> => {
    if (await isBehind(sql)) await countSpend(database, { isStopping: () => isStopping })
  }
  const rounds = everySoOften(LOOK_EVERY, count, error =>
    log.warn({ err: error }, 'spend: what was paid is not in the sums yet; reports read it one by one'),
  )
  return {
    async stop() {
      isStopping = true
      await rounds.stop()
    },
  }
}
