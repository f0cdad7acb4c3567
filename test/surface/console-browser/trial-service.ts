import type { Page } from 'playwright-core'
import { areas } from '../../../src/areas.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { trialArea } from '../../support/trial-page.ts'
import { openAsOwner } from '../console-pages/devices.ts'

/** A service with a page of the tests, which has one of everything that the scripts of the console make live. */
export const service = await startTestService({ areas: { ...areas, trial: trialArea } })

export const origin = service.url.replace('127.0.0.1', 'localhost')
export const trialPage = `${origin}/console/trial`

/** An owner whose first person is signed in and looks at the page, with the stream open. */
export async function anOwnerAtThePage() {
  const { client, ownerId } = await service.owner()
  const visited = await openAsOwner(client as TestClient)
  await visited.page.goto(trialPage)
  await followed(ownerId)
  return { client: client as TestClient, ownerId, ...visited }
}

/** Waits until the browser of this owner follows the events. */
export async function followed(ownerId: string, count = 1): Promise<void> {
  for (;;) {
    const [row] = await service.sql<{ count: number }>(
      'select count(*)::int from event_streams where owner_id = $1',
      [ownerId],
    )
    if (row?.count === count) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

export const agentNamed = async (client: TestClient, name: string) =>
  bodyOf(client.agents.create({ body: { name } }))

export const textIn = (page: Page, selector: string, text: string) =>
  page.locator(selector).filter({ hasText: text }).first().waitFor()
