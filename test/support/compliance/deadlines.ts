import { areas } from '../../../src/areas.ts'
import { endOverdue } from '../../../src/kernel/background/deadlines.ts'
import { executor } from '../../../src/kernel/run/execute.ts'
import { openEngine } from '../engine.ts'

/** Ends overdue records, as the sweep of a relay does every two seconds. */
export async function endOverdueOf({ databaseUrl }: { readonly databaseUrl: string }): Promise<void> {
  const { runtime, close } = openEngine(areas, databaseUrl)
  await endOverdue({ database: runtime.database, execute: executor(runtime), areas })
  await close()
}
