import type { BrowserContextOptions, Page } from 'playwright-core'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { type PageVisit, useBrowser } from '../../support/web/browser.ts'
import { addAuthenticator, type VirtualAuthenticator } from '../../support/web/virtual-authenticator.ts'

/** A browser with a passkey device, on which somebody may be signed in. */
export interface DeviceVisit extends PageVisit {
  readonly device: VirtualAuthenticator
}

function useDevices() {
  const visit = useBrowser()

  /** Opens a page in a browser of its own, with a device that knows its user. */
  const open = async (url: string, look: BrowserContextOptions = {}): Promise<DeviceVisit> => {
    const visited = await visit('about:blank', { locale: 'en-GB', ...look })
    const device = await addAuthenticator(visited.page)
    await visited.page.goto(url)
    return { ...visited, device }
  }

  /** Opens a second window of the same browser. */
  const openBeside = async ({ page, device }: DeviceVisit, url: string) => {
    const second = await page.context().newPage()
    const shared = await addAuthenticator(second)
    await shared.takeOver(device)
    await second.goto(url)
    return { page: second, device: shared }
  }

  /** The first person of an owner joins by a link and enrols a passkey. */
  const openAsOwner = async (client: TestClient, look: BrowserContextOptions = {}): Promise<DeviceVisit> => {
    const { url } = await bodyOf(client.console.createLink({ body: {} }))
    const visited = await open(String(url), look)
    await join(visited.page)
    return visited
  }

  return { visit, open, openBeside, openAsOwner }
}

/** One browser for all tests of the pages. */
export const { visit, open, openBeside, openAsOwner } = useDevices()

/** Redeems the link of the page and makes a passkey. */
async function join(page: Page): Promise<void> {
  await page.locator('[data-action="redeem"]:visible').click()
  await page.locator('form[data-action="enrol"] button:visible').click()
  await page.waitForURL('**/approve')
}

export const newsIn = (page: Page) => page.locator('#news')
export const troubleIn = (page: Page) => page.locator('#trouble')
export const markIn = (page: Page) => page.locator('.mark')
