import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { anAgentUnder, bodyOf } from '../../support/factories.ts'
import { axeFindings } from '../../support/web/axe.ts'
import { newsIn, openAndJoin, openAsOwner } from '../console-pages/devices.ts'
import { service } from './visitors.ts'

const twoOwners = { aboveEuros: 20, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' } as const

const sign = (page: Page) => page.getByRole('button', { name: 'Sign with passkey' })

const go = (page: Page, path: string) => page.goto(new URL(`/${path}`, page.url()).href)

async function inviteOwner(page: Page, name: string): Promise<void> {
  await go(page, 'console/people')
  await page.locator('button[commandfor]', { hasText: 'Invite person' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('[name="name"]').fill(name)
  await dialog.locator('[name="role"]').selectOption('owner')
  await dialog.getByRole('button', { name: 'Invite person' }).click()
  await sign(page).click()
}

const shownLink = async (page: Page) =>
  page
    .locator('dialog code')
    .getByText(/\/join#lnk_/)
    .innerText()

describe('an invitation of an owner where a policy asks two owners', () => {
  test('waits in the inbox of the other one, who has the link after the approval', async () => {
    const { client } = await service.owner()
    const { page: ada } = await openAsOwner(client)
    await inviteOwner(ada, 'Bob')
    const { page: bob } = await openAndJoin(await shownLink(ada))
    await anAgentUnder(client, { approval: [twoOwners] })
    await inviteOwner(ada, 'Grace')
    await newsIn(ada).filter({ hasText: 'Proposed: 1 of 2 approvals.' }).waitFor()
    await go(bob, 'console/inbox')
    await bob.getByRole('heading', { name: '2 changes' }).waitFor()
    await bob.getByRole('button', { name: 'Approve with passkey' }).click()
    await bob.locator('dialog').getByText('Role from none to owner').waitFor()
    await sign(bob).click()
    expect(await shownLink(bob)).toMatch(/\/join#lnk_/)
    const { data } = await bodyOf(client.people.list())
    expect(data.find(({ name }) => name === 'Grace')).toMatchObject({ role: 'owner', status: 'invited' })
    await go(bob, 'console/change-requests')
    expect(await axeFindings(bob)).toEqual([])
    await bob.getByRole('link', { name: '2 changes' }).click()
    await bob.getByText('Role of Grace: none → owner').waitFor()
    expect(await axeFindings(bob)).toEqual([])
  })
})
