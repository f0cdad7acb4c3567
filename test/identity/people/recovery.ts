import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { aKey, bodyOf, type TestClient } from '../../support/factories.ts'
import { traceOf } from '../../support/trace.ts'
import { service } from './people-service.ts'

const { dash } = service

/** A person of a new owner, and that person's recovery. */
async function recovering() {
  const owner = await service.owner()
  const { client } = owner
  const body = { name: 'Grace Hopper', email: 'grace@example.com', role: 'owner' } as const
  const { id } = await bodyOf(client.people.create({ body }))
  const params = { id }
  const answer = await dash.people.recover({ params })
  return { ...owner, params, answer }
}

const advance = (client: TestClient, body: { minutes?: number; days?: number }) =>
  bodyOf(client.sandbox.advance({ body }))

const shown = async (client: TestClient, params: { id: string }) =>
  (await bodyOf(client.people.get({ params }))).recovery

const told = async (client: TestClient) =>
  (await bodyOf(client.events.list())).data
    .filter(({ event }) => event.startsWith('person.'))
    .map(({ event, data }) => [event, (data as { reason?: string }).reason ?? null])
    .reverse()

describe('a recovery', () => {
  test('is started by the operator, and notifies all people of the account', async () => {
    const { client, params, answer } = await recovering()
    expect(answer.status).toBe(201)
    const { recovery } = answer.body
    expect(recovery).toEqual({
      id: expect.stringMatching(/^recovery_/),
      status: 'waiting',
      startedAt: expect.any(String),
      readyAt: expect.any(String),
      expiresAt: expect.any(String),
      workflowId: `recovery/${recovery?.id}`,
    })
    const waits = Date.parse(String(recovery?.readyAt)) - Date.parse(String(recovery?.startedAt))
    expect(waits).toBe(24 * 3_600_000)
    expect((await bodyOf(client.people.list())).data).toMatchObject([{ id: params.id, recovery }])
    const [event] = (await bodyOf(client.events.list())).data
    expect(event).toMatchObject({
      event: 'person.recovery_started',
      data: {
        personId: params.id,
        name: 'Grace Hopper',
        recoveryId: recovery?.id,
        readyAt: recovery?.readyAt,
      },
    })
    expect(await traceOf(service, answer)).toEqual({
      events: ['person.recovery_started'],
      actions: ['people.recover'],
      entries: 1,
    })
  })

  test('is open only once under concurrent requests', async () => {
    const { client } = await service.owner()
    const { id } = await bodyOf(client.people.create({ body: { name: 'Grace', role: 'owner' } }))
    const answers = await times(5, () => dash.people.recover({ params: { id } }))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400])
    expect(answers.find(({ status }) => status === 400)?.code).toBe('recovery_under_way')
  })

  test('is stopped by any key, whatever its scopes, and leads to no link', async () => {
    const { client, params } = await recovering()
    const { key } = await aKey(client, { scopes: ['agents:read'] })
    const answer = await service.client(String(key)).people.stopRecovery({ params })
    expect(answer).toMatchObject({ status: 200, body: { recovery: null } })
    expect(await told(client)).toEqual([
      ['person.invited', null],
      ['person.recovery_started', null],
      ['person.recovery_stopped', 'stopped'],
    ])
    const [row] = await service.sql('select status, stopped_by from recoveries where person_id = $1', [
      params.id,
    ])
    expect(row).toMatchObject({ status: 'stopped', stopped_by: { type: 'key' } })
    await advance(client, { days: 1 })
    expect(await dash.people.link({ params })).toMatchObject({ status: 400, code: 'recovery_not_ready' })
    const again = await client.people.stopRecovery({ params })
    expect(again).toMatchObject({ status: 404, code: 'recovery_not_found' })
  })

  test('gives the operator a link after 24 hours, and not a minute sooner', async () => {
    const { client, params } = await recovering()
    await advance(client, { minutes: 24 * 60 - 1 })
    expect(await dash.people.link({ params })).toMatchObject({ status: 400, code: 'recovery_not_ready' })
    await advance(client, { minutes: 1 })
    expect(await shown(client, params)).toMatchObject({ status: 'ready' })
    const link = await bodyOf(dash.people.link({ params }))
    expect(link).toMatchObject({ personId: params.id, kind: 'recovery' })
    expect(link.url).toMatch(/\/join#lnk_\w{43}$/)
  })

  test('that is ready can still be stopped: its link opens nothing any more', async () => {
    const { client, params } = await recovering()
    await advance(client, { days: 1 })
    const { id } = await bodyOf(dash.people.link({ params }))
    await bodyOf(client.people.stopRecovery({ params }))
    const [row] = await service.sql('select revoked_at from person_links where id = $1', [id])
    expect(row?.revoked_at).toBeInstanceOf(Date)
  })

  test('expires after seven more days if it is not used', async () => {
    const { client, params } = await recovering()
    await advance(client, { days: 8 })
    expect(await shown(client, params)).toBeNull()
    expect((await told(client)).slice(-2)).toEqual([
      ['person.updated', null],
      ['person.recovery_stopped', 'expired'],
    ])
    expect((await dash.people.recover({ params })).status).toBe(201)
  })

  test('ends with the person', async () => {
    const { client, params } = await recovering()
    await bodyOf(client.people.remove({ params }))
    expect((await told(client)).slice(-2)).toEqual([
      ['person.removed', null],
      ['person.recovery_stopped', 'removed'],
    ])
    expect(await dash.people.recover({ params })).toMatchObject({ status: 404, code: 'person_not_found' })
  })

  test('of another owner, or of the other mode, is not found by a key', async () => {
    const { params } = await recovering()
    const other = await service.owner()
    const answer = await other.client.people.stopRecovery({ params })
    expect(answer).toMatchObject({ status: 404, code: 'person_not_found' })
  })

  test('that is stopped while it becomes ready is one of both, and never has a link afterwards', async () => {
    const { client, params } = await recovering()
    await advance(client, { days: 1 })
    const [stopped, linked] = await Promise.all([
      client.people.stopRecovery({ params }),
      dash.people.link({ params }),
    ])
    expect(stopped.status).toBe(200)
    expect([201, 400]).toContain(linked.status)
    const open = await service.sql(
      'select id from person_links where person_id = $1 and kind = $2 and revoked_at is null',
      [params.id, 'recovery'],
    )
    expect(open).toEqual([])
  })
})
