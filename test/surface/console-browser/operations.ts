import { describe, expect, test } from '@jest/globals'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { agentNamed, saying, service, theOwnerAtThePage, trialPage } from './trial-service.ts'

const namesOf = async (client: TestClient) =>
  (await bodyOf(client.agents.list({ query: { limit: 100 } }))).data.map(({ name }) => name)

describe('a form', () => {
  test('shows a refusal at the field that it names, in the words of the API, and takes it back', async () => {
    const { client, page, complaints } = await theOwnerAtThePage()
    const field = page.getByLabel('Outside id')
    await page.getByLabel('Name').fill('Clerk')
    await field.fill('x'.repeat(300))
    await page.getByRole('button', { name: 'Create' }).click()
    await saying(page, '#new-agent .refusal', 'externalId: must have at most')
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    const described = await field.getAttribute('aria-describedby')
    expect(await page.locator(`[id="${described}"]`).innerText()).toContain('externalId: must have')
    expect(await page.evaluate('document.activeElement.name')).toBe('externalId')
    await field.fill('')
    await page.getByRole('button', { name: 'Create' }).click()
    await saying(page, '#news', 'It is there.')
    await saying(page, '#agents li', 'Clerk: active')
    expect(await page.locator('#new-agent .refusal').count()).toBe(0)
    expect(await field.getAttribute('aria-invalid')).toBeNull()
    expect(await page.getByLabel('Name').inputValue()).toBe('')
    const { data } = await bodyOf(client.agents.list({}))
    expect(data.find(({ name }) => name === 'Clerk')).toMatchObject({ externalId: null })
    expect(complaints.filter(text => !text.includes('400'))).toEqual([])
  })

  test('that is sent twice by a double press is done once', async () => {
    const { client, page } = await theOwnerAtThePage()
    await page.getByLabel('Name').fill('Double')
    // Keeps the two presses within one double click, however slow the machine is.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.getByRole('button', { name: 'Create' }).dblclick()
    await page.clock.resume()
    await saying(page, '#agents li', 'Double: active')
    expect((await namesOf(client)).filter(name => name === 'Double')).toHaveLength(1)
  })

  test('whose answer was lost says so, and is done once when it is sent again', async () => {
    const { client, page } = await theOwnerAtThePage()
    const keys: (string | undefined)[] = []
    await page.route('**/agents', async route => {
      keys.push(route.request().headers()['idempotency-key'])
      await route.fetch()
      await route.abort()
    })
    await page.getByLabel('Name').fill('Once')
    await page.getByRole('button', { name: 'Create' }).click()
    await saying(page, '#new-agent .refusal', 'The service did not answer.')
    expect(await page.getByLabel('Name').inputValue()).toBe('Once')
    await page.unroute('**/agents')
    page.on('request', request => {
      if (request.method() === 'POST') keys.push(request.headers()['idempotency-key'])
    })
    await page.getByRole('button', { name: 'Create' }).click()
    await saying(page, '#news', 'It is there.')
    await saying(page, '#agents li', 'Once: active')
    expect(keys).toHaveLength(2)
    expect(keys[1]).toBe(keys[0])
    expect((await namesOf(client)).filter(name => name === 'Once')).toHaveLength(1)
  })

  test('with a question does nothing until it is answered with yes', async () => {
    const { client, page } = await theOwnerAtThePage()
    const { id } = await agentNamed(client, 'Suspect')
    await page.reload()
    const press = () => page.getByRole('button', { name: 'Freeze Suspect' }).click()
    await press()
    await saying(page, 'dialog', 'Freeze Suspect?')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect((await bodyOf(client.agents.get({ params: { id } }))).status).toBe('active')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Freeze Suspect')
    await press()
    await page.locator('dialog').getByRole('button', { name: 'Freeze Suspect' }).click()
    await saying(page, '#news', 'Suspect is frozen.')
    await saying(page, '#agents li', 'Suspect: frozen')
  })

  test('shows a secret once, in a dialog, and nowhere afterwards', async () => {
    const { page } = await theOwnerAtThePage()
    await page.getByLabel('Address').fill('https://example.com/hook')
    await page.getByLabel('Events').fill('agent.created, agent.frozen')
    await page.getByRole('button', { name: 'Subscribe' }).click()
    const secret = await page.locator('dialog code').innerText()
    expect(secret).toMatch(/^whsec_/)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await saying(page, '#asked', 'Shown: webhook_')
    await saying(page, '#news', 'It is subscribed.')
    expect(await page.content()).not.toContain(secret)
    const rows = await service.sql('select events from webhooks where url = $1', ['https://example.com/hook'])
    expect(rows).toEqual([{ events: ['agent.created', 'agent.frozen'] }])
  })
})

describe('a part that a form fills', () => {
  test('shows the requested result, and keeps showing it', async () => {
    const { page } = await theOwnerAtThePage()
    await page.getByLabel('Show').fill('November & December')
    await page.getByRole('button', { name: 'Look' }).click()
    await saying(page, '#asked', 'Shown: November & December')
    expect(page.url()).toBe(trialPage)
  })
})
