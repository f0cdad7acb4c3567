import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import { anOwnerAtThePage, saying } from './trial-service.ts'

const rules = { name: 'Books', autoApproveLimitEuros: 10, maxTransactionEuros: 50 }

/** The last intent is the first in the list. */
async function threeThatWait() {
  const visited = await anOwnerAtThePage()
  const agent = await anAgentUnder(visited.client, rules)
  const intents = []
  for (const merchant of ['First', 'Second', 'Third'])
    intents.push(await anIntent(visited.client, agent.id, { merchant }))
  await visited.page.reload()
  return { ...visited, intents }
}

const statusesOf = (client: TestClient, intents: readonly { readonly id: string }[]) =>
  Promise.all(intents.map(async ({ id }) => (await bodyOf(client.intents.get({ params: { id } }))).status))

const sign = (page: Page) => page.getByRole('button', { name: 'Sign with passkey' }).click()

describe('what a passkey signs', () => {
  test('is shown first, and is done once it is signed', async () => {
    const { client, page, intents, complaints } = await threeThatWait()
    await page.locator('#waiting li').filter({ hasText: 'Second' }).getByText('Approve').click()
    await saying(page, 'dialog blockquote', 'Second')
    expect(await page.locator('dialog blockquote').innerText()).toContain(intents[1]?.id)
    expect(await statusesOf(client, intents)).toEqual(['created', 'created', 'created'])
    await sign(page)
    await page.locator('#waiting li').filter({ hasText: 'Second' }).waitFor({ state: 'detached' })
    expect(await statusesOf(client, intents)).toEqual(['created', 'approved', 'created'])
    expect(complaints).toEqual([])
  })

  test('shows several statements in one dialog, signs each, and leaves out the unticked one', async () => {
    const { client, page, intents } = await threeThatWait()
    await page.getByRole('button', { name: 'Approve all' }).click()
    await saying(page, 'dialog h2', '(3)')
    for (const { id } of intents) await saying(page, 'dialog blockquote', id)
    await page.locator('dialog label').filter({ hasText: 'Second' }).getByRole('checkbox').uncheck()
    await page.getByRole('button', { name: 'Sign each with passkey' }).click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.locator('#waiting li').filter({ hasText: 'First' }).waitFor({ state: 'detached' })
    expect(await statusesOf(client, intents)).toEqual(['approved', 'created', 'approved'])
  })

  test('a request that another person has decided is refused beside its button, with the message of the API', async () => {
    const { client, page, intents } = await threeThatWait()
    await page.route('**/trial?part=*', route => route.abort())
    const row = page.locator('#waiting li').filter({ hasText: 'First' })
    await row.getByText('Approve').click()
    await saying(page, 'dialog blockquote', 'First')
    await bodyOf(
      client.intents.deny({ params: { id: String(intents[0]?.id) }, body: { reason: 'I was faster' } }),
    )
    await sign(page)
    await row
      .locator('.refusal')
      .filter({ hasText: /denied/ })
      .waitFor()
    expect(await statusesOf(client, intents)).toEqual(['denied', 'created', 'created'])
  })
})
