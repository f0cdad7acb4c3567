import { beforeEach, describe, expect, test } from '@jest/globals'
import { times } from '../support/at-once.ts'
import { burst, type Create, create, intentsOf } from '../support/burst.ts'
import { clientAt } from '../support/client.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../support/factories.ts'
import { startInstallation } from '../support/processes/installation.ts'
import { ownPostgres } from '../support/processes/own-servers.ts'
import { createOwner } from '../support/processes/processes.ts'
import {
  intentsWithRuns,
  runsOf,
  type StoredIntent,
  storedIntents,
} from '../support/processes/stored-intents.ts'
import { queryValues } from '../support/rows.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const postgres = await ownPostgres()
const installation = await startInstallation(postgres.url)
const temporal = await runViewer(installation.temporal.address)

beforeEach(async () => {
  await postgres.start()
  await installation.startMissing()
})

const sql = (text: string, values: unknown[] = []) => queryValues(postgres.url, text, values)

interface Owner {
  readonly ownerId: string
  readonly token: string
  readonly agentId: string
  /** A client of the current API process. */
  clientNow(): TestClient
}

async function anOwner(): Promise<Owner> {
  const token = await createOwner(installation.api.url)
  const clientNow = () => clientAt({ url: installation.api.url, token })
  const { id: agentId } = await anAgentUnder(clientNow(), { autoApproveLimitEuros: 10 })
  const [ownerId] = await sql('select owner_id from agents where id = $1', [agentId])
  return { ownerId: String(ownerId), token, agentId, clientNow }
}

const load = ({ token, agentId }: Owner, lanes: number, restMs = 0) =>
  burst(installation.api.url, token, { lanes, requestFor: intentsOf(agentId), restMs })

const isCreated = ({ response }: Create): boolean => response?.status === 201
const idOf = ({ response }: Create): string => response?.body.id
const isWaiting = ({ response }: Create): boolean => response?.body.workflowId !== null

const intentWith = (id: string, status: string, ...events: string[]): StoredIntent => {
  const names = events.map(event => `intent.${event}`)
  return { id, status, events: names, audit: names }
}

const expectedIntent = (entry: Create): StoredIntent =>
  isWaiting(entry)
    ? intentWith(idOf(entry), 'created', 'created')
    : intentWith(idOf(entry), 'approved', 'approved', 'created')

describe('a crash of Temporal under load', () => {
  test('affects no request, and every process still ends in the right state', async () => {
    const owner = await anOwner()
    const running = load(owner, 2, 25)
    const more = async (count: number) => {
      const enough = running.succeeded() + count
      await until(`${count} more`, () => running.succeeded() >= enough)
    }
    await more(60)
    await installation.temporal.kill()
    await more(60)
    await installation.temporal.start()
    await more(30)
    const creates = await running.stop()
    expect(creates.filter(entry => !isCreated(entry))).toEqual([])
    expect(Math.max(...creates.map(({ milliseconds }) => milliseconds))).toBeLessThan(30_000)

    const ids = creates.filter(isWaiting).map(idOf)
    const denied = new Set(ids.filter((_, index) => index % 2 === 0))
    const { intents, sandbox } = owner.clientNow()
    for (const id of denied) await bodyOf(intents.deny({ params: { id }, body: { reason: 'No' } }))
    await bodyOf(sandbox.advance({ body: { days: 2 } }))
    expect(await intentsWithRuns(postgres.url, temporal, ids)).toEqual(
      ids.map(id => {
        const end = denied.has(id) ? 'denied' : 'expired'
        return { ...intentWith(id, end, 'created', end), run: end }
      }),
    )
    // Two days may end a month, whose statement has a run as well.
    const runs = await runsOf(temporal.client, owner.ownerId)
    expect(runs.filter(run => !run.startsWith('statements/'))).toEqual(
      ids.map(id => `intent/${id}`).toSorted(),
    )
  })
})

