import { describe, expect, test } from '@jest/globals'
import { PLATFORM_OWNER_ID } from '../../src/identity/customers/customer.ts'
import { aKey, aLiveClient, anAgent, aToken, bodyOf } from '../support/factories.ts'
import { tablesWith, traceOf, transactionCount } from '../support/trace.ts'
import { ada, berlin, dash, service } from './customers/customers-service.ts'

import './customers/addresses.ts'

describe('opening an account', () => {
  test('creates a customer and a working sandbox key', async () => {
    const { status, body } = await dash.keys.openAccount({ body: ada })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^customer_[0-9a-z]{26}$/),
      ...ada,
      phone: null,
      address: null,
      plan: 'free',
      status: 'active',
      kycStatus: 'none',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: body.createdAt,
      key: expect.stringMatching(/^sk_sandbox_[0-9A-Za-z]{43}$/),
    })
    const { key, ...record } = body
    const client = service.client(String(key))
    expect((await client.customers.me()).body).toEqual(record)
    const [first] = (await client.keys.list()).body.data
    expect(first).toMatchObject({ ownerId: body.id, environment: 'sandbox', hint: String(key).slice(-4) })
  })

  test('records events and audit entries in the same transaction, without personal data', async () => {
    const answer = await dash.keys.openAccount({ body: { ...ada, email: 'trace@example.com' } })
    expect(await traceOf(service, answer)).toEqual({
      events: ['customer.created', 'key.created'],
      actions: ['keys.openAccount'],
      entries: 2,
    })
    expect(await transactionCount(service, answer, 'customers', answer.body.id)).toBe(1)
    expect(await tablesWith(service, 'trace@example.com')).toEqual(['customers'])
  })

  test('happens once for an idempotency key, and the replay does not show the secret', async () => {
    const twice = { body: ada, idempotencyKey: 'join-ada' }
    const first = await dash.keys.openAccount(twice)
    const second = await dash.keys.openAccount(twice)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.body).toEqual({ ...first.body, key: null })
    expect(await tablesWith(service, String(first.body.key))).toEqual([])
  })

  test.each([
    ['an address that is none', { email: 'ada@' }, 'email:'],
    ['a country that does not exist', { country: 'XX' }, 'country:'],
    ['a country in small letters', { country: 'gb' }, 'country:'],
    ['another type', { type: 'robot' }, 'type:'],
    ['another plan', { plan: 'gold' }, 'plan:'],
    ['an empty name', { name: '  ' }, 'name:'],
    ['a status of its own', { kycStatus: 'verified' }, 'kycStatus:'],
    ['a phone number without its country', { phone: '030 12345678' }, 'phone:'],
    ['a phone number that is too long', { phone: `+49${'1'.repeat(14)}` }, 'phone:'],
    ['an address without a street', { address: { ...berlin, line1: ' ' } }, 'address.line1:'],
    ['an address without a city', { address: { ...berlin, city: undefined } }, 'address.city:'],
    [
      'an address with a postal code that is too long',
      { address: { ...berlin, postalCode: '1'.repeat(21) } },
      'address.postalCode:',
    ],
    ['an address in no country', { address: { ...berlin, country: 'XX' } }, 'address.country:'],
    ['an address with a member of its own', { address: { ...berlin, planet: 'Earth' } }, 'planet'],
  ])('refuses %s', async (_, invalid, field) => {
    const before = await service.sql('select count(*) from customers')
    const headers = { 'x-dashboard-secret': service.dashboardSecret }
    const { status, body } = await service.http('POST', '/customers', {
      headers,
      body: { ...ada, ...invalid },
    })
    expect(status).toBe(400)
    expect(body).toEqual({ error: expect.stringContaining(field) })
    expect(await service.sql('select count(*) from customers')).toEqual(before)
  })

  test('requires the dashboard secret', async () => {
    const { client } = await service.owner()
    expect((await client.keys.openAccount({ body: ada })).code).toBe('wrong_caller')
    expect((await service.client().keys.openAccount({ body: ada })).status).toBe(401)
    const headers = { 'x-dashboard-secret': 'not-the-secret-of-the-dashboard' }
    expect((await service.http('POST', '/customers', { headers, body: ada })).status).toBe(401)
  })
})

