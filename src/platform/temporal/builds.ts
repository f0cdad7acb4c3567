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

async function unless<T>(codes: readonly number[], asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isGrpcServiceError(error) && codes.includes(error.code)) return undefined
    throw error
  }
}

type Deployment = Omit<WorkerBuild, 'buildId'>

const describe = async (service: WorkflowService, { namespace, deploymentName }: Deployment) =>
  (await unless([NOT_FOUND], service.describeWorkerDeployment({ namespace, deploymentName }))) ?? undefined

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

/**
 * Makes the build current, or only where none is. False while Temporal has not heard of workers of this build on all
 * these task queues.
 */
export async function makeCurrent(
  service: WorkflowService,
  build: WorkerBuild,
  { queues, onlyIfNone = false }: { readonly queues: readonly string[]; readonly onlyIfNone?: boolean },
): Promise<boolean> {
  const { buildId, conflictToken } = await currentBuild(service, build)
  if (buildId === build.buildId || (buildId && onlyIfNone)) return true
  const taken = await queuesOf(service, build)
  if (!conflictToken || queues.some(queue => !taken.includes(queue))) return false
  const asked = service.setWorkerDeploymentCurrentVersion({ ...build, conflictToken })
  return (await unless([NOT_FOUND, FAILED_PRECONDITION, ABORTED], asked)) !== undefined
}

/** Temporal's number for a version that is not current any more and still has open runs which stay with it. */
const DRAINING = 4

/** A worker asks for tasks once a minute at least. */
const GONE_AFTER_MS = 180_000

/** The builds with open runs that stay with them, and without a worker that takes their tasks. */
async function lostBuilds(
  service: WorkflowService,
  { taskQueue, goneAfterMs, ...deployment }: Deployment & Lost,
): Promise<string[]> {
  const { workerDeploymentInfo } = (await describe(service, deployment)) ?? {}
  const left = (workerDeploymentInfo?.versionSummaries ?? []).filter(({ status }) => status === DRAINING)
  if (left.length === 0) return []
  const { namespace } = deployment
  const { pollers } = await service.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } })
  const since = clock.milliseconds() - goneAfterMs
  const alive = pollers.filter(({ lastAccessTime }) => (optionalTsToMs(lastAccessTime) ?? 0) > since)
  const served = new Set(alive.map(({ deploymentOptions }) => deploymentOptions?.buildId))
  const builds = left.flatMap(({ deploymentVersion }) => deploymentVersion?.buildId ?? [])
  return builds.filter(build => !served.has(build))
}

interface Lost {
  readonly taskQueue: string
  readonly goneAfterMs: number
}

const REASON = 'The last worker of its build is gone. The relay begins it anew with the current build.'

/** Ends the open runs that stay with a build without workers, and gives their workflow ids. */
export async function endLostRuns(
  { workflow, workflowService }: Client,
  { goneAfterMs = GONE_AFTER_MS, ...given }: Deployment & Pick<Lost, 'taskQueue'> & Partial<Lost>,
): Promise<string[]> {
  const ended: string[] = []
  for (const build of await lostBuilds(workflowService, { ...given, goneAfterMs })) {
    const version = `TemporalWorkerDeploymentVersion = '${given.deploymentName}:${build}'`
    const query = `${version} and TemporalWorkflowVersioningBehavior = 'Pinned' and ExecutionStatus = 'Running'`
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
