import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { aDevice, type Device } from '../../support/identity/devices.ts'
import { pressByKeyboard } from '../../support/web/keyboard.ts'
import { newsIn, open, openAsOwner, troubleIn } from './devices.ts'
import { german, origin, readPage, service } from './pages-service.ts'

const anyone = service.client()
const ask = ({ deviceCode }: Device) => anyone.sessions.token({ body: { deviceCode } })

describe('the page of devices', () => {
  test('leads through signing in to the device of the link, and lets it in, by keyboard alone', async () => {
    const { client, ownerId } = await service.owner()
    const device = await aDevice(anyone, { deviceName: 'Build server', scopes: ['customers:read'] })
    const { url } = await bodyOf(client.console.createLink({ body: {} }))
    const to = encodeURIComponent(`/device?code=${device.userCode}`)
    const { page, complaints, requests } = await open(String(url).replace('#', `?to=${to}#`))
    await pressByKeyboard(page, 'Sign in with this link')
    await page.waitForURL('**/join?to=*')
    await pressByKeyboard(page, 'Create passkey')
    await page.locator('blockquote').filter({ hasText: device.userCode }).waitFor()
    const shown = await page.innerText('main')
    for (const words of [
      'only if you have just started this yourself',
      'Build server',
      '127.0.0.1',
      'Command line',
    ])
      expect(shown).toContain(words)
    await pressByKeyboard(page, 'Connect with passkey')
    await newsIn(page).filter({ hasText: 'Done. Return to your device.' }).waitFor()
    expect(await page.locator('h1:visible').innerText()).toBe('Device connected')
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
    const { key, scopes } = await bodyOf(ask(device))
    expect(scopes).toEqual(['customers:read'])
    expect((await bodyOf(service.client(String(key)).customers.me())).id).toBe(ownerId)
    expect(complaints).toEqual([])
    expect(requests.filter(address => !address.startsWith(origin))).toEqual([])
  })

  test('takes a code that is typed in small letters, and gives what was left of the rights', async () => {
    const { page } = await openAsOwner((await service.owner()).client)
    const device = await aDevice(anyone, { scopes: ['agents:read', 'agents:write'] })
    await page.goto(`${origin}/device`)
    await page.getByLabel('Device code').fill('bbbb bbbb')
    await page.getByRole('button', { name: 'Continue' }).click()
    await troubleIn(page).filter({ hasText: 'No device is waiting with this code' }).waitFor()
    await page.getByLabel('Device code').fill(device.userCode.toLowerCase().replace('-', ''))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.locator('blockquote').filter({ hasText: 'agents:write' }).waitFor()
    await page.locator('summary').click()
    await page.getByLabel('agents:write').uncheck()
    await page
      .locator('blockquote')
      .filter({ hasNotText: 'agents:write' })
      .filter({ hasText: 'agents:read' })
      .waitFor()
    await page.getByRole('button', { name: 'Connect with passkey' }).click()
    await newsIn(page).filter({ hasText: 'Done.' }).waitFor()
    expect((await bodyOf(ask(device))).scopes).toEqual(['agents:read'])
  })

  test('says that assistants could change things with the key, where the device asks for that', async () => {
    const { page } = await openAsOwner((await service.owner()).client)
    const [asking, other] = [await aDevice(anyone, { toolWrites: true }), await aDevice(anyone)]
    await page.goto(`${origin}/device?code=${other.userCode}`)
    await page.locator('blockquote').filter({ hasText: other.userCode }).waitFor()
    expect(await page.innerText('main')).not.toContain('assistants')
    await page.goto(`${origin}/device?code=${asking.userCode}`)
    await page.locator('blockquote').filter({ hasText: 'let assistants change things with it' }).waitFor()
    expect(await page.innerText('main')).toContain('assistants can make changes, not only propose them')
    await page.getByRole('button', { name: 'Connect with passkey' }).click()
    await newsIn(page).filter({ hasText: 'Done.' }).waitFor()
    expect((await bodyOf(ask(asking))).toolWrites).toBe(true)
  })

  test('denies a device without a passkey', async () => {
    const { page } = await openAsOwner((await service.owner()).client)
    const device = await aDevice(anyone, { deviceName: '<img src=x onerror=alert(1)>' })
    await page.goto(`${origin}/device?code=${device.userCode}`)
    await page.locator('blockquote').filter({ hasText: device.userCode }).waitFor()
    expect(await page.locator('[data-device="deviceName"]').innerText()).toBe('<img src=x onerror=alert(1)>')
    expect(await page.locator('main img').count()).toBe(0)
    await pressByKeyboard(page, 'Deny')
    await newsIn(page).filter({ hasText: 'Denied.' }).waitFor()
    expect((await ask(device)).code).toBe('access_denied')
  })

  test('is led to by signing in, and is there in both languages', async () => {
    const away = await readPage('/device?code=WDJB-MJHT', { accept: 'text/html' })
    expect([away.status, away.headers.get('location')]).toEqual([303, 'login?to=device%3Fcode%3DWDJB-MJHT'])
    const { page } = await openAsOwner((await service.owner()).client)
    const [cookie] = await page.context().cookies()
    const headers = { cookie: `${cookie?.name}=${cookie?.value}` }
    const inGerman = await readPage('/device', { ...headers, ...german })
    expect(await inGerman.text()).toContain('wenn Sie den Vorgang gerade selbst gestartet haben')
  })
})
