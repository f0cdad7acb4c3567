import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { type SampleOwner, startSampleService } from '../../support/sample-service.ts'

const service = await startSampleService()
const other = await service.another()
const owner = await service.owner()

const withdraw = (
  sampleId: string,
  amount = 1,
  idempotencyKey?: string,
  client: SampleOwner['client'] = owner.client,
) =>
  client.samples.withdraw({
    params: { id: sampleId },
    body: { amount },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })

const replayed = (answers: readonly { headers: Headers }[]): number =>
  answers.filter(({ headers }) => headers.has('idempotent-replayed')).length

describe('a hundred concurrent withdrawals', () => {
  test('get fifty from a balance of fifty, and each leaves its rows', async () => {
    const sampleId = await service.sample(owner, 50)
    const answers = await times(100, () => withdraw(sampleId))
    expect(statusCounts(answers)).toEqual({ 201: 50, 400: 50 })
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.left)).size).toBe(50)
    expect(answers.filter(({ code }) => code === 'sample_empty').length).toBe(50)
    expect(await service.balance(sampleId)).toBe(0)
    expect(await service.traces(sampleId)).toEqual({ withdrawals: 50, events: 50, audit: 50 })
  })

  test('get fifty when two processes serve them', async () => {
    const sampleId = await service.sample(owner, 50)
    const elsewhere = service.at(other, owner)
    const answers = await times(100, index =>
      withdraw(sampleId, 1, undefined, index % 2 ? elsewhere : owner.client),
    )
    expect(statusCounts(answers)).toEqual({ 201: 50, 400: 50 })
    expect(await service.traces(sampleId)).toEqual({ withdrawals: 50, events: 50, audit: 50 })
  })

  test('answers 404 for another owner’s or an unknown sample', async () => {
    const [mine, theirs] = [await service.sample(owner, 50), await service.sample(await service.owner(), 50)]
    const samples = [mine, theirs, 'sample_of_nobody', mine]
    const answers = await times(100, index => withdraw(samples[index % 4] as string))
    expect(statusCounts(answers)).toEqual({ 201: 50, 404: 50 })
    expect(await service.balance(theirs)).toBe(50)
  })
})

describe('a bad request in a batch', () => {
  test('that is refused does not affect the others', async () => {
    const sampleId = await service.sample(owner, 60)
    const answers = await times(60, index => withdraw(sampleId, index === 30 ? 1_000 : 1))
    expect(statusCounts(answers)).toEqual({ 201: 59, 400: 1 })
    expect(await service.balance(sampleId)).toBe(1)
  })

  test('that violates a constraint does not affect the others', async () => {
    const sampleId = await service.sample(owner, 100)
    const answers = await times(60, index => withdraw(sampleId, index === 30 ? 13 : 1))
    expect(statusCounts(answers)).toEqual({ 201: 59, 500: 1 })
    expect(answers[30]?.error).toBe(
      'An internal error occurred. Contact the operator with the X-Request-Id of this answer.',
    )
    expect(await service.balance(sampleId)).toBe(41)
    expect(await service.traces(sampleId)).toEqual({ withdrawals: 59, events: 59, audit: 59 })
  })

  test('may be every second request', async () => {
    const sampleId = await service.sample(owner, 100)
    const answers = await times(40, index => withdraw(sampleId, index % 2 ? 13 : 1))
    expect(statusCounts(answers)).toEqual({ 201: 20, 500: 20 })
    expect(await service.balance(sampleId)).toBe(80)
  })
})

describe('an idempotency key', () => {
  test.each([1, 2])('used by fifty concurrent requests to %i processes has one effect', async processes => {
    const sampleId = await service.sample(owner, 50)
    const clients = [owner.client, service.at(other, owner)].slice(0, processes)
    const answers = await times(50, index =>
      withdraw(sampleId, 1, `same-${processes}`, clients[index % processes]),
    )
    const { 201: succeeded = 0, 409: inProgress = 0 } = statusCounts(answers)
    expect(succeeded + inProgress).toBe(50)
    expect(replayed(answers)).toBe(succeeded - 1)
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id)).size).toBe(1)
    expect(await service.traces(sampleId)).toEqual({ withdrawals: 1, events: 1, audit: 1 })
  })

  test('replays the status and the body of the first answer', async () => {
    const sampleId = await service.sample(owner, 5)
    const first = await withdraw(sampleId, 5, 'later')
    const again = await withdraw(sampleId, 5, 'later')
    expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first.body })
    expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
    expect(await service.balance(sampleId)).toBe(0)
  })

  test('replays a refusal, even when the request would succeed now', async () => {
    const sampleId = await service.sample(owner, 1)
    expect((await withdraw(sampleId, 2, 'refused')).code).toBe('sample_empty')
    await service.sql('update samples set balance = 10 where id = $1', [sampleId])
    const again = await withdraw(sampleId, 2, 'refused')
    expect({ status: again.status, code: again.code, replayed: replayed([again]) }).toEqual({
      status: 400,
      code: 'sample_empty',
      replayed: 1,
    })
  })

  test('is refused with another body, and nothing is withdrawn', async () => {
    const sampleId = await service.sample(owner, 5)
    await withdraw(sampleId, 1, 'reused')
    const { status, code } = await withdraw(sampleId, 2, 'reused')
    expect({ status, code }).toEqual({ status: 422, code: 'idempotency_key_reused' })
    expect(await service.balance(sampleId)).toBe(4)
  })

  test('is refused with another path', async () => {
    await withdraw(await service.sample(owner, 1), 1, 'moved')
    expect((await withdraw(await service.sample(owner, 1), 1, 'moved')).status).toBe(422)
  })

  test('can be used again after the first request failed with 500', async () => {
    const sampleId = await service.sample(owner, 13)
    expect((await withdraw(sampleId, 13, 'failed')).status).toBe(500)
    await service.sql('alter table withdrawals drop constraint withdrawals_amount_check')
    expect((await withdraw(sampleId, 13, 'failed')).status).toBe(201)
    await service.sql('delete from withdrawals where amount = 13')
    await service.sql('alter table withdrawals add constraint withdrawals_amount_check check (amount <> 13)')
  })

  test('affects only its own requests in a batch of several keys', async () => {
    const sampleId = await service.sample(owner, 100)
    await withdraw(sampleId, 1, 'old')
    const keys = ['old', 'new', undefined, 'new', 'old', undefined, 'other']
    const answers = await times(70, index => withdraw(sampleId, 1, keys[index % 7]))
    const { 201: succeeded = 0, 409: inProgress = 0 } = statusCounts(answers)
    expect(succeeded + inProgress).toBe(70)
    // Twenty requests without a key, and one for each new key; all others are replays or refused with 409.
    expect((await service.traces(sampleId)).withdrawals).toBe(1 + 20 + 2)
  })
})