describe('the dashboard', () => {
  test('lists customers newest first, and finds them by plan, status and address', async () => {
    const older = await bodyOf(
      dash.keys.openAccount({ body: { ...ada, email: 'one@list.example', plan: 'starter' } }),
    )
    const newer = await bodyOf(
      dash.keys.openAccount({ body: { ...ada, email: 'two@list.example', plan: 'starter' } }),
    )
    const enterprises = await bodyOf(dash.customers.list({ query: { plan: 'enterprise' } }))
    expect(enterprises.data.map(({ id }) => id)).not.toContain(PLATFORM_OWNER_ID)
    const starters = await bodyOf(dash.customers.list({ query: { plan: 'starter' } }))
    expect(starters.data.map(({ id }) => id)).toEqual([newer.id, older.id])
    const matches = await bodyOf(
      dash.customers.list({ query: { email: 'one@list.example', status: 'active' } }),
    )
    expect(matches.data.map(({ id }) => id)).toEqual([older.id])
    expect(matches).toMatchObject({ hasMore: false, nextCursor: null })
    const page = await bodyOf(dash.customers.list({ query: { plan: 'starter', limit: 1 } }))
    const next = await bodyOf(
      dash.customers.list({ query: { plan: 'starter', limit: 1, cursor: String(page.nextCursor) } }),
    )
    expect([...page.data, ...next.data].map(({ id }) => id)).toEqual([newer.id, older.id])
  })

  test('gets a customer, and 404 for an unknown id', async () => {
    const { key: _, ...record } = await bodyOf(dash.keys.openAccount({ body: ada }))
    expect((await dash.customers.get({ params: { id: record.id } })).body).toEqual(record)
    const unknown = { params: { id: 'customer_00000000000000000000000000' } }
    expect((await dash.customers.get(unknown)).code).toBe('customer_not_found')
    expect((await dash.customers.update({ ...unknown, body: { plan: 'free' } })).code).toBe(
      'customer_not_found',
    )
  })

  test.each([
    ['the plan', { plan: 'enterprise' }, ['customer.updated']],
    ['the status', { status: 'suspended' }, ['customer.updated']],
    ['the name', { name: 'Ada King' }, ['cardholder.updated']],
    ['name and plan', { name: 'Ada King', plan: 'starter' }, ['cardholder.updated', 'customer.updated']],
    ['the phone number', { phone: '+493012345678' }, ['cardholder.updated']],
    ['the address', { address: { ...berlin, line2: 'c/o Babbage' } }, ['cardholder.updated']],
    ['nothing', { name: ada.name, status: 'active' }, []],
  ] as const)('changes %s, with an event for each change', async (_, body, events) => {
    const { key: _key, ...before } = await bodyOf(dash.keys.openAccount({ body: ada }))
    const answer = await dash.customers.update({ params: { id: before.id }, body })
    expect(answer).toMatchObject({ status: 200, body: { ...before, ...body, updatedAt: expect.any(String) } })
    expect((await traceOf(service, answer))?.events).toEqual(events)
  })

  test('cannot verify a customer by itself', async () => {
    const { ownerId } = await service.owner()
    const headers = { 'x-dashboard-secret': service.dashboardSecret }
    const request = { headers, body: { kycStatus: 'verified' } }
    const { status, body } = await service.http('PATCH', `/customers/${ownerId}`, request)
    expect(status).toBe(400)
    expect(body.error).toContain('kycStatus')
  })

  test('does not take `me` for an id', async () => {
    expect((await dash.customers.me()).code).toBe('wrong_caller')
    expect((await dash.customers.updateMe({ body: { name: 'Me' } })).code).toBe('wrong_caller')
  })
})

