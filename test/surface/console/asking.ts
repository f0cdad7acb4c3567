import { expect, test } from '@jest/globals'
import { anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { service } from './visitors.ts'

const PHONE = { width: 360, height: 700 }

test('a person asks in a sentence, sees the difference that a wish makes, and applies it', async () => {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { name: 'Books', autoApproveLimitEuros: 10, dailyLimitEuros: 50 })
  await anIntent(client, agent.id, { merchant: '<b>Bookshop</b>' })
  const { page, complaints } = await openAsOwner(client, { viewport: PHONE })
  await page.goto(new URL('console/ask', page.url()).href)
  await page.getByRole('button', { name: 'What is waiting?' }).click()
  await page.locator('.talk').getByText('to <b>Bookshop</b>').waitFor()
  await page.locator('#ask').fill(`Let "${agent.name}" spend 20 € a day`)
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.locator('.talk article').getByText('dailyLimitEuros').waitFor()
  await page.getByRole('link', { name: 'Look at it and apply' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.locator('h1 .status').getByText('applied').waitFor()
  const policy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
  expect([policy.dailyLimitEuros, complaints]).toEqual([20, []])
})
