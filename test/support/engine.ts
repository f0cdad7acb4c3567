import { afterAll } from '@jest/globals'
import { askerOf, paymentFinder } from '../../src/app/ports.ts'
import { renewedLeases } from '../../src/app/renewed-lease.ts'
import { callOperationFor } from '../../src/derive/call-operation.ts'
import { personalAreasOf } from '../../src/derive/personal-areas.ts'
import type { Tenant } from '../../src/kernel/contract/actor.ts'
import { type Areas, allOperations } from '../../src/kernel/contract/area.ts'
import type { ApiCall, ApiResponse } from '../../src/kernel/contract/call.ts'
import { PageCursors } from '../../src/kernel/contract/page.ts'
import type { Ports } from '../../src/kernel/contract/ports.ts'
import { allScopeNames } from '../../src/kernel/contract/scopes.ts'
import { openOrm } from '../../src/kernel/database/orm.ts'
import { createExecutor } from '../../src/kernel/run/execute.ts'
import { withOwnerOperations } from '../../src/kernel/run/other-owner.ts'
import { type OperationRuntime, reactionsByEvent } from '../../src/kernel/run/runtime.ts'
import { UnrecordedAnswers } from '../../src/kernel/run/unrecorded-answers.ts'
import { openDatabase } from '../../src/platform/database.ts'
import { openVault } from '../../src/ports/vault.ts'
import { cloneDatabase } from './database.ts'
import { createTables } from './rows.ts'
import { ENCRYPTION_KEY } from './services/settings.ts'

interface Batch {
  readonly size: number
  readonly roundTrips: number
}

const nothing = () => undefined

export interface Engine {
  readonly databaseUrl: string
  readonly runtime: OperationRuntime
  close(): Promise<void>
  readonly batches: Batch[]
  run(
    tenant: Tenant,
    key: string,
    input?: Partial<ApiCall['input']>,
    extra?: Partial<ApiCall>,
  ): Promise<ApiResponse>
  sql: OperationRuntime['database']['pool']['query']
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
  openOrm(Object.values(areas).flatMap(({ entities }) => entities))
  const database = openDatabase(databaseUrl, 5)
  const batches: Batch[] = []
  const { leases, stop } = renewedLeases(database, nothing)
  const runtime = withOwnerOperations(allOperations(areas), {
    database,
    replica: undefined,
    reader: undefined,
    ports: {
      systems: {
        identityVerification: () => ({ name: 'sandbox' }),
        vault: openVault(ENCRYPTION_KEY),
      },
      settings: { walletBank: { code: '99990001', bic: 'AGPYDEF0XXX' } },
      service: {
        ask: askerOf(areas),
        paymentsOn: paymentFinder(areas),
        personalAreas: personalAreasOf(areas),
      },
    } as Ports,
    cursors: new PageCursors('secret'),
    lease: leases.of('calls'),
    unrecordedAnswers: new UnrecordedAnswers(database, nothing),
    callOperationFor: callOperationFor(allOperations(areas), call => execute(call)),
    reactions: reactionsByEvent(areas),
    notify: nothing,
    onEvents: nothing,
    onBatch: (_, size, roundTrips) => batches.push({ size, roundTrips }),
  })
  const execute = createExecutor(runtime)
  const operations = allOperations(areas)
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
        actor: { type: 'key', id: 'key_1', tenant, agentId: null, scopes: new Set(allScopeNames) },
        input: { params: {}, query: {}, body: {}, ...input },
        requestId: 'test',
        address: null,
        idempotencyKey: null,
        ...extra,
      })
    },
  }
}
