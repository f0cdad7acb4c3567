import { describe, expect, test } from '@jest/globals'
import { startTestService } from '../../support/harness.ts'
import { german, origin, readPage, service } from './pages-service.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const pages = ['/login', '/join', '/login?to=/approve'] as const

describe('the pages that everybody may see', () => {
  test.each(pages)('%s load only this origin, have no inline code, and are not cached', async path => {
    const response = await readPage(path)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'content-language': 'en',
      vary: 'Accept, Accept-Language, Host',
    })
    expect(response.headers.get('set-cookie')).toBeNull()
    const text = await response.text()
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:|https?:\/\//)
  })

  test.each([
    ['/login', 'Sign in with a passkey', 'Mit Passkey anmelden'],
    ['/join', 'Create your passkey', 'Passkey erstellen'],
  ])('%s speaks English and German', async (path, english, inGerman) => {
    expect(await (await readPage(path)).text()).toContain(english)
    const response = await readPage(path, german)
    expect(response.headers.get('content-language')).toBe('de')
    const text = await response.text()
    expect(text).toContain(inGerman)
    expect(text).not.toContain(english)
  })

  test('are made of files that a browser asks for once', async () => {
    const text = await (await readPage('/login')).text()
    const files = [...text.matchAll(/(?:href|src)="(\.\/login\/assets\/[^"]+)"/g)].map(([, file]) =>
      String(file),
    )
    expect(files.length).toBeGreaterThanOrEqual(4)
    for (const file of new Set(files)) {
      const asset = await readPage(`/${file}`)
      expect([file, asset.status]).toEqual([file, 200])
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    expect((await readPage('/login/assets/nothing.js')).status).toBe(404)
  })

  test('import by names that their content gives', async () => {
    const text = await (await readPage('/login')).text()
    const script = /src="\.(\/login\/assets\/login-[^"]+)"/.exec(text)?.[1]
    const imported = /from '\.\/([^']+)'/.exec(await (await readPage(String(script))).text())?.[1]
    expect(imported).toMatch(/^page-[0-9a-f]{16}\.js$/)
    expect((await readPage(`/login/assets/${imported}`)).status).toBe(200)
  })
})

const unable = await startTestService({ env: { PUBLIC_URL: 'http://192.0.2.7' } })

describe('a page under another address than that of the passkeys', () => {
  test('says so, and links to the right one with where to go on', async () => {
    const response = await service.http('GET', '/login?to=%2Fapprove')
    expect(response.status).toBe(200)
    expect(response.text).toContain(`Passkeys only work at ${new URL(origin).host}`)
    expect(response.text).toContain(`href="${origin}/login?to=%2Fapprove"`)
    expect(response.text).not.toContain('data-action')
  })

  test('says where passkeys cannot exist that they do not', async () => {
    const { text } = await unable.http('GET', '/join')
    expect(text).toContain('Passkeys are not available')
    expect(text).not.toContain('data-action')
  })
})

describe('the pages of people without a session', () => {
  const asBrowser = { accept: 'text/html,*/*;q=0.8' }

  test.each([
    ['/approve', 'login?to=approve'],
    ['/approve/intent_01jd8x2m4ye7k9v0c3q5r6t8wz', '../login?to=approve%2Fintent_01jd8x2m4ye7k9v0c3q5r6t8wz'],
    ['/v1/approve', '../login?to=v1%2Fapprove'],
    ['//approve', undefined],
  ])('%s lead a browser to where one signs in, and back', async (path, location) => {
    const response = await readPage(path, asBrowser)
    expect(response.status).toBe(location === undefined ? 404 : 303)
    expect(response.headers.get('location') ?? undefined).toBe(location)
  })

  test('tell a program that it needs a session', async () => {
    const response = await readPage('/approve')
    expect([response.status, response.headers.get('x-error-code')]).toEqual([401, 'unauthenticated'])
    expect(await response.json()).toMatchObject({ error: expect.stringContaining('/login') })
  })

  test.each(['/', '/v1/'])('%s leads a browser to the console, and tells a program the links', async path => {
    const response = await readPage(path, asBrowser)
    expect([response.status, response.headers.get('location')]).toEqual([303, 'console'])
    expect(await (await readPage(path)).json()).toMatchObject({ name: 'Agent Payments' })
  })

  test.each([
    ['/nothing', 'console'],
    ['/v1/agents/nothing/at-all?x=1', '../../../console'],
  ])('%s, which is no address, is a page for a browser, in its language', async (path, link) => {
    const response = await readPage(path, { ...asBrowser, ...german })
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    const text = await response.text()
    expect(text).toContain('Diese Seite gibt es nicht')
    expect(text).toContain(`href="${link}"`)
    const ofProgram = await readPage(path)
    expect([ofProgram.status, await ofProgram.json()]).toEqual([
      404,
      { error: 'No such path. See /docs for all operations.' },
    ])
  })

  test('an address of thousands of folders gets the short answer of programs', async () => {
    const response = await readPage(`/${'x/'.repeat(2_000)}`, asBrowser)
    expect([response.status, (await response.text()).length < 200]).toEqual([404, true])
  })

  test('refuse a credential of another kind, and a wish that is too long, in words', async () => {
    const { key } = await service.owner()
    const foreign = await readPage('/approve', { ...asBrowser, ...german, authorization: `Bearer ${key}` })
    expect([foreign.status, foreign.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
    expect(await foreign.text()).toContain('Diese Seite kann nicht angezeigt werden')
    const long = await readPage(`/login?to=${'x'.repeat(4_001)}`, asBrowser)
    expect([long.status, long.headers.get('x-error-code')]).toEqual([400, 'invalid_request'])
    expect(await long.text()).toContain('<p class="lead" lang="en">to: ')
  })
})
