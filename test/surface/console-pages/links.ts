import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import { markIn, open, openAsOwner, troubleIn, visit } from './devices.ts'
import { origin, readPage, service } from './pages-service.ts'

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
            .filter({ hasText: 'This link has already been used.' })
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

  test('an unknown link is refused with a remedy', async () => {
    const { page } = await open(`${origin}/join#lnk_nobodyhasmadethisone0123456789`)
    await page.locator('[data-action="redeem"]').click()
    await troubleIn(page).filter({ hasText: 'This link' }).waitFor()
    expect(await troubleIn(page).innerText()).toBe(
      'This link is not valid. Run agentpay login in the sandbox, or ask an owner.',
    )
  })

  test('an invalid link shows the other ways to sign in, also for the operator', async () => {
    const { page } = await open(`${origin}/login#lnk_nobodyhasmadethisone0123456789`)
    await page.locator('[data-action="redeem"]').click()
    await troubleIn(page).filter({ hasText: 'This link is not valid.' }).waitFor()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
    await page.locator('.hint', { hasText: 'npm start' }).waitFor()
    const recovery = page.getByRole('link', { name: 'account recovery' })
    expect(await recovery.getAttribute('href')).toBe('docs/guides/people#recovery')
    expect(readFileSync('docs/how-to/people.md', 'utf8')).toContain('\n## Recovery\n')
  })

  test('goes along where its page was opened under another host', async () => {
    const url = await aLink()
    const { page } = await open(url.replace('localhost', '127.0.0.1'))
    await page.getByRole('link', { name: 'Open the right address' }).click()
    await page.waitForURL(`${origin}/login`)
    await page.locator('[data-action="redeem"]').click()
    await page.waitForURL('**/join')
    await page.locator('form[data-action="enrol"]').waitFor()
    expect(page.url()).toBe(`${origin}/join`)
  })
})

/** Spellings of a foreign address, nearly all of which browsers understand. */
const ELSEWHERE = [
  'https://evil.example/',
  '//evil.example',
  '///evil.example',
  '\\\\evil.example',
  '/\\evil.example',
  '\t//evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  `${origin}@evil.example`,
  `${origin}.evil.example/`,
  'javascript:alert(1)',
  ' java\tscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  `blob:${origin}/x`,
]

describe('going on after signing in', () => {
  test.each(['https://evil.example/', '\\\\evil.example', 'javascript:alert(1)'])(
    'to %s by a link leads to a page of ours instead',
    async to => {
      const token = new URL(await aLink()).hash
      const { page, requests } = await open(`${origin}/login?to=${encodeURIComponent(to)}${token}`)
      await page.locator('[data-action="redeem"]').click()
      await page.waitForURL('**/join?to=*')
      await page.locator('form button').click()
      await page.waitForURL(`${origin}/console`)
      expect(await markIn(page).count()).toBe(0)
      expect(requests.filter(address => !address.startsWith(origin))).toEqual([])
    },
  )

  test('by a passkey leads to no place of others, however it is written, and runs nothing', async () => {
    const { client } = await service.owner()
    const { page, requests } = await openAsOwner(client)
    const asked: string[] = []
    page.on('dialog', dialog => {
      asked.push(dialog.message())
      void dialog.dismiss()
    })
    for (const to of ELSEWHERE) {
      await page.goto(`${origin}/login?to=${encodeURIComponent(to)}`)
      await page.locator('[data-action="sign-in"]').click()
      await page.waitForURL(`${origin}/console`)
    }
    expect(requests.filter(address => !address.startsWith(`${origin}/`))).toEqual([])
    expect(asked).toEqual([])
  })

  test('keeps to our own pages where the place of others is written once more encoded', async () => {
    const { client } = await service.owner()
    const { page } = await openAsOwner(client)
    for (const to of ['%2F%2Fevil.example', '/%2F%2Fevil.example', '/%5Cevil.example', './/evil.example']) {
      await page.goto(`${origin}/login?to=${encodeURIComponent(to)}`)
      await page.locator('[data-action="sign-in"]').click()
      await page.waitForURL(({ pathname }) => pathname.includes('evil.example'))
      expect(new URL(page.url()).origin).toBe(origin)
    }
  })

  test('accepts only pages of the service as the next page', async () => {
    for (const path of ['/console/evil.example', '/console?to=//evil.example']) {
      const { status, headers } = await readPage(path, { accept: 'text/html' })
      expect(status).toBe(303)
      const login = new URL(String(headers.get('location')), `${origin}${path}`)
      expect([login.origin, login.pathname.replace(/^.*\//, '/')]).toEqual([origin, '/login'])
      expect(new URL(String(login.searchParams.get('to')), login).origin).toBe(origin)
    }
  })
})

test('a page of ours is shown in no frame of another site', async () => {
  const pages = ['console', 'approve', 'login', 'join'].map(path => `${origin}/${path}`)
  const noPage = `${origin}/health`
  const frames = [...pages, noPage].map(url => `<iframe src="${url}"></iframe>`)
  const site = createServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end(frames.join('')),
  )
  await once(site.listen(0, '127.0.0.1'), 'listening')
  try {
    const elsewhere = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
    const { page } = await visit(elsewhere)
    const shown = await until('every frame shows something', () => {
      const urls = page.frames().map(frame => frame.url())
      return urls.every(url => url !== '' && url !== 'about:blank') && urls
    })
    expect(shown).toEqual([elsewhere, ...pages.map(() => 'chrome-error://chromewebdata/'), noPage])
  } finally {
    site.close()
    site.closeAllConnections()
  }
})
