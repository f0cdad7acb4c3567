import { setTimeout as pause } from 'node:timers/promises'
import type { Connection } from '@temporalio/client'
import type { WorkerOptions } from '@temporalio/worker'
import { callsQueueOf, webhooksQueueOf } from '../kernel/contract/process.ts'
import { repeatEvery } from '../platform/rounds.ts'
import type { Settings } from '../platform/settings/settings.ts'
import { makeCurrent, type WorkerBuild } from '../platform/temporal/builds.ts'
import { SERVICE_VERSION } from '../surface/health/index.ts'
import type { OpenRuntime, Stoppable } from './runtime.ts'
import { workflowHash } from './workflow-bundle.ts'

export interface VersionedWorkers extends WorkerBuild {
  readonly queues: readonly string[]
}

/** The build of these programs; undefined where the workers of the installation have no versions. */
export async function workerBuild({
  temporalDeployment: deploymentName,
  temporalNamespace: namespace,
  temporalTaskQueue: queue,
}: Settings): Promise<VersionedWorkers | undefined> {
  if (!deploymentName) return undefined
  const buildId = `${SERVICE_VERSION}-${await workflowHash()}`
  return { namespace, deploymentName, buildId, queues: [queue, callsQueueOf(queue), webhooksQueueOf(queue)] }
}

/** Each task's events name the build. The SDK's own is a hundred characters. */
export function versionOf(build: VersionedWorkers | undefined): Partial<WorkerOptions> {
  if (!build) return { buildId: SERVICE_VERSION }
  const { deploymentName, buildId } = build
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  }
}

/** A worker that has just begun is heard of within a moment. */
const AGAIN_AFTER_MS = 200

/** Waits for workers of the build. False if that took too long. */
export async function untilCurrent(
  { workflowService }: Pick<Connection, 'workflowService'>,
  { queues, ...build }: VersionedWorkers,
  { signal, onlyIfNone }: { readonly signal: AbortSignal; readonly onlyIfNone: boolean },
): Promise<boolean> {
  while (!signal.aborted) {
    if (await makeCurrent(workflowService, build, { queues, onlyIfNone })) return true
    await pause(AGAIN_AFTER_MS, undefined, { signal }).catch(() => undefined)
  }
  return false
}

const EVERY_MS = 30_000

/** Where no build is current, which is so in a new or restored Temporal, this one is: nothing would run otherwise. */
export function keepABuildCurrent(
  { log }: Pick<OpenRuntime, 'log'>,
  connection: Pick<Connection, 'workflowService'>,
  build: VersionedWorkers,
): Stoppable {
  const stopping = new AbortController()
  const given = { signal: stopping.signal, onlyIfNone: true }
  const rounds = repeatEvery(
    EVERY_MS,
    () => untilCurrent(connection, build, given),
    error => log.warn({ err: error }, 'Temporal did not say which build of the workers is current'),
  )
  return {
    stop() {
      stopping.abort()
      return rounds.stop()
    },
  }
}
