import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from '@jest/globals'
import { anAuthorization, aRegisteredClient, connect } from '../../support/control/assistants.ts'
import { bodyOf } from '../../support/factories.ts'
import { pressByKeyboard } from '../../support/web/keyboard.ts'
import { open, openAsOwner } from './devices.ts'
import { origin, service } from './pages-service.ts'

/** The assistant's own program, to which the browser returns. */
const assistant = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Connected</title>')
})
await new Promise<void>(resolve => assistant.listen(0, '127.0.0.1', () => resolve()))
afterAll(() => {
  assistant.close()
  assistant.closeAllConnections()
})
const callback = `http://127.0.0.1:${(assistant.address() as AddressInfo).port}/callback`

async function aRequest() {
  const members = { client_name: 'Claude', redirect_uris: ['http://127.0.0.1/callback'] }
  const client_id = await aRegisteredClient(origin, members)
  const { query, verifier } = await anAuthorization(origin, { client_id, redirect_uri: callback })
  const redeem = (address: string) =>
    connect(origin, {
      request: {
        grant_type: 'authorization_code',
        client_id,
        code: String(new URL(address).searchParams.get('code')),
        code_verifier: verifier,
        redirect_uri: callback,
      },
    })
  return { address: `${origin}/oauth/authorize?${new URLSearchParams(query)}`, redeem }
}

describe('the page of consent', () => {
  test('connects an assistant to a new agent with a signed budget, by keyboard alone', async () => {
    const { client } = await service.owner()
    const { address, redeem } = await aRequest()
    const { page, complaints } = await openAsOwner(client)
    await page.goto(address)
    expect(await page.innerText('main')).toContain('nothing proves it')
    await page.getByLabel('At most per payment').fill('12.50')
    await pressByKeyboard(page, 'Continue')
    await page.locator('blockquote').filter({ hasText: '12.50' }).waitFor()
    expect((await bodyOf(client.agents.list({}))).data).toEqual([])
    await pressByKeyboard(page, 'Connect with passkey')
    await page.waitForURL(`${callback}?*`)
    const tokens = await redeem(page.url())
    expect(tokens.scope).toContain('intents:write')
    const { data } = await bodyOf(client.mandates.list({}))
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({
      name: 'Claude',
      status: 'active',
      constraints: { perTransactionEuros: 12.5, perMonthEuros: 100 },
    })
    const agents = await bodyOf(client.agents.list({}))
    expect(agents.data.map(({ name }) => name)).toEqual(['Claude'])
    expect(complaints).toEqual([])
  })

  test('connects without a budget, and signs nothing', async () => {
    const { client } = await service.owner()
    const { address, redeem } = await aRequest()
    const { page } = await openAsOwner(client)
    await page.goto(address)
    await page.getByLabel('Tools').selectOption('reader')
    expect(await page.getByLabel('Budget per month').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Connect without a budget' }).click()
    await page.waitForURL(`${callback}?*`)
    expect((await redeem(page.url())).scope).not.toContain('intents:write')
    expect((await bodyOf(client.mandates.list({}))).data).toEqual([])
  })

  test('refuses by a link that tells the assistant', async () => {
    const { client } = await service.owner()
    const { page } = await openAsOwner(client)
    await page.goto((await aRequest()).address)
    await page.getByRole('link', { name: 'Do not connect' }).click()
    await page.waitForURL(`${callback}?error=access_denied&*`)
    expect(new URL(page.url()).searchParams.get('state')).toBe('the-state')
  })

  test('leads a person who is not signed in to the sign-in and back', async () => {
    const { client } = await service.owner()
    const { address } = await aRequest()
    const { page } = await open(address)
    await page.waitForURL('**/login?to=*')
    const { url } = await bodyOf(client.console.createLink({ body: {} }))
    await page.goto(page.url() + new URL(String(url)).hash)
    await page.locator('[data-action="redeem"]:visible').click()
    await page.waitForURL(/\/(oauth\/authorize|join)\?/)
    if (page.url().includes('/join')) expect(new URL(page.url()).searchParams.get('to')).toMatch(/^\/?oauth/)
    else expect(page.url()).toBe(address)
  })
})