describe('a suspended customer', () => {
  test('cannot use keys or tokens until reactivated, and gets an error that says so', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await anAgent(client)
    const token = service.client(String((await aToken(client, agent.id)).token))
    const answers = async () => {
      const both = [await client.customers.me(), await token.agents.list()]
      return both.map(({ status, code }) => code ?? status)
    }
    expect(await answers()).toEqual([200, 200])
    await bodyOf(dash.customers.update({ params: { id: ownerId }, body: { status: 'suspended' } }))
    expect(await answers()).toEqual(['account_suspended', 'account_suspended'])
    expect((await service.client('sk_sandbox_guess').customers.me()).code).toBe('unauthenticated')
    await bodyOf(dash.customers.update({ params: { id: ownerId }, body: { status: 'active' } }))
    expect(await answers()).toEqual([200, 200])
  })
})

describe('an owner', () => {
  test('changes name, email and country, each with an event that does not contain them', async () => {
    const { client, ownerId } = await service.owner()
    const body = { name: 'Grace Hopper', email: 'grace@secret.example', country: 'US' }
    const answer = await client.customers.updateMe({ body })
    expect(answer).toMatchObject({ status: 200, body })
    expect(await traceOf(service, answer)).toMatchObject({ events: ['cardholder.updated'], entries: 1 })
    expect(await transactionCount(service, answer, 'customers', ownerId)).toBe(1)
    expect((await client.events.list()).body.data[0]?.data).toEqual({
      customerId: ownerId,
      status: 'active',
      plan: 'business',
      changed: ['name', 'email', 'country'],
    })
    expect(await tablesWith(service, 'grace@secret.example')).toEqual(['customers'])
  })

  test('keeps the name under which it was verified; the operator can change it', async () => {
    const owner = await service.owner()
    await aLiveClient(service, owner)
    const { name } = await bodyOf(owner.client.customers.me())
    const renamed = await owner.client.customers.updateMe({
      body: { name: 'Europol', phone: '+493012345678' },
    })
    expect(renamed).toMatchObject({ status: 400, code: 'name_verified' })
    expect(await bodyOf(owner.client.customers.me())).toMatchObject({ name, phone: null })
    expect((await owner.client.customers.updateMe({ body: { name, phone: '+493012345678' } })).status).toBe(
      200,
    )
    const params = { id: owner.ownerId }
    expect((await dash.customers.update({ params, body: { name: 'Ada King' } })).body.name).toBe('Ada King')
  })

  test('cannot change plan or status', async () => {
    const { key } = await service.owner()
    for (const body of [{ plan: 'enterprise' }, { status: 'active' }]) {
      const answer = await service.http('PATCH', '/customers/me', { token: key, body })
      expect(answer.status).toBe(400)
      expect(answer.body.error).toContain(Object.keys(body)[0])
    }
  })

  test('sees no other customer', async () => {
    const { client } = await service.owner()
    const other = await service.owner()
    expect((await client.customers.list()).code).toBe('wrong_caller')
    expect((await client.customers.get({ params: { id: other.ownerId } })).code).toBe('wrong_caller')
  })

  test('needs the scope', async () => {
    const { client } = await service.owner()
    const narrow = service.client(String((await aKey(client, { scopes: ['events:read'] })).key))
    expect((await narrow.customers.me()).code).toBe('missing_scope')
    expect((await narrow.customers.updateMe({ body: {} })).code).toBe('missing_scope')
  })

  test('gets events of the account in live mode once verified', async () => {
    const owner = await service.owner()
    const live = await aLiveClient(service, owner)
    await bodyOf(dash.customers.update({ params: { id: owner.ownerId }, body: { plan: 'enterprise' } }))
    await bodyOf(owner.client.customers.updateMe({ body: { country: 'FR' } }))
    const events = (await live.events.list()).body.data.map(({ event }) => event)
    expect(events).toEqual(['cardholder.updated', 'customer.updated', 'key.created'])
  })
})
