import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { anAgentUnder, bodyOf } from '../../support/factories.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { aPerson, originOf } from '../../support/identity/people.ts'
import { axeFindings } from '../../support/web/axe.ts'
import { newsIn, open, openAsOwner } from '../console-pages/devices.ts'
import { service } from './visitors.ts'

const sign = (page: Page) => page.getByRole('button', { name: 'Sign with passkey' })

const owners = { aboveEuros: 20, of: 'owners', withinMinutes: 60, then: 'deny' } as const

async function createToken(page: Page, agentId: string): Promise<void> {
  await page.goto(new URL(`/console/agents/${agentId}?tab=limits`, page.url()).href)
  await page.getByRole('button', { name: 'More about this agent' }).click()
  await page.locator('button[commandfor]', { hasText: 'Create token' }).click()
  await page.locator('[name="label"]').fill('Laptop')
  await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click()
}

describe('what lets more be spent', () => {
  test('is signed by the passkey of the person, who reads what it widens', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { name: 'Books', autoApproveLimitEuros: 50 })
    const { page } = await openAsOwner(client)
    await createToken(page, agent.id)
    await page.locator('dialog blockquote').getByText('New token from none to “Laptop”').waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect((await bodyOf(client.agentTokens.list({ params: { id: agent.id } }))).data).toEqual([])
    await sign(page).click()
    await page
      .locator('dialog code')
      .getByText(/^at_test_/)
      .waitFor()
    expect((await bodyOf(client.agentTokens.list({ params: { id: agent.id } }))).data).toHaveLength(1)
  })

  test('is not made where the policy has changed since the person read it', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { name: 'Books', autoApproveLimitEuros: 50 })
    const { page } = await openAsOwner(client)
    await page.goto(new URL(`console/agents/${agent.id}`, page.url()).href)
    await page.locator('button[commandfor]', { hasText: 'Change limits' }).click()
    await page.locator('[name="autoApproveLimitEuros"]').fill('250')
    await page.getByRole('dialog').getByRole('button', { name: 'Change limits' }).click()
    await page.locator('dialog').getByText('from € 50.00 to € 250.00').waitFor()
    const params = { agentId: agent.id }
    const { id, version: _, ...rules } = await bodyOf(client.policies.effective({ params }))
    await bodyOf(client.policies.replace({ params: { id }, body: { ...rules, autoApproveLimitEuros: 20 } }))
    await sign(page).click()
    await page
      .locator('.refusal')
      .getByText(/version/)
      .waitFor()
    expect((await bodyOf(client.policies.effective({ params }))).autoApproveLimitEuros).toBe(20)
  })

  test('is proposed where the policy asks several people', async () => {
    const owner = await service.owner()
    const { client } = owner
    const { page } = await openAsOwner(client)
    await aPerson(service, owner, { role: 'owner' })
    const agent = await anAgentUnder(client, { dailyLimitEuros: 50, approval: [{ ...owners, need: 2 }] })
    await page.goto(new URL(`console/agents/${agent.id}`, page.url()).href)
    await page.locator('button[commandfor]', { hasText: 'Change limits' }).click()
    await page.locator('[name="dailyLimitEuros"]').fill('70')
    await page.getByRole('dialog').getByRole('button', { name: 'Change limits' }).click()
    await sign(page).click()
    await newsIn(page).filter({ hasText: 'Proposed: 1 of 2 approvals.' }).waitFor()
    expect((await bodyOf(client.changeRequests.list())).data).toMatchObject([{ status: 'waiting' }])
  })

  test('is signed in the inbox where a key has proposed it', async () => {
    const { client } = await service.owner()
    const { page } = await openAsOwner(client)
    const rules = { name: 'Books', dailyLimitEuros: 50, approval: [{ ...owners, need: 1 }] }
    const agent = await anAgentUnder(client, rules)
    const effective = () => bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    const params = { id: (await effective()).id }
    await bodyOf(client.policies.replace({ params, body: { ...rules, dailyLimitEuros: 70 } }))
    await page.goto(new URL('console/inbox', page.url()).href)
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Approve with passkey' }).click()
    await page.locator('dialog').getByText('from € 50.00 to € 70.00').waitFor()
    await sign(page).click()
    await newsIn(page).filter({ hasText: 'Approved. The change is made.' }).waitFor()
    expect((await effective()).dailyLimitEuros).toBe(70)
  })

  test('leads a person without a passkey to create one, and back', async () => {
    const owner = await service.owner()
    const agent = await anAgentUnder(owner.client, { name: 'Books', autoApproveLimitEuros: 50 })
    const { cookie } = await signedInTo(service, owner, { role: 'owner' })
    const origin = originOf(service)
    const { page } = await open('about:blank')
    const [name = '', value = ''] = cookie.split(/=(.*)/s)
    await page.context().addCookies([{ name, value, url: origin }])
    await page.goto(origin)
    await createToken(page, agent.id)
    await page.locator('dialog h2').getByText('A passkey must sign this').waitFor()
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.locator('form[data-action="enrol"] button:visible').click()
    await page.waitForURL(`**/console/agents/${agent.id}?tab=limits`)
    await createToken(page, agent.id)
    await sign(page).click()
    await page
      .locator('dialog code')
      .getByText(/^at_test_/)
      .waitFor()
    const { data } = await bodyOf(owner.client.agentTokens.list({ params: { id: agent.id } }))
    expect(data).toHaveLength(1)
  })
})
