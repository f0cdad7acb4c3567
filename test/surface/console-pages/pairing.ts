import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { aTerminal, type Terminal } from '../../support/identity/pairing.ts'
import { pressByKeyboard } from '../../support/web/keyboard.ts'
import { newsIn, open, openAsOwner, openBeside, troubleIn } from './devices.ts'
import { german, origin, readPage, service } from './pages-service.ts'

const anyone = service.client()
const pageOf = ({ code }: Terminal) => `${origin}/cli/${code}`
const ask = ({ code, codeVerifier }: Terminal) => anyone.cliAuth.token({ body: { code, codeVerifier } })

describe('the page of a terminal', () => {
  test('leads through signing in to the same code, and lets it in, by keyboard alone', async () => {
    const { client, ownerId } = await service.owner()
    const terminal = await aTerminal(anyone)
    const { url } = await bodyOf(client.console.createLink({ body: {} }))
    const { page, complaints, requests } = await open(
      `${String(url).replace('#', `?to=/cli/${terminal.code}#`)}`,
    )
    await pressByKeyboard(page, 'Sign in with this link')
    await page.waitForURL('**/join?to=*')
    await pressByKeyboard(page, 'Create passkey')
    await page.waitForURL(pageOf(terminal))
    await page.locator('blockquote').filter({ hasText: terminal.pairingCode }).waitFor()
    expect(await page.locator('.pair').innerText()).toBe(terminal.pairingCode)
    expect(await page.innerText('main')).toContain('only if you have just started this yourself')
    await pressByKeyboard(page, 'Connect with passkey')
    await newsIn(page).filter({ hasText: 'Done. Return to your terminal.' }).waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('heading')
    const { key } = await bodyOf(ask(terminal))
    expect((await bodyOf(service.client(String(key)).customers.me())).id).toBe(ownerId)
    expect(complaints).toEqual([])
    expect(requests.filter(address => !address.startsWith(origin))).toEqual([])
  })

  test('says that assistants could change things with the key, where the terminal asks for that', async () => {
    const { page } = await openAsOwner((await service.owner()).client)
    const [asking, other] = [await aTerminal(anyone, 'A laptop', true), await aTerminal(anyone)]
    await page.goto(pageOf(asking))
    await page.locator('blockquote').filter({ hasText: 'let assistants change things with it' }).waitFor()
    expect(await page.innerText('main')).toContain('assistants can make changes, not only propose them')
    await page.goto(pageOf(other))
    await page.locator('blockquote').filter({ hasText: other.pairingCode }).waitFor()
    expect(await page.innerText('main')).not.toContain('assistants')
  })

  test('denies a terminal without a passkey, and shows that in another window', async () => {
    const first = await openAsOwner((await service.owner()).client)
    const terminal = await aTerminal(anyone)
    await first.page.goto(pageOf(terminal))
    const second = await openBeside(first, pageOf(terminal))
    await second.page.getByRole('button', { name: 'Connect with passkey' }).waitFor()
    await pressByKeyboard(first.page, 'Deny')
    await newsIn(first.page).filter({ hasText: 'Denied.' }).waitFor()
    expect(await ask(terminal)).toMatchObject({ error: 'access_denied' })
    await second.page.getByRole('button', { name: 'Connect with passkey' }).click()
    await troubleIn(second.page).filter({ hasText: 'This has already been decided' }).waitFor()
    expect(await second.page.locator('h1').innerText()).toBe('Command line denied')
  })

  test('lets nothing in by a finger that is not the user’s, and the right one does', async () => {
    const { page, device } = await openAsOwner((await service.owner()).client)
    const terminal = await aTerminal(anyone)
    await page.goto(pageOf(terminal))
    await device.recognize(false)
    await page.getByRole('button', { name: 'Connect with passkey' }).click()
    await troubleIn(page).filter({ hasText: 'The passkey was not confirmed' }).waitFor()
    expect(await ask(terminal)).toMatchObject({ error: 'authorization_pending' })
    await device.recognize(true)
    await page.getByRole('button', { name: 'Connect with passkey' }).click()
    await newsIn(page).filter({ hasText: 'Done.' }).waitFor()
  })

  test('shows the name of a device as what it is', async () => {
    const { page, complaints } = await openAsOwner((await service.owner()).client)
    const terminal = await aTerminal(anyone, '<img src=x onerror=alert(1)>\u202egnp.exe')
    await page.goto(pageOf(terminal))
    await page.locator('dd').first().waitFor()
    expect(await page.locator('dd').first().innerText()).toBe('<img src=x onerror=alert(1)>\ufffdgnp.exe')
    expect(await page.locator('main img').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  test('is led to by signing in, and says in both languages where there is no such code', async () => {
    const code = 'x'.repeat(43)
    const away = await readPage(`/cli/${code}`, { accept: 'text/html' })
    expect([away.status, away.headers.get('location')]).toEqual([303, `../login?to=cli%2F${code}`])
    const { page } = await openAsOwner((await service.owner()).client)
    const [cookie] = await page.context().cookies()
    const headers = { accept: 'text/html', cookie: `${cookie?.name}=${cookie?.value}` }
    const [english, inGerman] = await Promise.all([
      readPage(`/cli/${code}`, headers),
      readPage(`/cli/${code}`, { ...headers, ...german }),
    ])
    expect([english.status, inGerman.status]).toEqual([404, 404])
    expect(await english.text()).toContain('Code not found')
    expect(await inGerman.text()).toContain('Code nicht gefunden')
  })
})
