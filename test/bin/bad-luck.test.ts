import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { client } from '../../src/derive/client.ts'
import { burst, type Create, create, intentsOf } from '../support/burst.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../support/factories.ts'
import { install } from '../support/processes/installation.ts'
import { ownPostgres } from '../support/processes/own-servers.ts'
import { fourPlaces, type Kept, kept, runsOf } from '../support/processes/places.ts'
import { join } from '../support/processes/processes.ts'
import { rows } from '../support/rows.ts'
import { times } from '../support/sample-service.ts'
import { runs } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

jest.setTimeout(120_000)

const postgres = await ownPostgres()
const installation = await install(postgres.url)
const temporal = await runs(installation.temporal.address)

beforeEach(async () => {
  await postgres.start()
  await installation.whole()
})

const sql = (text: string, values: unknown[] = []) => rows(postgres.url, text, values)

interface Owner {
  readonly ownerId: string
  readonly token: string
  readonly agentId: string
  /** By way of the API process that runs now. */
  mine(): TestClient
}

/** A new owner with an agent that may spend ten euros by itself. */
async function anOwner(): Promise<Owner> {
  const token = await join(installation.api.url)
  const mine = () => client(areas, { url: installation.api.url, token })
  const { id: agentId } = await anAgentUnder(mine(), { autoApproveLimitEuros: 10 })
  const [ownerId] = await sql('select owner_id from agents where id = $1', [agentId])
  return { ownerId: String(ownerId), token, agentId, mine }
}

const load = ({ token, agentId }: Owner, lanes: number, restMs = 0) =>
  burst(installation.api.url, token, { lanes, requestFor: intentsOf(agentId), restMs })

const isMade = ({ response }: Create): boolean => response?.status === 201
const idOf = ({ response }: Create): string => response?.body.id
const waits = ({ response }: Create): boolean => response?.body.workflowId !== null

/** An intent to which this happened, and nothing else or twice. */
const done = (id: string, status: string, ...events: string[]): Kept => {
  const names = events.map(event => `intent.${event}`)
  return { id, status, events: names, audit: names }
}

const asDeclared = (one: Create): Kept =>
  waits(one) ? done(idOf(one), 'created', 'created') : done(idOf(one), 'approved', 'approved', 'created')

describe('Temporal that is killed under load', () => {
  test('is not missed by any request, and every process ends as it should', async () => {
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
    expect(creates.filter(one => !isMade(one))).toEqual([])
    expect(Math.max(...creates.map(({ milliseconds }) => milliseconds))).toBeLessThan(5_000)

    const ids = creates.filter(waits).map(idOf)
    const denied = new Set(ids.filter((_, index) => index % 2 === 0))
    const { intents, sandbox } = owner.mine()
    for (const id of denied) await bodyOf(intents.deny({ params: { id }, body: { reason: 'No' } }))
    await bodyOf(sandbox.advance({ body: { days: 2 } }))
    expect(await fourPlaces(postgres.url, temporal, ids)).toEqual(
      ids.map(id => {
        const end = denied.has(id) ? 'denied' : 'expired'
        return { ...done(id, end, 'created', end), run: end }
      }),
    )
    expect(await runsOf(temporal.client, owner.ownerId)).toEqual(ids.map(id => `intent/${id}`).toSorted())
  })
})

describe('PostgreSQL that is restarted while workflows wait', () => {
  test('then knows what was decided meanwhile, before and after, and what expires', async () => {
    const { agentId, mine } = await anOwner()
    const intents = await times(4, () => anIntent(mine(), agentId))
    for (const intent of intents) {
      await temporal.of(intent).begins()
      await temporal.of(intent).says('waits for approval')
    }
    const [signalled, approved, denied, left] = intents as [Intent, Intent, Intent, Intent]
    await postgres.stop()
    await temporal.of(signalled).signal('cancel', { by: 'Ada' })
    await postgres.start()
    await bodyOf(mine().intents.approve({ params: { id: approved.id } }))
    await temporal.of(denied).signal('deny', { by: 'Bob' })
    await temporal.of(denied).ends()
    await temporal.of(signalled).ends()
    await temporal.of(approved).says('in test mode: approved')
    await bodyOf(mine().sandbox.advance({ body: { days: 2 } }))

    const ids = intents.map(({ id }) => id)
    expect(await fourPlaces(postgres.url, temporal, ids)).toEqual([
      { ...done(signalled.id, 'cancelled', 'cancelled', 'created'), run: 'cancelled' },
      { ...done(approved.id, 'expired', 'approved', 'created', 'expired'), run: 'expired' },
      { ...done(denied.id, 'denied', 'created', 'denied'), run: 'denied' },
      { ...done(left.id, 'expired', 'created', 'expired'), run: 'expired' },
    ])
  })
})

type Intent = Awaited<ReturnType<typeof anIntent>>

describe('everything that is killed in a burst of intents', () => {
  test('has kept what it answered for, and keeps it when it is started again', async () => {
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
    const answered = creates.filter(isMade)
    expect(await kept(postgres.url, answered.map(idOf))).toEqual(answered.map(asDeclared))
    // What the killed relay had taken for its own is due now.
    await sql('update outbox set due_at = now()')
    await installation.whole()
    const keyed = creates.filter(({ key }) => key !== null)
    const repeated = await Promise.all(keyed.map(one => create(installation.api.url, owner.token, one)))
    for (const [index, one] of repeated.entries()) {
      const before = keyed[index]?.response
      expect(one.response?.status).toBe(201)
      if (before) expect(one.response?.text).toBe(before.text)
    }
    const all = [...creates.filter(one => one.key === null && isMade(one)), ...repeated]
    expect(await kept(postgres.url, all.map(idOf))).toEqual(all.map(asDeclared))
    const twice = 'select merchant from intents where owner_id = $1 group by 1 having count(*) > 1'
    expect(await sql(twice, [owner.ownerId])).toEqual([])

    const waiting = await sql(
      'select workflow_id from intents where owner_id = $1 and workflow_id is not null',
      [owner.ownerId],
    )
    expect(waiting).toEqual(expect.arrayContaining(all.filter(waits).map(one => `intent/${idOf(one)}`)))
    await until(
      'every run',
      async () => (await runsOf(temporal.client, owner.ownerId)).length >= waiting.length,
    )
    await until('an empty outbox', async () => (await sql('select id from outbox')).length === 0)
    expect(await runsOf(temporal.client, owner.ownerId)).toEqual(waiting.toSorted())
  })
})
