import { areas } from '../../../src/areas.ts'
import { createExecutor } from '../../../src/kernel/run/execute.ts'
import { activitiesOf } from '../activities.ts'
import { openEngine } from '../engine.ts'
import { sweepAtOnce } from '../sweep.ts'

/** Ends overdue records, as the sweep of a relay does every two seconds. */
export async function endOverdueOf({ databaseUrl }: { readonly databaseUrl: string }): Promise<void> {
  const { runtime, close } = openEngine(areas, databaseUrl)
  await sweepAtOnce({
    database: runtime.database,
    execute: createExecutor(runtime),
    areas,
    activities: activitiesOf(runtime),
  })
  await close()
}
