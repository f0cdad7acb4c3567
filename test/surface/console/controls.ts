import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { aHostileAccount, linksOn } from './hostile-account.ts'
import { service } from './visitors.ts'

const CONTROLS = 'button, summary, [role="button"], a:not([href])'

interface Control {
  readonly place: number
  readonly isShown: boolean
  /** Shown, and in the dialog that is open, if one is. */
  readonly isWithin: boolean
  readonly isOff: boolean
  readonly why: string
  /** Alike controls of a form, a dialog or the frame are pressed once; those of a script once on each kind of page. */
  readonly does: string
  readonly isOfScript: boolean
}

const LISTED = `{ const top = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document
;[...document.querySelectorAll(${JSON.stringify(CONTROLS)})].map((one, place) => {
  const operation = one.form?.dataset.operation ?? ''
  const opens = one.hasAttribute('commandfor') || one.hasAttribute('popovertarget')
  return {
    place,
    isShown: one.checkVisibility({ visibilityProperty: true }),
    isWithin: top.contains(one) && one.checkVisibility({ visibilityProperty: true }),
    isOff: one.matches(':disabled'),
    why: one.title + (one.getAttribute('aria-describedby') ?? ''),
    does: [one.tagName, one.textContent.trim().slice(0, 60), operation, ...Object.keys(one.dataset)].join(' '),
    isOfScript: !opens && one.tagName !== 'SUMMARY' && (operation === '' || one.type === 'button') && Boolean(one.closest('main')),
  }
}) }`

/** Notes what changes: the page, a field, a dialog, the focus. Times and the stream change by themselves. */
const WATCH = `{
  const effects = (window.effects = [])
  const isOwn = ({ target }) => (target.closest ? target : target.parentElement)?.closest('time, #stream, uplot-legend')
  new MutationObserver(list => list.some(one => !isOwn(one)) && effects.push('change'))
    .observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  for (const kind of ['focusin', 'invalid', 'input', 'toggle', 'close'])
    document.addEventListener(kind, ({ target }) => target.matches?.(${JSON.stringify(CONTROLS)}) || effects.push(kind), true)
}`

/**
 * Each page stays as it is: a refusal is what comes of a change. A route of Playwright would do without the browser's cache, and
 * load all scripts for each press.
 */
const NOTHING_IS_CHANGED = `{
  const get = window.fetch
  window.fetch = async (to, options) => {
    if ((options?.method ?? 'GET') === 'GET') return get(to, options)
    window.effects?.push('request')
    return Response.json({ error: 'Not now.', code: 'invalid_request' }, { status: 400 })
  }
}`

/** What a value has become that is no text. */
const NO_WORDS = `[document.title, document.body.innerText, ...[...document.querySelectorAll('dialog, [title], [aria-label], [placeholder], input, textarea')]
  .flatMap(one => [one.tagName === 'DIALOG' ? one.textContent : '', one.title, one.ariaLabel, one.placeholder, one.value])]
  .flatMap(text => String(text ?? '').match(/.{0,40}(?:\\[object|\\bundefined\\b|\\bNaN\\b).{0,40}/g) ?? [])`

const listed = async (page: Page): Promise<Control[]> => (await page.evaluate(LISTED)) as Control[]

/** Whether anything comes of the press within some seconds. */
async function press(page: Page, place: number): Promise<boolean> {
  const before = page.url()
  const happened = Promise.withResolvers<true>()
  const note = () => happened.resolve(true)
  for (const kind of ['request', 'filechooser', 'popup', 'download', 'framenavigated'] as const)
    page.on(kind as 'request', note)
  try {
    await page.evaluate(WATCH)
    const isPressed = await page
      .locator(CONTROLS)
      .nth(place)
      .click({ timeout: 10_000, noWaitAfter: true })
      .then(
        () => true,
        () => false,
      )
    if (!isPressed) return false
    const changed = page
      .waitForFunction('window.effects === undefined || window.effects.length > 0', undefined, {
        timeout: 5_000,
      })
      .then(
        () => true,
        () => page.url() !== before,
      )
    return await Promise.race([happened.promise, changed])
  } finally {
    for (const kind of ['request', 'filechooser', 'popup', 'download', 'framenavigated'] as const)
      page.off(kind as 'request', note)
  }
}

class Presses {
  readonly findings: string[] = []
  pressed = 0
  readonly #page: Page
  readonly #done = new Set<string>()

  constructor(page: Page) {
    this.#page = page
  }

  /** Opens the page and presses these one after the other, then each that is shown since. */
  async pressAll(kind: string, url: string, path: readonly Control[] = [], known: readonly Control[] = []) {
    if (!(await this.#open(url, path))) return
    for (const text of (await this.#page.evaluate(NO_WORDS)) as string[])
      this.findings.push(`${kind}: ${text}`)
    const controls = await listed(this.#page)
    for (const control of controls) {
      const wasShown = known.some(({ place, isShown }) => isShown && place === control.place)
      const name = control.isOfScript ? `${kind} ${control.does}` : control.does
      if (!control.isWithin || wasShown || this.#done.has(name)) continue
      this.#done.add(name)
      if (control.isOff && control.why === '') this.findings.push(`${name}: disabled without a reason`)
      if (control.isOff || !(await this.#open(url, path))) continue
      this.pressed++
      if (!(await press(this.#page, control.place))) this.findings.push(`${name}: without an effect`)
      else if (path.length < 3 && this.#page.url() === url)
        await this.pressAll(kind, url, [...path, control], controls)
    }
  }

  async #open(url: string, path: readonly Control[]): Promise<boolean> {
    await go(this.#page, url)
    for (const { place, does } of path) {
      const control = this.#page.locator(CONTROLS).nth(place)
      const isPressed = await control.click({ timeout: 10_000 }).then(
        () => true,
        () => false,
      )
      if (!isPressed) this.findings.push(`${url} ${path.map(one => one.does)}: ${does} is no longer there`)
      if (!isPressed) return false
      await this.#page.evaluate('new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))')
    }
    return true
  }
}

/** A press may still be leading to another page. */
async function go(page: Page, url: string): Promise<void> {
  const isAt = (): Promise<boolean> =>
    page.goto(url).then(
      () => true,
      () => false,
    )
  await until('the page is opened', isAt)
  await page.locator('h1').first().waitFor()
}

/** The address of one page of each kind. */
async function kindsOfPages(page: Page): Promise<[string, string][]> {
  const home = new URL('console', page.url()).href
  const seen = new Map([
    ['', home],
    ['ask', `${home}/ask`],
  ])
  for (const [, url] of seen) {
    await go(page, url)
    for (const [kind, link] of await linksOn(page)) {
      // A fragment opens a dialog, and going there again would load nothing.
      const [whole = link] = link.split('#')
      if (!seen.has(kind)) seen.set(kind, whole)
    }
  }
  return [...seen]
}

test('each control of every page does something, and no page shows what is no text', async () => {
  const owner = await service.owner()
  const { page } = await openAsOwner(owner.client)
  await aHostileAccount(owner)
  const context = page.context()
  // No press is remembered, as folded places are.
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await context.addInitScript('localStorage.clear(); sessionStorage.clear()')
  await context.addInitScript(NOTHING_IS_CHANGED)
  const kinds = await kindsOfPages(page)
  const presses = new Presses(page)
  for (const [kind, url] of kinds) await presses.pressAll(kind, url)
  expect(presses.findings).toEqual([])
  expect(kinds.length).toBeGreaterThan(45)
  expect(presses.pressed).toBeGreaterThan(100)
  // Some hundreds of presses, each on a page of its own.
}, 1_800_000)
