import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { tablesWith, traceOf } from '../../support/trace.ts'
import { ada, berlin, dash, service } from './customers-service.ts'

describe('the address of a customer', () => {
  const whole = { ...berlin, line2: null }

  test('is given when the account is opened, and changed and removed by the customer', async () => {
    const body = { ...ada, phone: '+493012345678', address: berlin }
    const opened = await bodyOf(dash.keys.openAccount({ body }))
    expect(opened).toMatchObject({ phone: '+493012345678', address: whole })
    const client = service.client(String(opened.key))
    const moved = { ...whole, line1: 'Bergstraße 2', line2: 'Floor 3' }
    expect((await client.customers.updateMe({ body: { address: moved } })).body.address).toEqual(moved)
    expect((await client.customers.me()).body).toMatchObject({ address: moved, phone: '+493012345678' })
    await client.customers.updateMe({ body: { address: null, phone: null } })
    expect((await client.customers.me()).body).toMatchObject({ address: null, phone: null })
    const stored = await service.sql('select address, phone from customers where id = $1', [opened.id])
    expect(stored).toEqual([{ address: null, phone: null }])
  })

  test('stays as it is when something else is changed', async () => {
    const opened = await bodyOf(dash.keys.openAccount({ body: { ...ada, address: berlin } }))
    const client = service.client(String(opened.key))
    expect((await client.customers.updateMe({ body: { name: 'Ada King' } })).body.address).toEqual(whole)
  })

  test('is named by the event when it changes, and not repeated when it is the same', async () => {
    const opened = await bodyOf(dash.keys.openAccount({ body: { ...ada, address: berlin } }))
    const client = service.client(String(opened.key))
    const same = await client.customers.updateMe({ body: { address: { ...whole } } })
    expect((await traceOf(service, same))?.events).toEqual([])
    await client.customers.updateMe({ body: { address: { ...berlin, line1: 'Geheimweg 77' } } })
    const events = await bodyOf(client.events.list({ query: { event: 'cardholder.updated' } }))
    expect(events.data.map(({ data }) => data)).toMatchObject([{ changed: ['address'] }])
    expect(await tablesWith(service, 'Geheimweg 77')).toEqual(['customers'])
  })
})
