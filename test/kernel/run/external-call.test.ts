import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { startPots, tally, times } from '../../support/sample-service.ts'
import { until } from '../../support/until.ts'

/** The bell rings as the test says; each ring is noted. */
let ring: () => Promise<string> = async () => 'heard'
const rings: string[] = []
const service = await startPots({
  bell: ringId => {
    rings.push(ringId)
    return ring()
  },
})
const other = await service.another()
const owner = await service.owner()

let atLast = (): void => undefined
afterEach(() => atLast())
beforeEach(() => {
  ring = async () => 'heard'
  rings.splice(0)
})

const ask = (potId: string, idempotencyKey?: string, client = owner.client) =>
  client.pots.ring({ params: { id: potId }, ...(idempotencyKey ? { idempotencyKey } : {}) })

/** A bell that rings until it is told what was heard. */
function slowBell() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  ring = () => promise
  atLast = () => resolve('nobody waits any more')
  return { answer: resolve, fail: () => reject(new Error('the rope is broken')) }
}

const ringing = (count: number) => until(`${count} rings`, () => rings.length >= count)

const states = async (potId: string) =>
  (await service.sql('select state from rings where pot_id = $1 order by id', [potId])).map(
    ({ state }) => state,
  )

/** As if the call had been made that long ago. */
const age = (key: string, interval: string) =>
  service.sql('update idempotency_keys set created_at = created_at - $2::interval where key = $1', [
    key,
    interval,
  ])

const openTransactions = () =>
  service.sql(
    `select query from pg_stat_activity
     where datname = current_database() and state like 'idle in transaction%'`,
  )

const advisoryLocks = () =>
  service.sql(
    `select from pg_locks join pg_database d on d.oid = database
     where locktype = 'advisory' and datname = current_database()`,
  )

describe('a call to the outside', () => {
  test('is reserved, made once and recorded, with its event and audit row', async () => {
    const potId = await service.pot(owner, 1)
    const { status, body } = await ask(potId)
    expect({ status, body }).toEqual({ status: 200, body: { id: rings[0], answer: 'heard' } })
    expect(rings.length).toBe(1)
    expect(await states(potId)).toEqual(['heard'])
    expect(await service.traces(potId)).toEqual({ takings: 0, events: 1, audit: 1 })
  })

  test('is made with no transaction open and no lock held, its reservation there to see', async () => {
    const potId = await service.pot(owner, 1)
    const bell = slowBell()
    const asked = ask(potId, 'slow')
    await ringing(1)
    expect(await openTransactions()).toEqual([])
    expect(await advisoryLocks()).toEqual([])
    expect(await states(potId)).toEqual(['asked'])
    bell.answer('heard at last')
    expect((await asked).body.answer).toBe('heard at last')
  })

  test('is not made where reserving is refused', async () => {
    const { status, code } = await ask('pot_of_nobody', 'refused')
    expect({ status, code }).toEqual({ status: 404, code: 'pot_not_found' })
    expect(rings).toEqual([])
    const again = await ask('pot_of_nobody', 'refused')
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([404, 'true'])
  })

  test('is replayed, not repeated', async () => {
    const potId = await service.pot(owner, 1)
    const first = await ask(potId, 'replayed')
    const again = await ask(potId, 'replayed')
    expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(rings.length).toBe(1)
  })

  test('is made once when it is asked for fifty times at once over two processes', async () => {
    const potId = await service.pot(owner, 1)
    const bell = slowBell()
    const clients = [owner.client, service.at(other, owner)]
    const asked = times(50, index => ask(potId, 'fifty', clients[index % 2]))
    await ringing(1)
    expect((await ask(potId, 'fifty')).status).toBe(409)
    bell.answer('heard')
    const { 200: told = 0, 409: waiting = 0 } = tally(await asked)
    expect(told + waiting).toBe(50)
    expect(told).toBeGreaterThan(0)
    expect(rings.length).toBe(1)
    expect(await service.traces(potId)).toEqual({ takings: 0, events: 1, audit: 1 })
  })

  test('with the same key for something else is refused while it is under way', async () => {
    const potId = await service.pot(owner, 1)
    const bell = slowBell()
    const asked = ask(potId, 'else')
    await ringing(1)
    expect((await ask(await service.pot(owner, 1), 'else')).status).toBe(422)
    bell.answer('heard')
    await asked
  })
})

describe('a call that fails', () => {
  test('is our fault, and not made again while its lease lasts', async () => {
    const potId = await service.pot(owner, 1)
    const bell = slowBell()
    const asked = ask(potId, 'broken')
    await ringing(1)
    bell.fail()
    expect((await asked).status).toBe(500)
    const { status, code, headers } = await ask(potId, 'broken')
    expect({ status, code }).toEqual({ status: 409, code: 'in_progress' })
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    await age('broken', '1 minute')
    expect((await ask(potId, 'broken')).status).toBe(409)
    expect(rings.length).toBe(1)
  })

  test('is recovered by the next try after its lease, and the bell is not rung again', async () => {
    const potId = await service.pot(owner, 1)
    ring = async () => {
      throw new Error('the rope is broken')
    }
    await ask(potId, 'recovered')
    await age('recovered', '3 minutes')
    const answers = await times(10, () => ask(potId, 'recovered'))
    const recovered = answers.find(({ status }) => status === 200)
    expect(recovered?.body).toEqual({ id: rings[0], answer: 'unknown' })
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    expect((await ask(potId, 'recovered')).body).toEqual(recovered?.body)
    expect(rings.length).toBe(1)
    expect(await states(potId)).toEqual(['unknown'])
    expect((await service.traces(potId)).events).toBe(1)
  })

  test('and comes back after somebody has recovered changes nothing any more', async () => {
    const potId = await service.pot(owner, 1)
    const bell = slowBell()
    const asked = ask(potId, 'late')
    await ringing(1)
    await age('late', '3 minutes')
    expect((await ask(potId, 'late')).body.answer).toBe('unknown')
    bell.answer('heard after all')
    expect((await asked).body.answer).toBe('unknown')
    expect(await states(potId)).toEqual(['unknown'])
    expect((await service.traces(potId)).events).toBe(1)
  })

  test('without a key is simply told', async () => {
    const potId = await service.pot(owner, 1)
    ring = async () => {
      throw new Error('the rope is broken')
    }
    expect((await ask(potId)).status).toBe(500)
    ring = async () => 'heard'
    expect((await ask(potId)).status).toBe(200)
    expect(rings.length).toBe(2)
  })
})
