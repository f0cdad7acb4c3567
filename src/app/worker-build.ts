import { setTimeout as pause } from 'node:timers/promises'
import type { Connection } from '@temporalio/client'
import type { WorkerOptions } from '@temporalio/worker'
import { callsQueueOf, webhooksQueueOf } from '../kernel/contract/process.ts'
import { repeatEvery } from '../platform/rounds.ts'
import type { Settings } from '../platform/settings/settings.ts'
import { currentBuild, goneBuilds, makeCurrent, type WorkerBuild } from '../platform/temporal/builds.ts'
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

/** A worker that has just begun is heard of within a moment. Each worker asks, so more often would be a load. */
const AGAIN_AFTER_MS = 1_000

/**
 * Waits for workers of the build, and makes it current over what is current now: of several at once, one wins. If that took too
 * long, or another build has won, says why it is not current.
 */
export async function untilCurrent(
  { workflowService }: Pick<Connection, 'workflowService'>,
  { queues, ...build }: VersionedWorkers,
  { signal, onlyOver }: { readonly signal: AbortSignal; readonly onlyOver?: readonly string[] },
): Promise<string | undefined> {
  const over = onlyOver ?? (await currentBuilds(workflowService, build))
  let whyNot = 'It is stopped.'
  while (!signal.aborted) {
    const outcome = await makeCurrent(workflowService, build, { queues, over })
    if (outcome === 'current') return undefined
    whyNot = outcome.whyNot
    if (outcome.isFinal) return whyNot
    await pause(AGAIN_AFTER_MS, undefined, { signal }).catch(() => undefined)
  }
  return whyNot
}

/** One, or none in a new or restored Temporal. */
async function currentBuilds(
  service: Connection['workflowService'],
  build: Omit<WorkerBuild, 'buildId'>,
): Promise<string[]> {
  const { buildId } = await currentBuild(service, build)
  return buildId ? [buildId] : []
}

const EVERY_MS = 30_000

/**
 * Where no build is current, which is so in a new or restored Temporal, or one without workers is, this one takes over:
 * nothing would run otherwise.
 */
export function keepABuildCurrent(
  { log }: Pick<OpenRuntime, 'log'>,
  connection: Pick<Connection, 'workflowService'>,
  build: VersionedWorkers,
  { everyMs = EVERY_MS, goneAfterMs }: { readonly everyMs?: number; readonly goneAfterMs?: number } = {},
): Stoppable {
  const { workflowService } = connection
  const stopping = new AbortController()
  const [taskQueue = ''] = build.queues
  const gone = goneBuilds(workflowService, { namespace: build.namespace, taskQueue, goneAfterMs })
  const others = async () =>
    (await currentBuilds(workflowService, build)).filter(buildId => buildId !== build.buildId)
  const rounds = repeatEvery(
    everyMs,
    async () => {
      const onlyOver = await gone(others())
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(everyMs)])
      await untilCurrent(connection, build, { signal, onlyOver })
    },
    error => log.warn({ err: error }, 'Temporal did not say which build of the workers is current'),
  )
  return {
    stop() {
      stopping.abort()
      return rounds.stop()
    },
  }
}
