import { expect, test } from '@jest/globals'
import { anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { service } from './visitors.ts'

const PHONE = { width: 360, height: 700 }

test('a person asks in a sentence, sees the difference that a wish makes, and applies it', async () => {
  const { client, ownerId } = await service.owner()
  const agent = await anAgentUnder(client, { name: 'Books', autoApproveLimitEuros: 10, dailyLimitEuros: 50 })
  await anIntent(client, agent.id, { merchant: '<b>Bookshop</b>' })
  const { page, complaints } = await openAsOwner(client, { viewport: PHONE })
  await page.goto(new URL('console/ask', page.url()).href)
  await page.getByRole('button', { name: 'What is waiting?' }).click()
  await page.locator('.talk').getByText('to <b>Bookshop</b>').waitFor()
  // The conversation is deleted meanwhile, so a new one begins.
  await service.sql('delete from conversations where owner_id = $1', [ownerId])
  await page.locator('#ask').fill(`Let "${agent.name}" spend 20 € a day`)
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.locator('.talk article').getByText('dailyLimitEuros').waitFor()
  // On a phone the table has no header: each cell has its heading.
  expect(await page.locator('.talk td').first().getAttribute('data-name')).toBe('Field')
  await page.getByRole('link', { name: 'Review and apply' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.locator('h1 .status').getByText('applied').waitFor()
  const kept = await service.sql('select title from conversations where owner_id = $1', [ownerId])
  expect(kept).toEqual([{ title: expect.stringContaining('spend 20 € a day') }])
  const policy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
  // The browser logs a refusal even if another attempt succeeds.
  const others = complaints.filter(text => !text.includes('404'))
  expect([policy.dailyLimitEuros, others]).toEqual([20, []])
})
