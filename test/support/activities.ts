import { attemptName, operationRunner } from '../../activities/shared/run-operation.ts'
import { applySignal } from '../../activities/shared/signals.ts'
import { openActivities } from '../../src/app/activities.ts'
import { areas } from '../../src/areas.ts'
import { allOperations } from '../../src/kernel/contract/area.ts'
import type { ActivityCaller } from '../../src/kernel/contract/step.ts'
import { ProcessLeases } from '../../src/kernel/database/process-lease.ts'
import type { ExecuteCall } from '../../src/kernel/run/execute.ts'
import type { OperationRuntime } from '../../src/kernel/run/runtime.ts'
import { until } from './until.ts'

const settings = { operatorSignals: false, publicUrl: undefined }

/** The activities of the service, on the database of a kernel without HTTP. */
export const activitiesOf = (runtime: OperationRuntime) =>
  openActivities(runtime, allOperations(areas), settings)

type Bound = ReturnType<ReturnType<typeof activitiesOf>>

/**
 * Carries out an activity in a process that is paused past its claim: it waits for the row until another process has freed
 * its lease. Resolves with what the activity is refused with.
 */
export async function pausedPastItsClaim(
  runtime: OperationRuntime,
  { table, id }: { readonly table: string; readonly id: string },
  act: (activities: Bound) => Promise<unknown>,
): Promise<unknown> {
  const { pool } = runtime.database
  const leases = new ProcessLeases(runtime.database, 1_200)
  const caller = { requestIdOf: () => `workflow of ${id}` }
  const blocker = await pool.connect()
  await blocker.query('begin')
  await blocker.query(`select 1 from ${table} where id = $1 for update`, [id])
  const refused = act(activitiesOf({ ...runtime, lease: leases.of('calls') })(caller)).then(
    () => undefined,
    (error: unknown) => error,
  )
  await until('its lease has ended', async () => {
    const { rowCount } = await pool.query(
      `delete from process_leases where kind = 'calls' and held_until < clock_timestamp()`,
    )
    return Number(rowCount) > 0
  })
  await blocker.query('commit')
  blocker.release()
  const reason = await refused
  await leases.end()
  return reason
}

/** A run that carries out activities; signals run their operations by `execute`. */
export function aRun(execute: ExecuteCall): ActivityCaller {
  const run = operationRunner({
    execute,
    operations: allOperations(areas),
    offsetOf: async () => 0,
    causeOf: async () => undefined,
    onFailure: () => undefined,
  })
  return {
    requestIdOf: ({ id }) => `workflow of ${id}`,
    decide: ({ openLiveMoney = false, ...decision }) =>
      applySignal(
        run,
        { ...settings, openLiveMoney },
        {
          ...decision,
          once: attemptName(decision.signalled.updateId),
        },
      ),
  }
}
