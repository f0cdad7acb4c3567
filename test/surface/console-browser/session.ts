import { describe, expect, test } from '@jest/globals'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { anOwnerAtThePage, followed, openTab, origin, saying } from './trial-service.ts'

/** Ends every session of the owner, as another person does it. */
async function endSessions(client: TestClient): Promise<void> {
  const { data } = await bodyOf(client.console.sessions({ query: { status: 'active' } }))
  for (const { id } of data) await bodyOf(client.console.endSession({ params: { id } }))
}

describe('a session that is ended', () => {
  test('leads every tab to where one signs in, and from there back', async () => {
    const { client, ownerId, page } = await anOwnerAtThePage()
    const second = await openTab(page.context())
    await followed(ownerId)
    await endSessions(client)
    await Promise.all([page, second].map(tab => tab.waitForURL('**/login?to=*')))
    expect(new URL(page.url()).searchParams.get('to')).toBe('/console/trial')
  })

  test('asks for the passkey in place where something is typed, and goes on with it', async () => {
    const { client, ownerId, page, complaints } = await anOwnerAtThePage()
    await followed(ownerId)
    await page.getByLabel('Name').fill('Scribe')
    await endSessions(client)
    await saying(page, 'dialog', 'Your session has ended')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Name').inputValue()).toBe('Scribe')
    await page.getByRole('button', { name: 'Create' }).click()
    await saying(page, '#agents li', 'Scribe: active')
    await followed(ownerId)
    expect(page.url()).toBe(`${origin}/console/trial`)
    expect(complaints.filter(text => !text.includes('401'))).toEqual([])
  })

  test('is asked for when a form is sent, which is then sent once', async () => {
    const { client, page } = await anOwnerAtThePage()
    await page.route('**/events/stream', route => route.abort())
    await page.reload()
    await endSessions(client)
    await page.getByLabel('Name').fill('Patient')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await saying(page, '#agents li', 'Patient: active')
    const { data } = await bodyOf(client.agents.list({}))
    expect(data.map(({ name }) => name)).toEqual(['Patient'])
  })
})
