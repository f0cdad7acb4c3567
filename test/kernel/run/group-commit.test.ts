import { describe, expect, test } from '@jest/globals'
import { type PotOwner, startPots, tally, times } from '../../support/sample-service.ts'

const service = await startPots()
const other = await service.another()
const owner = await service.owner()

const take = (
  potId: string,
  amount = 1,
  idempotencyKey?: string,
  client: PotOwner['client'] = owner.client,
) =>
  client.pots.take({
    params: { id: potId },
    body: { amount },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })

const replayed = (answers: readonly { headers: Headers }[]): number =>
  answers.filter(({ headers }) => headers.has('idempotent-replayed')).length

describe('a hundred takings at once', () => {
  test('get fifty from a pot with fifty, and each leaves its traces', async () => {
    const potId = await service.pot(owner, 50)
    const answers = await times(100, () => take(potId))
    expect(tally(answers)).toEqual({ 201: 50, 400: 50 })
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.left)).size).toBe(50)
    expect(answers.filter(({ code }) => code === 'pot_empty').length).toBe(50)
    expect(await service.left(potId)).toBe(0)
    expect(await service.traces(potId)).toEqual({ takings: 50, events: 50, audit: 50 })
  })

  test('get fifty too when two processes take', async () => {
    const potId = await service.pot(owner, 50)
    const elsewhere = service.at(other, owner)
    const answers = await times(100, index => take(potId, 1, undefined, index % 2 ? elsewhere : owner.client))
    expect(tally(answers)).toEqual({ 201: 50, 400: 50 })
    expect(await service.traces(potId)).toEqual({ takings: 50, events: 50, audit: 50 })
  })

  test('are told apart: who takes from another’s pot or from none finds none', async () => {
    const [mine, theirs] = [await service.pot(owner, 50), await service.pot(await service.owner(), 50)]
    const pots = [mine, theirs, 'pot_of_nobody', mine]
    const answers = await times(100, index => take(pots[index % 4] as string))
    expect(tally(answers)).toEqual({ 201: 50, 404: 50 })
    expect(await service.left(theirs)).toBe(50)
  })
})

describe('one bad request in a batch', () => {
  test('that is refused harms nobody', async () => {
    const potId = await service.pot(owner, 60)
    const answers = await times(60, index => take(potId, index === 30 ? 1_000 : 1))
    expect(tally(answers)).toEqual({ 201: 59, 400: 1 })
    expect(await service.left(potId)).toBe(1)
  })

  test('that a constraint refuses harms nobody', async () => {
    const potId = await service.pot(owner, 100)
    const answers = await times(60, index => take(potId, index === 30 ? 13 : 1))
    expect(tally(answers)).toEqual({ 201: 59, 500: 1 })
    expect(answers[30]?.error).toBe(
      'Something went wrong on our side. Give us the X-Request-Id of this answer.',
    )
    expect(await service.left(potId)).toBe(41)
    expect(await service.traces(potId)).toEqual({ takings: 59, events: 59, audit: 59 })
  })

  test('may be every second one', async () => {
    const potId = await service.pot(owner, 100)
    const answers = await times(40, index => take(potId, index % 2 ? 13 : 1))
    expect(tally(answers)).toEqual({ 201: 20, 500: 20 })
    expect(await service.left(potId)).toBe(80)
  })
})

describe('an idempotency key', () => {
  test.each([1, 2])('used fifty times at once over %i processes has one effect', async processes => {
    const potId = await service.pot(owner, 50)
    const clients = [owner.client, service.at(other, owner)].slice(0, processes)
    const answers = await times(50, index => take(potId, 1, `same-${processes}`, clients[index % processes]))
    const { 201: told = 0, 409: waiting = 0 } = tally(answers)
    expect(told + waiting).toBe(50)
    expect(replayed(answers)).toBe(told - 1)
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id)).size).toBe(1)
    expect(await service.traces(potId)).toEqual({ takings: 1, events: 1, audit: 1 })
  })

  test('replays afterwards what was answered, status and body', async () => {
    const potId = await service.pot(owner, 5)
    const first = await take(potId, 5, 'later')
    const again = await take(potId, 5, 'later')
    expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first.body })
    expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
    expect(await service.left(potId)).toBe(0)
  })

  test('replays a refusal, even when it would be granted by now', async () => {
    const potId = await service.pot(owner, 1)
    expect((await take(potId, 2, 'refused')).code).toBe('pot_empty')
    await service.sql('update pots set left_over = 10 where id = $1', [potId])
    const again = await take(potId, 2, 'refused')
    expect({ status: again.status, code: again.code, replayed: replayed([again]) }).toEqual({
      status: 400,
      code: 'pot_empty',
      replayed: 1,
    })
  })

  test('with another body is refused, and nothing is taken', async () => {
    const potId = await service.pot(owner, 5)
    await take(potId, 1, 'reused')
    const { status, code } = await take(potId, 2, 'reused')
    expect({ status, code }).toEqual({ status: 422, code: 'idempotency_key_reused' })
    expect(await service.left(potId)).toBe(4)
  })

  test('with another address is refused too', async () => {
    await take(await service.pot(owner, 1), 1, 'moved')
    expect((await take(await service.pot(owner, 1), 1, 'moved')).status).toBe(422)
  })

  test('serves again when its first request failed for no fault of its own', async () => {
    const potId = await service.pot(owner, 13)
    expect((await take(potId, 13, 'failed')).status).toBe(500)
    await service.sql('alter table takings drop constraint takings_amount_check')
    expect((await take(potId, 13, 'failed')).status).toBe(201)
    await service.sql('delete from takings where amount = 13')
    await service.sql('alter table takings add constraint takings_amount_check check (amount <> 13)')
  })

  test('in a batch with strangers concerns only its own', async () => {
    const potId = await service.pot(owner, 100)
    await take(potId, 1, 'old')
    const keys = ['old', 'new', undefined, 'new', 'old', undefined, 'other']
    const answers = await times(70, index => take(potId, 1, keys[index % 7]))
    const { 201: told = 0, 409: waiting = 0 } = tally(answers)
    expect(told + waiting).toBe(70)
    // Twenty without a key, one of each key; the rest are replays or wait.
    expect((await service.traces(potId)).takings).toBe(1 + 20 + 2)
  })
})
