import { afterAll } from '@jest/globals'
import { paymentFinder } from '../../src/app/ports.ts'
import { renewedLeases } from '../../src/app/renewed-lease.ts'
import { callOperationFor } from '../../src/derive/call-operation.ts'
import { personalAreasOf } from '../../src/derive/personal-areas.ts'
import type { Tenant } from '../../src/kernel/contract/actor.ts'
import { type Areas, registered } from '../../src/kernel/contract/area.ts'
import type { Call, Outcome } from '../../src/kernel/contract/call.ts'
import { Cursors } from '../../src/kernel/contract/page.ts'
import type { Ports } from '../../src/kernel/contract/ports.ts'
import { scopes } from '../../src/kernel/contract/scopes.ts'
import { executor } from '../../src/kernel/run/execute.ts'
import { withOwners } from '../../src/kernel/run/other-owner.ts'
import { type Runtime, reactionsOf } from '../../src/kernel/run/runtime.ts'
import { UnrecordedAnswers } from '../../src/kernel/run/unrecorded-answers.ts'
import { openDatabase } from '../../src/platform/database.ts'
import { cloneDatabase } from './database.ts'
import { createTables } from './rows.ts'

interface Batch {
  readonly size: number
  readonly roundTrips: number
}

const nothing = () => undefined

export interface Engine {
  readonly databaseUrl: string
  readonly runtime: Runtime
  close(): Promise<void>
  readonly batches: Batch[]
  run(tenant: Tenant, key: string, input?: Partial<Call['input']>, extra?: Partial<Call>): Promise<Outcome>
  sql: Runtime['database']['pool']['query']
}

/** Only the kernel, on its own database and without HTTP: calls in one turn of the event loop form one batch. */
export async function startEngine(areas: Areas, tables = ''): Promise<Engine> {
  const databaseUrl = await cloneDatabase()
  await createTables(databaseUrl, tables)
  const engine = openEngine(areas, databaseUrl)
  afterAll(() => engine.close())
  return engine
}

export function openEngine(areas: Areas, databaseUrl: string): Engine {
  const database = openDatabase(databaseUrl, 5)
  const batches: Batch[] = []
  const { leases, stop } = renewedLeases(database, nothing)
  const runtime = withOwners(registered(areas), {
    database,
    ports: {
      walletBank: { code: '99990001', bic: 'AGPYDEF0XXX' },
      paymentsOn: paymentFinder(areas),
      personalAreas: personalAreasOf(areas),
    } as Ports,
    cursors: new Cursors('secret'),
    lease: leases.of('calls'),
    unrecordedAnswers: new UnrecordedAnswers(database, nothing),
    callOperationFor: callOperationFor(registered(areas), call => execute(call)),
    reactions: reactionsOf(areas),
    notify: nothing,
    onEvents: nothing,
    onBatch: (_, size, roundTrips) => batches.push({ size, roundTrips }),
  })
  const execute = executor(runtime)
  const operations = registered(areas)
  return {
    databaseUrl,
    runtime,
    async close() {
      await stop()
      await database.close()
    },
    batches,
    sql: database.pool.query.bind(database.pool) as Engine['sql'],
    run(tenant, key, input = {}, extra = {}) {
      const operation = operations.find(registered => registered.key === key)
      if (!operation) throw new Error(`there is no ${key}`)
      return execute({
        operation,
        actor: { type: 'key', id: 'key_1', tenant, agentId: null, scopes: new Set(scopes) },
        input: { params: {}, query: {}, body: {}, ...input },
        requestId: 'test',
        address: null,
        idempotencyKey: null,
        ...extra,
      })
    },
  }
}
