import { attemptName, operationRunner } from '../../activities/shared/run-operation.ts'
import { applySignal } from '../../activities/shared/signals.ts'
import { openActivities } from '../../src/app/activities.ts'
import { areas } from '../../src/areas.ts'
import { allOperations } from '../../src/kernel/contract/area.ts'
import type { ActivityCaller } from '../../src/kernel/contract/step.ts'
import type { ExecuteCall } from '../../src/kernel/run/execute.ts'
import type { OperationRuntime } from '../../src/kernel/run/runtime.ts'
import { SystemTurns } from '../../src/kernel/run/system-turns.ts'

const settings = { operatorSignals: false, publicUrl: undefined }

/** The activities of the service, on the database of a kernel without HTTP. */
export const activitiesOf = (runtime: OperationRuntime) =>
  openActivities(runtime, allOperations(areas), settings)

/** A run that carries out activities; signals run their operations by `execute`. */
export function aRun(execute: ExecuteCall): ActivityCaller {
  const run = operationRunner({
    execute,
    operations: allOperations(areas),
    offsetOf: async () => 0,
    causeOf: async () => undefined,
    onFailure: () => undefined,
    turns: new SystemTurns(),
  })
  return {
    requestIdOf: ({ id }) => `workflow of ${id}`,
    decide: ({ openLiveMoney = false, ...decision }) =>
      applySignal(run, { ...settings, openLiveMoney }, { ...decision, once: attemptName() }),
  }
}
