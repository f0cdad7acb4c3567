import { expect, test } from '@jest/globals'
import { NativeConnection, type WorkerOptions, type WorkerPlugin } from '@temporalio/worker'
import { runWorkers } from '../../src/app/worker-group.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import { until } from '../support/until.ts'

const access = temporalOfRun()
const connection = await NativeConnection.connect(access.worker)

const worker = (more: Partial<WorkerOptions> = {}): WorkerOptions => ({
  ...{ connection, namespace: access.namespace, taskQueue: access.taskQueue },
  activities: { work: async () => undefined },
  ...more,
})

/** The SDK closes no connection that a worker still uses. */
const closes = (one: NativeConnection) => expect(one.close()).resolves.toBeUndefined()

test('where one of the workers cannot be created, the others end, and the connection closes', async () => {
  const own = await NativeConnection.connect(access.worker)
  const refusing: WorkerPlugin = {
    name: 'refusing',
    async configureWorker() {
      await until('the other worker is created', () => Reflect.get(own, 'referenceHolders').size > 0)
      throw new Error('It cannot be created.')
    },
  }
  const all = [worker({ connection: own }), worker({ connection: own, plugins: [refusing] })]
  await expect(runWorkers(all)).rejects.toThrow('It cannot be created.')
  await closes(own)
})

test('where one of the workers fails, the others end before, and the connection closes', async () => {
  const failing: WorkerPlugin = {
    name: 'failing',
    async runWorker(one, next) {
      const running = next(one)
      one.shutdown()
      await running
      throw new Error('It has failed.')
    },
  }
  const { ended } = await runWorkers([worker({ plugins: [failing] }), worker({ taskQueue: 'other' })])
  await expect(ended).rejects.toThrow('It has failed.')
  await closes(connection)
})
