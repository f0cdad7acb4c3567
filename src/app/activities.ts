import { type AllActivities, allActivities } from '../../activities/index.ts'
import { activityTools } from '../../activities/shared/tools.ts'
import { deliveryAttempts } from '../delivery/webhooks/index.ts'
import type { RegisteredOperation } from '../kernel/contract/operation.ts'
import type { ActivityCaller } from '../kernel/contract/step.ts'
import type { OperationRuntime } from '../kernel/run/runtime.ts'
import { stepRunner } from '../kernel/run/steps.ts'
import type { Settings } from '../platform/settings/settings.ts'
import { recordAddress } from '../surface/console/parts/links.ts'
import { type AttemptReports, webhookAttempts } from './webhook-attempts.ts'

/** All activities of records: those of runs, and the same ones where the sweep or a test clock takes their place. */
export function openActivities(
  runtime: OperationRuntime,
  operations: readonly RegisteredOperation[],
  { operatorSignals, publicUrl }: Pick<Settings, 'operatorSignals' | 'publicUrl'>,
  reports?: AttemptReports,
) {
  const steps = stepRunner(runtime)
  const { systems, service } = runtime.ports
  const attemptDelivery = deliveryAttempts(reports ? webhookAttempts(systems, reports) : { systems })
  const settings = { operatorSignals, pageOf: recordPages(publicUrl) }
  return (caller: ActivityCaller): AllActivities =>
    allActivities(activityTools({ steps, operations, systems, service, settings, attemptDelivery }, caller))
}

/** The page of a record in the console, which has the names that Temporal does not get. */
const recordPages =
  (publicUrl: string | undefined) =>
  (id: string): string | undefined => {
    const address = recordAddress(id)
    return publicUrl && address ? `${publicUrl}/${address}` : undefined
  }
