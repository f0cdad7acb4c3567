import { describe, expect, test } from '@jest/globals'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { visit } from '../console-pages/devices.ts'
import { anOwnerAtThePage, followed, openTab, origin, saying, service, trialPage } from './trial-service.ts'

async function endSessions(client: TestClient): Promise<void> {
  const { data } = await bodyOf(client.console.sessions({ query: { status: 'active' } }))
  for (const { id } of data) await bodyOf(client.console.endSession({ params: { id } }))
}

async function anApproverAtThePage(owner: Parameters<typeof signedInTo>[1]) {
  const { cookie, personId } = await signedInTo(service, owner, { role: 'approver' })
  const { page } = await visit('about:blank', { locale: 'en-GB' })
  const [name = '', value = ''] = cookie.split(/=(.*)/)
  await page.context().addCookies([{ name, value, url: origin }])
  await page.goto(trialPage)
  return { page, personId }
}

describe('a person who is removed', () => {
  test('is led to where one signs in, while others stay where they are', async () => {
    const owner = await anOwnerAtThePage()
    const { client, ownerId } = owner
    const { page, personId } = await anApproverAtThePage(owner)
    await followed(ownerId, 2)
    await bodyOf(client.people.remove({ params: { id: personId } }))
    await page.waitForURL('**/login?to=*')
    await followed(ownerId, 1)
    expect(owner.page.url()).toBe(trialPage)
  })

  test('a person with unsent input signs in again on the same page', async () => {
    const owner = await anOwnerAtThePage()
    const { page, personId } = await anApproverAtThePage(owner)
    await followed(owner.ownerId, 2)
    await page.getByLabel('Name').fill('Half')
    await bodyOf(owner.client.people.remove({ params: { id: personId } }))
    await saying(page, 'dialog', 'Your session has ended')
    expect(await page.getByLabel('Name').inputValue()).toBe('Half')
  })
})

describe('a session that is ended', () => {
  test('leads every tab to where one signs in, and from there back', async () => {
    const { client, ownerId, page } = await anOwnerAtThePage()
    const second = await openTab(page.context())
    await followed(ownerId)
    await endSessions(client)
    await Promise.all([page, second].map(tab => tab.waitForURL('**/login?to=*')))
    expect(new URL(page.url()).searchParams.get('to')).toBe('/console/trial')
  })

  test('asks for the passkey on the page if there is input, and continues', async () => {
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

  test('asks for the passkey when a form is sent, which is then sent once', async () => {
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
