import { made, type TestClient } from './factories.ts'
import type { Browser, PushService } from './push-service.ts'

type Members = Partial<NonNullable<Parameters<TestClient['push']['create']>[0]['body']>>

export const subscribe = (client: TestClient, browser: Browser, members: Members = {}) =>
  made(client.push.create({ body: { ...browser.subscription, ...members } }))

export const listed = async (client: TestClient) =>
  (await made(client.push.list({}))).data.map(({ id }) => id)
export const heard = ({ messages }: Browser) => messages.map(({ payload }) => payload.event)

export const freeze = async (client: TestClient, id: string) =>
  made(client.agents.freeze({ params: { id }, body: { reason: 'Something secret' } }))

/** Browsers of a push service, which have subscribed. */
export function browsersOf(service: PushService) {
  /** A browser that hears of these events. */
  async function aBrowser(client: TestClient, members: Members = {}) {
    const browser = service.browser()
    const { id } = await subscribe(client, browser, members)
    return { ...browser, id, params: { id } }
  }

  return { aBrowser }
}
