import './people/consent.ts'
import './people/documented.ts'
import './people/joining.ts'
import './people/last-owner.ts'
import './people/recovered.ts'
import './people/recovery.ts'
import './people/recovery-runs.ts'
import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../support/factories.ts'
import { traceOf } from '../support/trace.ts'
import { service } from './people/people-service.ts'

const GRACE = { name: 'Grace Hopper', email: 'grace@example.com', role: 'approver' } as const

describe('a person', () => {
  test('is invited by a key, with a link that is shown once', async () => {
    const { client, ownerId } = await service.owner()
    const invite = () => client.people.create({ body: GRACE, idempotencyKey: 'invite-1' })
    const answer = await invite()
    expect(answer.status).toBe(201)
    const { joinUrl, joinUrlExpiresAt, ...record } = answer.body
    expect(joinUrl).toMatch(/\/join#lnk_[0-9A-Za-z]{43}$/)
    expect(Date.parse(joinUrlExpiresAt) - Date.now()).toBeGreaterThan(6.9 * 86_400_000)
    expect(record).toEqual({
      id: expect.stringMatching(/^person_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      ...GRACE,
      status: 'invited',
      joinedAt: null,
      removedAt: null,
      recovery: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await client.people.get({ params: { id: record.id } })).body).toEqual(record)
    expect((await client.people.list()).body.data).toEqual([record])
    expect((await invite()).body).toEqual({ ...answer.body, joinUrl: null })
    expect(await traceOf(service, answer)).toEqual({
      events: ['person.invited'],
      actions: ['people.create'],
      entries: 1,
    })
  })

  test('has a new role, name or email, with one event that names what has changed and no email', async () => {
    const { client } = await service.owner()
    const { id } = await bodyOf(client.people.create({ body: GRACE }))
    const body = { role: 'viewer', email: null, name: GRACE.name } as const
    expect((await client.people.update({ params: { id }, body })).body).toMatchObject({
      ...GRACE,
      role: 'viewer',
      email: null,
    })
    const [event] = (await client.events.list()).body.data
    expect(event).toMatchObject({
      event: 'person.updated',
      data: { personId: id, name: GRACE.name, role: 'viewer', status: 'invited', changed: ['email', 'role'] },
    })
    expect(JSON.stringify((await client.events.list()).body)).not.toContain('grace@')
  })

  test('is removed for good: the email is forgotten, the name stays', async () => {
    const { client } = await service.owner()
    const { id } = await bodyOf(client.people.create({ body: GRACE }))
    const removed = (await client.people.remove({ params: { id } })).body
    expect(removed).toMatchObject({ status: 'removed', name: GRACE.name, email: null })
    expect(removed.removedAt).not.toBeNull()
    for (const answer of [
      await client.people.remove({ params: { id } }),
      await client.people.update({ params: { id }, body: { role: 'owner' } }),
      await client.people.link({ params: { id } }),
    ])
      expect(answer).toMatchObject({ status: 404, code: 'person_not_found' })
  })
})

describe('an email', () => {
  test('belongs to one person, in any case, until that one is removed', async () => {
    const { client } = await service.owner()
    const { id } = await bodyOf(client.people.create({ body: GRACE }))
    const another = () => client.people.create({ body: { ...GRACE, email: 'GRACE@example.com' } })
    expect(await another()).toMatchObject({ status: 400, code: 'email_taken' })
    expect((await client.people.update({ params: { id }, body: { email: GRACE.email } })).status).toBe(200)
    await bodyOf(client.people.remove({ params: { id } }))
    expect((await another()).status).toBe(201)
  })
})

describe('a list of people', () => {
  test('has the newest first and can be narrowed to a status and a role', async () => {
    const { client } = await service.owner()
    const grace = await bodyOf(client.people.create({ body: GRACE }))
    const alan = await bodyOf(client.people.create({ body: { name: 'Alan Turing', role: 'viewer' } }))
    await bodyOf(client.people.remove({ params: { id: alan.id } }))
    const idsOf = async (query: object) => (await client.people.list({ query })).body.data.map(({ id }) => id)
    expect(await idsOf({})).toEqual([alan.id, grace.id])
    expect(await idsOf({ status: 'removed' })).toEqual([alan.id])
    expect(await idsOf({ role: 'approver' })).toEqual([grace.id])
  })
})
