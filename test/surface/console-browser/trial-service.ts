import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { areas } from '../../../src/areas.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { trialArea } from '../../support/trial-page.ts'
import { until } from '../../support/until.ts'
import { openAsOwner, visit } from '../console-pages/devices.ts'

export const service = await startTestService({ areas: { ...areas, trial: trialArea } })

export const origin = service.url.replace('127.0.0.1', 'localhost')
export const trialPage = `${origin}/console/trial`

export async function anOwnerAtThePage() {
  const owner = await service.owner()
  const client = owner.client as TestClient
  const visited = await openAsOwner(client)
  await visited.page.goto(trialPage)
  return { ...owner, client, ...visited }
}

async function aSignedInOwner() {
  const { page, client, ownerId } = await anOwnerAtThePage()
  const storageState = await page.context().storageState()
  // Its stream would be a second one.
  await page.context().close()
  return { client, ownerId, storageState }
}

let owner: ReturnType<typeof aSignedInOwner> | undefined

/** The same owner in a new browser, with the session but no passkey, which is faster. */
export async function theOwnerAtThePage(look: BrowserContextOptions = {}) {
  owner ??= aSignedInOwner()
  const { client, ownerId, storageState } = await owner
  const visited = await visit(trialPage, { locale: 'en-GB', storageState, ...look })
  return { client, ownerId, ...visited }
}

const STREAMS = 'select count(*)::int from event_streams where owner_id = $1'

export async function followed(ownerId: string, count = 1): Promise<void> {
  await until(
    `${count} streams are open`,
    async () => (await service.sql<{ count: number }>(STREAMS, [ownerId]))[0]?.count === count,
  )
}

export const openTab = async (context: BrowserContext): Promise<Page> => {
  const tab = await context.newPage()
  await tab.goto(trialPage)
  return tab
}

export const agentNamed = async (client: TestClient, name: string) =>
  bodyOf(client.agents.create({ body: { name } }))

export const saying = (page: Page, selector: string, text: string | RegExp) =>
  page.locator(selector).filter({ hasText: text }).first().waitFor()
