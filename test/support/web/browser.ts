import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals'
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { DEADLINE_MS } from '../until.ts'
import { INSTALL_LIMIT, startChromium } from './chromium.ts'

export interface PageVisit {
  readonly page: Page
  /** Errors of the console and of the page, including violations of its security policy. */
  readonly complaints: string[]
  readonly requests: string[]
}

const CLOSING_MS = 20_000

/** Chromium does not answer now and then: such a profile ends with the browser. */
const close = (context: BrowserContext): Promise<void> =>
  Promise.race([context.close(), sleep(CLOSING_MS, undefined, { ref: false })])

/** One Chromium for a test file. Each visit has its own profile, which is closed after the test that opened it. */
export function useBrowser(): (url: string, options?: BrowserContextOptions) => Promise<PageVisit> {
  let browser: Browser
  let contextsOfTest: BrowserContext[] = []
  beforeAll(async () => {
    browser = await startChromium()
  }, 2 * INSTALL_LIMIT)
  beforeEach(() => {
    contextsOfTest = []
  })
  afterEach(() => Promise.all(contextsOfTest.map(close)))
  afterAll(() => browser?.close())
  return async (url, options = {}) => {
    const context = await browser.newContext(options)
    contextsOfTest.push(context)
    context.setDefaultTimeout(DEADLINE_MS)
    const page = await context.newPage()
    const visit: PageVisit = { page, complaints: [], requests: [] }
    page.on('console', message => {
      if (message.type() !== 'log') visit.complaints.push(message.text())
    })
    page.on('pageerror', error => visit.complaints.push(error.message))
    page.on('request', request => visit.requests.push(request.url()))
    await page.goto(url)
    return visit
  }
}

/**
 * One page for all visits, with storage and cache cleared before each: a profile for each visit would take
 * three times as long.
 */
export function useOnePage(visit: ReturnType<typeof useBrowser>, options: BrowserContextOptions) {
  let visitOfFile: PageVisit
  let session: CDPSession
  beforeAll(async () => {
    visitOfFile = await visit('about:blank', options)
    session = await visitOfFile.page.context().newCDPSession(visitOfFile.page)
  })
  return async (url: string): Promise<PageVisit> => {
    const { page, complaints, requests } = visitOfFile
    await page.goto('about:blank')
    await page.emulateMedia({ colorScheme: options.colorScheme ?? null })
    await session.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes: 'all' })
    await session.send('Network.clearBrowserCache')
    complaints.length = requests.length = 0
    await page.goto(url)
    return visitOfFile
  }
}
