import type { BrowserContextOptions, Page } from 'playwright-core'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { type PageVisit, useBrowser } from '../../support/web/browser.ts'
import { addAuthenticator, type VirtualAuthenticator } from '../../support/web/virtual-authenticator.ts'

export interface DeviceVisit extends PageVisit {
  readonly device: VirtualAuthenticator
}

function useDevices() {
  const visit = useBrowser()

  const open = async (url: string, look: BrowserContextOptions = {}): Promise<DeviceVisit> => {
    const visited = await visit('about:blank', { locale: 'en-GB', ...look })
    const device = await addAuthenticator(visited.page)
    await visited.page.goto(url)
    return { ...visited, device }
  }

  const openBeside = async ({ page, device }: DeviceVisit, url: string) => {
    const second = await page.context().newPage()
    const shared = await addAuthenticator(second)
    await shared.takeOver(device)
    await second.goto(url)
    return { page: second, device: shared }
  }

  /** Uses a link that works once, and creates a passkey. */
  const openAndJoin = async (url: string | null, look: BrowserContextOptions = {}): Promise<DeviceVisit> => {
    const visited = await open(String(url), look)
    await join(visited.page)
    return visited
  }

  const openAsOwner = async (client: TestClient, look: BrowserContextOptions = {}): Promise<DeviceVisit> => {
    const { url } = await bodyOf(client.console.createLink({ body: {} }))
    return openAndJoin(url, look)
  }

  return { visit, open, openAndJoin, openBeside, openAsOwner }
}

/** One browser for all tests of the pages. */
export const { visit, open, openAndJoin, openBeside, openAsOwner } = useDevices()

async function join(page: Page): Promise<void> {
  await page.locator('[data-action="redeem"]:visible').click()
  await page.locator('form[data-action="enrol"] button:visible').click()
  await page.waitForURL('**/console')
}

export const newsIn = (page: Page) => page.locator('#news')
export const troubleIn = (page: Page) => page.locator('#trouble')
export const markIn = (page: Page) => page.locator('.mark')
