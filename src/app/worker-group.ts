import { Worker, type WorkerOptions } from '@temporalio/worker'

export interface RunningWorkers {
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/**
 * Runs workers on one connection, which can be closed only once all have ended. If one fails, the others end with it,
 * and all are begun anew.
 */
export async function runWorkers(all: readonly WorkerOptions[]): Promise<RunningWorkers> {
  const creations = await Promise.allSettled(all.map(options => Worker.create(options)))
  const workers = creations.flatMap(creation => (creation.status === 'fulfilled' ? [creation.value] : []))
  const shutdown = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
  }
  const ended = Promise.allSettled(workers.map(worker => worker.run().finally(shutdown))).then(throwFirst)
  const stop = () => {
    shutdown()
    return ended
  }
  // Only a worker that runs can be shut down.
  if (workers.length < all.length) await stop()
  throwFirst(creations)
  return { ended, stop }
}

function throwFirst(outcomes: readonly PromiseSettledResult<unknown>[]): void {
  const failed = outcomes.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
