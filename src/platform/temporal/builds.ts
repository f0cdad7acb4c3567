import { type Client, type Connection, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client'
import { optionalTsToMs } from '@temporalio/common/lib/time.js'
import { clock } from '../../values/clock.ts'

type WorkflowService = Connection['workflowService']

/** The code of a worker, as Temporal knows it: a run stays with its build, or goes on with the current one. */
export interface WorkerBuild {
  readonly namespace: string
  /** All workers of an installation, of all builds. */
  readonly deploymentName: string
  readonly buildId: string
}

/** gRPC's numbers. */
const NOT_FOUND = 5
const FAILED_PRECONDITION = 9
const ABORTED = 10
const REFUSED: readonly number[] = [NOT_FOUND, FAILED_PRECONDITION, ABORTED]

async function unless<T>(codes: readonly number[], asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isGrpcServiceError(error) && codes.includes(error.code)) return undefined
    throw error
  }
}

type Deployment = Omit<WorkerBuild, 'buildId'>

const describe = (service: WorkflowService, { namespace, deploymentName }: Deployment) =>
  unless([NOT_FOUND], service.describeWorkerDeployment({ namespace, deploymentName }))

/** The build that new runs begin with; undefined where there is none. */
export async function currentBuild(service: WorkflowService, deployment: Deployment) {
  const { workerDeploymentInfo, conflictToken } = (await describe(service, deployment)) ?? {}
  const { currentDeploymentVersion } = workerDeploymentInfo?.routingConfig ?? {}
  return { buildId: currentDeploymentVersion?.buildId, conflictToken }
}

/** The task queues that workers of this build take. */
async function queuesOf(service: WorkflowService, build: WorkerBuild): Promise<string[]> {
  const { namespace, ...deploymentVersion } = build
  const asked = service.describeWorkerDeploymentVersion({ namespace, deploymentVersion })
  return ((await unless([NOT_FOUND], asked))?.versionTaskQueues ?? []).map(({ name }) => String(name))
}

interface Takeover {
  readonly queues: readonly string[]
  /** Another build that is current gives way only if it is one of these. */
  readonly over: readonly string[]
}

interface NotCurrent {
  readonly whyNot: string
  /** Whether it can be so in a moment. */
  readonly isFinal: boolean
}

/** Makes the build current, once Temporal has heard of workers of it on all these task queues. Otherwise says why not. */
export async function makeCurrent(
  service: WorkflowService,
  build: WorkerBuild,
  { queues, over }: Takeover,
): Promise<'current' | NotCurrent> {
  const { buildId, conflictToken } = await currentBuild(service, build)
  if (buildId === build.buildId) return 'current'
  if (buildId && !over.includes(buildId))
    return { whyNot: `The build ${buildId} has become current meanwhile.`, isFinal: true }
  const taken = await queuesOf(service, build)
  const missing = queues.filter(queue => !taken.includes(queue))
  if (!conflictToken || missing.length > 0)
    return {
      whyNot: `No workers of the build ${build.buildId} run on ${missing.join(', ')}.`,
      isFinal: false,
    }
  return service.setWorkerDeploymentCurrentVersion({ ...build, conflictToken }).then(
    () => 'current' as const,
    (error: unknown) => {
      if (!isGrpcServiceError(error) || !REFUSED.includes(error.code)) throw error
      return { whyNot: error.details, isFinal: false }
    },
  )
}

/** Temporal's number for a version that is not current any more and still has open runs which stay with it. */
const DRAINING = 4

/** A worker asks for tasks once a minute at least. */
const GONE_AFTER_MS = 180_000

interface Place {
  readonly namespace: string
  readonly taskQueue: string
  readonly goneAfterMs?: number | undefined
}

/** Names the builds among these that have had no worker for a while. */
export type FindGone = (listed: Promise<readonly string[]>) => Promise<string[]>

/**
 * Finds builds whose workers ask for no tasks any more, in each of its rounds for three minutes: Temporal keeps in memory
 * who asked, so after its restart one empty list proves nothing. A round that fails begins anew.
 */
export function goneBuilds(
  service: WorkflowService,
  { namespace, taskQueue, goneAfterMs = GONE_AFTER_MS }: Place,
): FindGone {
  let seen: ReadonlyMap<string, { readonly lastAsked: number | undefined; readonly since: number }> =
    new Map()
  return async listed => {
    const before = seen
    seen = new Map()
    const builds = await listed
    if (builds.length === 0) return []
    const lastAsked = await lastAskedBy(service, { namespace, taskQueue })
    const now = clock.ticks()
    const round = builds.map(build => {
      const known = before.get(build)
      const asked = lastAsked.get(build)
      return [build, known && known.lastAsked === asked ? known : { lastAsked: asked, since: now }] as const
    })
    seen = new Map(round)
    return round.flatMap(([build, { since }]) => (now - since >= goneAfterMs ? [build] : []))
  }
}

/** When a worker of each build has last asked for tasks. */
async function lastAskedBy(
  service: WorkflowService,
  { namespace, taskQueue }: Place,
): Promise<ReadonlyMap<string, number>> {
  const { pollers } = await service.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } })
  const last = new Map<string, number>()
  for (const { lastAccessTime, deploymentOptions } of pollers) {
    const build = deploymentOptions?.buildId
    if (build) last.set(build, Math.max(last.get(build) ?? 0, optionalTsToMs(lastAccessTime) ?? 0))
  }
  return last
}

/** The builds with open runs that stay with them. */
async function leftBuilds(service: WorkflowService, deployment: Deployment): Promise<string[]> {
  const { workerDeploymentInfo } = (await describe(service, deployment)) ?? {}
  const left = (workerDeploymentInfo?.versionSummaries ?? []).filter(({ status }) => status === DRAINING)
  return left.flatMap(({ deploymentVersion }) => deploymentVersion?.buildId ?? [])
}

const REASON = 'The last worker of its build is gone. The relay begins it anew with the current build.'

/** Ends the open runs of this task queue that stay with a build without workers, and gives their workflow ids. */
export async function endLostRuns(
  { workflow, workflowService }: Client,
  { taskQueue, gone, ...deployment }: Deployment & { readonly taskQueue: string; readonly gone: FindGone },
): Promise<string[]> {
  const ended: string[] = []
  for (const build of await gone(leftBuilds(workflowService, deployment))) {
    const version = `TemporalWorkerDeploymentVersion = '${deployment.deploymentName}:${build}'`
    const query = `TaskQueue = '${taskQueue}' and ${version} and TemporalWorkflowVersioningBehavior = 'Pinned' and ExecutionStatus = 'Running'`
    for await (const { workflowId, runId } of workflow.list({ query })) {
      const hasEnded = await workflow
        .getHandle(workflowId, runId)
        .terminate(REASON)
        .then(() => true, unlessAbsent)
      if (hasEnded) ended.push(workflowId)
    }
  }
  return ended
}

/** The list lags behind: a run in it may have ended. */
function unlessAbsent(error: unknown): false {
  if (error instanceof WorkflowNotFoundError) return false
  throw error
}
