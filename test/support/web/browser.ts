import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const INSTALL_LIMIT = 300_000

/** A page, with its errors and requests while it is open. */
export interface PageVisit {
  readonly page: Page
  /** Errors of the console and of the page, including violations of its security policy. */
  readonly complaints: string[]
  /** Every requested URL. */
  readonly requests: string[]
}

/** One Chromium for a test file. Each visit has its own profile, which is closed after the test that opened it. */
export function useBrowser(): (url: string, options?: BrowserContextOptions) => Promise<PageVisit> {
  let browser: Browser
  let contextsOfTest: BrowserContext[] = []
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath(), args: FLAGS })
  }, 2 * INSTALL_LIMIT)
  beforeEach(() => {
    contextsOfTest = []
  })
  afterEach(() => Promise.all(contextsOfTest.map(context => context.close())))
  afterAll(() => browser?.close())
  return async (url, options = {}) => {
    const context = await browser.newContext(options)
    contextsOfTest.push(context)
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
 * One page for all visits, with storage and cache cleared before each: a profile for each visit would take three times as
 * long.
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

function chromiumPath(): string {
  const path = process.env.CHROMIUM_PATH || installed() || (install() && installed())
  if (path) return path
  throw new Error('The tests of the pages need Chromium: install it, or set CHROMIUM_PATH to where it is.')
}

const installed = (): string | undefined =>
  [...(process.env.PATH ?? '').split(':'), '/usr/bin']
    .flatMap(folder => NAMES.map(name => join(folder, name)))
    .find(isExecutable)

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Installs Debian's Chromium if this process is root. */
const install = (): boolean =>
  process.getuid?.() === 0 && apt('update') && apt('install', '--yes', '--no-install-recommends', 'chromium')

const apt = (...args: string[]): boolean =>
  spawnSync('apt-get', ['--quiet', ...args], {
    timeout: INSTALL_LIMIT,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  }).status === 0
