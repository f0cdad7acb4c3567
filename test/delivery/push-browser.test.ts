import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from '@jest/globals'
import type { CDPSession } from 'playwright-core'
import { pushService } from '../support/delivery/push-service.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { useBrowser } from '../support/web/browser.ts'

const vendor = await pushService()
const service = await startTestService({ outbound: vendor.outbound })
const visit = useBrowser()

/** The service worker of a page with web push: shows the event's name and passes the push to the page. */
const WORKER = `
addEventListener('push', event => event.waitUntil((async () => {
  const payload = event.data.json()
  await registration.showNotification(payload.event, { tag: payload.eventId })
  const shown = (await registration.getNotifications()).map(({ title }) => title)
  for (const page of await clients.matchAll({ includeUncontrolled: true })) page.postMessage({ payload, shown })
})()))`

const PAGE = `
<title>Page</title>
<script>
  const received = new Promise(resolve => navigator.serviceWorker.addEventListener('message', ({ data }) => resolve(data)))
  const registered = navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)
  async function subscribe(applicationServerKey) {
    const { pushManager } = await registered
    const wish = { userVisibleOnly: true, applicationServerKey }
    const failure = await pushManager.subscribe(wish).then(() => null, ({ name }) => name)
    return { permission: await pushManager.permissionState(wish), failure }
  }
</script>`

const server = createServer(({ url }, response) => {
  const [type, text] = url === '/worker.js' ? ['text/javascript', WORKER] : ['text/html', PAGE]
  response.writeHead(200, { 'content-type': type }).end(text)
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function registrationIn(devTools: CDPSession): Promise<string> {
  const registered = new Promise<string>(resolve =>
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [registration] }) => {
      if (registration) resolve(registration.registrationId)
    }),
  )
  await devTools.send('ServiceWorker.enable')
  return registered
}

/** Chromium gets the push directly, as no test can use the vendor's push service. */
test('Chromium accepts the VAPID key and shows the notification', async () => {
  const { client } = await service.owner()
  const { page } = await visit(origin, { permissions: ['notifications'] })
  const { publicKey } = await bodyOf(client.push.vapidKey({}))
  // Chromium checks the key first: ours fails only for lack of a push service.
  const noPoint = Buffer.alloc(65, 7).toString('base64url')
  expect(await page.evaluate(`subscribe('${noPoint}')`)).toMatchObject({ failure: 'InvalidAccessError' })
  const noPushService = { permission: 'granted', failure: 'AbortError' }
  expect(await page.evaluate(`subscribe('${publicKey}')`)).toEqual(noPushService)

  const { subscription, messages } = vendor.browser()
  const { id } = await bodyOf(client.push.create({ body: subscription }))
  await bodyOf(client.push.test({ params: { id } }))
  const devTools = await page.context().newCDPSession(page)
  const registrationId = await registrationIn(devTools)
  const data = JSON.stringify(messages[0]?.payload)
  // A busy browser drops a push now and then. A repeated one has the same tag and is shown once.
  const received = await until('it is shown', async () => {
    await devTools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data })
    return page.evaluate(`Promise.race([received, new Promise(resolve => setTimeout(resolve, 2_000))])`)
  })
  expect(received).toEqual({
    payload: messages[0]?.payload,
    shown: ['push_subscription.tested'],
  })
})