describe('a restart of PostgreSQL while workflows wait', () => {
  test('loses no decision made before, meanwhile or after, and intents still expire', async () => {
    const { agentId, clientNow } = await anOwner()
    const intents = await times(4, () => anIntent(clientNow(), agentId))
    for (const intent of intents) {
      await temporal.of(intent).untilBegun()
      await temporal.of(intent).untilDetails('waits for approval')
    }
    const [signalled, approved, denied, untouched] = intents as [Intent, Intent, Intent, Intent]
    await postgres.stop()
    await temporal.of(signalled).signal('cancel', { by: 'Ada' })
    await postgres.start()
    await bodyOf(clientNow().intents.approve({ params: { id: approved.id } }))
    await temporal.of(denied).signal('deny', { by: 'Bob' })
    await temporal.of(denied).untilEnded()
    await temporal.of(signalled).untilEnded()
    await temporal.of(approved).untilDetails('in test mode: approved')
    await bodyOf(clientNow().sandbox.advance({ body: { days: 2 } }))

    const ids = intents.map(({ id }) => id)
    expect(await intentsWithRuns(postgres.url, temporal, ids)).toEqual([
      { ...intentWith(signalled.id, 'cancelled', 'cancelled', 'created'), run: 'cancelled' },
      { ...intentWith(approved.id, 'expired', 'approved', 'created', 'expired'), run: 'expired' },
      { ...intentWith(denied.id, 'denied', 'created', 'denied'), run: 'denied' },
      { ...intentWith(untouched.id, 'expired', 'created', 'expired'), run: 'expired' },
    ])
  })
})

type Intent = Awaited<ReturnType<typeof anIntent>>

describe('a crash of every process in a burst of intents', () => {
  test('loses nothing that was answered, then or after the restart', async () => {
    const owner = await anOwner()
    const running = load(owner, 12)
    await until('a hundred intents', () => running.succeeded() >= 100)
    await Promise.all([
      ...(['api', 'relay', 'worker'] as const).map(name => installation.kill(name)),
      installation.temporal.kill(),
      postgres.kill('SIGKILL'),
    ])
    const creates = await running.stop()
    expect(creates.some(({ response }) => response === undefined)).toBe(true)

    await postgres.start()
    const created = creates.filter(isCreated)
    expect(await storedIntents(postgres.url, created.map(idOf))).toEqual(created.map(expectedIntent))
    // Makes the rows claimed by the killed relay due now.
    await sql('update outbox set due_at = now(), leased_until = null')
    await installation.startMissing()
    const keyed = creates.filter(({ key }) => key !== null)
    const repeated = await Promise.all(keyed.map(entry => create(installation.api.url, owner.token, entry)))
    for (const [index, entry] of repeated.entries()) {
      const before = keyed[index]?.response
      expect(entry.response?.status).toBe(201)
      if (before) expect(entry.response?.text).toBe(before.text)
    }
    const all = [...creates.filter(entry => entry.key === null && isCreated(entry)), ...repeated]
    expect(await storedIntents(postgres.url, all.map(idOf))).toEqual(all.map(expectedIntent))
    const duplicates = 'select merchant from intents where owner_id = $1 group by 1 having count(*) > 1'
    expect(await sql(duplicates, [owner.ownerId])).toEqual([])

    const waiting = await sql(
      'select workflow_id from intents where owner_id = $1 and workflow_id is not null',
      [owner.ownerId],
    )
    expect(waiting).toEqual(
      expect.arrayContaining(all.filter(isWaiting).map(entry => `intent/${idOf(entry)}`)),
    )
    await until(
      'every run',
      async () => (await runsOf(temporal.client, owner.ownerId)).length >= waiting.length,
    )
    await until('an empty outbox', async () => (await sql('select id from outbox')).length === 0)
    expect(await runsOf(temporal.client, owner.ownerId)).toEqual(waiting.toSorted())
  })
})
