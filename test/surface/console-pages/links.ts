import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { markIn, open, troubleIn, visit } from './devices.ts'
import { origin, service } from './pages-service.ts'

const aLink = async () => {
  const { client } = await service.owner()
  return String((await bodyOf(client.console.createLink({ body: {} }))).url)
}

describe('a link', () => {
  test('that is opened in two browsers at once works in one', async () => {
    const url = await aLink()
    const visits = [await open(url), await open(url)]
    await Promise.all(visits.map(({ page }) => page.locator('[data-action="redeem"]').click()))
    const outcomes = await Promise.all(
      visits.map(({ page }) =>
        Promise.race([
          page.waitForURL('**/join').then(() => 'joined'),
          troubleIn(page)
            .filter({ hasText: 'This link has been used.' })
            .waitFor()
            .then(() => 'used'),
        ]),
      ),
    )
    expect(outcomes.sort()).toEqual(['joined', 'used'])
  })

  test('is not used up by loading its page, whose token no request line and no header holds', async () => {
    const url = await aLink()
    const token = new URL(url).hash.slice(1)
    const { page } = await visit('about:blank')
    const heads: string[] = []
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    session.on('Network.requestWillBeSent', ({ request }) => heads.push(request.url))
    session.on('Network.requestWillBeSentExtraInfo', ({ headers }) => heads.push(JSON.stringify(headers)))
    await page.goto(url)
    await page.reload()
    await page.goto(url)
    await page.waitForURL(`${origin}/login`)
    await page.locator('[data-action="redeem"]').click()
    await page.waitForURL('**/join')
    expect(heads.length).toBeGreaterThan(5)
    expect(heads.filter(head => head.includes(token))).toEqual([])
  })

  test('that nobody has made is refused with what to do', async () => {
    const { page } = await open(`${origin}/join#lnk_nobodyhasmadethisone0123456789`)
    await page.locator('[data-action="redeem"]').click()
    await troubleIn(page).filter({ hasText: 'This link' }).waitFor()
    expect(await troubleIn(page).innerText()).toBe('This link is not known here. Ask for a new one.')
  })

  test('goes along where its page was opened under another host', async () => {
    const url = await aLink()
    const { page } = await open(url.replace('localhost', '127.0.0.1'))
    await page.getByRole('link', { name: 'Open this page there' }).click()
    await page.waitForURL(`${origin}/login`)
    await page.locator('[data-action="redeem"]').click()
    await page.waitForURL('**/join')
    await page.locator('form[data-action="enrol"]').waitFor()
    expect(page.url()).toBe(`${origin}/join`)
  })
})

describe('going on after signing in', () => {
  test.each(['https://evil.example/', '\\\\evil.example', 'javascript:alert(1)'])(
    'to %s leads to a page of ours instead',
    async to => {
      const token = new URL(await aLink()).hash
      const { page, requests } = await open(`${origin}/login?to=${encodeURIComponent(to)}${token}`)
      await page.locator('[data-action="redeem"]').click()
      await page.waitForURL('**/join?to=*')
      await page.locator('form button').click()
      await page.waitForURL(`${origin}/approve`)
      expect(await markIn(page).count()).toBe(0)
      expect(requests.filter(address => !address.startsWith(origin))).toEqual([])
    },
  )
})
