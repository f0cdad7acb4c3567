import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

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
export const INSTALL_LIMIT = 300_000

export const startChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath(), args: FLAGS, timeout: INSTALL_LIMIT })

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
