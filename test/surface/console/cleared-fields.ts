import { expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { newsIn, openAsOwner } from '../console-pages/devices.ts'
import { service } from './visitors.ts'

test('an owner without an address changes the phone number on the settings page, then adds and clears the address', async () => {
  const { client } = await service.owner()
  const holder = () => bodyOf(client.customers.me())
  const { page } = await openAsOwner(client)
  const change = async (fields: Readonly<Record<string, string>>) => {
    await page.goto(new URL('/console/settings', page.url()).href)
    const box = page.locator('.box', { has: page.getByRole('heading', { name: 'Holder' }) })
    await box.locator('button[commandfor]', { hasText: 'Change' }).click()
    for (const [name, value] of Object.entries(fields)) await box.locator(`[name="${name}"]`).fill(value)
    await box.locator('button[type="submit"]').click()
    await newsIn(page).filter({ hasText: 'Done' }).waitFor({ timeout: 10_000 })
  }
  expect((await holder()).address).toBeNull()
  await change({ phone: '+4930123456' })
  expect(await holder()).toMatchObject({ phone: '+4930123456', address: null })
  const address = { line1: 'Torstraße 1', city: 'Berlin', postalCode: '10119', country: 'DE' }
  const members = Object.entries(address).map(([name, value]) => [`address.${name}`, value] as const)
  await change(Object.fromEntries(members))
  expect((await holder()).address).toEqual({ ...address, line2: null })
  await change(Object.fromEntries(members.map(([name]) => [name, ''])))
  expect((await holder()).address).toBeNull()
})

test('hours of a channel that are cleared are no limit any more', async () => {
  const { client } = await service.owner()
  const { page } = await openAsOwner(client)
  const { data } = await bodyOf(client.people.list())
  const params = { id: String(data[0]?.id) }
  const url = 'https://hooks.slack.com/services/T0/B0/cleared'
  const { id } = await bodyOf(
    client.channels.create({ params, body: { type: 'slack', url, hours: { from: 7, to: 19 } } }),
  )
  await service.sql(
    'update channels set code = null, code_expires_at = null, verified_at = now() where id = $1',
    [id],
  )
  await page.goto(new URL(`/console/people/${params.id}`, page.url()).href)
  const row = page.locator('tr', { hasText: '07:00 to 19:00' })
  await row.locator('button[commandfor]', { hasText: 'Change' }).click()
  for (const name of ['hours.from', 'hours.to']) await row.locator(`[name="${name}"]`).fill('')
  await row.locator('dialog button[type="submit"]').click()
  await newsIn(page).filter({ hasText: 'Done' }).waitFor({ timeout: 10_000 })
  expect((await bodyOf(client.channels.list({ params }))).data).toMatchObject([{ id, hours: null }])
})
