import { setTimeout as pause } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { startChromium } from '../../support/web/chromium.ts'
import { usualOrShort } from '../short.ts'
import { bearer, post, type Stage } from '../stage.ts'

const LOADS = usualOrShort(10, 2)
const EVENTS = usualOrShort(30, 3)
/** A part is replaced at most once a second, so later changes are not delayed. */
const APART_MS = 1_200

export const atOwnHost = (url: string): string => url.replace('127.0.0.1', 'localhost')

export async function withBrowser<T>(
  url: string,
  cookie: string,
  work: (context: BrowserContext) => Promise<T>,
): Promise<T> {
  const browser = await startChromium()
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const [name = '', value = ''] = cookie.split(/=(.*)/)
    await context.addCookies([{ name, value, url: atOwnHost(url) }])
    return await work(context)
  } finally {
    await browser.close()
  }
}

/** The bytes on the wire, compressed, with their headers. */
async function bytesOf(page: Page, url: string): Promise<number> {
  const sizes: Promise<number>[] = []
  const note = (response: import('playwright-core').Response) => {
    if (response.url().endsWith('/events/stream') || response.fromServiceWorker()) return
    const size = response.request().sizes()
    sizes.push(
      size.then(
        ({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize,
        () => 0,
      ),
    )
  }
  page.on('response', note)
  await page.goto(url, { waitUntil: 'load' })
  await pause(APART_MS)
  page.off('response', note)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

export interface Visit {
  readonly path: string
  readonly bytes: number
  readonly firstPaintMs: number
}

const PAINT = `new Promise(resolve => new PerformanceObserver(list => {
  for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime)
}).observe({ type: 'paint', buffered: true }))`

export const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** The bytes and the first paint of a first visit to the home page, and of each page after it. */
export const visits = (
  { api }: Pick<Stage, 'api'>,
  cookie: string,
  paths: readonly string[],
): Promise<{ readonly first: Visit; readonly later: readonly Visit[] }> =>
  withBrowser(api.url, cookie, async context => {
    const page = await context.newPage()
    const urlOf = (path: string) => `${atOwnHost(api.url)}/${path}`
    const paint = async () => Number(await page.evaluate(PAINT))
    const bytes = await bytesOf(page, urlOf('console'))
    const first = { path: 'first visit, at home', bytes, firstPaintMs: await paint() }
    const later: Visit[] = []
    for (const path of paths) {
      const html = await (await context.request.get(urlOf(path))).body()
      const paints: number[] = []
      for (let n = 0; n < LOADS; n++) {
        await page.goto(urlOf(path))
        paints.push(await paint())
      }
      later.push({ path, bytes: html.length, firstPaintMs: medianOf(paints) })
    }
    return { first, later }
  })

/** In the page: the time at which this text appears; ten seconds without it are a failure. */
const seen = (text: string) => `new Promise((resolve, reject) => {
  setTimeout(reject, 10_000)
  const look = () => document.body.textContent.includes(${JSON.stringify(text)}) && resolve(Date.now())
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
  look()
})`

/** The time from before a change's request until an open page shows it. */
export const timesToPart = (stage: Stage, cookie: string): Promise<{ p50: number; longest: number }> =>
  withBrowser(stage.api.url, cookie, async context => {
    const page = await context.newPage()
    await page.goto(`${atOwnHost(stage.api.url)}/console/runs`)
    const times: number[] = []
    for (let n = -1; n < EVENTS; n++) {
      await pause(APART_MS)
      const name = `Seen ${n}.`
      const shown = page.evaluate(seen(name))
      const began = Date.now()
      await post(stage.api, '/runs', { agentId: 'agent_bench_1', name }, bearer(stage))
      if (n >= 0) times.push(Number(await shown) - began)
      else await shown
    }
    return { p50: medianOf(times), longest: Math.max(...times) }
  })
