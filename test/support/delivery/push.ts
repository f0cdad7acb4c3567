import { bodyOf, type TestClient } from '../factories.ts'
import { startTestService } from '../harness.ts'
import { type Browser, pushService } from './push-service.ts'

type Members = Partial<NonNullable<Parameters<TestClient['push']['create']>[0]['body']>>

export const subscribe = (client: TestClient, browser: Browser, members: Members = {}) =>
  bodyOf(client.push.create({ body: { ...browser.subscription, ...members } }))

export const subscriptionIds = async (client: TestClient) =>
  (await bodyOf(client.push.list({}))).data.map(({ id }) => id)
export const eventNames = ({ messages }: Browser) => messages.map(({ payload }) => payload.event)

export const freezeAgent = async (client: TestClient, id: string) =>
  bodyOf(client.agents.freeze({ params: { id }, body: { reason: 'Something secret' } }))

export async function startPushService() {
  const vendor = await pushService()
  const service = await startTestService({
    pushes: true,
    outbound: vendor.outbound,
    env: { VAPID_SUBJECT: 'mailto:ada@example.com' },
  })
  const aBrowser = async (client: TestClient, members: Members = {}) => {
    const browser = vendor.browser()
    const { id } = await subscribe(client, browser, members)
    return { ...browser, id, params: { id } }
  }
  return { vendor, service, aBrowser }
}
