import { afterAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { clientAt } from '../support/client.ts'
import { cloneDatabase } from '../support/database.ts'
import { respondWith, startReceiver } from '../support/delivery/receiver.ts'
import {
  aBeneficiary,
  anAgentUnder,
  anIntent,
  aWebhook,
  bodyOf,
  type TestClient,
} from '../support/factories.ts'
import type { Launched } from '../support/processes/launched.ts'
import { createOwner, startApi, startPart } from '../support/processes/processes.ts'
import { startCollector } from '../support/telemetry/collector.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import { until } from '../support/until.ts'

interface Line {
  readonly msg?: string
  readonly operation?: string
  readonly event?: string
  readonly traceId?: string
  readonly spanId?: string
}

const collector = await startCollector()
const receiver = await startReceiver()
const databaseUrl = await cloneDatabase()
const database = new pg.Pool({ connectionString: databaseUrl, max: 1 })
afterAll(() => database.end())

const env = {
  LOG_LEVEL: 'info',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
}
const { taskQueue, namespace, client: temporal } = temporalOfRun()
const withTemporal = { ...env, TEMPORAL_TASK_QUEUE: taskQueue, TEMPORAL_NAMESPACE: namespace }
const api = await startApi(databaseUrl, env)
const worker = await startPart('worker', databaseUrl, String(temporal.address), withTemporal)
const relay = await startPart('relay', databaseUrl, String(temporal.address), withTemporal)
const client = clientAt({ url: api.url, token: await createOwner(api.url) }) as unknown as TestClient

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
const ofTrace = { traceId, spanId: expect.stringMatching(/^[\da-f]{16}$/) }

const untilLogged = (by: Launched, isWanted: (line: Line) => boolean): Promise<Line> =>
  until('a line is logged', () =>
    by
      .output()
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line) as Line)
      .find(isWanted),
  )

const REFUSE_UPDATES = `
create function refuse_update() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
create trigger refuse before update on transfers for each row execute function refuse_update()`

test('a worker logs a step that fails with the id of its trace', async () => {
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 100 })
  const beneficiary = await aBeneficiary(client)
  const intent = await anIntent(client, agent.id, { beneficiaryId: beneficiary.id, amountEuros: 25 })
  await database.query(REFUSE_UPDATES)
  const body = {
    fromWalletId: agent.walletId,
    beneficiaryId: beneficiary.id,
    amountEuros: 25,
    intentId: intent.id,
  }
  await bodyOf(client.transfers.create({ body, headers }))
  const line = await untilLogged(worker, ({ msg }) => msg === 'a process has to try again')
  expect(line).toMatchObject({ activity: 'verifyPayee', ...ofTrace })
  await database.query('drop trigger refuse on transfers')
})

test('a relay logs an attempt that fails with the id of its trace', async () => {
  receiver.treat('/refusing', respondWith(503))
  await aWebhook(client, { url: `${receiver.url}/refusing`, events: ['agent.created'] })
  await bodyOf(client.agents.create({ body: { name: 'Buyer' }, headers }))
  const line = await untilLogged(relay, ({ msg }) => msg === 'a webhook was not accepted')
  expect(line).toMatchObject({ event: 'agent.created', status: 503, ...ofTrace })
})
