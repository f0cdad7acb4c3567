import { areas } from '../../../src/areas.ts'
import { endOverdueRecords } from '../../../src/kernel/background/deadlines.ts'
import { createExecutor } from '../../../src/kernel/run/execute.ts'
import { openEngine } from '../engine.ts'

/** Ends overdue records, as the sweep of a relay does every two seconds. */
export async function endOverdueOf({ databaseUrl }: { readonly databaseUrl: string }): Promise<void> {
  const { runtime, close } = openEngine(areas, databaseUrl)
  await endOverdueRecords({ database: runtime.database, execute: createExecutor(runtime), areas })
  await close()
}
