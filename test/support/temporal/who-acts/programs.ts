import { afterAll } from '@jest/globals'
import pg from 'pg'
import { clientAt } from '../../client.ts'
import { cloneDatabase } from '../../database.ts'
import { bodyOf, type TestClient } from '../../factories.ts'
import { type FlakyProxy, flakyProxy } from '../../flaky-proxy.ts'
import { createOwner, DASHBOARD_SECRET, type TestService } from '../../harness.ts'
import { type Installation, startInstallation } from '../../processes/installation.ts'
import { type Api, startApi } from '../../processes/processes.ts'

/** API, relay and worker as separate processes, with a Temporal that can be out of their reach. */
export interface Programs extends Pick<TestService, 'sql' | 'databaseUrl'> {
  readonly installation: Installation
  /** Before Temporal, for relay and worker. */
  readonly proxy: FlakyProxy
  owner(): Promise<OwnerOfPrograms>
  /** Another API process, which a test kills. */
  anotherApi(env?: Readonly<Record<string, string>>): Promise<Api>
  /** What sweep and deliverer carried out in place of runs, as the current relay and worker have written. */
  rescues(): readonly Rescue[]
  /** `rescues_total` of relay and worker, by operation. */
  rescueCounts(): Promise<Readonly<Record<string, number>>>
}

export interface OwnerOfPrograms {
  readonly ownerId: string
  readonly client: TestClient
  /** By another API process. */
  at(url: string): TestClient
}

export interface Rescue {
  readonly operation: string
  readonly id: string
  /** By the owner’s clock. */
  readonly dueAt: Date
  readonly at: Date
}

const ENV = {
  LOG_LEVEL: 'warn',
  METRICS_PORT: '0',
  OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
  WEBHOOK_RETRY_SECONDS: '600',
  // A killed worker holds a connection for each of its steps.
  DATABASE_POOL: '40',
}

export async function startPrograms(more: Readonly<Record<string, string>> = {}): Promise<Programs> {
  const env = { ...ENV, ...more }
  const databaseUrl = await cloneDatabase()
  const database = new pg.Pool({ connectionString: databaseUrl, max: 4 })
  database.on('error', () => undefined)
  afterAll(() => database.end())
  let proxy: FlakyProxy | undefined
  const installation = await startInstallation(databaseUrl, {
    durable: false,
    env,
    async through(address) {
      proxy = await flakyProxy(`tcp://${address}`)
      return new URL(proxy.url).host
    },
  })
  await installation.startMissing()
  const dash = () => clientAt({ url: installation.api.url, dashboardSecret: DASHBOARD_SECRET })
  return {
    databaseUrl,
    installation,
    proxy: proxy as unknown as FlakyProxy,
    sql: async (text, values = []) => (await database.query(text, values)).rows,
    anotherApi: own => startApi(databaseUrl, { ...env, METRICS_PORT: '', ...own }),
    rescues: () =>
      installation.outputs().flatMap(output => output.split('\n').slice(0, -1).flatMap(rescueIn)),
    async rescueCounts() {
      const outputs = installation.outputs()
      const ports = outputs.flatMap(output => /^Metrics on .* port (\d+)$/m.exec(output)?.[1] ?? [])
      const counts = (await Promise.all(ports.map(countsAt))).flat()
      const byOperation = Map.groupBy(counts, ([operation]) => operation)
      return Object.fromEntries(
        [...byOperation].map(([operation, all]) => [
          operation,
          all.reduce((sum, [, count]) => sum + count, 0),
        ]),
      )
    },
    async owner() {
      const { ownerId, key } = await createOwner(installation.api.url)
      await bodyOf(dash().customers.update({ params: { id: ownerId }, body: { plan: 'enterprise' } }))
      const at = (url: string) => clientAt({ url, token: key })
      return { ownerId, client: at(installation.api.url), at }
    },
  }
}

/** The line of the log about a rescue. */
function rescueIn(line: string): Rescue[] {
  if (!line.startsWith('{')) return []
  const { operation, id, dueAt, time } = JSON.parse(line)
  if (!operation || !id || !dueAt) return []
  return [{ operation, id, dueAt: new Date(dueAt), at: new Date(time) }]
}

async function countsAt(port: string): Promise<(readonly [operation: string, count: number])[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
  })
  const lines = (await answer.text()).matchAll(/^rescues_total\{operation="(.*)"\} (\d+)$/gm)
  return [...lines].map(([, operation = '', count]) => [operation, Number(count)] as const)
}
